"""Exact context-dependent importances: published tables, the paper's theorems, errors."""

import itertools
import json
from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.explain.data import primary_tumor
from srs.errors import InputError
from srs.explain.analyses import context
from srs.theory import asymptotic_context, asymptotic_importances
from tests.explain.data import (
    context_example_1,
    context_problem_1,
    context_problem_2,
    needs_data,
    tables,
)
from tests.theory.published import TABLE_6_E_1

ROWS = {
    "Imp": lambda r: r.imp,
    "Imp_given_0": lambda r: r.given[0],
    "Imp_given_1": lambda r: r.given[1],
    "Imp_abs_0": lambda r: r.absolute[0],
    "Imp_abs_1": lambda r: r.absolute[1],
    "Imp_s_0": lambda r: r.signed[0],
    "Imp_s_1": lambda r: r.signed[1],
    "Imp_Xc": lambda r: r.overall,
}


@pytest.mark.parametrize("number", [1, 2])
def test_published_tables(number: int) -> None:
    """Tables 2 and 3 to the printed digits."""
    problem = (context_problem_1, context_problem_2)[number - 1]()
    printed = tables()[f"context_problem_{number}"]
    found = asymptotic_context(*problem, empty="zero")
    missing = set(ROWS) - set(printed)
    assert missing == ({"Imp_Xc"} if number == 2 else set())
    for name in set(ROWS) - missing:
        np.testing.assert_allclose(ROWS[name](found), printed[name], atol=5.1e-5, err_msg=name)


@needs_data
def test_table_6_e_1() -> None:
    """All 112 numbers of the thesis on primary tumor data; empty nodes are left out there."""
    frame = primary_tumor()
    found = asymptotic_context(frame.drop(columns=["class", "sex"]), frame["class"], frame["sex"])
    assert found.contexts == ("female", "male")
    ours = np.vstack([found.imp, found.given, found.absolute, found.signed]).T
    assert found.names == tuple(TABLE_6_E_1)
    np.testing.assert_allclose(ours, list(TABLE_6_E_1.values()), atol=6e-5)


def test_nodes_that_a_context_does_not_reach() -> None:
    """Y = X1 always, and X2 is never 1 in context 0: X1 acts alike in both contexts."""
    rows = [[a, b] for a in (0, 1) for b in (0, 1)]
    X = np.array([[0, 0], [1, 0], *rows])
    c, w = np.array([0, 0, 1, 1, 1, 1]), [2, 2, 1, 1, 1, 1]
    found = asymptotic_context(X, X[:, 0], c, w)
    assert found.absolute[:, 0].max() < 1e-12
    assert [row[0] for row in found.labels] == ["independent", "independent"]
    other = asymptotic_context(X, X[:, 0], c, w, empty="zero")
    assert other.absolute[0, 0] == pytest.approx(0.125)
    assert other.labels[0][0] == "redundant"
    np.testing.assert_allclose(other.reached, np.tile(other.imp, (2, 1)), atol=1e-12)
    np.testing.assert_allclose(found.table["shared"], other.table["shared"], atol=1e-12)


def test_words_of_example_1() -> None:
    """X1 cannot be characterised globally, and X2 is complementary (Example 2)."""
    X, y, c = context_example_1()
    found = asymptotic_context(X, y, c)
    assert found.labels == [["dependent", "complementary"]] * 2
    np.testing.assert_allclose(found.signed[:, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(found.absolute[:, 0], 0.25, atol=1e-12)


def test_words_of_problem_1() -> None:
    assert asymptotic_context(*context_problem_1()).labels == [
        ["independent", "complementary", "irrelevant"],
        ["independent", "irrelevant", "complementary"],
    ]


def test_the_table_has_the_columns_of_the_analysis() -> None:
    """One row a feature and context, named as what `srs.explain.analyses.context` returns."""
    X, y, c = context_problem_1()
    place = np.where(c, "there", "here")
    exact = asymptotic_context(pd.DataFrame(X, columns=["a", "b", "c"]), y, place)
    finite = context(X, y, context=place, n_trees=5, n_permutations=1)
    assert set(exact.table.column_names) <= set(finite.table.column_names)
    assert exact.table["part"].to_pylist() == ["here"] * 3 + ["there"] * 3
    rows = json.loads(json.dumps(exact.to_json(), allow_nan=False))["rows"]
    assert [row["feature"] for row in rows] == ["a", "b", "c"] * 2
    assert [row["value"] for row in rows] == exact.absolute.ravel().tolist()
    assert [row["label"] for row in rows] == list(itertools.chain(*exact.labels))
    assert asymptotic_context(X, y, c).names == ("f0", "f1", "f2")


Draw = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@st.composite
def distributions(draw: st.DrawFn) -> Draw:
    """Up to nine outcomes of two features, a target and a context, with whole weights."""
    n = draw(st.integers(2, 9))
    row = st.tuples(*[st.integers(0, 1)] * 2, st.integers(0, 2), st.integers(0, 1))
    rows = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    rows[0, 3], rows[1, 3] = 0, 1
    w = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), float)
    return rows[:, :2], rows[:, 2], rows[:, 3], w


@st.composite
def symmetric(draw: st.DrawFn) -> Draw:
    """All outcomes of two features and a context; y is a random function of some of them."""
    rows = np.array(list(itertools.product((0, 1), repeat=3)))
    uses = np.array(draw(st.tuples(*[st.booleans()] * 3)))
    levels = draw(st.lists(st.integers(0, 2), min_size=8, max_size=8))
    y = np.array([levels[int((row * uses) @ [4, 2, 1])] for row in rows])
    return rows[:, :2], y, rows[:, 2], np.ones(8)


both = st.one_of(distributions(), symmetric())


