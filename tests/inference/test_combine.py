"""How kinds of evidence become one p-value, tested as statistics."""

import numpy as np
import pytest
from scipy import stats

from srs.evidence.arrays import Evidence
from srs.inference.combine import combine_kinds, kind_weights
from srs.inference.decide import decide
from tests.inference.test_decide import KINDS, evidence_of


def combined(evidence: Evidence, kinds=KINDS):
    return combine_kinds(evidence, kinds, None, evidence.n_drawn > 0, 0.1)


@pytest.mark.parametrize("shared", [0.0, 0.7, 1.0])
def test_p_values_are_uniform_under_the_null(shared, global_random_seed):
    """Guards other people's corrections: over the whole range, however alike the kinds are."""
    rng = np.random.default_rng(global_random_seed)
    common = rng.normal(size=(2, 20_000))
    evidence = evidence_of(np.zeros((2, 20_000)))
    for kind in KINDS:
        own = rng.normal(size=common.shape)
        evidence.by_kind[kind][:] = np.exp(np.sqrt(shared) * common + np.sqrt(1 - shared) * own)
    p_value = combined(evidence).p_value
    assert p_value.max() < 1
    for level in (0.9, 0.5, 0.1, 0.01, 0.001):
        share = (p_value <= level).mean()
        error = 4 * np.sqrt(2 * level * (1 - level) / 20_000)
        assert share <= level * 1.12 + error, level
        assert share >= level * (0.55 if level < 0.01 else 0.8) - error, level


def test_most_columns_without_a_split_leave_p_values_spread():
    """Guards QQ plots: where most evidence is 0, no p-value is 1 and few are alike."""
    rng = np.random.default_rng(0)
    evidence = evidence_of(rng.exponential(size=(2, 5_000)))
    evidence.by_kind["used"][:] *= rng.random((2, 5_000)) < 0.1
    p_value = combined(evidence).p_value
    assert p_value.max() < 1
    assert len(np.unique(p_value)) > 2_000


def test_small_p_values_of_several_kinds_add_up():
    """Guards against waste: two kinds that agree say more than one of them."""
    rng = np.random.default_rng(0)
    noise = rng.exponential(size=(2, 2_000))
    one, two = evidence_of(noise), evidence_of(noise)
    one.by_kind["screened"][0, 7] = two.by_kind["screened"][0, 7] = 60.0
    two.by_kind["used"][0, 7] = 60.0
    assert combined(two).p_value[7] < combined(one).p_value[7] < 1e-3
    assert combined(one).found_by[7] == KINDS.index("screened")


def test_weights_follow_what_is_found():
    few = kind_weights(dict.fromkeys(KINDS, 0))
    assert sum(few.values()) == pytest.approx(1)
    many = kind_weights({"used": 500, "screened": 3, "peak": 3})
    assert sum(many.values()) == pytest.approx(1)
    assert many["used"] > 0.85
    assert many["peak"] > 0.04


def test_never_drawn_features_have_no_p_value():
    evidence = evidence_of(np.random.default_rng(0).exponential(size=(2, 500)))
    evidence.n_drawn[3] = 0
    assert combined(evidence).p_value[3] == 1


def test_lists_keep_their_rate_and_the_confident_ones_more(global_random_seed):
    """Guards the promise: over 300 lists, the mean share of false ones is at most the rate."""
    rng = np.random.default_rng(global_random_seed)
    shares = {False: [], True: []}
    found = {False: [], True: []}
    for _ in range(300):
        statistics = rng.exponential(size=(4, 500))
        statistics[0, :20] += 5
        for confident in shares:
            relevant = decide(evidence_of(statistics), KINDS, 0.1, confident=confident).relevant
            shares[confident].append((relevant >= 20).sum() / max(1, len(relevant)))
            found[confident].append((relevant < 20).sum())
    for of_lists in shares.values():
        assert np.mean(of_lists) <= 0.1 + 3 * np.std(of_lists) / np.sqrt(300)
    assert np.mean(found[False]) > np.mean(found[True])
    over = sum(share > 0.1 for share in shares[True])
    assert over <= stats.binom(300, 0.3).ppf(0.999)
