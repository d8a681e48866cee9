"""p-values, q-values and verdicts, tested as statistics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from srs.engine.carry import choose_pool
from srs.evidence.arrays import Evidence
from srs.evidence.registry import USUAL, with_probes
from srs.inference.decide import Verdict, decide
from srs.inference.fdr import CONFIDENCE, FEW_FALSE, poisson_quantile, q_values
from srs.inference.interim import Rule, decide_interim, find_relevant
from srs.inference.knockoff import knockoff_plus
from srs.inference.paper import decide_paper
from srs.settings import Settings

KINDS = with_probes(USUAL)


@given(st.floats(0, 2_000))
def test_poisson_quantile(mean):
    found = poisson_quantile(np.array([mean]))[0]
    expected = stats.poisson(mean).ppf(CONFIDENCE)
    assert abs(found - max(expected, 0)) <= (0 if mean < 999 else 2)


@given(st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=60), st.booleans())
def test_q_values_against_their_definition(p_values, confident):
    """Guards q-values: the smallest rate of any cut that includes the feature, by plain loops."""
    p = np.array(p_values)
    found = q_values(p, confident=confident)
    n = len(p)
    for i in range(n):
        rates = []
        for cut in p[p >= p[i]]:
            selected = (p <= cut).sum()
            expected = n * cut
            bound = expected
            if confident and expected > FEW_FALSE:
                bound = max(expected, stats.poisson(expected).ppf(CONFIDENCE))
            rates.append(bound / selected)
        assert found[i] == pytest.approx(min(1.0, min(rates)))
    assert (found >= np.minimum(p, 1) - 1e-12).all()


def evidence_of(statistics: np.ndarray) -> Evidence:
    """Evidence whose three kinds are all the given (n_roles, n) statistic, after 4 draws."""
    n_roles, n = statistics.shape
    evidence = Evidence.empty(n, n_roles, KINDS)
    evidence.n_drawn[:] = 4
    evidence.by_kind["used"][:] = evidence.by_kind["screened"][:] = statistics * 4
    evidence.by_kind["peak"][:] = statistics
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


@pytest.mark.parametrize("rule", ["tail", "knockoff"])
@pytest.mark.parametrize("n_feature_classes", [1, 3])
def test_a_look_finds_what_the_last_one_does(global_random_seed, rule, n_feature_classes):
    """Guards the loop's shorter way: kinds that differ, few and many found, some never drawn."""
    rng, n_found = np.random.default_rng(global_random_seed), []
    for n_planted, fdr in ((0, 0.1), (5, 0.1), (60, 0.2), (900, 0.05)):
        evidence = evidence_of(rng.exponential(size=(2, 6_000)))
        for kind in KINDS:
            strong = rng.exponential(size=n_planted) * rng.integers(1, 20)
            evidence.by_kind[kind][0, :n_planted] += strong.astype("f4") * 4
        evidence.n_drawn[rng.integers(0, 6_000, 50)] = 0
        settings = {
            "feature_classes": rng.integers(0, n_feature_classes, 6_000).astype(np.uint8),
            "excluded": rng.integers(0, 6_000, 3),
        }
        relevant = decide(evidence, KINDS, fdr, **settings, rule=rule).relevant
        look = find_relevant(evidence, Rule(KINDS, fdr, **settings, name=rule))
        np.testing.assert_array_equal(look, relevant)
        interim = decide_interim(evidence, Rule(KINDS, fdr, **settings, name=rule))
        np.testing.assert_array_equal(interim.relevant, relevant)
        n_found.append(len(relevant))
    assert n_found[-1] > 10


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
    """7.C.1: sampled more than L times, and better than the probe in a share above beta."""
    evidence = Evidence.empty(6, 1)
    evidence.n_drawn[:] = [10, 11, 20, 20, 0, 21]
    evidence.n_wins[:] = [10, 11, 19, 18, 0, 20]
    decided = decide_paper(evidence, Settings(mode="paper"))
    wanted = [
        Verdict.UNDECIDED,
        Verdict.RELEVANT,
        Verdict.IRRELEVANT,  # 95 % are not above 95 %
        Verdict.IRRELEVANT,
        Verdict.UNDECIDED,
        Verdict.RELEVANT,
    ]
    assert decided.verdict.tolist() == wanted