def entropy(y: np.ndarray, w: np.ndarray) -> float:
    total = w.sum()
    return -sum((s := w[y == v].sum() / total) * log2(s) for v in np.unique(y))


def information(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    inside = sum(w[x == v].sum() / w.sum() * entropy(y[x == v], w[x == v]) for v in np.unique(x))
    return entropy(y, w) - inside


def conditionings(X: np.ndarray, m: int) -> list[np.ndarray]:
    """Samples with B = b, for every subset B of the other features and every value b."""
    others = [j for j in range(X.shape[1]) if j != m]
    found = []
    for size in range(len(others) + 1):
        for B in itertools.combinations(others, size):
            keys = [tuple(row) for row in X[:, B]]
            found += [np.array([k == key for k in keys]) for key in set(keys)]
    return found


def differences(data: Draw, m: int, context: int) -> list[float]:
    """I(Y; Xm | b) - I(Y; Xm | b, xc) wherever the event has samples (Definition 1)."""
    X, y, c, w = data
    found = []
    for rows in conditionings(X, m):
        inside = rows & (c == context)
        if inside.any():
            found.append(
                information(X[rows, m], y[rows], w[rows])
                - information(X[inside, m], y[inside], w[inside])
            )
    return found


def reached(data: Draw) -> bool:
    """Whether every context reaches every conditioning: what Theorem 1 takes for granted."""
    X, _, c, _ = data
    return all((c[rows] == k).any() for m in (0, 1) for rows in conditionings(X, m) for k in (0, 1))


@given(both)
@settings(max_examples=150)
def test_theorem_1(data: Draw) -> None:
    """The context is irrelevant iff all features are context-independent and I(Y; Xc) = 0."""
    assume(reached(data))
    X, y, c, w = data
    whole = asymptotic_importances(np.column_stack([X, c]), y, w)
    independent = all(
        abs(d) < 1e-9 for m in (0, 1) for k in (0, 1) for d in differences(data, m, k)
    )
    assert (whole[2] < 1e-9) == (independent and information(c, y, w) < 1e-9)


@given(both)
@settings(max_examples=150)
def test_theorem_2(data: Draw) -> None:
    """A feature is context-independent iff Imp^|xc| = 0 in all contexts."""
    found = asymptotic_context(*data)
    for m in (0, 1):
        independent = all(abs(d) < 1e-9 for k in (0, 1) for d in differences(data, m, k))
        assert (found.absolute[:, m].max() < 1e-9) == independent


# Words of a feature in a context, and whether some difference is below 0 and some above.
SIGNS = {
    "complementary": (True, False),
    "redundant": (False, True),
    "irrelevant": (False, True),
    "dependent": (True, True),
    "independent": (False, False),
}


def words_by_signs(data: Draw) -> set[str]:
    """The words of all features in all contexts, compared with the signs of their differences."""
    found = asymptotic_context(*data)
    for m, k in itertools.product((0, 1), repeat=2):
        signs = differences(data, m, k)
        assert (min(signs) < -1e-9, max(signs) > 1e-9) == SIGNS[found.labels[k][m]]
    return {word for row in found.labels for word in row}


@given(both)
@settings(max_examples=150)
def test_theorem_3(data: Draw) -> None:
    """Where |Imp^xc| = Imp^|xc| the sign of all differences is that of Imp^xc."""
    words_by_signs(data)


def test_theorem_3_for_every_word() -> None:
    """Functions of two features and a context, in the order of their values."""
    rows = np.array(list(itertools.product((0, 1), repeat=3)))
    words: set[str] = set()
    for levels in ("00000001", "00000110", "00000111", "00000000"):
        y = np.array(list(levels), int)
        words |= words_by_signs((rows[:, :2], y, rows[:, 2], np.ones(8)))
    assert words == set(SIGNS)


@given(both)
@settings(max_examples=60)
def test_laws(data: Draw) -> None:
    X, y, c, w = data
    found = asymptotic_context(*data)
    np.testing.assert_allclose(found.imp, asymptotic_importances(X, y, w), atol=1e-9)
    for k in (0, 1):
        inside = c == k
        alone = asymptotic_importances(X[inside], y[inside], w[inside])
        np.testing.assert_allclose(found.given[k], alone, atol=1e-9)
    assert (found.absolute >= np.abs(found.signed) - 1e-9).all()


def test_regression_of_two_classes_is_like_gini() -> None:
    """The variance of a target of 0 and 1 is half its Gini impurity: by hand for x = y."""
    X, c = np.array([[0], [1], [0], [1]]), np.array([0, 0, 1, 1])
    found = asymptotic_context(X, [0, 1, 0, 0], c, regression=True)
    np.testing.assert_allclose(found.imp, [3 / 16 - 1 / 8])
    np.testing.assert_allclose(found.given, [[0.25], [0.0]])


def test_errors() -> None:
    X, y, c = context_problem_1()
    with pytest.raises(InputError, match="only one value"):
        asymptotic_context(X, y, np.zeros(16))
    with pytest.raises(InputError, match="at most 22 features, not 30"):
        asymptotic_context(np.zeros((16, 30)), y, c)
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match=r"need .* GiB, more than 2 GiB: give fewer features"):
        asymptotic_context(rng.integers(0, 2, (500, 20)), *rng.integers(0, 2, (2, 500)))
    with pytest.raises(InputError, match="'drop'; it must be skip or zero"):
        asymptotic_context(X, y, c, empty="drop")
    with pytest.raises(InputError, match="one value for each of 16 samples"):
        asymptotic_context(X, y, c[:3])
    with pytest.raises(InputError, match="finite in every sample"):
        asymptotic_context(X, np.where(np.arange(16) == 3, np.nan, y), c, regression=True)
