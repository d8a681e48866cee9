"""Data that tests of analyses share: published problems and reference data sets."""

from __future__ import annotations

import csv
import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.io import loadmat

from benchmarks.measure import reference_folder
from tests.theory.published import DIGITS, read_tables

needs_data = pytest.mark.skipif(
    reference_folder() is None, reason="no reference data (set SRS_REFERENCE_DATA)"
)

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


def tables() -> dict:
    found = read_tables()
    if found is None:
        pytest.skip("no reference tables (set SRS_REFERENCE_DATA)")
    return found


def context_problem_1() -> Problem:
    """Table 1 of the context paper: X, y, context."""
    rows = np.array(list(itertools.product((0, 1), repeat=4)))
    c, x1, x2, x3 = rows.T
    return rows[:, 1:], np.where(x1 == 0, 2, np.where(c == 0, x2, x3)), c


def context_problem_2() -> Problem:
    """Digits whose last three segments mean nothing in context 1; a ninth input is noise."""
    rows = []
    for digit, bits in itertools.product(range(10), itertools.product((0, 1), repeat=4)):
        rows.append([*DIGITS[digit], bits[3], digit, 0])
        rows.append([*DIGITS[digit][:4], *bits, digit, 1])
    table = np.array(rows)
    return table[:, :8], table[:, 8], table[:, 9]


def primary_tumor() -> pd.DataFrame:
    """The 132 complete rows of the primary tumor data."""
    path = reference_folder() / "data" / "primary_tumor" / "primary.tumor.arff"
    lines = path.read_text().splitlines()
    names = [line.split()[1].strip("'") for line in lines if line.lower().startswith("@attribute")]
    rows = [line.split(",") for line in lines if line and line[0] not in "%@"]
    frame = pd.DataFrame(rows, columns=names)
    frame = frame[(frame != "?").all(axis=1)].reset_index(drop=True)
    return frame.apply(lambda column: column.str.strip().str.strip("'"))


def brca() -> tuple[pd.DataFrame, pd.Series]:
    frame = pd.read_csv(reference_folder() / "data" / "brca" / "BRCA.csv")
    return frame.iloc[:, 1:51], frame["BRCA_Subtype_PAM50"]


def dream4(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Expressions (100 x 100) and the true links (regulator x target) of a network."""
    folder = reference_folder() / "data" / "dream4" / f"insilico_size100_{number}_multifactorial"
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
    raw = loadmat(reference_folder() / "data" / "golub_allaml" / "ALLAML.mat")
    return raw["X"].astype(np.float64), raw["Y"].ravel()


def vote_shift_example(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The artificial data of Paul and Dupont: ten of 110 features make the sign."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(500, 110))
    return X, np.sign(X[:, :10] @ rng.uniform(0.5, 1, 10))