@given(st.integers(0, 100), st.integers(1, 2000), st.integers(0, 2000))
def test_above_is_meant_of_the_numbers_as_written(hundredths, n_drawn, n_wins):
    evidence = Evidence.empty(1, 1)
    evidence.n_drawn[:], evidence.n_wins[:] = n_drawn, min(n_wins, n_drawn)
    settings = Settings(mode="paper", probe_draws=0, probe_share=hundredths / 100)
    found = decide_paper(evidence, settings).verdict[0] == Verdict.RELEVANT
    assert found == (100 * min(n_wins, n_drawn) > hundredths * n_drawn)


def test_step_2c_of_the_paper():
    """Whatever had an importance above 0 once, however often it was drawn."""
    evidence = Evidence.empty(3, 1)
    evidence.n_drawn[:] = [1, 100, 0]
    evidence.n_wins[:] = [1, 0, 0]
    decided = decide_paper(evidence, Settings(mode="paper", paper_rule="importance"))
    assert decided.verdict.tolist() == [Verdict.RELEVANT, Verdict.IRRELEVANT, Verdict.UNDECIDED]


def test_the_pool_takes_the_best_of_features_and_probes():
    """Guards what is carried: the same rule for both, kinds in turn, pinned first."""
    statistics = np.zeros((2, 50))
    statistics[0, 7], statistics[1, 9], statistics[0, 3] = 3.0, 2.0, 1.0
    pool = choose_pool(evidence_of(statistics), KINDS, 2, np.array([5]))
    assert pool.places.tolist() == [5, 7, 9]
    assert pool.roles.tolist() == [0, 0, 1]
    evidence = evidence_of(np.zeros((2, 50)))
    for kind, (role, place) in zip(KINDS, [(0, 1), (1, 2), (0, 3)], strict=True):
        evidence.by_kind[kind][role, place] = 1
    pool = choose_pool(evidence, KINDS, 40, np.empty(0, np.int64))
    assert set(pool.places.tolist()) == {1, 2, 3}


def test_what_stands_out_is_rare_among_noise_and_sure_among_signals(global_random_seed):
    """Guards the roots of trees: features and probes alike, and next to nothing of pure noise."""
    rng = np.random.default_rng(global_random_seed)
    none = np.empty(0, np.int64)
    n_noise = sum(
        choose_pool(
            evidence_of(rng.exponential(size=(2, 2_000))), KINDS, 40, none
        ).outstanding.sum()
        for _ in range(100)
    )
    assert n_noise < 25
    statistics = rng.exponential(size=(2, 2_000))
    statistics[0, :10] = 60.0
    statistics[1, 10:20] = 60.0
    pool = choose_pool(evidence_of(statistics), KINDS, 40, none)
    assert set(pool.places[pool.outstanding].tolist()) >= set(range(20))


def test_strata_keep_unlike_features_apart(global_random_seed):
    """Guards mixed data: features of a wider null are not favoured over those of a narrow one."""
    rng = np.random.default_rng(global_random_seed)
    feature_classes = np.repeat(np.array([0, 1], np.uint8), 2_000)
    statistics = rng.exponential(size=(4, 4_000)) * np.where(feature_classes == 1, 5.0, 1.0)
    statistics[0, :3] = 16.0  # far in the narrow null, nothing in the wide one
    pooled = decide(evidence_of(statistics), KINDS, 0.1)
    kept_apart = decide(evidence_of(statistics), KINDS, 0.1, feature_classes=feature_classes)
    assert set(kept_apart.relevant[:3]) == {0, 1, 2}
    assert len(kept_apart.relevant) <= 4
    assert not {0, 1, 2} & set(pooled.relevant)
    assert len(kept_apart.combined.tails["used"]) == 2
    pool = choose_pool(evidence_of(statistics), KINDS, 3, np.empty(0, np.int64), feature_classes)
    assert {0, 1, 2} == set(pool.places.tolist())


