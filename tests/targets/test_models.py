"""Null models against statsmodels, on data that statsmodels ships."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.miscmodels.ordinal_model import OrderedModel

from srs.targets.models import counts, cox, logistic, multinomial, ordered
from srs.targets.models.linear import fit_linear
from srs.targets.models.null import NullDesign, NullModel


def _design(columns: np.ndarray) -> NullDesign:
    n = len(columns)
    return NullDesign(np.column_stack([np.ones(n), columns]), np.arange(n), np.ones(n))


def _standard(columns: np.ndarray) -> np.ndarray:
    columns = np.asarray(columns, np.float64)
    return (columns - columns.mean(axis=0)) / columns.std(axis=0)


def _score_test(null: NullModel, x: np.ndarray) -> float:
    """The squared score over its variance."""
    a = null.cross.T @ x
    return float(x @ null.residuals) ** 2 / float(null.information @ x**2 - a @ null.bread @ a)


@pytest.fixture(scope="module")
def anes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """American elections 1996: party in three levels, covariates, and a further column."""
    data = sm.datasets.anes96.load().data
    party = np.digitize(data["PID"].to_numpy(), [2, 5]).astype(np.int64)
    others = _standard(data[["age", "educ", "TVnews"]].to_numpy())
    return party, others, _standard(data["income"].to_numpy())


def test_linear_residuals_are_those_of_least_squares():
    data = sm.datasets.longley.load()
    others = _standard(data.exog.to_numpy()[:, :3])
    y = data.endog.to_numpy(np.float64)
    null = fit_linear(y, _design(others))
    there = sm.OLS(y, sm.add_constant(others)).fit()
    assert np.allclose(null.residuals, there.resid, atol=1e-5)
    assert null.information[0] == pytest.approx(there.mse_resid)


def test_logistic_residuals_and_score_test(anes):
    party, others, x = anes
    y = (party > 0).astype(np.int64)
    null = logistic.fit_logistic(y, _design(others))
    glm = sm.GLM(y, sm.add_constant(others), family=sm.families.Binomial())
    there = glm.fit()
    assert np.allclose(null.residuals, there.resid_response, atol=1e-7)
    assert np.allclose(null.expected[:, 1], there.fittedvalues, atol=1e-7)
    assert _score_test(null, x) == pytest.approx(
        there.score_test(exog_extra=x[:, None])[0].item(), rel=1e-6
    )


def test_multinomial_shares(anes):
    party, others, _ = anes
    null = multinomial.fit_multinomial(party, _design(others), 3)
    there = sm.MNLogit(party, sm.add_constant(others)).fit(disp=0)
    assert np.allclose(null.expected, there.predict(), atol=1e-6)
    assert np.allclose(null.residuals.sum(axis=0), 0.0, atol=1e-6)
    errors = np.sqrt(np.diag(null.bread)).reshape(2, -1).T
    assert np.allclose(errors, there.bse, rtol=1e-5)


def test_proportional_odds(anes):
    party, others, x = anes
    found = ordered.fit_columns(np.column_stack([others, x]), party, np.ones(len(party)), 3)
    there = OrderedModel(party, np.column_stack([others, x]), distr="logit").fit(
        method="bfgs", disp=0, gtol=1e-8
    )
    assert np.allclose(found.beta[2:], there.params[:4], atol=1e-4)
    errors = np.sqrt(np.diag(np.linalg.inv(found.information)))[2:]
    assert np.allclose(errors, there.bse[:4], rtol=0.02)  # expected against observed information


def test_score_test_of_proportional_odds_is_near_the_likelihood_ratio(anes):
    party, others, x = anes
    null = ordered.fit_ordered(party, _design(others), 3)
    assert np.allclose(null.cross.T @ np.zeros(len(x)), 0.0)
    full = OrderedModel(party, np.column_stack([others, x]), distr="logit")
    less = OrderedModel(party, others, distr="logit")
    ratio = 2 * (full.fit(method="bfgs", disp=0).llf - less.fit(method="bfgs", disp=0).llf)
    assert _score_test(null, x) == pytest.approx(ratio, rel=0.03)


def test_ordered_residuals_without_covariates_are_ranks(anes):
    party, _, _ = anes
    null = ordered.fit_ordered(party, NullDesign.plain(len(party)), 3)
    share = np.bincount(party) / len(party)
    middle = 2 * (np.cumsum(share) - share / 2) - 1
    assert np.allclose(null.residuals, middle[party], atol=1e-8)


@pytest.fixture(scope="module")
def visits() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The health insurance experiment of RAND: visits to a doctor, by person."""
    data = sm.datasets.randhie.load()
    some = np.random.default_rng(5).choice(len(data.endog), 1500, replace=False)
    y = data.endog.to_numpy(np.float64)[some]
    columns = _standard(data.exog.to_numpy(np.float64)[some])
    return y, columns[:, :3], columns[:, 4]


