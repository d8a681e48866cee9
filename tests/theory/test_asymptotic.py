"""Exact importances: published values, slow twins, laws that they obey, errors."""

from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from srs.errors import InputError
from srs.theory import asymptotic_binary_importances, asymptotic_importances
from tests.theory.published import (
    DIGITS,
    DIGITS_ALL_BY_DEGREE,
    DIGITS_BY_DEGREE,
    DIGITS_BY_FEATURE,
    EXAMPLE_5_2,
    noisy_xor,
    read_tables,
)
from tests.theory.twins import grown_binary, grown_multiway, impurity

Distribution = tuple[np.ndarray, np.ndarray, np.ndarray]
both_kinds = pytest.mark.parametrize(
    "importances_of", [asymptotic_importances, asymptotic_binary_importances]
)


def entropy(share: float) -> float:
    return -share * log2(share) - (1 - share) * log2(1 - share)


def test_digits_by_degree() -> None:
    """Table 5.1, to the printed digits."""
    found = asymptotic_importances(DIGITS, np.arange(10), by_degree=True)
    np.testing.assert_array_equal(found.round(3), DIGITS_BY_DEGREE)
    np.testing.assert_array_equal(found.sum(axis=1).round(3), DIGITS_BY_FEATURE)
    np.testing.assert_array_equal(found.sum(axis=0).round(3), DIGITS_ALL_BY_DEGREE)
    assert found.sum() == pytest.approx(log2(10))


def test_reference_tables() -> None:
    tables = read_tables()
    if tables is None:
        pytest.skip("no reference tables (set SRS_REFERENCE_DATA)")
    digits = tables["mdi_digits_per_degree"]
    np.testing.assert_array_equal(digits["segments_by_digit"], DIGITS)
    found = asymptotic_importances(DIGITS, np.arange(10), by_degree=True)
    np.testing.assert_array_equal(found.round(3), digits["rows_X1_to_X7_by_k"])
    np.testing.assert_array_equal(found.sum(axis=1).round(4), digits["sums"])
    assert (
        asymptotic_importances(*EXAMPLE_5_2).round(3).tolist()
        == (tables["mdi_example_5_2"]["multiway"])
    )


def test_example_5_1() -> None:
    """By hand: X3 earns 1 - h unless it comes last; h of X1, X2 is what X3 leaves.

    The thesis prints 0.296, 0.296, 0.408 for 0.8. Its own equation 5.2 gives 0.323, 0.323, 0.354
    there, and the printed numbers at 0.848; what it concludes from them holds at both.
    """
    for copied in (0.2, 0.8):
        h = entropy((1 - copied) / 2)
        by_hand = [1 / 6 + h / 3, 1 / 6 + h / 3, 2 / 3 * (1 - h)]
        np.testing.assert_allclose(asymptotic_importances(*noisy_xor(copied)), by_hand)
        assert (by_hand[2] > by_hand[0]) == (copied == 0.8)
    assert asymptotic_importances(*noisy_xor(0.8)).round(3).tolist() == [0.323, 0.323, 0.354]
    assert asymptotic_importances(*noisy_xor(0.848)).round(3).tolist() == [0.296, 0.296, 0.408]


def test_example_5_2() -> None:
    """The terms as the thesis writes them. It prints their sums as 0.375 and 0.541."""
    multiway = asymptotic_importances(*EXAMPLE_5_2)
    assert multiway.round(3).tolist() == [0.459, 0.459]
    binary = asymptotic_binary_importances(*EXAMPLE_5_2)
    all_of_y = entropy(1 / 3)
    upper_cut = all_of_y - 2 / 3  # X1 <= 1 leaves one bit in two thirds
    first = upper_cut / 4 + (2 / 3) / 8 + all_of_y / 4
    np.testing.assert_allclose(binary, [first, all_of_y / 2 + (2 / 3) / 8])
    np.testing.assert_allclose(binary, [0.375, 0.541], atol=2e-3)


@st.composite
def distributions(draw: st.DrawFn, p: int = 3, levels: int = 3) -> Distribution:
    """A few outcomes of up to p features and a target, with whole weights, some of them 0."""
    n, p = draw(st.integers(1, 6)), draw(st.integers(1, p))
    row = st.tuples(*[st.integers(0, levels - 1)] * p)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    w = np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), float)
    w[0] += 1
    return X, y, w