def test_the_knockoff_filter_keeps_its_rate(global_random_seed):
    """Guards the second opinion: over 200 draws, at most the nominal share is false."""
    rng = np.random.default_rng(global_random_seed)
    shares, found = [], []
    for _ in range(200):
        statistics = rng.exponential(size=(2, 500))
        statistics[0, :40] += 6
        chosen = np.flatnonzero(knockoff_plus(evidence_of(statistics), KINDS, 0.2))
        shares.append((chosen >= 40).sum() / max(len(chosen), 1))
        found.append((chosen < 40).sum())
    assert np.mean(shares) < 0.2 + 3 * np.std(shares) / np.sqrt(200)
    assert np.mean(found) > 30
    nothing = [
        knockoff_plus(evidence_of(rng.exponential(size=(2, 300))), KINDS, 0.1).any()
        for _ in range(200)
    ]
    assert np.mean(nothing) < 0.2
    assert not knockoff_plus(evidence_of(np.zeros((2, 30))), KINDS, 0.1).any()


def test_the_rule_is_a_setting():
    statistics = np.random.default_rng(0).exponential(size=(2, 500))
    statistics[0, :40] += 8
    by_knockoff = decide(evidence_of(statistics), KINDS, 0.1, rule="knockoff")
    chosen = knockoff_plus(evidence_of(statistics), KINDS, 0.1)
    np.testing.assert_array_equal(by_knockoff.relevant, np.flatnonzero(chosen))


def test_the_knockoff_filter_with_features_that_are_nearly_constant(global_random_seed):
    """Guards the second opinion on single cells: of most genes few cells have a count. Their
    evidence is nearly always 0, so that in units of its mean chance alone looks large."""
    rng = np.random.default_rng(global_random_seed)
    n_constant, n_usual, n_true = 4_000, 1_500, 155
    shares, n_found = [], []
    for _ in range(20):
        constant = rng.exponential(0.02, size=(2, n_constant))
        constant *= rng.random(constant.shape) < 0.1
        usual = rng.exponential(size=(2, n_usual))
        usual[0, :n_true] += rng.uniform(8, 30, n_true)
        evidence = evidence_of(np.concatenate([usual, constant], axis=1))
        classes = np.repeat(np.array([1, 0], np.uint8), [n_usual, n_constant])
        chosen = np.flatnonzero(knockoff_plus(evidence, KINDS, 0.1, classes))
        n_found.append((chosen < n_true).sum())
        shares.append((chosen >= n_true).mean())
    assert min(n_found) > 0.9 * n_true
    assert np.mean(shares) < 0.1 + 3 * 0.05 / np.sqrt(20)


def test_the_knockoff_filter_keeps_its_rate_in_classes(global_random_seed):
    """Null evidence of three classes with tails and sizes of their own, and hits in one."""
    rng = np.random.default_rng(global_random_seed)
    shares = []
    for _ in range(100):
        heavy = rng.lognormal(0, 1.5, size=(2, 300))
        light = 5 + rng.random(size=(2, 300))
        plain = rng.exponential(size=(2, 400))
        plain[0, :40] += rng.exponential(8, 40)
        statistics = np.concatenate([plain, heavy, light], axis=1)
        classes = np.repeat(np.arange(3, dtype=np.uint8), [400, 300, 300])
        chosen = np.flatnonzero(knockoff_plus(evidence_of(statistics), KINDS, 0.2, classes))
        shares.append((chosen >= 40).mean() if len(chosen) else 0.0)
    assert np.mean(shares) < 0.2 + 3 * np.std(shares) / 10
