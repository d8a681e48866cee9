"""Exact importances of K > 1, binary splits and limited depth: twins, propositions, the kernel."""

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from srs.errors import InputError
from srs.theory import (
    asymptotic_binary_importances,
    asymptotic_importances,
    randomised_importances,
    relevance,
)
from srs.trees import TreeSettings, TreeTarget, grow
from tests.theory.published import DIGITS, EXAMPLE_5_2
from tests.theory.twins import impurity

Data = tuple[np.ndarray, np.ndarray, np.ndarray]
KINDS = ("multiway", "ordered", "unordered", "one-against-all")


@st.composite
def distributions(draw: st.DrawFn, p: int = 3, levels: int = 3) -> Data:
    n = draw(st.integers(2, 7))
    row = st.tuples(*[st.integers(0, levels - 1)] * p, st.integers(0, 1), st.integers(1, 4))
    rows = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    return rows[:, :p], rows[:, p], rows[:, p + 1].astype(float)


def wider_digits() -> tuple[np.ndarray, np.ndarray]:
    """The digits with both values of X1 parted into two, as for Figure 5.5."""
    X, y = np.repeat(DIGITS, 2, axis=0), np.repeat(np.arange(10), 2)
    X[:, 0] = 2 * X[:, 0] + np.tile([0, 1], 10)
    return X, y


def ways(codes: np.ndarray, rows: np.ndarray, kind: str) -> Iterator[list[np.ndarray]]:
    levels = np.unique(codes[rows])
    if kind == "multiway":
        yield [rows[codes[rows] == level] for level in levels]
        return
    if kind == "ordered":
        chosen = [np.arange(cut + 1) for cut in range(levels[0], levels[-1])]
    elif kind == "one-against-all":
        chosen = [np.array([level]) for level in levels]
    else:
        chosen = [np.array(some) for k in range(1, len(levels)) for some in combinations(levels, k)]
    for left in chosen:
        inside = np.isin(codes[rows], left)
        yield [rows[inside], rows[~inside]]


def enumerated(data: Data, kind: str, K: int, depth: int, best: bool = False) -> np.ndarray:
    """Grow every tree: every draw of K features, every split of each, every way to break a tie."""
    X, y, w = data

    def gain(rows: np.ndarray, parts: list[np.ndarray]) -> float:
        return impurity(y[rows], w[rows]) - sum(impurity(y[s], w[s]) for s in parts)

    def below(rows: np.ndarray, unused: frozenset[int], left: int) -> np.ndarray:
        mean = np.zeros(X.shape[1])
        usable = [m for m in sorted(unused) if kind == "multiway" or len(np.unique(X[rows, m])) > 1]
        if not left or not usable or impurity(y[rows], w[rows]) < 1e-12:
            return mean
        draws = list(combinations(usable, min(K, len(usable))))
        for draw in draws:
            offered = []
            for m in draw:
                of_feature = [(gain(rows, parts), m, parts) for parts in ways(X[:, m], rows, kind)]
                most = max(g for g, _, _ in of_feature)
                offered.append([s for s in of_feature if not best or s[0] > most - 1e-11])
            picks = list(product(*offered))
            for pick in picks:
                most = max(g for g, _, _ in pick)
                ties = [s for s in pick if s[0] > most - 1e-11]
                for g, m, parts in ties:
                    after = unused - {m} if kind == "multiway" else unused
                    split = sum(below(part, after, left - 1) for part in parts)
                    split[m] += g
                    mean += split / (len(draws) * len(picks) * len(ties))
        return mean

    everything = frozenset(range(X.shape[1]))
    return np.asarray(below(np.arange(len(y)), everything, depth) / w.sum())


@pytest.mark.parametrize("kind", KINDS)
@given(data=distributions(), K=st.integers(1, 3), depth=st.integers(1, 4), best=st.booleans())
@settings(max_examples=12, deadline=None)
def test_every_tree(kind: str, data: Data, K: int, depth: int, best: bool) -> None:
    found = randomised_importances(
        *data, splits=kind, max_features=K, max_depth=depth, best_split=best
    )
    np.testing.assert_allclose(found, enumerated(data, kind, K, depth, best), atol=1e-10)


