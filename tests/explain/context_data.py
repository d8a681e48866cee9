"""Data of the tests of contexts."""

from __future__ import annotations

import numpy as np

from tests.explain.data import Problem


def alike_in_both_sexes(seed: int) -> Problem:
    """The first feature acts alike in both sexes; the second only men have, without effect."""
    rng = np.random.default_rng(seed)
    first, sex = rng.integers(0, 2, (2, 1000))
    second = np.where(sex == 1, rng.integers(0, 2, 1000), 0)
    y = np.where(rng.random(1000) < 0.05, rng.integers(0, 2, 1000), first)
    return np.column_stack([first, second]), y, sex


def reverses(seed: int) -> Problem:
    """The first feature acts below 40 and above 60, not between; the second always."""
    rng = np.random.default_rng(seed)
    X, age = rng.normal(size=(900, 3)), rng.uniform(20, 80, 900)
    return X, np.where(np.abs(age - 50) > 10, 2 * X[:, 0], 0) + X[:, 1], age
