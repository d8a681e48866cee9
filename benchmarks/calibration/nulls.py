"""Data without any signal: several shapes and kinds, dependent features, permuted labels.

Selecting anything is an error here. Features that depend on one another make lists that are empty
in most runs and long in a few: what counts is the share of runs that select anything.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.io import loadmat

from benchmarks.calibration.problems import Problem, counts_of, rare_genotypes
from benchmarks.measure import reference_folder

SHAPES = ((60, 40), (200, 300), (80, 900), (300, 3_200))  # samples, features
FEATURES = ("numbers", "genotypes", "binary", "mixed")
TARGETS = ("balanced", "imbalanced", "five classes", "numeric")
FILES = {
    "golub": "golub_allaml/ALLAML.mat",
    "arcene": "arcene/arcene.mat",
    "isolet": "isolet/Isolet.mat",
    "madelon": "madelon/madelon.mat",
}


def null(shape: tuple[int, int], run: int, rng: np.random.Generator) -> Problem:
    """Independent features; kinds of features and targets take turns over the runs."""
    n, p = shape
    X = _null_features(FEATURES[run % 4], n, p, rng)
    return _problem(X, _null_target(TARGETS[run // 4 % 4], n, rng))


def null_blocks(run: int, rng: np.random.Generator) -> Problem:
    """Two hundred blocks of ten with correlation 0.9."""
    shared, own = rng.normal(size=(200, 200, 1)), rng.normal(size=(200, 200, 10))
    X = (np.sqrt(0.9) * shared + np.sqrt(0.1) * own).reshape(200, 2_000)
    return _problem(X, _null_target(TARGETS[run % 4], 200, rng))


def null_common_factor(run: int, rng: np.random.Generator) -> Problem:
    """One factor makes four fifths of the variance of every feature."""
    X = np.sqrt(0.8) * rng.normal(size=(200, 1)) + np.sqrt(0.2) * rng.normal(size=(200, 2_000))
    return _problem(X, _null_target(TARGETS[run % 4], 200, rng))


def null_rare_variants(run: int, rng: np.random.Generator) -> Problem:
    """Rare variants; one sample in ten is a case, in every other run one in fifty."""
    X = rare_genotypes(2_000, 1_000, rng)
    n_cases = 200 if run % 2 else 40
    return _problem(X, rng.permutation(np.arange(len(X)) < n_cases).astype(int))


def null_counts(run: int, rng: np.random.Generator) -> Problem:
    """Small counts, most of them 0."""
    X, _ = counts_of(300, 1_000, rng)
    return _problem(X, _null_target(TARGETS[run % 4], len(X), rng))


def null_30_samples(run: int, rng: np.random.Generator) -> Problem:
    """Thirty samples."""
    X = _null_features(FEATURES[run % 4], 30, 1_000, rng)
    y = rng.normal(size=30) if run // 4 % 2 else rng.permutation(np.arange(30) % 2)
    return _problem(X, y)


def permuted(name: str, rng: np.random.Generator) -> Problem:
    """A real data set with its labels permuted."""
    X, y = load_real(name)
    return _problem(X, rng.permutation(y))


def has_real(name: str) -> bool:
    folder = reference_folder()
    return folder is not None and (folder / "data" / FILES[name]).exists()


@lru_cache(maxsize=1)
def load_real(name: str) -> tuple[np.ndarray, np.ndarray]:
    folder = reference_folder()
    if folder is None:
        raise FileNotFoundError("no reference data: set SRS_REFERENCE_DATA to their folder.")
    raw = loadmat(folder / "data" / FILES[name])
    return raw["X"].astype(np.float64), raw["Y"].ravel().astype(int)


def _problem(X: np.ndarray, y: np.ndarray) -> Problem:
    return Problem(X, y, np.empty(0, np.int64))


def _null_target(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "numeric":
        return rng.normal(size=n)
    if kind == "five classes":
        return rng.permutation(np.arange(n) % 5)
    n_ones = n // 2 if kind == "balanced" else n // 10
    return rng.permutation(np.arange(n) < n_ones).astype(int)


def _null_features(kind: str, n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "numbers":
        return rng.normal(size=(n, p))
    if kind == "genotypes":
        return rng.binomial(2, rng.uniform(0.05, 0.5, p), (n, p)).astype(float)
    if kind == "binary":
        return (rng.random((n, p)) < rng.uniform(0.1, 0.9, p)).astype(float)
    few, many = rng.integers(0, 2, (n, p)), rng.integers(0, 200, (n, p))
    mixed: np.ndarray = np.where(np.arange(p) % 2, few, many).astype(float)
    mixed[rng.random((n, p)) < 0.05] = np.nan
    return mixed
