"""Interactions of two features, tested as statistics against what is no interaction."""

import numpy as np
import pytest
from scipy import stats

from srs.inference.interaction import (
    MISSING,
    count_levels,
    cut_levels,
    interaction_of_classes,
    interaction_of_numbers,
)


def codes_of(values: np.ndarray) -> np.ndarray:
    return (stats.rankdata(values, "ordinal") * 250 / (len(values) + 1)).astype(np.uint8)


def two_classes(score: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(len(score)) < 1 / (1 + np.exp(-score))).astype(int)


def p_value(a, b, y, strata=None) -> float:
    n_outcomes = len(np.unique(y)) if y.dtype.kind == "i" else 2
    n_levels = count_levels(len(y), n_outcomes)
    first, second = (cut_levels(codes_of(x), n_levels, False) for x in (a, b))
    if y.dtype.kind == "f":
        return interaction_of_numbers(first, second, y).p_value
    return interaction_of_classes(first, second, y, strata).p_value


def no_interaction(kind: str, n: int, rng: np.random.Generator):
    a, b = rng.normal(size=(2, n))
    if kind == "two effects":
        return a, b, two_classes(2 * a + 2 * b, rng), None
    if kind == "linkage":
        b = 0.9 * a + np.sqrt(1 - 0.81) * b
        return a, b, two_classes(a, rng), None
    if kind == "three classes":
        return a, b, rng.integers(0, 3, n), None
    if kind == "strata":
        strata = rng.integers(0, 3, n)
        return a + strata, b + strata, two_classes(strata - 1.0, rng), strata
    return a, b, a + b + rng.normal(size=n), None  # numbers


@pytest.mark.parametrize("kind", ["two effects", "linkage", "three classes", "strata", "numbers"])
@pytest.mark.parametrize("n", [150, 1_000])
def test_what_is_no_interaction_is_not_called_one(kind, n, global_random_seed):
    """Guards the second look: strong effects of both, or linkage, are no interaction."""
    rng = np.random.default_rng((global_random_seed, n))
    found = np.array([p_value(*no_interaction(kind, n, rng)) for _ in range(300)])
    for level in (0.01, 0.1):
        most = stats.binom(300, level * 1.6).ppf(0.9999)
        assert (found <= level).sum() <= most, level
    assert np.median(found) > 0.3


@pytest.mark.parametrize("kind", ["xor", "product", "three classes"])
def test_interactions_are_seen(kind, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    a, b = rng.normal(size=(2, 500))
    if kind == "product":
        y = a * b + rng.normal(size=500)
    elif kind == "xor":
        y = ((a * b > 0) ^ (rng.random(500) < 0.3)).astype(int)
    else:
        y = np.where(rng.random(500) < 0.4, 2, (a * b > 0).astype(int))
    assert p_value(a, b, y) < 1e-6


def test_the_effects_at_both_ends_are_told():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 2_000))
    y = ((a > 0) ^ (b > 0)).astype(int)
    first, second = (cut_levels(codes_of(x), 4, False) for x in (a, b))
    low, high = interaction_of_classes(first, second, y).effects
    assert low == pytest.approx(1, abs=0.1)
    assert high == pytest.approx(-1, abs=0.1)


def test_levels_keep_equal_values_together():
    codes = np.array([0, 0, 0, 0, 0, 0, 1, 2, MISSING], np.uint8)
    assert cut_levels(codes, 4, False).tolist() == [0] * 6 + [1, 1, -1]
    names = np.array([5, 5, 5, 9, 9, 7, 8, MISSING], np.uint8)
    assert cut_levels(names, 3, True).tolist() == [0, 0, 0, 1, 1, 2, 2, -1]


def test_constant_features_do_not_interact():
    zeros, y = np.zeros(50, int), np.arange(50) % 2
    assert interaction_of_classes(zeros, np.arange(50) % 4, y).p_value == 1
    assert interaction_of_numbers(zeros, zeros, y.astype(float)).p_value == 1
