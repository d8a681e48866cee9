"""Reference data of the explain benchmarks."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io import loadmat

from benchmarks.measure import reference_folder


def _folder(name: str) -> Path:
    folder = reference_folder()
    if folder is None:
        raise FileNotFoundError("no reference data: set SRS_REFERENCE_DATA to their folder.")
    return folder / "data" / name


def primary_tumor() -> pd.DataFrame:
    """The 132 complete rows of the primary tumor data."""
    lines = (_folder("primary_tumor") / "primary.tumor.arff").read_text().splitlines()
    names = [line.split()[1].strip("'") for line in lines if line.lower().startswith("@attribute")]
    rows = [line.split(",") for line in lines if line and line[0] not in "%@"]
    frame = pd.DataFrame(rows, columns=names)
    frame = frame[(frame != "?").all(axis=1)].reset_index(drop=True)
    return frame.apply(lambda column: column.str.strip().str.strip("'"))


def brca() -> tuple[pd.DataFrame, pd.Series]:
    """Expressions of 50 genes, and the subtype."""
    frame = pd.read_csv(_folder("brca") / "BRCA.csv")
    return frame.iloc[:, 1:51], frame["BRCA_Subtype_PAM50"]


def dream4(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Expressions (100 x 100) and the true links (regulator x target) of a network."""
    folder = _folder("dream4") / f"insilico_size100_{number}_multifactorial"
    frame = pd.read_csv(folder / "multifactorial.tsv", sep="\t")
    frame = frame[[c for c in frame.columns if c.startswith("G")]]
    names = {name: i for i, name in enumerate(frame.columns)}
    truth = np.zeros((100, 100), bool)
    with (folder / "goldStandard_multifactorial_edges.tsv").open() as file:
        for row in csv.reader(file, delimiter="\t"):
            if row[0] in names and float(row[2]) > 0:
                truth[names[row[0]], names[row[1]]] = True
    return frame.to_numpy(float), truth


def golub() -> tuple[np.ndarray, np.ndarray]:
    """72 samples x 7,129 genes, and the two classes."""
    raw = loadmat(_folder("golub_allaml") / "ALLAML.mat")
    return raw["X"].astype(np.float64), raw["Y"].ravel()