def test_poisson(visits):
    y, others, x = visits
    exposure = 1.0 + np.arange(len(y)) % 3
    found = counts.fit_columns(
        np.column_stack([np.ones(len(y)), others, x]), y, np.ones(len(y)), np.log(exposure)
    )
    there = sm.GLM(
        y,
        sm.add_constant(np.column_stack([others, x])),
        family=sm.families.Poisson(),
        exposure=exposure,
    ).fit()
    assert np.allclose(found.beta, there.params, atol=1e-6)


def test_negative_binomial_spread_and_score_test(visits):
    y, others, x = visits
    null = counts.fit_counts(y, _design(others), np.zeros(len(y)))
    there = sm.NegativeBinomial(y, sm.add_constant(others)).fit(disp=0, maxiter=200)
    assert np.allclose(null.expected, there.predict(), rtol=1e-3)
    spread = counts.find_spread(
        np.column_stack([np.ones(len(y)), others]), y, np.ones(len(y)), np.zeros(len(y))
    )
    assert spread == pytest.approx(there.params[-1], rel=1e-3)
    family = sm.families.NegativeBinomial(alpha=spread)
    glm = sm.GLM(y, sm.add_constant(others), family=family).fit(scale=1.0)
    told = glm.score_test(exog_extra=x[:, None], observed=False)[0].item()
    factor = null.information[0] / (null.expected[0] / (1 + spread * null.expected[0]))
    assert factor >= 1  # what these counts vary beyond a negative binomial
    assert _score_test(null, x) * factor == pytest.approx(told, rel=1e-3)


def test_counts_that_are_poisson_are_taken_as_such():
    rng = np.random.default_rng(2)
    columns = np.column_stack([np.ones(800), rng.normal(size=800)])
    y = rng.poisson(np.exp(0.5 + 0.3 * columns[:, 1])).astype(float)
    assert counts.find_spread(columns, y, np.ones(800), np.zeros(800)) < 0.05


@pytest.fixture(scope="module")
def heart() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stanford heart transplants: days, death, age."""
    data = sm.datasets.heart.load().data
    time = data["survival"].to_numpy(np.float64)
    return time, data["censors"].to_numpy() > 0, _standard(data["age"].to_numpy())


@pytest.mark.parametrize("tied", [False, True])
def test_cox_coefficients_and_residuals(heart, tied):
    time, event, age = heart
    time = np.ceil(time / 60) if tied else time + 0.001 * np.arange(len(time))
    rng = np.random.default_rng(0)
    columns = np.column_stack([age, rng.normal(size=len(age))])
    found = cox.fit_columns(columns, time, event, np.ones(len(time)))
    there = sm.PHReg(time, columns, status=event.astype(int), ties="efron").fit()
    assert np.allclose(found.beta, there.params, atol=1e-5)
    errors = np.sqrt(np.diag(np.linalg.inv(found.information)))
    assert np.allclose(errors, there.bse, rtol=1e-4)
    null = cox.fit_cox(np.column_stack([time, event]), _design(columns))
    assert abs(null.residuals.sum()) < 1e-8
    assert np.abs(columns.T @ null.residuals).max() < 1e-5
    if not tied:
        risk = np.exp(columns @ there.params)
        steps = [1 / risk[time >= at].sum() for at in time[event]]
        hazard = np.array([np.sum(steps, where=time[event] <= at) for at in time])
        assert np.allclose(null.residuals, event - hazard * risk, atol=1e-5)


def test_cox_score_test_has_the_score_of_the_partial_likelihood(heart):
    time, event, age = heart
    null = cox.fit_cox(np.column_stack([time, event]), NullDesign.plain(len(time)))
    there = sm.PHReg(time, age[:, None], status=event.astype(int), ties="efron")
    assert age @ null.residuals == pytest.approx(float(there.score(np.zeros(1))[0]), abs=1e-6)
    exact = float(there.score(np.zeros(1))[0]) ** 2 / -float(there.hessian(np.zeros(1))[0, 0])
    assert _score_test(null, age) == pytest.approx(
        exact, rel=0.2
    )  # 69 samples, 24 of them censored


def test_residuals_are_orthogonal_to_covariates(anes, visits):
    party, others, _ = anes
    for null in (
        logistic.fit_logistic((party > 1).astype(np.int64), _design(others)),
        ordered.fit_ordered(party, _design(others), 3),
    ):
        assert np.abs(others.T @ null.residuals).max() < 1e-4
    y, columns, _ = visits
    null = counts.fit_counts(y, _design(columns), np.zeros(len(y)))
    assert np.abs(columns.T @ null.residuals).max() < 1e-2


def test_covariates_that_tell_everything_do_not_break_the_fit():
    x = np.linspace(-1, 1, 60)
    null = logistic.fit_logistic((x > 0).astype(np.int64), _design(x))
    assert not null.converged
    assert np.isfinite(null.residuals).all()
