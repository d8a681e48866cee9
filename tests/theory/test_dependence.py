"""Relevance, degree, Markov boundaries and redundancy: definitions, properties, examples."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from srs.errors import InputError
from srs.theory import (
    asymptotic_importances,
    conditional_information,
    is_markov_blanket,
    is_redundant_to,
    last_level_importances,
    markov_boundaries,
    minimal_conditionings,
    redundancy,
    redundancy_degree,
    relevance,
    total_correlation,
)
from tests.theory.published import DIGITS, noisy_xor
from tests.theory.test_redundancy import conditional

Table = tuple[np.ndarray, np.ndarray]
CUBE = np.array([[i >> b & 1 for b in range(3)] for i in range(8)])


@st.composite
def tables(draw: st.DrawFn, p: int = 4) -> Table:
    """Few outcomes, so that copies, cliques and irrelevant features are common."""
    n = draw(st.integers(2, 8))
    row = st.tuples(*[st.integers(0, 1)] * (p + 1))
    rows = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    return rows[:, :-1], rows[:, -1]


def subsets_without(p: int, m: int) -> list[tuple[int, ...]]:
    others = [i for i in range(p) if i != m]
    return [B for k in range(p) for B in combinations(others, k)]


@given(table=tables(p=3))
@settings(max_examples=60)
def test_definitions(table: Table) -> None:
    """2.3 to 2.9 and 5.1, each by its words, with information by its definition."""
    X, y = table
    found = relevance(X, y)
    for m in range(3):
        told = {B: conditional(X, y, m, B) for B in subsets_without(3, m)}
        depends = [B for B, bits in told.items() if bits > 1e-9]
        others = tuple(i for i in range(3) if i != m)
        assert found.relevant[m] == bool(depends)
        assert found.strong[m] == (told[others] > 1e-9)
        assert found.weak[m] == (bool(depends) and told[others] <= 1e-9)
        assert found.degree[m] == min((len(B) for B in depends), default=-1)
        assert found.marginal[m] == (told[()] > 1e-9)
        assert found.largest[m] == pytest.approx(max(told.values()), abs=1e-9)
        assert last_level_importances(X, y)[m] == pytest.approx(told[others], abs=1e-9)
        level = max(told.values()) + 1e-6
        assert not relevance(X, y, level=level).relevant[m]
        minimal = {frozenset(B) for B in depends if not any(set(A) < set(B) for A in depends)}
        assert {frozenset(B) for B in minimal_conditionings(X, y, m)} == minimal


@given(table=tables())
@settings(max_examples=60)
def test_propositions_5_1_and_5_2(table: Table) -> None:
    """A minimal conditioning has relevant features only, none of a degree above its size."""
    X, y = table
    found = relevance(X, y)
    for m in range(4):
        for B in minimal_conditionings(X, y, m):
            assert found.relevant[list(B)].all()
            assert (found.degree[list(B)] <= len(B)).all()


@given(table=tables())
@settings(max_examples=60)
def test_markov_boundaries(table: Table) -> None:
    """Definition 2.11 by enumeration; Properties 2.1 and 2.2."""
    X, y = table
    found, words = markov_boundaries(X, y), relevance(X, y)
    every = [B for k in range(5) for B in combinations(range(4), k)]
    blankets = [set(B) for B in every if is_markov_blanket(X, y, B)]
    minimal = {frozenset(B) for B in blankets if not any(A < B for A in blankets)}
    assert {frozenset(B) for B in found} == minimal
    strong, relevant = set(np.flatnonzero(words.strong)), set(np.flatnonzero(words.relevant))
    for boundary in found:
        assert strong <= set(boundary) <= relevant
    assert set.intersection(*map(set, found)) == strong  # Figure 2.6


@given(seed=st.integers(0, 1 << 30))
@settings(max_examples=20)
def test_a_positive_distribution_has_one_boundary(seed: int) -> None:
    """Its strongly relevant features (Nilsson et al. 2007)."""
    rng = np.random.default_rng(seed)
    X = np.tile(CUBE, (2, 1))
    y = np.repeat([0, 1], 8)
    weights = rng.random(16) + 0.01
    weights *= np.where(y == X[:, 0], 2.0, 1.0)
    boundaries = markov_boundaries(X, y, weights)
    assert boundaries == [tuple(np.flatnonzero(relevance(X, y, weights).strong))]


def test_correlated_xor() -> None:
    """Kohavi and John's example (thesis, footnote 9): X4 = not X2, X3 and X5 are irrelevant."""
    rows = np.array([[i >> b & 1 for b in range(4)] for i in range(16)])
    X = np.column_stack([rows[:, 0], rows[:, 1], rows[:, 2], 1 - rows[:, 1], rows[:, 3]])
    y = X[:, 0] ^ X[:, 1]
    found = relevance(X, y)
    assert [word.split()[0] for word in found.words] == [
        "strongly",
        "weakly",
        "irrelevant",
        "weakly",
        "irrelevant",
    ]
    assert found.degree.tolist() == [1, 1, -1, 1, -1]
    assert markov_boundaries(X, y) == [(0, 1), (0, 3)]
    assert redundancy(X, y, 1, 3) == redundancy(X, y, 3, 1) == "total"
    assert is_redundant_to(X, y, 1, [3])
    assert not is_redundant_to(X, y, 1, [0])
    assert not is_redundant_to(X, y, 0, [1, 3])  # strongly relevant


