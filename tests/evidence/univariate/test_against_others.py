"""Univariate tests against scipy and against every permutation of few samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from srs.evidence.univariate.quadratic import variance_of
from srs.evidence.univariate.target import UnivariateTest, normal_scores
from tests.reference import univariate_twin as twin

SMALLEST = np.finfo(np.float64).tiny


def run(test: UnivariateTest, column: np.ndarray, unordered: bool = False) -> tuple[float, float]:
    """p and effect of one column, which stands in a tile of its own."""
    tile = np.full((len(column), 64), 255, np.uint8)
    tile[:, 3] = column
    p, effects = test.run_tile(tile, np.full(64, unordered))
    assert (np.delete(p, 3) == 1).all(), "what is missing says nothing"
    return float(p[3]), float(effects[3])


def of_classes(y: np.ndarray, strata: np.ndarray | None = None) -> UnivariateTest:
    return UnivariateTest.of_classes(y, int(y.max()) + 1, np.arange(len(y)), strata)


@settings(max_examples=60)
@given(st.data())
def test_rank_sums_of_few_samples_are_exact(data):
    """Ties, missing values and strata: every choice of cases is counted."""
    n = data.draw(st.integers(4, 12))
    column = np.array(data.draw(st.lists(st.sampled_from([0, 1, 2, 255]), min_size=n, max_size=n)))
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    strata = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    y[:2] = 0, 1
    p, _ = run(of_classes(y, strata), column)
    slow = twin.rank_sum_p(column, y == 1, strata)
    grid = np.prod(np.sort(np.unique(column[column != 255], return_counts=True)[1])[:-1] + 1)
    if grid <= 64:
        assert p == pytest.approx(slow, rel=1e-9)
    else:
        assert p == pytest.approx(slow, rel=0.35)


@pytest.mark.parametrize(("n", "n_cases"), [(30, 15), (30, 5), (60, 12), (100, 5)])
def test_the_saddlepoint_is_near_exact_rank_sums(n, n_cases):
    """Distinct values: from 1 down to the farthest score, at most 5 % off above 1e-6."""
    rng = np.random.default_rng(n_cases)
    test = of_classes((np.arange(n) < n_cases).astype(int))
    for shift in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 8.0):
        column = np.empty(n, np.uint8)
        column[np.argsort(rng.normal(size=n) + shift * (np.arange(n) < n_cases))] = np.arange(n)
        case, other = column[:n_cases].astype(float), column[n_cases:].astype(float)
        exact = stats.mannwhitneyu(case, other, method="exact")
        p, effect = run(test, column)
        assert p == pytest.approx(exact.pvalue, rel=0.06 if exact.pvalue > 1e-6 else 0.2)
        assert effect == pytest.approx(2 * exact.statistic / (n_cases * (n - n_cases)) - 1)


@pytest.mark.parametrize(("n", "carriers", "hits", "n_cases"), [
    (1000, 5, 3, 200), (1000, 5, 5, 200), (1000, 40, 22, 200), (400, 100, 70, 100),
])  # fmt: skip
def test_two_levels_are_fishers_test(n, carriers, hits, n_cases):
    """By distance from the expectation; in these tables the two-sided rules agree."""
    y = (np.arange(n) < n_cases).astype(int)
    column = np.zeros(n, np.uint8)
    column[:hits] = 1
    column[n_cases : n_cases + carriers - hits] = 1
    table = [[hits, carriers - hits], [n_cases - hits, n - n_cases - carriers + hits]]
    tail = stats.hypergeom(n, carriers, n_cases)
    expected = carriers * n_cases / n
    k = np.arange(carriers + 1)
    far = np.abs(k - expected) >= abs(hits - expected) - 1e-9
    p, effect = run(of_classes(y), column)
    assert p == pytest.approx(tail.pmf(k)[far].sum(), rel=1e-6)
    assert p == pytest.approx(stats.fisher_exact(table).pvalue, rel=0.05)
    assert effect > 0


def test_far_tails_stay_above_zero():
    y = np.repeat([0, 1], 1500)
    column = np.repeat([0, 250], 1500)
    tests = (of_classes(y), UnivariateTest.of_numbers(y * 5.0, np.arange(3000)))
    for test in tests:
        for unordered in (False, True):
            p, _ = run(test, column, unordered)
            assert SMALLEST <= p < 1e-200


def test_bulk_is_that_of_scipy():
    rng = np.random.default_rng(0)
    n = 400
    codes = rng.integers(0, 30, (n, 64)).astype(np.uint8)
    codes[rng.random((n, 64)) < 0.1] = 255
    two, four = rng.integers(0, 2, n), rng.integers(0, 4, n)
    values = rng.exponential(size=n)
    scores = normal_scores(values, np.zeros(n, int))
    ordered, unordered = np.zeros(64, bool), np.ones(64, bool)
    few = (codes % 5).astype(np.uint8)  # 255 is one of the levels
    p_two, _ = of_classes(two).run_tile(codes, ordered)
    p_four, effects = of_classes(four).run_tile(codes, ordered)
    p_table, _ = of_classes(four).run_tile(few, unordered)
    numbers = UnivariateTest.of_numbers(values, np.arange(n))
    p_number, correlations = numbers.run_tile(codes, ordered)
    p_between, _ = numbers.run_tile(few, unordered)
    assert (effects == 0).all()
    for j in range(64):
        known = codes[:, j] != 255
        x = stats.rankdata(codes[known, j])
        own = stats.mannwhitneyu(x[two[known] == 1], x[two[known] == 0], method="asymptotic")
        assert p_two[j] == pytest.approx(own.pvalue, rel=0.02, abs=1e-3)
        own = stats.kruskal(*(x[four[known] == c] for c in range(4)))
        assert p_four[j] == pytest.approx(own.pvalue, rel=0.05, abs=2e-3)
        table = [[((few[:, j] == k) & (four == c)).sum() for c in range(4)] for k in range(5)]
        own = stats.chi2_contingency(np.array(table))
        assert p_table[j] == pytest.approx(own.pvalue, rel=0.05, abs=6e-3)
        own = stats.pearsonr(x, scores[known])
        assert correlations[j] == pytest.approx(own.statistic, abs=1e-5)
        assert p_number[j] == pytest.approx(own.pvalue, rel=0.02, abs=1e-3)
        own = stats.f_oneway(*(scores[few[:, j] == k] for k in range(5)))
        assert p_between[j] == pytest.approx(own.pvalue, rel=0.02, abs=2e-3)


def test_scores_of_strata_are_those_of_the_twin():
    rng = np.random.default_rng(1)
    n = 300
    strata, values = rng.integers(0, 4, n), rng.normal(size=n)
    column = rng.integers(0, 9, n)
    column[rng.random(n) < 0.2] = 255
    scores = normal_scores(values + 5.0 * strata, strata)
    p, effect = run(UnivariateTest.of_numbers(values + 5.0 * strata, np.arange(n), strata), column)
    z = twin.score_z(column, scores, strata)
    assert p == pytest.approx(2 * stats.norm.sf(abs(z)), rel=0.02, abs=1e-3)
    assert np.sign(effect) == np.sign(z)
    constant_shift = run(UnivariateTest.of_numbers(values, np.arange(n), strata), column)
    assert constant_shift == pytest.approx((p, effect), rel=1e-6)


@pytest.mark.parametrize("labels", [[0, 0, 0, 1, 1, 2, 2], [0, 1, 1, 1, 1, 1, 1]])
def test_moments_are_those_of_all_permutations(labels):
    a = twin.projection(np.array(labels))
    x = np.array([1.0, 2.0, 2.0, 9.0, 0.0, 4.0, 3.0])
    x -= x.mean()
    for b in (twin.projection(np.array([0, 1, 1, 0, 2, 2, 2])), np.outer(x, x) / (x @ x)):
        mean, variance = twin.permutation_moments(a, b)
        of_a, of_b = (
            (float(np.trace(m)), float(np.trace(m @ m)), float((np.diag(m) ** 2).sum()))
            for m in (a, b)
        )
        assert mean == pytest.approx(of_a[0] * of_b[0])
        assert variance_of(7.0, of_a, of_b) == pytest.approx(variance)