@given(data=distributions(p=4))
@settings(max_examples=25, deadline=None)
def test_formulas(data: Data) -> None:
    """K = 1 is equation 5.2, binary trees of 5.7, and 5.10 (5.13): depth q adds q degrees up."""
    by_degree = asymptotic_importances(*data, by_degree=True)
    np.testing.assert_allclose(randomised_importances(*data), by_degree.sum(axis=1), atol=1e-10)
    ordered = randomised_importances(*data, splits="ordered")
    np.testing.assert_allclose(ordered, asymptotic_binary_importances(*data), atol=1e-10)
    for q in (1, 2, 3):
        found = randomised_importances(*data, max_depth=q)
        np.testing.assert_allclose(found, by_degree[:, :q].sum(axis=1), atol=1e-10)


@given(data=distributions(p=4, levels=2))
@settings(max_examples=20, deadline=None)
def test_proposition_5_14(data: Data) -> None:
    """Depth q is subspaces of q features, drawn at random and fully grown."""
    X, y, w = data
    for q in (1, 2, 3):
        mean = np.zeros(4)
        draws = list(combinations(range(4), q))
        for draw in draws:
            mean[list(draw)] += asymptotic_importances(X[:, draw], y, w) / len(draws)
        np.testing.assert_allclose(randomised_importances(*data, max_depth=q), mean, atol=1e-10)


@given(data=distributions(p=4, levels=2))
@settings(max_examples=40, deadline=None)
def test_guarantees(data: Data) -> None:
    """Propositions 5.12, 5.15, 5.17, 5.25 and Theorem 5.16, for every K and depth."""
    known = relevance(*data)
    r = int(known.relevant.sum())
    for K, q in product((1, 2, 4), (1, 2, 3, 4)):
        positive = randomised_importances(*data, max_features=K, max_depth=q) > 1e-12
        assert not (positive & ~known.relevant).any()
        shallow = known.degree < q
        if K == 1:
            assert (positive | ~known.relevant | ~shallow).all()  # 5.17
            if r <= q:
                assert (positive == known.relevant).all()  # 5.15
        if r <= q:
            assert (positive | ~known.strong).all()  # 5.16, and 5.12 for q = p


@given(data=distributions(p=3))
@settings(max_examples=15, deadline=None)
def test_binary_guarantees(data: Data) -> None:
    """Theorem 5.21 and Proposition 5.24: binary splits find the same features."""
    known = relevance(*data)
    for kind in KINDS[1:]:
        assert ((randomised_importances(*data, splits=kind) > 1e-12) == known.relevant).all()
        for K in (2, 3):
            positive = randomised_importances(*data, splits=kind, max_features=K) > 1e-12
            assert (positive | ~known.strong).all()


def test_proposition_5_18_needs_more_than_its_words() -> None:
    """A strongly relevant feature of a degree below q can be masked where r > q and K > 1.

    Y is X1 xor X2 where X3 is 0, and X4 where it is 1; the mask takes the depth that the xor needs.
    """
    rows = np.array(list(product((0, 1), repeat=4)))
    y = np.where(rows[:, 2] == 0, rows[:, 0] ^ rows[:, 1], rows[:, 3])
    known = relevance(rows, y)
    assert known.strong.all()
    assert known.degree[0] == 1
    deep = randomised_importances(rows, y, max_features=4, max_depth=4)
    assert (deep > 1e-12).all()  # r <= q: Theorem 5.16 holds
    shallow = randomised_importances(rows, y, max_features=4, max_depth=2)
    assert shallow[0] == pytest.approx(0.0, abs=1e-12)


