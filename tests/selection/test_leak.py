"""Features that are the target itself, and strong ones that are not."""

import numpy as np
import pytest
from scipy.stats import norm

import srs
from srs.selection.cautions.leak import is_target
from tests.planted import make_store

N_FEATURES = 10_000


def coded(values: np.ndarray) -> np.ndarray:
    """Codes as ingest makes them: levels, or ranks of many."""
    levels = np.unique(values)
    if len(levels) <= 255:
        return np.searchsorted(levels, values).astype(np.uint8)
    return (np.argsort(np.argsort(values)) * 255 // len(values)).astype(np.uint8)


def two_classes(n: int) -> np.ndarray:
    return np.arange(n) % 2


@pytest.mark.parametrize("n", [30, 72, 500, 5000])
def test_the_target_itself(n, global_random_seed):
    y = two_classes(n)
    rng = np.random.default_rng(global_random_seed)
    three = rng.permutation(np.arange(n) % 3)
    assert is_target(y.astype(np.uint8), y, False, N_FEATURES)
    assert is_target(7 - 3 * y.astype(np.uint8), y, False, N_FEATURES)
    for categorical in (False, True):
        recoded = np.array([7, 2, 5], np.uint8)[three]
        assert is_target(recoded, three, categorical, N_FEATURES)
    finer = (2 * y + rng.integers(0, 2, n)).astype(np.uint8)  # two levels of each class
    assert is_target(finer, y, True, N_FEATURES)
    known_of_cases = np.where(y == 1, rng.integers(0, 200, n), 255).astype(np.uint8)
    assert is_target(known_of_cases, y, False, N_FEATURES)


def test_few_errors_of_many_samples():
    y = two_classes(1000)
    for n_errors, expected in ((5, True), (50, False)):
        code = y.astype(np.uint8)
        code[:n_errors] ^= 1
        assert is_target(code, y, False, N_FEATURES) == expected


@pytest.mark.parametrize("n", [20, 38, 72, 300, 3000])
def test_a_strong_marker_is_not_the_target(n, global_random_seed):
    """Guards against false cautions: areas under the curve as of the best genes of leukaemia."""
    rng = np.random.default_rng(global_random_seed)
    y = two_classes(n)
    for area in (0.9, 0.97, 0.99):
        for _ in range(50):
            values = rng.normal(size=n) + y * norm.ppf(area) * np.sqrt(2)
            assert not is_target(coded(values), y, False, N_FEATURES)


def test_perfect_separation_needs_samples():
    """One of ten thousand separates twenty samples by chance; hundreds nothing separates."""
    rng = np.random.default_rng(0)
    for n, expected in ((20, False), (72, False), (400, True)):
        y = two_classes(n)
        assert is_target(coded(rng.random(n) + y), y, False, N_FEATURES) == expected
    y = two_classes(20)
    assert not is_target(y.astype(np.uint8), y, False, N_FEATURES)  # by chance: one of 92,378


def test_categories_that_are_rare_tell_nothing():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 250)
    assert not is_target(np.arange(250).astype(np.uint8), y, True, 10)
    assert not is_target(rng.integers(0, 10, 250).astype(np.uint8), y, True, 10)


@pytest.mark.parametrize("n", [30, 200, 5000])
def test_a_numeric_target(n, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    y, noise = rng.normal(size=(2, n))
    for same in (y, np.exp(y), -(y**3)):
        assert is_target(coded(same), y, False, N_FEATURES)
    for strong in (y + 0.3 * noise, y + 0.2 * noise, noise):  # r of 0.96, 0.98 and 0
        assert not is_target(coded(strong), y, False, N_FEATURES)
    constant = np.zeros(n, np.uint8)
    assert not is_target(constant, y, False, N_FEATURES)
    assert not is_target(np.full(n, 255, np.uint8), y, False, N_FEATURES)


def test_functions_and_ranges_of_a_numeric_target():
    rng = np.random.default_rng(0)
    y, noise = rng.normal(size=(2, 1000))
    assert is_target(coded(y), y**2, False, N_FEATURES)
    assert is_target(np.digitize(y, [-0.5, 0.5]).astype(np.uint8), y, False, N_FEATURES)
    assert is_target((y > 0).astype(np.uint8), y, False, N_FEATURES)
    assert not is_target((y + 0.2 * noise > 0).astype(np.uint8), y, False, N_FEATURES)


def test_a_run_says_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 100))
    y = np.where(X[:, 3] + X[:, 5] + 0.5 * rng.normal(size=300) > 0, "case", "control")
    clean = srs.select(make_store(X, y), seed=0, max_trees=200)
    assert clean.cautions == []
    assert "cautions" not in clean.document["outcome"]
    X[:, 42] = y == "case"
    result = srs.select(make_store(X, y), seed=0, max_trees=200)
    (caution,) = result.cautions
    assert caution["kind"] == "target"
    assert caution["feature_ids"] == [42]
    assert caution["sentence"].startswith("f42 tells the target")
    part = srs.select(make_store(X, y), seed=0, max_trees=200, features=list(range(30, 100)))
    assert part.cautions[0]["feature_ids"] == [42]
    assert part.cautions[0]["sentence"].startswith("f42 tells")
