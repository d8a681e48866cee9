"""UMFI and MCI: independence is reached, the simulations of the paper, BRCA, errors."""

from importlib import import_module

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from benchmarks.explain.data import brca
from srs.errors import InputError
from srs.explain.analyses import mci, umfi
from srs.explain.independence import residuals, transport
from tests.explain.data import needs_data, tables

Sample = tuple[np.ndarray, np.ndarray]


def correlated_interactions(rng: np.random.Generator) -> Sample:
    A, B, C, D, E, G = rng.normal(size=(6, 500))
    X = np.column_stack([A + B, B + C, D + E, E + G])
    return X, X.sum(axis=1) + np.sign(X[:, 0] * X[:, 1])


def correlation(rng: np.random.Generator) -> Sample:
    x1, x2, x4 = rng.normal(size=(3, 500))
    return np.column_stack([x1, x2, x1 + rng.normal(0, 0.2, 500), x4]), x1 + x2


def xor(rng: np.random.Generator) -> Sample:
    X = rng.normal(size=(500, 4))
    return X, np.sign(X[:, 0] * X[:, 1]) * rng.exponential(np.sqrt(2), 500)


def shares(simulate, analysis, n_runs: int, **options) -> np.ndarray:
    """Importance as a share of the sum, (n_runs, 4)."""
    found = []
    for seed in range(n_runs):
        X, y = simulate(np.random.default_rng(seed))
        value = analysis(X, y, seed=seed, **options).column("value")
        found.append(value / value.sum())
    return np.array(found)


# What the paper says of each simulation, on medians over runs. Tolerances are about twice the
# farthest median of four times eight runs, by UMFI and by MCI (whose maximum over sets keeps some
# noise of features that tell nothing).


def check_interactions(found: np.ndarray) -> None:
    """x1 and x2 are above x3 and x4: a one-sided t-test over runs at the level 0.01."""
    paired = found[:, :2].mean(axis=1) - found[:, 2:].mean(axis=1)
    assert ttest_1samp(paired, 0.0, alternative="greater").pvalue < 0.01


def check_correlation(found: np.ndarray) -> None:
    x1, x2, x3, x4 = np.median(found, axis=0)
    assert abs(x1 - x2) < 0.025
    assert x3 > 0.3
    assert x4 < 0.005


def check_xor(found: np.ndarray, least: float = 0.46, most: float = 0.02) -> None:
    x1, x2, x3, x4 = np.median(found, axis=0)
    assert min(x1, x2) > least
    assert max(x3, x4) < most


@pytest.mark.parametrize("method", ["linear", "transport"])
@pytest.mark.parametrize(
    ("simulate", "check", "n_runs"),
    [
        (correlated_interactions, check_interactions, 24),
        (correlation, check_correlation, 8),
        (xor, check_xor, 8),
    ],
)
def test_simulations_bounded(simulate, check, n_runs: int, method: str) -> None:
    check(shares(simulate, umfi, n_runs, method=method, n_repeats=1))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("method", ["linear", "transport"])
def test_simulations_over_100_runs(method: str) -> None:
    """Of interactions the medians are in order, too."""
    found = shares(correlated_interactions, umfi, 100, method=method, n_repeats=1)
    check_interactions(found)
    assert np.median(found[:, :2], axis=0).min() > np.median(found[:, 2:], axis=0).max()
    check_correlation(shares(correlation, umfi, 100, method=method, n_repeats=1))
    check_xor(shares(xor, umfi, 100, method=method, n_repeats=1))


@pytest.mark.slow
@pytest.mark.long
def test_simulations_over_100_runs_by_mci() -> None:
    """It does not tell the interactions apart: a two-sided t-test at the level 0.01."""
    found = shares(correlated_interactions, mci, 100)
    paired = found[:, :2].mean(axis=1) - found[:, 2:].mean(axis=1)
    assert ttest_1samp(paired, 0.0).pvalue > 0.01
    check_correlation(shares(correlation, mci, 100))
    check_xor(shares(xor, mci, 100), least=0.44, most=0.04)


