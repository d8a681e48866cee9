"""What more trees could still change, against what more trees do change."""

import numpy as np
import pytest

from srs.engine.run.unsettled import expected_changes
from srs.evidence.arrays import Evidence
from srs.evidence.halves import Halves
from srs.inference.interim import Rule, find_relevant

KINDS = ("screened",)
N, ROLES = 3_000, 4


def make_evidence(truth, n_draws, error, rng):
    """Evidence of so many draws in either half, each with a normal error."""
    whole, halves = Evidence.empty(N, ROLES, ("used", *KINDS)), Halves.empty(N, ROLES, KINDS)
    sums = [
        n_draws * truth + np.sqrt(n_draws) * error * rng.normal(size=truth.shape) for _ in range(2)
    ]
    halves.even["screened"][...] = sums[0]
    whole.by_kind["screened"][...] = sums[0] + sums[1]
    halves.n_drawn[:], whole.n_drawn[:] = n_draws, 2 * n_draws
    return whole, halves


def make_truth(rng):
    """Many weak effects, so that many features are near the cut."""
    truth = 10.0 + rng.exponential(size=(ROLES, N))
    truth[0, :300] += rng.exponential(scale=6.0, size=300)
    return truth.astype("f4")


@pytest.mark.parametrize("error", [0.5, 2.0])
def test_as_many_change_as_are_expected(global_random_seed, error):
    """In the mean over data sets, within a factor of two: errors move the cut, too."""
    rng = np.random.default_rng(global_random_seed)
    expected, changed, rule = [], [], Rule(KINDS, 0.1)
    for _ in range(12):
        truth = make_truth(rng)
        limit, _ = make_evidence(truth, 1, 0.0, rng)
        whole, halves = make_evidence(truth, 4, error, rng)
        expected.append(expected_changes(whole, halves, rule))
        found, at_last = find_relevant(whole, rule), find_relevant(limit, rule)
        changed.append(len(np.setxor1d(found, at_last)))
    assert 0.5 < np.mean(expected) / np.mean(changed) < 2.0


def test_four_times_the_trees_halve_it(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    few, many = (
        np.mean(
            [
                expected_changes(*make_evidence(make_truth(rng), n, 1.0, rng), Rule(KINDS, 0.1))
                for _ in range(10)
            ]
        )
        for n in (2, 8)
    )
    assert 1.5 < few / many < 3.0


@pytest.mark.parametrize(
    "rule", [Rule(KINDS, 0.1, n_features=20), Rule(KINDS, 0.1, name="knockoff")]
)
def test_any_rule_has_a_cut(global_random_seed, rule):
    rng = np.random.default_rng(global_random_seed)
    assert expected_changes(*make_evidence(make_truth(rng), 2, 1.0, rng), rule) > 0


def test_nothing_changes_where_halves_agree():
    rng = np.random.default_rng(0)
    assert expected_changes(*make_evidence(make_truth(rng), 2, 0.0, rng), Rule(KINDS, 0.1)) == 0
