"""Data with a known truth: thirteen kinds of signal. Data without any are in `nulls`.

Relevance is that of thesis 2.4.1: a feature is relevant if, given some set of other features, it
tells of the target. So features that are only correlated with a cause are relevant too (given the
empty set they tell of the target), and so are the redundant combinations of a madelon-like
problem. Irrelevant are those that are independent of the target given whatever else is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import make_classification


@dataclass(frozen=True)
class Problem:
    """A matrix, its target, and the ids of its relevant features."""

    X: np.ndarray
    y: np.ndarray
    relevant: np.ndarray

    @property
    def is_regression(self) -> bool:
        return self.y.dtype.kind == "f"


def madelon_like(rng: np.random.Generator) -> Problem:
    """Clusters on the corners of a cube of 5 dimensions, 15 combinations of these, 480 noise."""
    X, y = make_classification(
        600,
        500,
        n_informative=5,
        n_redundant=15,
        n_clusters_per_class=16,
        class_sep=1.5,
        flip_y=0.01,
        shuffle=False,
        random_state=int(rng.integers(2**31)),
    )
    return Problem(X, y, np.arange(20))


def linear(rng: np.random.Generator) -> Problem:
    """Ten effects from weak to strong on the odds of two classes, 490 noise."""
    X = rng.normal(size=(300, 500))
    score = X[:, :10] @ np.linspace(0.3, 1.2, 10)
    return Problem(X, _two_classes(score, rng), np.arange(10))


def chain(rng: np.random.Generator) -> Problem:
    """Four binary features; the k-th tells of the target only through the parity of the first k."""
    X = rng.integers(0, 2, (1_500, 300))
    parities = np.cumsum(X[:, :4], axis=1) % 2
    which = np.searchsorted([0.4, 0.7, 0.87], rng.random(len(X)))
    return Problem(X, parities[np.arange(len(X)), which], np.arange(4))


def clique(rng: np.random.Generator) -> Problem:
    """A pair and a triple that matter only together: their parities make four classes; 25 noise."""
    X = rng.integers(0, 2, (1_500, 30))
    pair, triple = X[:, 0] ^ X[:, 1], X[:, 2] ^ X[:, 3] ^ X[:, 4]
    y = 2 * pair + triple
    noisy = rng.random(len(y)) < 0.1
    y[noisy] = rng.integers(0, 4, noisy.sum())
    return Problem(X, y, np.arange(5))


def correlated_blocks(rng: np.random.Generator) -> Problem:
    """Fifty blocks of ten with correlation 0.9; one feature in each of five blocks has an effect.

    The other nine of these blocks tell of the target as well, so fifty features are relevant.
    """
    shared, own = rng.normal(size=(300, 50, 1)), rng.normal(size=(300, 50, 10))
    X = (np.sqrt(0.9) * shared + np.sqrt(0.1) * own).reshape(300, 500)
    score = X[:, 0:50:10] @ np.linspace(0.5, 1.2, 5)
    return Problem(X, _two_classes(score, rng), np.arange(50))


def many_classes(rng: np.random.Generator) -> Problem:
    """Ten classes; each of ten features is shifted in two of them."""
    y = rng.integers(0, 10, 600)
    X = rng.normal(size=(600, 500))
    for f in range(10):
        X[:, f] += (0.5 + 0.1 * f) * ((y == f) | (y == (f + 3) % 10))
    return Problem(X, y, np.arange(10))


def imbalance(rng: np.random.Generator) -> Problem:
    """One sample in twenty is of the rare class; ten features are shifted in it."""
    y = (np.arange(1_000) < 50).astype(int)
    X = rng.normal(size=(1_000, 500))
    X[:, :10] += y[:, None] * np.linspace(0.4, 1.2, 10)
    return Problem(X, y, np.arange(10))


def interactions(rng: np.random.Generator) -> Problem:
    """A numeric target: Friedman's five features, and a pair that matters by its product alone."""
    X = rng.random((500, 500))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    y += 10 * X[:, 3] + 5 * X[:, 4] + 40 * (X[:, 5] - 0.5) * (X[:, 6] - 0.5)
    return Problem(X, y + rng.normal(size=500), np.arange(7))


def rare_variants(rng: np.random.Generator) -> Problem:
    """Variants with a frequency of 0.5 to 5 %, ten of them causal; one sample in ten is a case."""
    X = rare_genotypes(2_000, 1_000, rng)
    X[:, :10] = rng.binomial(2, np.linspace(0.01, 0.05, 10), (2_000, 10))
    score = X[:, :10] @ np.linspace(2.2, 1.0, 10)
    noisy = score + rng.logistic(size=2_000)
    return Problem(X, (noisy >= np.sort(noisy)[-200]).astype(int), np.arange(10))


def counts(rng: np.random.Generator) -> Problem:
    """Small counts, most of them 0, as of single cells; ten have a larger mean in one class."""
    y = rng.permutation(np.arange(300) % 2)
    X, means = counts_of(300, 500, rng)
    folds = np.where(y[:, None] == 1, np.linspace(1.5, 3.0, 10), 1.0)
    X[:, :10] = _overdispersed(np.maximum(means[:10], 0.3) * folds, rng)
    return Problem(X, y, np.arange(10))


def few_samples(rng: np.random.Generator) -> Problem:
    """Thirty samples; ten of 500 features are shifted by one to three standard deviations."""
    y = rng.permutation(np.arange(30) % 2)
    X = rng.normal(size=(30, 500))
    X[:, :10] += y[:, None] * np.linspace(1.0, 3.0, 10)
    return Problem(X, y, np.arange(10))


def weak_regression(rng: np.random.Generator) -> Problem:
    """A numeric target with ten linear effects, correlations of 0.1 to 0.3."""
    X = rng.normal(size=(400, 500))
    effects = np.linspace(0.1, 0.3, 10)
    noise = np.sqrt(1 - (effects**2).sum()) * rng.normal(size=400)
    return Problem(X, X[:, :10] @ effects + noise, np.arange(10))


def pair_of_20000(rng: np.random.Generator) -> Problem:
    """A pair that matters only together among 20,000: xor, 30 % of the labels turned around."""
    X = rng.integers(0, 2, (1_000, 20_000), dtype=np.uint8)
    y = X[:, 0] ^ X[:, 1] ^ (rng.random(1_000) < 0.3)
    return Problem(X, y.astype(int), np.arange(2))


def rare_genotypes(n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    return rng.binomial(2, rng.uniform(0.005, 0.05, p), (n, p)).astype(float)


def counts_of(n: int, p: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Overdispersed counts with means of 0.05 to 3, and the means."""
    means = np.exp(rng.uniform(np.log(0.05), np.log(3.0), p))
    return _overdispersed(np.broadcast_to(means, (n, p)), rng), means


def _overdispersed(means: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.poisson(means * rng.gamma(2.0, 0.5, means.shape)).astype(float)


def _two_classes(score: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(len(score)) < 1 / (1 + np.exp(-2 * score))).astype(int)