def test_example_5_1() -> None:
    """X1 and X2 are strongly relevant, X3 weakly: it is useless once both are known."""
    found = relevance(*noisy_xor(0.8))
    assert found.strong.tolist() == [True, True, False]
    assert found.weak.tolist() == [False, False, True]
    assert found.degree.tolist() == [1, 1, 0]


def test_digits() -> None:
    """The last column of Table 5.1 is p times smaller than the importance of the last level."""
    y = np.arange(10)
    by_degree = asymptotic_importances(DIGITS, y, by_degree=True)
    last = last_level_importances(DIGITS, y)
    np.testing.assert_allclose(last, 7 * by_degree[:, -1], atol=1e-12)
    found = relevance(DIGITS, y)
    assert found.strong.tolist() == [True] * 5 + [False] * 2
    assert markov_boundaries(DIGITS, y) == [(0, 1, 2, 3, 4)]


@given(table=tables())
@settings(max_examples=40)
def test_redundancy(table: Table) -> None:
    """Definitions 2.13 to 2.16, Property 2.3, and the symmetry of equation 2.30."""
    X, y = table
    found = relevance(X, y)
    for i, j in ((0, 1), (2, 3)):
        others = [m for m in range(4) if m not in (i, j)]
        sets = [B for k in range(3) for B in combinations(others, k)]
        told = {B: (conditional(X, y, i, B), conditional(X, y, i, (*B, j))) for B in sets}
        left = [(alone, beside) for alone, beside in told.values() if beside > 1e-9]
        partial = all(alone > beside + 1e-9 for alone, beside in left)
        kind = redundancy(X, y, i, j)
        assert kind == ("total" if not left else "partial" if partial else "none")
        if kind == "partial":
            assert found.relevant[[i, j]].all()
        for B in sets:
            degree = redundancy_degree(X, y, i, j, B)
            assert degree == pytest.approx(told[B][0] - told[B][1], abs=1e-9)
            assert degree == pytest.approx(redundancy_degree(X, y, j, i, B), abs=1e-9)


def test_total_redundancy_of_a_copy() -> None:
    """2.16 implies 2.13, and the degree is maximal; a xor has the degree -H(Y)."""
    X, y = np.column_stack([CUBE, CUBE[:, 0]]), CUBE[:, 0] | CUBE[:, 1]
    assert redundancy(X, y, 0, 3) == "total"
    whole = conditional_information(X, y, 0, (1,))
    assert redundancy_degree(X, y, 0, 3, (1,)) == pytest.approx(whole)
    assert redundancy_degree(CUBE, CUBE[:, 0] ^ CUBE[:, 1], 0, 1) == pytest.approx(-1.0)
    assert total_correlation(X) == pytest.approx(1.0)
    assert total_correlation(CUBE) == pytest.approx(0.0, abs=1e-12)


def test_wrong_arguments() -> None:
    with pytest.raises(InputError, match="there is no feature 3: the table has 3"):
        conditional_information(CUBE, CUBE[:, 0], 3)
    with pytest.raises(InputError, match="must differ"):
        redundancy_degree(CUBE, CUBE[:, 0], 1, 1)
    with pytest.raises(InputError, match="from 0 on, in bits"):
        relevance(CUBE, CUBE[:, 0], level=-1.0)
    with pytest.raises(InputError, match="at most 20 features, not 21"):
        relevance(np.zeros((2, 21)), [0, 1])
