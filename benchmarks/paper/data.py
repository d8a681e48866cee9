"""Data sets of the thesis' experiments, and one made in the manner of Madelon."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.io import loadmat
from sklearn.datasets import make_classification

import srs
from benchmarks.measure import reference_folder
from srs.store import FeatureStore

FILES = {
    "madelon": "madelon/madelon.mat",
    "arcene": "arcene/arcene.mat",
    "isolet": "isolet/Isolet.mat",
}


@lru_cache(maxsize=1)
def load(name: str, n_rows: int) -> tuple[np.ndarray, np.ndarray, FeatureStore]:
    """X and y of the first `n_rows` rows, and a feature store of them in memory.

    The first 2000 rows of madelon and the first 100 of arcene are the training sets of the NIPS
    2003 challenge, which the thesis used; the copies continue with the validation sets.
    """
    folder = reference_folder()
    if folder is None:
        raise FileNotFoundError("no reference data: set SRS_REFERENCE_DATA to their folder.")
    raw = loadmat(folder / "data" / FILES[name])
    X, y = raw["X"][:n_rows].astype(np.float32), raw["Y"].ravel()[:n_rows].astype(int)
    return X, y, srs.ingest(X, target=y)


def make_madelon_like(
    n_samples: int, n_features: int, n_informative: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y and the ids of 20 relevant features: informative ones, then mixtures of these.

    Clusters on the corners of a cube, two sides of a coin each, as in Madelon (5 informative
    features, 15 mixtures, 16 clusters a class); the other features are normal noise.
    """
    X, y = make_classification(
        n_samples,
        20,
        n_informative=n_informative,
        n_redundant=20 - n_informative,
        n_clusters_per_class=16,
        class_sep=2.0,
        flip_y=0.01,
        shuffle=False,
        random_state=seed,
    )
    wide = np.random.default_rng(seed).standard_normal((n_samples, n_features), np.float32)
    wide[:, :20] = X
    return wide, y, np.arange(20)
