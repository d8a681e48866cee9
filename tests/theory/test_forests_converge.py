"""Our trees against theory: means over totally randomised trees are the exact importances."""

import numpy as np
import pytest

from srs.theory import asymptotic_binary_importances, asymptotic_importances
from srs.trees import TreeSettings, TreeTarget, grow
from tests.theory.published import DIGITS, DIGITS_BY_FEATURE, EXAMPLE_5_2, noisy_xor

N_TREES = 4000
TOTALLY_RANDOM = TreeSettings(criterion="entropy", max_features=1)


def forest(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Importances (N_TREES, n_features) of trees on all rows, each once."""
    block = np.ascontiguousarray(X, np.uint8)
    target = TreeTarget.of_classes(y, int(y.max()) + 1)
    keys = range(seed * N_TREES, (seed + 1) * N_TREES)
    return np.array([grow(block, target, key, TOTALLY_RANDOM)[1].used for key in keys])


def assert_means(trees: np.ndarray, exact: np.ndarray, slack: float = 1e-9) -> None:
    error = trees.std(axis=0, ddof=1) / np.sqrt(len(trees))
    distance = np.abs(trees.mean(axis=0) - exact)
    assert (distance <= 4.5 * error + slack).all(), distance / (error + slack)


def test_digits(global_random_seed: int) -> None:
    """Two levels a feature: the trees agree with multiway theory and with the last column of
    Table 5.1, which has three digits."""
    y = np.arange(10)
    trees = forest(DIGITS, y, global_random_seed)
    assert_means(trees, asymptotic_importances(DIGITS, y))
    assert_means(trees, DIGITS_BY_FEATURE, slack=5e-4)


def test_digits_with_four_levels(global_random_seed: int) -> None:
    """Thesis 5.7.3: X1 with both values halved loses importance, and X7, its near copy, gains."""
    X = np.repeat(DIGITS, 2, axis=0)
    X[:, 0] = 2 * X[:, 0] + np.tile([0, 1], 10)
    y = np.repeat(np.arange(10), 2)
    exact = asymptotic_binary_importances(X, y)
    multiway = asymptotic_importances(X, y)
    assert exact[0] < multiway[0]
    assert exact[6] > multiway[6]
    assert_means(forest(X, y, global_random_seed), exact)


def test_example_5_1(global_random_seed: int) -> None:
    X, y, weights = noisy_xor(0.8)
    repeats = np.repeat(np.arange(len(X)), np.rint(weights * 10).astype(int))
    exact = asymptotic_importances(X, y, weights)
    assert_means(forest(X[repeats], y[repeats], global_random_seed), exact)


def test_example_5_2(global_random_seed: int) -> None:
    exact = asymptotic_binary_importances(*EXAMPLE_5_2)
    assert_means(forest(*EXAMPLE_5_2, global_random_seed), exact)


@pytest.mark.parametrize("problem", range(4))
def test_many_levels(problem: int, global_random_seed: int) -> None:
    """Ordered features of 2 to 5 levels; nodes lack levels in between, so their cuts count too."""
    rng = np.random.default_rng([global_random_seed, problem])
    X = rng.integers(0, [2, 3, 4, 5], (24, 4))
    X = np.stack([np.unique(column, return_inverse=True)[1] for column in X.T], axis=1)
    y = (X[:, 3] + 2 * (X[:, 1] == X[:, 2]) + rng.integers(0, 2, 24)) // 2
    assert_means(forest(X, y, global_random_seed), asymptotic_binary_importances(X, y))
