"""Effects of all features at once, against one model a feature."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from srs.effects.estimate import Design
from srs.effects.models.linear import slope
from srs.effects.models.logistic import log_odds_ratio
from srs.effects.sweep import Sweep

N = 240


@pytest.fixture(scope="module")
def data():
    """64 columns: genotypes with missing values, of which the dosages 0, 0 or 1 do not occur;
    ranks; a constant one; unordered levels."""
    rng = np.random.default_rng(5)
    values = rng.binomial(2, rng.uniform(0.1, 0.9, 64), size=(N, 64)).astype(float)
    dosages = np.full(64, 7, np.uint8)
    values[:, 1], dosages[1] = rng.integers(1, 3, N), 6
    values[:, 2], dosages[2] = 2 * rng.integers(0, 2, N), 5
    values[rng.random((N, 64)) < 0.05] = np.nan
    values[:, 3:20], dosages[3:20] = rng.integers(0, 200, (N, 17)), 0
    values[:, 20], dosages[20] = 1.0, 2
    codes = np.full((N, 64), 255, np.uint8)
    for j in range(64):
        known = ~np.isnan(values[:, j])
        codes[known, j] = np.unique(values[known, j], return_inverse=True)[1]
    skipped = np.arange(64) == 21
    covariates = rng.normal(size=(N, 2))
    score = 0.7 * np.nan_to_num(values[:, 0]) - 0.5 * values[:, 1].clip(0) + 0.6 * covariates[:, 0]
    score = np.nan_to_num(score) + rng.logistic(size=N)
    return values, codes[None], dosages, skipped, covariates, score


def column(values, dosages, j):
    """What the pass takes for the values of a column."""
    known = ~np.isnan(values[:, j])
    x = values[known, j]
    if not dosages[j]:
        x = stats.rankdata(x)
        x = (x - x.mean()) / x.std()
    return known, x


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_all_at_once_are_those_of_one_by_one(data, kind):
    values, tiles, dosages, skipped, _, score = data
    order = np.arange(N)[5:]  # the others are held out
    y = (score > np.median(score)).astype(np.int64)[order]
    classes = kind == "classes"
    none = np.empty(0)
    sweep = Sweep(order, y, none) if classes else Sweep(order, none, score[order])
    beta, error, z, frequency, n_known = sweep.run(tiles, dosages, skipped)
    assert np.isnan(beta[20:22]).all()
    assert np.isfinite(np.delete(beta, [20, 21])).all()
    for j in [*range(20), 30, 63]:
        known, x = column(values[order], dosages, j)
        assert n_known[j] == known.sum()
        if dosages[j]:
            assert frequency[j] == pytest.approx(x.mean() / 2)
        design = Design(x, np.ones((len(x), 1)))
        one = (
            log_odds_ratio(design, y[known] == 1) if classes else slope(design, score[order][known])
        )
        np.testing.assert_allclose([beta[j], error[j]], [one.beta, one.standard_error], rtol=2e-4)
        expected = np.corrcoef(x, (y if classes else score[order])[known])[0, 1]
        n = len(x) if classes else len(x) - 1
        np.testing.assert_allclose(z[j], expected * np.sqrt(n), rtol=2e-4)


def test_covariates_are_adjusted_for(data):
    values, tiles, dosages, skipped, covariates, score = data
    order = np.arange(N)
    others = np.column_stack([np.ones(N), covariates])
    none = np.empty(0)
    beta, error, *_ = Sweep(order, none, score, others=others).run(tiles, dosages, skipped)
    y = (score > 0.5).astype(np.int64)
    odds, odds_error, odds_z, *rest = Sweep(order, y, none, others=others).run(
        tiles, dosages, skipped
    )
    known = ~np.isnan(values)
    np.testing.assert_array_equal(rest[1], known.sum(axis=0))
    assert rest[0][5] != rest[0][5]  # no dosages
    np.testing.assert_allclose(rest[0][:3], np.nanmean(values[:, :3], axis=0) / 2, rtol=1e-5)
    complete = list(range(3, 20))  # missing values count as the mean, so compare these
    for j in complete:
        x = column(values, dosages, j)[1]
        theirs = sm.OLS(score, np.column_stack([others, x])).fit()
        np.testing.assert_allclose([beta[j], error[j]], [theirs.params[-1], theirs.bse[-1]], 1e-4)
        theirs = sm.Logit(y, np.column_stack([others, x])).fit(disp=0)
        assert odds[j] == pytest.approx(theirs.params[-1], abs=0.15 * theirs.bse[-1])
        assert odds_error[j] == pytest.approx(theirs.bse[-1], rel=0.1)
        assert odds_z[j] == pytest.approx(theirs.tvalues[-1], abs=0.1)


def test_subjects_widen_the_error(data):
    _, _, dosages, _, _, _ = data
    rng = np.random.default_rng(0)
    subjects = np.repeat(np.arange(24), 10)
    x = rng.binomial(2, 0.4, 24)[subjects]
    y = rng.normal(size=24)[subjects] + 0.1 * rng.normal(size=N)
    tiles = np.zeros((1, N, 64), np.uint8)
    tiles[0, :, 0] = x
    none, skipped = np.empty(0), np.zeros(64, bool)
    alone = Sweep(np.arange(N), none, y).run(tiles, dosages, skipped)[:, 0]
    together = Sweep(np.arange(N), none, y, clusters=subjects).run(tiles, dosages, skipped)[:, 0]
    assert together[0] == pytest.approx(alone[0], rel=1e-5)
    assert together[1] > 2 * alone[1]


def test_separated_classes_stay_finite():
    """Half a sample more at both ends."""
    tiles = np.zeros((1, 40, 64), np.uint8)
    tiles[0, 20:, 0] = 1
    tiles[0, 39, 1] = 1
    y = (np.arange(40) >= 20).astype(np.int64)
    found = Sweep(np.arange(40), y, np.empty(0)).run(
        tiles, np.full(64, 3, np.uint8), np.zeros(64, bool)
    )
    beta, error, z, frequency, _ = found[:, :2]
    assert frequency.tolist() == pytest.approx([0.25, 0.0125])
    assert beta[0] == pytest.approx(np.log(20.5**2 / 0.5**2), rel=1e-4)
    assert np.isfinite(error).all()
    assert z[0] == pytest.approx(np.sqrt(40), rel=1e-4)
    assert np.isnan(found[:3, 2:]).all()  # constant columns


def test_scores_keep_their_level(global_random_seed):
    """Without an effect the squares of z have the median of chi-squared: an inflation of 1."""
    rng = np.random.default_rng(global_random_seed)
    tiles = rng.binomial(2, 0.3, size=(40, 200, 64)).astype(np.uint8)
    dosages, skipped = np.full(40 * 64, 7, np.uint8), np.zeros(40 * 64, bool)
    none = np.empty(0)
    for sweep in (
        Sweep(np.arange(200), rng.integers(0, 2, 200), none),
        Sweep(np.arange(200), none, rng.exponential(size=200)),
    ):
        z = sweep.run(tiles, dosages, skipped)[2]
        inside = np.sum(z**2 < stats.chi2.ppf(0.5, 1))
        assert stats.binomtest(int(inside), len(z), 0.5).pvalue > 0.001
