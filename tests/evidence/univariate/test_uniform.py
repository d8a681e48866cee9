"""p-values of columns that say nothing: at most a share alpha below alpha, and not far fewer.

Each case draws fresh targets and columns. A count of hits is compared with the binomial
distribution at a level of 1e-6 for each of the comparisons, so a test fails by chance once in ten
thousand runs. `excess` is how much more than alpha is tolerated beside that: 10 %, and more for
thin tables; the numbers are those of 100,000 columns or more, measured when this was written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from srs.evidence.univariate.target import UnivariateTest

CHANCE = 1e-6
N_TILES, N_TARGETS = 20, 12


@dataclass(frozen=True)
class Case:
    """Columns and targets that have nothing to do with each other.

    columns    gives codes of a shape
    target     gives a test of so many samples
    n          samples
    unordered  whether levels have no order
    excess     tolerated at 0.05 and 0.01, and at 0.001
    least      share of alpha that is reached at least at 0.5 and 0.05; 0: columns are discrete
    """

    columns: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
    target: Callable[[np.random.Generator, int], UnivariateTest]
    n: int
    unordered: bool = False
    excess: tuple[float, float] = (1.1, 1.1)
    least: float = 0.85


def levels(n_levels, missing=0.0):
    def draw(rng, shape):
        codes = rng.integers(0, n_levels, shape).astype(np.uint8)
        codes[rng.random(shape) < missing] = 255
        return codes

    return draw


def uneven(n_levels):
    share = 1 / np.arange(1, n_levels + 1) ** 1.2
    return lambda rng, shape: rng.choice(n_levels, shape, p=share / share.sum()).astype(np.uint8)


def genotypes(frequency):
    return lambda rng, shape: rng.binomial(2, frequency, shape).astype(np.uint8)


def zeros_and_numbers(share):
    def draw(rng, shape):
        return np.where(rng.random(shape) < share, rng.integers(1, 255, shape), 0).astype(np.uint8)

    return draw


def distinct(rng, shape):
    return np.argsort(rng.random(shape), axis=1).astype(np.uint8)


def classes(*shares, n_strata=1):
    """Classes whose shares differ between strata."""

    def draw(rng, n):
        k = len(shares)
        y = rng.choice(k, n, p=np.array(shares) / sum(shares))
        y[:k] = np.arange(k)
        strata = rng.integers(0, n_strata, n)
        y = np.where(rng.random(n) < 0.5 * strata / n_strata, 0, y)
        return UnivariateTest.of_classes(y, k, np.arange(n), strata if n_strata > 1 else None)

    return draw


def numbers(skewed=True, zeros=0.0, n_strata=1):
    def draw(rng, n):
        values = rng.exponential(size=n) ** 2 if skewed else rng.normal(size=n)
        values[rng.random(n) < zeros] = 0.0
        strata = rng.integers(0, n_strata, n)
        values += 3.0 * strata
        given = strata if n_strata > 1 else None
        return UnivariateTest.of_numbers(values, np.arange(n), given)

    return draw


EIGHT, UNEVEN = (1,) * 8, (40, 20, 10, 10, 8, 6, 4, 2)
CASES = {
    "30 samples": Case(distinct, classes(1, 1), 30),
    "30 samples, 6 levels": Case(levels(6), classes(1, 1), 30),
    "5 % cases": Case(levels(200), classes(19, 1), 200),
    "rare variants": Case(genotypes(0.005), classes(4, 1), 1000, least=0.0),
    "two levels": Case(genotypes(0.15), classes(4, 1), 200, least=0.7),
    "mostly zeros": Case(zeros_and_numbers(0.05), classes(4, 1), 300, least=0.7),
    "missing values": Case(levels(40, 0.3), classes(4, 1), 300),
    "strata": Case(levels(40), classes(4, 1, n_strata=5), 300),
    "rare, strata": Case(genotypes(0.01), classes(4, 1, n_strata=5), 300, least=0.0),
    "pairs": Case(levels(40), classes(1, 1, n_strata=100), 200),
    "8 classes": Case(levels(255), classes(*EIGHT), 400),
    "8 classes, 30 samples": Case(distinct, classes(*EIGHT), 30, excess=(1.1, 1.3)),
    "8 uneven classes": Case(levels(255), classes(*UNEVEN), 400),
    "8 classes, rare": Case(genotypes(0.01), classes(*EIGHT), 400, excess=(1.2, 1.5), least=0.0),
    "3 classes, strata": Case(levels(20), classes(5, 3, 2, n_strata=4), 300),
    "40 categories": Case(levels(40), classes(1, 1), 400, True),
    "40 categories, 20 % cases": Case(levels(40), classes(4, 1), 400, True, (1.2, 1.5), least=0.2),
    "40 uneven categories": Case(uneven(40), classes(4, 1), 400, True, (1.25, 1.6), least=0.2),
    "categories, 8 classes": Case(levels(5), classes(*EIGHT), 400, True),
    "categories, strata": Case(uneven(12), classes(4, 1, n_strata=5), 400, True, (1.2, 1.6)),
    "skewed numbers, 30": Case(distinct, numbers(), 30),
    "skewed numbers": Case(levels(255, 0.3), numbers(), 300),
    "numbers, rare": Case(genotypes(0.005), numbers(), 1000),
    "mostly equal numbers": Case(genotypes(0.01), numbers(zeros=0.6), 300, least=0.7),
    "numbers, strata": Case(genotypes(0.02), numbers(n_strata=5), 300),
    "numbers, categories": Case(uneven(40), numbers(), 300, True),
    "numbers, categories, strata": Case(uneven(12), numbers(n_strata=5), 300, True),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_p_values_of_noise_are_uniform(name, global_random_seed):
    case = CASES[name]
    rng = np.random.default_rng((global_random_seed, list(CASES).index(name)))
    shape = (N_TILES, case.n, 64)
    by_subset = np.full(N_TILES * 64, case.unordered)
    p = np.concatenate(
        [
            case.target(rng, case.n).run_tile(case.columns(rng, shape), by_subset)[0]
            for _ in range(N_TARGETS)
        ]
    )
    for alpha in (0.05, 0.01, 0.001):
        tolerated = alpha * case.excess[alpha < 0.01]
        hits = int((p <= alpha).sum())
        assert hits <= stats.binom.isf(CHANCE, len(p), tolerated), (alpha, hits / len(p) / alpha)
    if case.least:
        for alpha in (0.05, 0.5):
            hits = int((p <= alpha).sum())
            assert hits >= stats.binom.ppf(CHANCE, len(p), case.least * alpha), (alpha, hits)
        assert 0.45 < p.mean() < 0.56