def test_masking() -> None:
    """Section 5.5: K = 2 gives all to X1, nothing to its noisy copy; noise features dampen it."""
    X = np.array([[a, b] for a in (0, 1) for b in (0, 1)])
    w = np.where(X[:, 0] == X[:, 1], 9.0, 1.0)
    y = X[:, 0]
    assert randomised_importances(X, y, w, max_features=2).tolist() == pytest.approx([1.0, 0.0])
    wider = np.column_stack([np.tile(X, (2, 1)), np.repeat([0, 1], 4)])
    found = randomised_importances(wider, np.tile(y, 2), np.tile(w, 2), max_features=2)
    assert found[1] > 0.01
    assert found[2] == pytest.approx(0.0, abs=1e-12)


def test_equation_7_1_as_printed() -> None:
    """Without 1 / (p - k) the sum exceeds all that there is to know of the digits."""
    by_degree = asymptotic_importances(DIGITS, np.arange(10), by_degree=True)
    printed = (by_degree * (7 - np.arange(7))).cumsum(axis=1)
    right = by_degree.cumsum(axis=1)
    assert (printed - right).max() == pytest.approx(2.359, abs=5e-4)
    assert printed[:, -1].sum() > np.log2(10) + 5
    for q in (1, 4, 7):
        found = randomised_importances(DIGITS, np.arange(10), max_depth=q)
        np.testing.assert_allclose(found, right[:, q - 1], atol=1e-12)


def test_figure_5_5() -> None:
    """What the text says of the figure, on the exact values."""
    narrow, (wide, y) = (DIGITS, np.arange(10)), wider_digits()
    kinds = ("multiway", "unordered", "ordered")
    for K in (1, 7):
        two = {k: randomised_importances(*narrow, splits=k, max_features=K) for k in kinds}
        four = {k: randomised_importances(wide, y, splits=k, max_features=K) for k in kinds}
        for kind in kinds:
            np.testing.assert_allclose(two[kind], two["multiway"], atol=1e-12)
        np.testing.assert_allclose(four["multiway"], two["multiway"], atol=1e-12)
        assert four["unordered"][0] < four["ordered"][0] < four["multiway"][0] - 0.05
        assert four["unordered"][6] > four["ordered"][6] > four["multiway"][6] + 0.04
        assert np.abs(four["unordered"] - four["multiway"])[1:6].max() < 0.012
        best = randomised_importances(wide, y, splits="unordered", max_features=K, best_split=True)
        np.testing.assert_allclose(best, two["multiway"], atol=1e-12)
    many = randomised_importances(*narrow, max_features=7)
    assert many[0] < asymptotic_importances(*narrow)[0] - 0.1


def test_kernel_converges(global_random_seed: int) -> None:
    """The trees of the kernel, K = 1 and 7, unordered and ordered, come near the exact values."""
    X, y = wider_digits()
    block, target = np.ascontiguousarray(X, np.uint8), TreeTarget.of_classes(y, 10)
    for kind, K in product(("ordered", "unordered"), (1, 7)):
        flags = np.arange(7) == 0 if kind == "unordered" else np.zeros(7, bool)
        how = TreeSettings(max_features=K)
        keys = range(global_random_seed * 4000, global_random_seed * 4000 + 4000)
        found = np.array([grow(block, target, k, how, is_categorical=flags)[1].used for k in keys])
        exact = randomised_importances(X, y, splits=kind, max_features=K)
        error = found.std(axis=0, ddof=1) / np.sqrt(len(found)) + 1e-12
        assert (np.abs(found.mean(axis=0) - exact) / error).max() < 5


def test_wrong_arguments() -> None:
    with pytest.raises(InputError, match="splits must be one of multiway, ordered"):
        randomised_importances(*EXAMPLE_5_2, splits="binary")
    with pytest.raises(InputError, match="max_features must be a whole number from 1 on"):
        randomised_importances(*EXAMPLE_5_2, max_features=0)
    many = np.random.default_rng(0).integers(0, 3, (200, 14))
    with pytest.raises(InputError, match="use fewer features or levels"):
        randomised_importances(many, many[:, 0])
