"""Propositions 5.9 to 5.11 of the thesis: what copies of a feature do to importances, exactly."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from srs.theory import asymptotic_importances
from tests.theory.test_context import information

Table = tuple[np.ndarray, np.ndarray]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    n = draw(st.integers(2, 8))
    row = st.tuples(*[st.integers(0, 1)] * 4)
    rows = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    return rows[:, :3], rows[:, 3]


def conditional(X: np.ndarray, y: np.ndarray, m: int, B: tuple[int, ...]) -> float:
    """I(Xm; Y | B) by its definition."""
    keys = [tuple(row) for row in X[:, B]]
    total = 0.0
    for key in set(keys):
        inside = np.array([k == key for k in keys])
        total += inside.mean() * information(X[inside, m], y[inside], np.ones(inside.sum()))
    return total


def of_copied(X: np.ndarray, y: np.ndarray, j: int, n_copies: int) -> float:
    """Importance of feature j beside n_copies copies of itself (5.8, 5.11)."""
    p = X.shape[1]
    others = [i for i in range(p) if i != j]
    return sum(
        conditional(X, y, j, B) / (comb(p + n_copies, k) * (p + n_copies - k))
        for k in range(p)
        for B in combinations(others, k)
    )


def of_other(X: np.ndarray, y: np.ndarray, i: int, j: int, n_copies: int) -> float:
    """Importance of feature i where feature j has n_copies copies (5.10, 5.11)."""
    p = X.shape[1]
    others = [m for m in range(p) if m not in (i, j)]
    total = 0.0
    for k in range(p - 1):
        without = 1 / (comb(p + n_copies, k) * (p + n_copies - k))
        given_j = sum(
            comb(n_copies + 1, more) / (comb(p + n_copies, k + more) * (p + n_copies - k - more))
            for more in range(1, n_copies + 2)
        )
        for B in combinations(others, k):
            total += without * conditional(X, y, i, B) + given_j * conditional(X, y, i, (*B, j))
    return total


@pytest.mark.parametrize("n_copies", [1, 2, 3])
@given(table=tables())
@settings(max_examples=40)
def test_copies(table: Table, n_copies: int) -> None:
    """5.9 and 5.10 are the case of one copy, 5.11 that of more."""
    X, y = table
    copied = np.column_stack([X, *[X[:, 0]] * n_copies])
    found = asymptotic_importances(copied, y)
    assert found[0] == pytest.approx(of_copied(X, y, 0, n_copies), abs=1e-9)
    for other in (1, 2):
        assert found[other] == pytest.approx(of_other(X, y, other, 0, n_copies), abs=1e-9)


@given(table=tables())
@settings(max_examples=30)
def test_a_copy_takes_from_its_original_and_leaves_the_sum(table: Table) -> None:
    X, y = table
    alone = asymptotic_importances(X, y)
    beside = asymptotic_importances(np.column_stack([X, X[:, 0]]), y)
    assert beside.sum() == pytest.approx(alone.sum(), abs=1e-9)
    assert beside[0] <= alone[0] + 1e-12
