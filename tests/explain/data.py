"""Data that tests of analyses share: published problems and reference data sets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from benchmarks.measure import reference_folder
from tests.theory.published import DIGITS, read_tables

needs_data = pytest.mark.skipif(
    reference_folder() is None, reason="no reference data (set SRS_REFERENCE_DATA)"
)

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


def tables() -> dict:
    found = read_tables()
    if found is None:
        pytest.skip("no reference tables (set SRS_REFERENCE_DATA)")
    return found


def context_example_1() -> Problem:
    """Table 6.A.1 of the thesis: Y = X1 where X2 is the context, else 2 or 3 by a coin."""
    rows = np.array(list(itertools.product((0, 1), repeat=4)))
    x1, x2, c, coin = rows.T
    return rows[:, :2], np.where(x2 == c, x1, 2 + coin), c


def context_problem_1() -> Problem:
    """Table 1 of the context paper: X, y, context."""
    rows = np.array(list(itertools.product((0, 1), repeat=4)))
    c, x1, x2, x3 = rows.T
    return rows[:, 1:], np.where(x1 == 0, 2, np.where(c == 0, x2, x3)), c


def context_problem_2() -> Problem:
    """Digits whose last three segments mean nothing in context 1; a ninth input is noise."""
    rows = []
    for digit, bits in itertools.product(range(10), itertools.product((0, 1), repeat=4)):
        rows.append([*DIGITS[digit], bits[3], digit, 0])
        rows.append([*DIGITS[digit][:4], *bits, digit, 1])
    table = np.array(rows)
    return table[:, :8], table[:, 8], table[:, 9]


def vote_shift_example(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The artificial data of Paul and Dupont: ten of 110 features make the sign."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(500, 110))
    return X, np.sign(X[:, :10] @ rng.uniform(0.5, 1, 10))
