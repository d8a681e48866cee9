"""Ten donors of many cells each, of unequal numbers: no run is refused by chance, the rate holds
for a target of donors, and a target that changes within donors is compared within them."""

import numpy as np
import pytest
from scipy.stats import binom

import srs
from srs.engine.permutations import LIKE, MOVED, draw_apart
from srs.engine.samples import plan_samples
from srs.settings import Settings

N_DONORS = 10


def of_donors(seed, p=600, n_markers=0, n_cells=40):
    """Features that differ between donors; `status` is a donor's, `state` a cell's."""
    rng = np.random.default_rng((seed, 11))
    sizes = rng.integers(round(0.93 * n_cells), round(1.06 * n_cells) + 1, N_DONORS)
    who = np.repeat(np.arange(N_DONORS), sizes)
    X = rng.normal(size=(len(who), p)) + rng.normal(size=(N_DONORS, p))[who]
    state = rng.integers(0, 2, len(who))
    X[:, :n_markers] += 0.8 * state[:, None]
    status = (rng.permutation(N_DONORS) % 2)[who]
    return srs.ingest(X, target={"status": status, "state": state, "who": np.char.mod("d%d", who)})


@pytest.mark.parametrize("n_roles", [2, 4, 8])
def test_no_seed_is_refused_by_chance(n_roles):
    """Guards donors of nearly equal size: all of them have others to change places with."""
    store = of_donors(0, p=3, n_cells=100)
    for seed in range(12):
        samples = plan_samples(store, Settings(subjects="who", seed=seed), n_roles)
        assert len(samples.train) >= 0.85 * store.n_samples
        moved = (samples.permutations[:, samples.train] != samples.train).any(axis=0)
        assert moved.mean() >= MOVED
        y = store.target("status").values - 0.5
        most = LIKE + 0.05 if n_roles < 8 else 0.9  # so many roles of so few subjects are alike
        for role in samples.permutations[1:]:
            seen = y[role[samples.train]]
            assert abs(np.corrcoef(y[samples.train], seen)[0, 1]) <= most


def test_pairs_of_two_roles_are_not_refused_by_chance():
    """Guards matched pairs of many features: with one probe half of the pairs stay, give or take
    some, and fewer than half is no fault of the design."""
    pairs, y = np.repeat(np.arange(150), 2), np.tile([0.0, 1.0], 150)
    for seed in range(20):
        found = draw_apart(seed, 2, (np.arange(300),), pairs, target=y[:, None])
        assert found.can_move.all()
        assert found.n_moved >= MOVED * 300


@pytest.mark.slow
def test_a_target_of_donors_keeps_the_rate(global_random_seed):
    """Guards the null of few subjects: nothing tells of the target, and all features differ
    between donors. Without subjects nearly all of them are relevant."""
    n_runs = 12
    seeds = range(n_runs * global_random_seed, n_runs * (global_random_seed + 1))
    stores = ((seed, of_donors(seed)) for seed in seeds)
    hits = [
        len(srs.select(store, seed=seed, subjects="who", max_trees=40).relevant_ids) > 0
        for seed, store in stores
    ]
    assert sum(hits) <= binom(n_runs, 0.1).ppf(0.99)
    assert len(srs.select(of_donors(seeds[0]), max_trees=40).relevant_ids) > 300


@pytest.mark.slow
def test_markers_within_donors_are_found_with_the_donor_as_confounder(global_random_seed):
    store = of_donors(global_random_seed, n_markers=150)
    result = srs.select(store, target="state", confounders=("who",), max_trees=40)
    assert (result.relevant_ids < 150).sum() >= 145
    assert (result.relevant_ids >= 150).sum() <= 35  # 17 are promised in the mean


def test_what_is_said_of_subjects():
    store = of_donors(0, p=20)
    notices = srs.select(store, target="state", subjects="who", max_trees=8).document["data"]
    assert "give 'who' as a confounder (--confounder who) instead" in notices["notices"][-1]
    notices = srs.select(store, subjects="who", max_trees=8).document["data"]["notices"]
    assert "'status' is one of 10 subjects" in " ".join(notices)
