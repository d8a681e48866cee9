"""Estimates against statsmodels and exact values, on real data."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import roc_auc_score

from srs.effects.estimate import Design
from srs.effects.models.linear import slope
from srs.effects.models.logistic import log_odds_ratio
from srs.effects.profile import cut, mean, share
from srs.effects.separation import area_under_curve, difference_of_means

CANCER, DIABETES = load_breast_cancer(), load_diabetes()


def design(x, covariates=None, **more):
    others = np.ones((len(x), 1))
    if covariates is not None:
        others = np.column_stack([others, covariates])
    return Design(np.asarray(x, float), others, **more)


def same(found, theirs, column=-1):
    """theirs: a fit of statsmodels whose last column is the feature."""
    low, high = theirs.conf_int()[column]
    wanted = [theirs.params[column], theirs.bse[column], low, high, theirs.pvalues[column]]
    told = [found.beta, found.standard_error, found.low, found.high, found.p_value]
    np.testing.assert_allclose(told, wanted, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("column", [0, 2, 3, 8])
@pytest.mark.parametrize("adjusted", [False, True])
def test_slopes_are_those_of_least_squares(column, adjusted):
    x, y = DIABETES.data[:, column], DIABETES.target
    others = DIABETES.data[:, [1, 4, 5]] if adjusted else None
    matrix = np.column_stack([np.ones(len(x)), *([others] if adjusted else []), x])
    same(slope(design(x, others), y), sm.OLS(y, matrix).fit())


@pytest.mark.parametrize("column", [1, 4, 9, 14])
@pytest.mark.parametrize("adjusted", [False, True])
def test_odds_ratios_are_those_of_logistic_regression(column, adjusted):
    x, y = CANCER.data[:, column], CANCER.target == 0
    others = CANCER.data[:, [11, 18]] if adjusted else None
    matrix = np.column_stack([np.ones(len(x)), *([others] if adjusted else []), x])
    theirs = sm.Logit(y.astype(float), matrix).fit(disp=0, maxiter=100, tol=1e-12)
    same(log_odds_ratio(design(x, others), y), theirs)


def test_weights_and_subjects_get_robust_variances():
    x, y = DIABETES.data[:, 2], DIABETES.target
    matrix = np.column_stack([np.ones(len(x)), x])
    weights = np.random.default_rng(1).uniform(0.5, 2, len(x))
    weights /= weights.mean()
    theirs = sm.WLS(y, matrix, weights=weights).fit(cov_type="HC1", use_t=True)
    same(slope(design(x, weights=weights), y), theirs)
    subjects = np.arange(len(x)) // 3
    clustered = {"cov_type": "cluster", "cov_kwds": {"groups": subjects}}
    theirs = sm.OLS(y, matrix).fit(use_t=True, **clustered)
    same(slope(design(x, clusters=subjects), y), theirs)
    z, sick = CANCER.data[:, 1], CANCER.target == 0
    groups = np.arange(len(z)) // 4
    theirs = sm.Logit(sick.astype(float), np.column_stack([np.ones(len(z)), z])).fit(
        disp=0, tol=1e-12, cov_type="cluster", cov_kwds={"groups": groups}
    )
    same(log_odds_ratio(design(z, clusters=groups), sick), theirs)


@pytest.mark.parametrize("table", [(0, 12, 9, 4), (15, 0, 3, 20), (7, 0, 0, 8), (1, 30, 0, 30)])
def test_separated_classes_have_finite_estimates(table):
    """Of a table of two by two, Firth's estimate is that with one half added to each cell."""
    a, b, c, d = table  # exposed: of class 1, of class 0; the others
    x = np.repeat([1.0, 1.0, 0.0, 0.0], table)
    y = np.repeat([True, False, True, False], table)
    found = log_odds_ratio(design(x), y)
    wanted = np.log((a + 0.5) * (d + 0.5) / ((b + 0.5) * (c + 0.5)))
    assert found.beta == pytest.approx(wanted, abs=1e-4)
    assert "Firth" in found.note
    assert np.isfinite([found.low, found.high]).all()
    assert found.low < found.beta < found.high
    assert 0 < found.p_value <= 1
    _, p_exact = stats.fisher_exact([[a, b], [c, d]])
    assert (found.p_value < 0.05) == (p_exact < 0.05)