@needs_data
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("method", ["linear", "transport"])
def test_brca(method: str) -> None:
    """BCL11A first, most known genes in the top fifteen, some random genes at 0."""
    X, y = brca()
    frame = umfi(X, y, method=method).frame.sort_values("value", ascending=False)
    known = set(tables()["brca_known_genes"])
    assert "BCL11A" in set(frame["feature"][: 1 if method == "transport" else 2])
    assert len(known & set(frame["feature"][:15])) >= 7
    at_zero = set(frame[frame["value"] == 0]["feature"])
    assert at_zero
    assert not at_zero & known


def test_dependence_is_removed_and_the_rest_is_kept(global_random_seed: int) -> None:
    rng = np.random.default_rng(global_random_seed)
    z = rng.normal(size=600)
    own = rng.normal(size=600)
    X = np.column_stack([z + own, np.sin(3 * z) + 0.3 * own, own])
    straight = residuals(X, z, False)
    assert abs(np.corrcoef(straight[:, 0], z)[0, 1]) < 1e-9
    np.testing.assert_array_equal(straight[:, 2], X[:, 2])
    moved = transport(X, z, False)
    for j in range(3):
        parts = np.array_split(moved[np.argsort(z), j], 6)
        assert max(abs(part.mean() - moved[:, j].mean()) for part in parts) < 0.15
        assert np.quantile(moved[:, j], [0.1, 0.9]) == pytest.approx(
            np.quantile(X[:, j], [0.1, 0.9]), abs=0.15
        )
    assert np.corrcoef(moved[:, 0], own)[0, 1] > 0.9


def test_categories_protect_by_their_levels() -> None:
    rng = np.random.default_rng(0)
    z = rng.integers(0, 3, 300).astype(float)
    X = (np.array([0.0, 5.0, -2.0])[z.astype(int)] + rng.normal(size=300))[:, None]
    for remove in (residuals, transport):
        moved = remove(X, z, True)
        means = [moved[z == level].mean() for level in range(3)]
        assert np.ptp(means) < 0.1


def test_exact_mci_is_the_maximum_over_all_sets() -> None:
    """The other methods look at fewer sets: never more, and the same where sets suffice."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = X[:, 0] + X[:, 1] * X[:, 2]
    exact = mci(X, y, method="exact", n_trees=40).column("value")
    whole = mci(X, y, method="submodular", max_size=4, n_trees=40).column("value")
    small = mci(X, y, method="submodular", max_size=2, n_trees=40).column("value")
    sampled = mci(X, y, method="sampled", n_orders=5, n_trees=40).column("value")
    np.testing.assert_array_equal(exact, whole)
    assert (small <= exact).all()
    assert (sampled <= exact).all()


def test_number_of_forests(monkeypatch) -> None:
    """UMFI is linear in features where exact MCI is exponential."""
    rng, grown = np.random.default_rng(0), []

    def counted(*given, **named) -> float:
        grown.append((given, named))
        return 0.0

    monkeypatch.setattr(import_module("srs.explain.analyses.umfi"), "oob_score", counted)
    for p in (3, 6):
        X = rng.normal(size=(60, p))
        found = mci(X, X[:, 0] + X[:, 1], method="exact", n_trees=3)
        assert found.settings["n_forests"] == 2**p
        grown.clear()
        umfi(X, X[:, 0] + X[:, 1], n_trees=3, n_repeats=2)
        assert len(grown) == (2 * 2 + 1) * p


def test_errors() -> None:
    X = np.random.default_rng(0).normal(size=(40, 15))
    y = X[:, 0] + X[:, 1]
    with pytest.raises(InputError, match="at most 14 features, not 15"):
        mci(X, y, method="exact")
    with pytest.raises(InputError, match="must be exact, submodular or sampled"):
        mci(X, y, method="best")
    with pytest.raises(InputError, match="must be linear, transport, chain"):
        umfi(X, y, method="best")
