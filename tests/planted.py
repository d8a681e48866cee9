"""Small data sets with a known truth, and in-memory stores of them."""

import numpy as np

import srs
from srs.store import FeatureStore


def make_planted(n: int = 400, p: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two classes; columns 3 and 11 matter, and 20 only given 3 (it turns its effect around)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, max(p, 21)))
    score = 2.0 * X[:, 3] + 2.0 * X[:, 11] + 2.0 * np.where(X[:, 3] > 0, X[:, 20], -X[:, 20])
    return X[:, :p], (score > 0).astype(int)


def make_store(X: np.ndarray, y: np.ndarray, **settings: object) -> FeatureStore:
    return srs.ingest(X, target=y, **settings)


def comparable(result: srs.Result) -> dict:
    """The document of a result without what may differ between runs of the same."""
    return {k: v for k, v in result.document.items() if k != "measured"}
