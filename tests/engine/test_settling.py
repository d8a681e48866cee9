"""A run ends when more trees would hardly change its list, and knows that from its half on."""

import numpy as np
import pytest

import srs
from srs.engine.run import settling
from srs.engine.run.remaining import Remaining
from srs.engine.state import Stage
from srs.engine.stopping import WAVERING_TREES
from srs.errors import RunInterrupted
from tests.engine.test_stopping import shape_of
from tests.planted import comparable, make_store


def make_weak(seed, n=300, p=600):
    """Forty effects around the cut: lists that waver."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    score = X[:, :40] @ rng.normal(size=40) * 0.4 + rng.normal(size=n)
    return make_store(X, (score > 0).astype(int))


def test_a_stable_run_ends_with_the_least_trees():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 900))
    store = make_store(X, (X[:, 3] + X[:, 11] > 0).astype(int))
    result, planned = srs.select(store, seed=1), srs.plan(store)
    assert planned.least_trees <= result.n_trees <= 2 * planned.least_trees
    assert result.stop_reason == "more trees would hardly change the relevant set"


def test_a_run_that_wavers_ends_too(global_random_seed):
    planned = srs.plan(store := make_weak(global_random_seed))
    result = srs.select(store, seed=global_random_seed)
    assert planned.most_trees == WAVERING_TREES * planned.least_trees  # a tree is cheap
    assert result.n_trees < 1.2 * planned.most_trees + 50
    assert "would hardly change" in result.stop_reason or "chance decides" in result.stop_reason


def test_the_end_is_known_from_half_of_the_run_on(monkeypatch, global_random_seed):
    """In trees; how long they take is for the benchmark."""
    told = []
    estimate = Remaining.estimate

    def noted(self, n_left, n_trees, elapsed):
        told.append((n_trees, n_trees + n_left))
        return estimate(self, n_left, n_trees, elapsed)

    monkeypatch.setattr(Remaining, "estimate", noted)
    run = srs.select(make_weak(global_random_seed), seed=1, on_progress=lambda _: None)
    late = [end for n_trees, end in told if n_trees > 0.55 * run.n_trees]
    assert len(late) >= 3
    assert late == pytest.approx([run.n_trees] * len(late), rel=0.1)


@pytest.mark.long
def test_seeds_agree_more_than_where_lists_happened_to_pause(global_random_seed):
    """Of lists that waver: those that end where three rounds changed nothing agree less."""

    def agreement(store, **settings):
        lists = [set(srs.select(store, seed=s, **settings).relevant_ids) for s in range(5)]
        pairs = [(a, b) for i, a in enumerate(lists) for b in lists[:i]]
        return np.mean([len(a & b) / max(1, len(a | b)) for a, b in pairs])

    stores = [make_weak(10 * global_random_seed + k) for k in range(3)]
    ours = [agreement(store) for store in stores]
    former = [agreement(store, patience=3) for store in stores]
    assert np.mean(ours) > np.mean(former) - 0.02


def test_the_end_depends_on_nothing_but_the_evidence(tmp_path, global_random_seed):
    """Threads, and breaks at any batch, end the run at the same tree with the same list."""
    store, seed = make_weak(3), global_random_seed
    whole = srs.select(store, seed=seed, threads=1)
    assert comparable(srs.select(store, seed=seed, threads=2)) == comparable(whole)
    stops = np.random.default_rng(seed).integers(1, whole.n_trees, 3)
    for at in sorted(stops.tolist()):

        def stop(now, at=at):
            if now.n_trees >= at:
                raise KeyboardInterrupt

        with pytest.raises(RunInterrupted):
            srs.select(
                store, seed=seed, folder=tmp_path, resume=any(tmp_path.iterdir()), on_progress=stop
            )
    resumed = srs.select(store, seed=seed, folder=tmp_path, resume=True)
    assert comparable(resumed) == comparable(whole)


def test_looks_are_few_and_the_middle_of_three_counts():
    noises = [(100, 4.0), (120, 0.1), (144, 4.0)]
    assert settling.needed_trees(noises) == pytest.approx(100 * 16)
    assert settling.decide_end(noises, 400) is None
    assert settling.decide_end([*noises, (480, 4.0)], 960) == 960  # the most ones
    assert "after 960 trees" in settling.describe_end([*noises, (480, 4.0)], 960)
    assert not settling.is_due(noises, 150, 60)
    assert settling.is_due(noises, 173, 60)
    assert settling.is_due([], 30, 60)
    assert not settling.is_due([], 29, 60)


def test_remaining_time_adds_steps_and_trees():
    remaining = Remaining(shape_of(5_000), 2)
    guess = remaining.estimate(100, 0, 0.0)
    assert guess > 0
    for done, seconds in ((1, 10.0), (2, 12.0), (3, 14.0)):
        remaining.note_step(Stage("pairs", done, 10), seconds)
    assert 7 * 2.0 + guess <= remaining.estimate(100, 0, 14.0) <= 7 * 2.0 + 3 * guess
    remaining.start_trees(0, 28.0)
    assert remaining.estimate(100, 50, 33.0) == pytest.approx(10.0)