def contiguous(X: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Codes 0, 1, ... without gaps, as the levels of rows that count are numbered."""
    return np.stack([np.searchsorted(np.unique(c[w > 0]), c) for c in X.T], axis=1)


@given(distributions())
def test_multiway_twin(data: Distribution) -> None:
    np.testing.assert_allclose(asymptotic_importances(*data), grown_multiway(*data), atol=1e-12)


@given(distributions(p=2))
@settings(max_examples=50)
def test_binary_twin(data: Distribution) -> None:
    X, y, w = data
    twin = grown_binary(contiguous(X, w)[w > 0], y[w > 0], w[w > 0])
    np.testing.assert_allclose(asymptotic_binary_importances(*data), twin, atol=1e-12)


@given(distributions(levels=2))
def test_two_levels_leave_no_choice(data: Distribution) -> None:
    """With two levels a feature, binary trees are multiway trees."""
    np.testing.assert_allclose(
        asymptotic_binary_importances(*data), asymptotic_importances(*data), atol=1e-12
    )


@both_kinds
@given(data=distributions())
def test_importances_sum_to_the_information(importances_of, data: Distribution) -> None:
    """Theorem 5.4: they sum to I(X; Y) = H(Y) - H(Y | X), and none is negative."""
    X, y, w = data
    known = sum(impurity(y[s], w[s]) for s in ((x == X).all(axis=1) for x in np.unique(X, axis=0)))
    found = importances_of(X, y, w)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx((impurity(y, w) - known) / w.sum(), abs=1e-12)


@both_kinds
@given(data=distributions(), levels=st.integers(1, 3))
def test_irrelevant_features(importances_of, data: Distribution, levels: int) -> None:
    """A feature that is independent of all else has importance 0 and changes no other."""
    X, y, w = data
    coins = np.repeat(np.arange(levels), len(X))
    wider = np.column_stack([np.tile(X, (levels, 1)), coins])
    found = importances_of(wider, np.tile(y, levels), np.tile(w, levels))
    assert found[-1] == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(found[:-1], importances_of(X, y, w), atol=1e-12)


@both_kinds
@given(data=distributions(), seed=st.integers(0, 99))
def test_order_and_names_do_not_matter(importances_of, data: Distribution, seed: int) -> None:
    X, y, w = data
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    plain = importances_of(X, y, w)
    moved = importances_of(X[rows][:, columns], y[rows], 7 * w[rows])
    np.testing.assert_allclose(moved, plain[columns], atol=1e-12)
    renamed = importances_of(np.array(["low", "mid", "top"])[X], y * 10, w)
    np.testing.assert_allclose(renamed, plain, atol=1e-12)


@both_kinds
@given(data=distributions(p=2))
def test_copies_share(importances_of, data: Distribution) -> None:
    """A feature and its copy are equally important, and alone in a table they halve the sum."""
    X, y, w = data
    found = importances_of(np.column_stack([X, X[:, 0]]), y, w)
    assert found[0] == pytest.approx(found[-1], abs=1e-12)
    alone = importances_of(X[:, :1], y, w)
    two = importances_of(X[:, [0, 0]], y, w)
    np.testing.assert_allclose(two, np.repeat(alone / 2, 2), atol=1e-12)


@given(distributions())
def test_weights_are_repeats(data: Distribution) -> None:
    X, y, w = data
    repeats = np.repeat(np.arange(len(X)), w.astype(int))
    for importances_of in (asymptotic_importances, asymptotic_binary_importances):
        np.testing.assert_allclose(
            importances_of(X[repeats], y[repeats]), importances_of(X, y, w), atol=1e-12
        )


def test_degrees_of_a_parity() -> None:
    """A clique of three informs only at the last level of the tree."""
    X = np.array([[i >> b & 1 for b in range(3)] for i in range(8)])
    found = asymptotic_importances(X, X.sum(axis=1) % 2, by_degree=True)
    np.testing.assert_allclose(found, [[0, 0, 1 / 3]] * 3, atol=1e-15)


def test_ten_features(global_random_seed: int) -> None:
    rng = np.random.default_rng(global_random_seed)
    X = rng.integers(0, 3, (500, 10))
    y = X[:, 0] * X[:, 1] > X[:, 2]
    found = asymptotic_importances(X, y)
    assert set(np.argsort(found)[-3:]) == {0, 1, 2}
    assert found.sum() == pytest.approx(impurity(y, np.full(500, 1 / 500)))


def test_deep_binary_trees() -> None:
    """Guards the queue of nodes: one feature of many levels, and trees as deep."""
    X = np.arange(150)[:, None]
    found = asymptotic_binary_importances(X, X[:, 0] >= 149)
    assert found.tolist() == pytest.approx([entropy(1 / 150)])


WRONG = {
    "one row": ([1, 0], [0, 1], None, "table of samples by features"),
    "no features": (np.empty((3, 0)), [0, 1, 1], None, "table of samples by features"),
    "target": ([[1], [0]], [0, 1, 1], None, "one value for each of 2 samples"),
    "weights": ([[1], [0]], [0, 1], [1.0], "one number for each of 2 samples"),
    "negative": ([[1], [0]], [0, 1], [1.0, -1.0], "finite, not negative, and not all zero"),
    "all zero": ([[1], [0]], [0, 1], [0.0, 0.0], "finite, not negative, and not all zero"),
    "mixed": (np.array([["a"], [1]], object), [0, 1], None, "must be sortable"),
}


@both_kinds
@pytest.mark.parametrize(("X", "y", "weights", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_data(importances_of, X, y, weights, message: str) -> None:
    with pytest.raises(InputError, match=message):
        importances_of(X, y, weights)


def test_too_large(global_random_seed: int) -> None:
    X = np.random.default_rng(global_random_seed).integers(0, 2, (50, 21))
    with pytest.raises(InputError, match="at most 20 features, not 21"):
        asymptotic_importances(X, X[:, 0])
    with pytest.raises(InputError, match="use fewer features or levels"):
        asymptotic_binary_importances(X, X[:, 0])
