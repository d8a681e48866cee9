"""Mean decrease of accuracy in the population, and the law of estimated information."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from srs.errors import InputError
from srs.theory import (
    EstimatedInformation,
    additive_mda,
    correlated_mda,
    normal_mda,
    population_mda,
)
from tests.theory.test_context import information

ROWS = np.array(list(product((0, 1, 2), repeat=3)))


@given(seed=st.integers(0, 1 << 30))
@settings(max_examples=25, deadline=None)
def test_additive_models(seed: int) -> None:
    """Equations 4.6, 4.8 and 4.12 are one, for any correlation of the features."""
    rng = np.random.default_rng(seed)
    weights = rng.random(27) + 0.05
    levels = rng.normal(size=(3, 3))
    parts = np.column_stack([levels[m][ROWS[:, m]] for m in range(3)])
    shares = weights / weights.sum()
    parts -= shares @ parts
    noise = np.repeat([-0.5, 0.5], 27)
    y = np.tile(parts.sum(axis=1), 2) + noise
    found = population_mda(np.tile(ROWS, (2, 1)), y, np.tile(weights, 2))
    np.testing.assert_allclose(found, additive_mda(parts, weights), atol=1e-10)

    def cov(a: np.ndarray, b: np.ndarray) -> float:
        return float(shares @ (a * b) - (shares @ a) * (shares @ b))

    total = parts.sum(axis=1)
    for m in range(3):
        others = sum(cov(parts[:, m], parts[:, k]) for k in range(3) if k != m)
        assert found[m] == pytest.approx(2 * cov(total, parts[:, m]) - 2 * others, abs=1e-10)


def test_never_negative_and_not_additive() -> None:
    """A product: 4.6 holds where 4.8 does not; the loss of classes is 0 where no vote changes."""
    y = ROWS[:, 0] * ROWS[:, 1]
    found = population_mda(ROWS, y)
    assert found[2] == pytest.approx(0.0, abs=1e-12)
    assert found[0] == found[1] == pytest.approx(2 * np.var([0, 1, 2]) * np.mean([0, 1, 4]))
    mostly = population_mda([[0], [0], [0], [1], [1], [1]], [0, 0, 0, 0, 0, 1], loss="error")
    assert mostly.tolist() == [0.0]  # told, but the likeliest class is the same
    sure = population_mda([[0], [1]], ["a", "b"], loss="error")
    assert sure.tolist() == [0.5]


@given(
    rho=st.floats(0, 0.95), n=st.integers(1, 6), tau=st.floats(-0.3, 0.3), other=st.floats(0, 0.4)
)
@settings(max_examples=40)
def test_normal(rho: float, n: int, tau: float, other: float) -> None:
    """4.15 and 4.16 are 4.14 for a block of equal correlations and a feature beside it."""
    covariance = np.eye(n + 1)
    covariance[:n, :n] = (1 - rho) * np.eye(n) + rho
    found = normal_mda(covariance, [tau] * n + [other])
    np.testing.assert_allclose(found[:n], correlated_mda(tau, rho, n), atol=1e-12)
    assert found[n] == pytest.approx(2 * other**2, abs=1e-12)


def test_copies_and_simulation(global_random_seed: int) -> None:
    """4.17 for two copies; 4.14 against the loss of the Bayes model on a large sample."""
    assert correlated_mda(0.6, 1.0, 2) == pytest.approx(0.6**2 / 2)
    rng = np.random.default_rng(global_random_seed)
    covariance = np.array([[1.0, 0.6], [0.6, 1.0]])
    X = rng.multivariate_normal([0, 0], covariance, 200_000)
    slopes = np.array([0.7, -0.4])
    y = X @ slopes + rng.normal(size=len(X))
    rises = []
    for m in range(2):
        moved = X.copy()
        moved[:, m] = rng.permutation(moved[:, m])
        rises.append((y - moved @ slopes) ** 2 - (y - X @ slopes) ** 2)
    exact = normal_mda(covariance, covariance @ slopes)
    for rise, value in zip(rises, exact, strict=True):
        assert rise.mean() == pytest.approx(value, abs=5 * rise.std() / np.sqrt(len(X)))


def test_estimated_information(global_random_seed: int) -> None:
    """5.13 and 5.14: the mean within its interval, and p-values that reject as often as stated."""
    rng = np.random.default_rng(global_random_seed)
    n, runs = 2000, 1500
    law = EstimatedInformation(n, n_x=3, n_y=4)
    found = np.array(
        [information(rng.integers(0, 3, n), rng.integers(0, 4, n), np.ones(n)) for _ in range(runs)]
    )
    margin = 4.5 * np.sqrt(law.variance / runs)
    assert found.mean() == pytest.approx(law.mean, abs=margin + 0.02 * law.mean)
    below = int((law.p_value(found) < 0.05).sum())
    low, high = stats.binom.ppf([1e-5, 1 - 1e-5], runs, 0.05)
    assert low <= below <= high * 1.1


def test_law_is_chi_square() -> None:
    law = EstimatedInformation(150, n_x=4, n_y=3, n_given=5)
    at = np.array([0.0, 0.1, 0.3])
    scaled = 2 * 150 * np.log(2) * at
    np.testing.assert_allclose(law.p_value(at), stats.chi2.sf(scaled, 30), rtol=1e-10)
    np.testing.assert_allclose(law.p_value(law.quantile([0.1, 0.9])), [0.9, 0.1], rtol=1e-10)
    assert law.mean == pytest.approx(5 * 3 * 2 / (2 * 150 * np.log(2)))


def test_wrong_arguments() -> None:
    with pytest.raises(InputError, match="lacks the combination"):
        population_mda([[0, 0], [1, 1]], [0.0, 1.0])
    with pytest.raises(InputError, match='use loss="error"'):
        population_mda([[0], [1]], ["a", "b"])
    with pytest.raises(InputError, match="loss must be"):
        population_mda([[0], [1]], [0, 1], loss="gini")
    with pytest.raises(InputError, match="no inverse"):
        normal_mda(np.ones((2, 2)), [0.1, 0.1])
    with pytest.raises(InputError, match="would not be positive"):
        correlated_mda(0.1, -0.9, 4)
    with pytest.raises(InputError, match="two levels of each variable"):
        EstimatedInformation(10, 1, 2)