def test_separated_numbers_with_covariates():
    x = np.arange(40.0)
    other = np.sin(x)
    found = log_odds_ratio(design(x, other[:, None]), x > 17)
    assert 0 < found.low < found.beta < found.high < np.inf


def test_nothing_to_estimate_is_said():
    y = np.arange(30) % 2 == 0
    constant = design(np.full(30, 3.0))
    for found in (log_odds_ratio(constant, y), slope(constant, np.arange(30.0))):
        assert np.isnan(found.beta)
        assert "constant" in found.note
    x = np.arange(30.0)
    assert "covariates" in slope(design(x, (2 * x + 1)[:, None]), x**2).note
    assert "both classes" in log_odds_ratio(design(x), np.zeros(30, bool)).note
    assert "exact function" in slope(design(x), 2 * x).note
    assert "not enough" in slope(design(x[:2]), x[:2]).note


def test_area_under_the_curve_covers_the_truth(global_random_seed):
    """Normal groups one standard deviation apart: the area is known, and 95 of 100 intervals
    cover it."""
    rng = np.random.default_rng(global_random_seed)
    truth = stats.norm.cdf(1 / np.sqrt(2))
    y = np.arange(120) % 3 == 0
    covered = 0
    for _ in range(400):
        x = rng.normal(size=120) + y
        found = area_under_curve(x, y)
        covered += found.low <= truth <= found.high
    assert stats.binomtest(covered, 400, 0.95).pvalue > 0.001
    assert found.value == pytest.approx(roc_auc_score(y, x))


def test_areas_at_the_ends():
    y = np.arange(10) > 4
    perfect = area_under_curve(np.arange(10.0), y)
    assert (perfect.value, perfect.high) == (1.0, 1.0)
    assert 0.5 < perfect.low < 1
    turned = area_under_curve(-np.arange(10.0), y)
    assert (turned.value, turned.low) == (0.0, 0.0)
    assert 0 < turned.high < 0.5
    assert area_under_curve(np.zeros(10), y).value == 0.5
    one = area_under_curve(np.arange(10.0), np.arange(10) == 9)  # a class of one sample
    assert (one.value, one.low, one.high) == (1.0, 0.0, 1.0)


def test_differences_of_means():
    x, y = CANCER.data[:, 0], CANCER.target == 0
    units, deviations = difference_of_means(x, y)
    theirs = sm.stats.CompareMeans.from_data(x[y], x[~y]).tconfint_diff(usevar="unequal")
    np.testing.assert_allclose([units.low, units.high], theirs)
    pooled = np.sqrt(
        ((y.sum() - 1) * x[y].var(ddof=1) + ((~y).sum() - 1) * x[~y].var(ddof=1)) / (len(x) - 2)
    )
    assert deviations.value == pytest.approx(units.value / pooled, rel=2e-3)
    assert deviations.low < deviations.value < deviations.high


def test_profiles():
    x = np.array([0.0, 0, 1, 1, 1, 2, np.nan])
    assert [(one.name, one.n) for one in cut(x)] == [("0", 2), ("1", 3), ("2", 1)]
    assert [one.name for one in cut(x, ("red", "green", "blue"))] == ["red", "green", "blue"]
    rng = np.random.default_rng(0)
    fifths = cut(rng.normal(size=200))
    assert [one.n for one in fifths] == [40] * 5
    assert np.sum([one.samples for one in fifths], axis=0).max() == 1
    mostly = cut(np.where(np.arange(100) < 90, 0.0, np.arange(100)))  # ties fill whole fifths
    assert sum(one.n for one in mostly) == 100
    ends = share(np.arange(50) < 7)
    theirs = sm.stats.proportion_confint(7, 50, method="wilson")
    np.testing.assert_allclose((ends.low, ends.high), theirs)
    values = rng.normal(size=30)
    theirs = stats.t.interval(0.95, 29, values.mean(), stats.sem(values))
    np.testing.assert_allclose((mean(values).low, mean(values).high), theirs)
    assert np.isnan(mean(values[:1]).low)
