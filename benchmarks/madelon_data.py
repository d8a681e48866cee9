"""Madelon hidden among permuted copies of its own noise columns, as a store or as a matrix."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy.io import loadmat

from benchmarks.measure import reference_folder
from srs.ingest.encode.codes import encode_numeric


def load_madelon() -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """X (2600, 500), y in {0, 1} and the ids of its 20 relevant features; None without the data."""
    folder = reference_folder()
    if folder is None:
        return None
    raw = loadmat(folder / "data" / "madelon" / "madelon.mat")
    tables = json.loads(Path(folder / "reference" / "tables.json").read_text())
    relevant = np.array(tables["madelon_relevant_1_based"]) - 1
    return raw["X"].astype(np.float32), (raw["Y"].ravel() > 0).astype(int), relevant


def widen(X: np.ndarray, relevant: np.ndarray, n_features: int, seed: int) -> np.ndarray:
    """Codes (n_features, n_samples): the columns of X, then permuted copies of its noise."""
    codes, _ = encode_numeric(np.ascontiguousarray(X.T))
    noise = np.setdiff1d(np.arange(X.shape[1]), relevant)
    rng = np.random.default_rng(seed)
    wide = np.empty((n_features, len(X)), np.uint8)
    wide[: len(codes)] = codes
    for f in range(len(codes), n_features):
        wide[f] = codes[rng.choice(noise)][rng.permutation(len(X))]
    return wide
