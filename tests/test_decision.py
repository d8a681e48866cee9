"""p-values, q-values and verdicts, tested as statistics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from srs.decision import (
    CONFIDENCE,
    Verdict,
    choose_pool,
    decide,
    decide_paper,
    fit_tail,
    null_p_values,
    poisson_quantile,
    q_values,
    tail_survival,
)
from srs.evidence import KINDS, Evidence


def test_p_values_are_uniform_under_the_null(global_random_seed):
    """Guards calibration: features drawn as the probes are get uniform p-values."""
    rng = np.random.default_rng(global_random_seed)
    p_values = null_p_values(rng.exponential(size=20_000), rng.exponential(size=20_000))
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
        found = null_p_values(np.array([null.isf(true)]), probes)[0]
        ratios.append(np.log10(found / true))
    assert -0.3 < np.mean(ratios) < 1.5
    assert np.max(np.abs(ratios)) < 3


def test_p_values_are_never_zero_and_monotone():
    null = np.random.default_rng(0).normal(size=5_000).astype(np.float32)
    observed = np.array([0.0, 1.0, 5.0, 50.0, 1e6], np.float32)
    p_values = null_p_values(observed, null)
    assert (p_values > 0).all()
    assert (np.diff(p_values) <= 0).all()


@given(st.integers(0, 2**32), st.integers(1_000, 3_000), st.booleans())
def test_coarse_p_values_agree_where_they_matter(seed, n, ties):
    """Guards the shortcut of a look: below 0.05 it gives the same p-values."""
    rng = np.random.default_rng(seed)
    null, observed = rng.exponential(size=n), rng.exponential(size=500) * 2
    if ties:
        null, observed = np.floor(null * 3), np.floor(observed * 3)
    exact, coarse = null_p_values(observed, null), null_p_values(observed, null, coarse=True)
    small = exact < 0.05
    np.testing.assert_allclose(coarse[small], exact[small])
    assert (coarse[~small] >= 0.05).all()


def test_ties_with_probes_count_against_a_feature():
    """Guards zero-inflated evidence: a feature without evidence has a p-value of 1."""
    null = np.concatenate([np.zeros(900), np.arange(1, 101)])
    assert null_p_values(np.zeros(1), null)[0] == 1.0


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


@given(st.floats(0, 2_000))
def test_poisson_quantile(mean):
    found = poisson_quantile(np.array([mean]))[0]
    expected = stats.poisson(mean).ppf(CONFIDENCE)
    assert abs(found - max(expected, 0)) <= (0 if mean < 999 else 2)


@given(st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=60))
def test_q_values_against_their_definition(p_values):
    """Guards q-values: the smallest rate of any cut that includes the feature, by plain loops."""
    p = np.array(p_values)
    found = q_values(p)
    n = len(p)
    for i in range(n):
        rates = []
        for cut in p[p >= p[i]]:
            selected = (p <= cut).sum()
            expected = n * cut
            bound = max(expected, stats.poisson(expected).ppf(CONFIDENCE))
            rates.append(bound / selected)
        assert found[i] == pytest.approx(min(1.0, min(rates)))
    assert (found >= np.minimum(p, 1)).all()


def evidence_of(statistics: np.ndarray) -> Evidence:
    """Evidence whose three kinds are all the given (n_roles, n) statistic, after 4 draws."""
    n_roles, n = statistics.shape
    evidence = Evidence.empty(n, n_roles)
    evidence.n_drawn[:] = 4
    evidence.used[:] = evidence.screened[:] = statistics * 4
    evidence.peak[:] = statistics
    return evidence


def test_share_of_runs_that_select_nothing_from_noise(global_random_seed):
    """Guards the null: over 400 draws of pure noise at most about 5 % select anything."""
    rng = np.random.default_rng(global_random_seed)
    n_selecting = sum(
        len(decide(evidence_of(rng.exponential(size=(4, 500))), KINDS, 0.1).relevant) > 0
        for _ in range(400)
    )
    assert n_selecting <= stats.binom(400, 0.05).ppf(0.999)


def test_verdicts_of_planted_evidence():
    rng = np.random.default_rng(0)
    statistics = rng.exponential(size=(2, 20_000))
    statistics[0, :15] += 30
    decided = decide(evidence_of(statistics), KINDS, 0.1)
    np.testing.assert_array_equal(decided.relevant[:15], np.arange(15))
    assert len(decided.relevant) <= 17
    assert (decided.verdict == Verdict.IRRELEVANT).mean() > 0.8
    assert ((decided.q_value <= 0.1) == (decided.verdict == Verdict.RELEVANT)).all()


def test_features_never_drawn_and_excluded_are_undecided():
    statistics = np.random.default_rng(0).exponential(size=(2, 1_000))
    statistics[0, :5] = 100.0
    evidence = evidence_of(statistics)
    evidence.n_drawn[1] = 0
    decided = decide(evidence, KINDS, 0.1, excluded=np.array([2]))
    assert decided.verdict[0] == Verdict.RELEVANT
    assert decided.verdict[1] == decided.verdict[2] == Verdict.UNDECIDED
    assert decided.p_value[1] == decided.p_value[2] == 1


def test_the_rule_of_the_paper():
    evidence = Evidence.empty(5, 1)
    evidence.n_drawn[:] = [10, 11, 20, 20, 0]
    evidence.n_wins[:] = [10, 11, 19, 18, 0]
    decided = decide_paper(evidence, draws=10, share=0.95)
    wanted = [Verdict.UNDECIDED, Verdict.RELEVANT, Verdict.RELEVANT, Verdict.IRRELEVANT,
              Verdict.UNDECIDED]  # fmt: skip
    assert decided.verdict.tolist() == wanted


def test_the_pool_takes_the_best_of_features_and_probes():
    """Guards what is carried: the same rule for both, kinds in turn, pinned first."""
    statistics = np.zeros((2, 50))
    statistics[0, 7], statistics[1, 9], statistics[0, 3] = 3.0, 2.0, 1.0
    pool = choose_pool(evidence_of(statistics), KINDS, 2, np.array([5]))
    assert pool.places.tolist() == [5, 7, 9]
    assert pool.roles.tolist() == [0, 0, 1]
    evidence = evidence_of(np.zeros((2, 50)))
    evidence.used[0, 1], evidence.screened[1, 2], evidence.peak[0, 3] = 1, 1, 1
    pool = choose_pool(evidence, KINDS, 40, np.empty(0, np.int64))
    assert set(pool.places.tolist()) == {1, 2, 3}
