"""p-values against a sample of the null, tested as statistics."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from srs.inference.null import MIN_SAMPLED, Null, find_tail, fit_tail, fits, tail_survival


def p_values_of(observed, null):
    return Null.of(null.copy()).p_values(observed)


def test_p_values_are_uniform_under_the_null(global_random_seed):
    """Guards calibration: features drawn as the probes are get uniform p-values."""
    rng = np.random.default_rng(global_random_seed)
    p_values = p_values_of(rng.exponential(size=20_000), rng.exponential(size=20_000))
    assert stats.kstest(p_values, "uniform").pvalue > 1e-4
    for level in (0.1, 0.01, 0.001):
        expected = 20_000 * level
        assert abs((p_values <= level).sum() - expected) < 5 * np.sqrt(2 * expected)


@pytest.mark.parametrize(
    "null",
    [stats.expon(), stats.chi2(1), stats.genpareto(0.2), stats.norm()],
    ids=["exponential", "chi-square", "heavy", "normal"],
)
def test_the_tail_reaches_beyond_the_probes(null, global_random_seed):
    """Guards extrapolation: at 10 times below what 100,000 probes can show, within a factor 6,
    and not anti-conservative by more than 2 on average."""
    rng = np.random.default_rng(global_random_seed)
    true = 1e-6
    ratios = []
    for _ in range(20):
        probes = null.rvs(100_000, random_state=rng)
        found = p_values_of(np.array([null.isf(true)]), probes)[0]
        ratios.append(np.log10(found / true))
    assert -0.3 < np.mean(ratios) < 1.5
    assert np.max(np.abs(ratios)) < 3


@pytest.mark.parametrize("shape", [0.0, 0.15, 0.3])
@pytest.mark.parametrize("n", [500, 1_500, 5_000])
def test_the_smallest_of_many_p_values_keeps_its_rate(n, shape, global_random_seed):
    """Guards against tails that are too light by chance of their few values: with as many
    features as probes, the smallest p-value is below 0.1 / n in at most a tenth of the runs."""
    rng = np.random.default_rng((global_random_seed, n))
    null = stats.genpareto(shape)
    n_below = sum(
        p_values_of(null.rvs(n, random_state=rng), null.rvs(n, random_state=rng)).min() < 0.1 / n
        for _ in range(300)
    )
    assert n_below <= stats.binom(300, 0.1).ppf(0.999)


def test_p_values_are_never_zero_and_monotone():
    null = np.random.default_rng(0).normal(size=5_000).astype(np.float32)
    observed = np.array([0.0, 1.0, 5.0, 50.0, 1e6], np.float32)
    p_values = p_values_of(observed, null)
    assert (p_values > 0).all()
    assert (np.diff(p_values) <= 0).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.integers(MIN_SAMPLED, 90_000), st.booleans())
def test_a_sampled_bulk_agrees(seed, n, ties):
    """Guards the shortcut of large nulls: below 0.05 the same p-values, above nearly."""
    rng = np.random.default_rng(seed)
    null, observed = rng.exponential(size=n), rng.exponential(size=500) * 2
    if ties:
        null, observed = np.floor(null * 3), np.floor(observed * 3)
    ordered = np.sort(null)
    exact = Null(ordered, ordered[:0], n, find_tail(ordered, n)).p_values(observed)
    found = p_values_of(observed, null)
    small = exact < 0.05
    np.testing.assert_allclose(found[small], exact[small])
    np.testing.assert_allclose(found[~small], exact[~small], atol=0.03)


def test_ties_with_probes_count_against_a_feature():
    """Guards zero-inflated evidence: ties count in full, but not so that most p-values are 1."""
    null = np.concatenate([np.zeros(900), np.arange(1, 101)])
    assert p_values_of(np.zeros(1), null)[0] == pytest.approx(0.55, abs=0.001)
    tied = np.concatenate([np.zeros(900), np.full(100, 7.0)])
    assert p_values_of(np.full(1, 7.0), tied)[0] == pytest.approx(0.1, abs=0.001)


def test_p_values_of_ties_are_valid(global_random_seed):
    """Guards discrete evidence: no level is met more often than it says."""
    rng = np.random.default_rng(global_random_seed)
    null, observed = rng.binomial(8, 0.3, 4_000), rng.binomial(8, 0.3, 4_000)
    p_values = p_values_of(observed.astype(float), null.astype(float))
    for level in (0.001, 0.01, 0.1, 0.4):
        assert (p_values <= level).mean() <= level + 4 * np.sqrt(2 * level / 4_000)
    assert p_values.max() < 1


def test_tail_fit_recovers_its_parameters(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    shape, scale = fit_tail(stats.genpareto(0.25, scale=3).rvs(20_000, random_state=rng))
    assert shape == pytest.approx(0.25, abs=0.05)
    assert scale == pytest.approx(3, rel=0.08)
    x = np.array([0.5, 3.0, 20.0])
    np.testing.assert_allclose(
        tail_survival(x, shape, scale), stats.genpareto(shape, scale=scale).sf(x)
    )
    np.testing.assert_allclose(tail_survival(x, 0.0, 2.0), np.exp(-x / 2))


def test_tail_of_bounded_evidence_is_not_cut_off():
    """Guards against p-values of 0 beyond the end of a bounded null."""
    shape, scale = fit_tail(np.random.default_rng(0).uniform(size=1_000))
    assert shape >= 0
    assert scale > 0
    assert tail_survival(np.array([50.0]), shape, scale)[0] > 0


def test_a_tail_that_is_too_light_is_not_trusted():
    """Guards the fallback: where the fitted tail ends before the null does, ranks are used."""
    rng = np.random.default_rng(0)
    spiked = np.concatenate([rng.exponential(size=20_000), np.full(20, 60.0)])
    null = Null.of(spiked.copy())
    assert not null.tail.fits
    np.testing.assert_allclose(null.p_values(np.array([65.0, 1e4])), 1 / (len(spiked) + 1))
    excess = np.concatenate([rng.exponential(size=180), np.full(20, 60.0)])
    assert not fits(excess, 0.0, 1.0)
    assert fits(rng.exponential(size=200), 0.0, 1.0)
    assert fits(rng.uniform(size=200), 0.0, 1.0)  # bounded: the tail is too heavy, which is safe


def test_small_nulls_have_no_tail():
    assert not find_tail(np.arange(8.0), 8).fits
    assert not find_tail(np.zeros(500), 500).fits


@pytest.mark.parametrize("n_null", [500, 5_000])
def test_good_tails_are_trusted(n_null, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    trusted = [find_tail(np.sort(rng.exponential(size=n_null)), n_null).fits for _ in range(200)]
    assert np.mean(trusted) > 0.97
