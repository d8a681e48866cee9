"""Groups of samples: arms, weights, strata, and what is left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from srs.errors import InputError
from srs.evidence.pairs.best import best_partners
from srs.evidence.pairs.groups import WORD, PairGroups, make_groups
from tests.evidence.pairs.samples import bits_of, codes_of, group_list


def check(groups: PairGroups, train: np.ndarray) -> None:
    used = groups.order[groups.order >= 0]
    assert len(np.unique(used)) == len(used)
    assert np.isin(used, train).all()
    assert (np.diff(groups.first) == -(-groups.size // WORD)).all()
    assert (np.diff(groups.arm) >= 0).all()
    assert np.unique(groups.arm).tolist() == list(range(groups.n_arms))
    assert np.bincount(groups.arm, groups.omega) == pytest.approx(np.ones(groups.n_arms))
    assert (groups.omega > 0).all()
    assert len(groups.order) == groups.n_words * WORD
    group_list(groups)


@hypothesis_settings(max_examples=80)
@given(st.integers(0, 10**6), st.integers(12, 500), st.booleans(), st.booleans(), st.booleans())
def test_groups_part_the_samples(seed, n, numeric, with_strata, with_weights):
    rng = np.random.default_rng(seed)
    train = np.sort(rng.permutation(n)[: rng.integers(10, n + 1)])
    target = rng.normal(size=n).round(1) if numeric else rng.integers(0, rng.integers(2, 6), n)
    target[train[:6]] = [0, 0, 0, 1, 1, 1]
    strata = rng.integers(0, rng.integers(1, 6), n) if with_strata else None
    weights = rng.exponential(size=n) + 0.01 if with_weights else None
    groups = make_groups(train, target, strata=strata, weights=weights)
    check(groups, train)
    parts = group_list(groups)
    if strata is not None and "strata" not in groups.ignored:
        assert all(len(np.unique(strata[samples])) == 1 for samples, _, _ in parts)
    if not numeric:
        for samples, arm, _ in parts:
            assert len(np.unique(target[samples])) == 1
            assert all(target[samples[0]] == target[other[0]] for other, a, _ in parts if a == arm)
    elif strata is None and weights is None:
        means = [(target[samples].mean(), arm) for samples, arm, _ in parts]
        assert max((m for m, a in means if a == 0)) < min((m for m, a in means if a == 1))


def test_two_classes_are_two_groups():
    groups = make_groups(np.arange(10, 110), np.arange(200) % 2)
    assert groups.size.tolist() == [50, 50]
    assert groups.arm.tolist() == [0, 1]
    assert groups.omega.tolist() == [1, 1]
    assert groups.ignored == ()
    assert groups.train.tolist() == list(range(10, 110))


def test_strata_count_by_what_they_can_tell():
    """n1 n0 / (n1 + n0), the same in both classes; a stratum of one class counts nothing."""
    strata = np.repeat([0, 1, 2], [200, 200, 60])
    y = np.concatenate([np.arange(200) % 2, np.arange(200) % 10 == 0, np.ones(60)]).astype(int)
    groups = make_groups(np.arange(460), y, strata=strata)
    assert groups.size.tolist() == [100, 180, 100, 20]
    expected = np.array([100 * 100 / 200, 180 * 20 / 200])
    assert groups.omega == pytest.approx(np.tile(expected / expected.sum(), 2))
    assert groups.train.tolist() == list(range(460))


def test_weights_make_bins_that_count_by_their_mass():
    y = np.arange(400) % 2
    weights = np.repeat([1.0, 3.0], 200)
    groups = make_groups(np.arange(400), y, weights=weights)
    assert groups.size.tolist() == [100] * 4
    assert groups.omega == pytest.approx([0.25, 0.75] * 2)


@pytest.mark.parametrize("numeric", [False, True])
def test_too_many_strata_are_ignored_and_said(numeric):
    rng = np.random.default_rng(0)
    target = rng.normal(size=300) if numeric else rng.integers(0, 2, 300)
    groups = make_groups(np.arange(300), target, strata=np.arange(300) // 4)
    assert groups.ignored == ("strata",)
    check(groups, np.arange(300))


def test_numbers_are_cut_at_quantiles_and_scored():
    rng = np.random.default_rng(1)
    y = rng.exponential(size=800)
    groups = make_groups(np.arange(800), y)
    assert groups.size.tolist() == [100] * 8
    assert groups.arm.tolist() == [0] * 4 + [1] * 4
    by_mean = np.argsort([y[samples].mean() for samples, _, _ in group_list(groups)])
    omega = groups.omega[by_mean]
    assert (np.diff(omega[:4]) < 0).all()
    assert (np.diff(omega[4:]) > 0).all()
    assert omega == pytest.approx(omega[::-1])


def test_numbers_are_compared_within_strata():
    """The target is all of the stratum; so is the correlation of two features."""
    rng = np.random.default_rng(2)
    n = 1200
    strata = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 2))
    X[strata == 1, 1] = X[strata == 1, 0] + 0.3 * rng.normal(size=(strata == 1).sum())
    y = 5.0 * strata + rng.normal(size=n)
    codes = codes_of(X)
    blind, seeing = (make_groups(np.arange(n), y, strata=s) for s in (None, strata))
    values = []
    for groups in (blind, seeing):
        bits = bits_of(codes, groups)
        values.append(best_partners(bits, bits, groups)[0].statistic[0])
    assert values[0] > 50
    assert values[1] < 12


@pytest.mark.parametrize("target", [np.zeros(50, int), np.zeros(50), np.arange(50)])
def test_a_target_without_groups_is_refused(target):
    with pytest.raises(InputError, match="target"):
        make_groups(np.arange(50), target)


def test_a_target_with_missing_values_is_refused():
    with pytest.raises(InputError, match="no numbers"):
        make_groups(np.arange(3), np.array([0.0, np.nan, 1.0]))
