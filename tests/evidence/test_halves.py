"""The halves of the trees: what each says, held beside the whole."""

import numpy as np

import srs
from srs.evidence.arrays import BatchEvidence, Evidence
from srs.evidence.halves import Halves
from srs.evidence.registry import MOST_HALVED, halves_bytes

KINDS = ("used", "screened", "peak")
N, ROLES = 50, 4
NO_POOL = np.empty(0, np.int64)


def make_batch(rng, places):
    values = {kind: rng.exponential(size=(ROLES, len(places))).astype("f4") for kind in KINDS}
    return BatchEvidence(
        places=places,
        by_kind=values,
        splits=rng.random(len(places)) < 0.5,
        carried=np.empty(0),
        wins=np.empty(0, np.bool_),
        n_trees=1,
        votes=np.empty((0, 1)),
        seconds={},
    )


def fill(rng, n_passes=7):
    """The whole, its halves, and each half gathered by itself."""
    whole, halves = Evidence.empty(N, ROLES, KINDS), Halves.empty(N, ROLES, KINDS)
    apart = [Evidence.empty(N, ROLES, KINDS) for _ in range(2)]
    for number in range(n_passes):
        for places in np.array_split(rng.permutation(N), 3):
            batch = make_batch(rng, places)
            whole.update(batch, NO_POOL, NO_POOL)
            halves.update(batch, number % 2)
            apart[number % 2].update(batch, NO_POOL, NO_POOL)
    return whole, halves, apart


def test_each_half_is_what_its_passes_say(global_random_seed):
    whole, halves, apart = fill(np.random.default_rng(global_random_seed))
    some = np.array([3, 17, 4])
    for half, alone in zip(halves.of(whole), apart, strict=True):
        np.testing.assert_array_equal(half.n_drawn, alone.n_drawn)
        for kind in KINDS:
            found, expected = half.statistic(kind), alone.statistic(kind)
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
            part = half.statistic(kind, slice(1, None), some)
            np.testing.assert_array_equal(part, found[1:, some])


def test_a_checkpoint_keeps_them(global_random_seed):
    _, halves, _ = fill(np.random.default_rng(global_random_seed))
    again = Halves.of_arrays(halves.arrays())
    for name, array in halves.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], array)


def test_their_bytes_are_planned():
    held = Halves.empty(N, ROLES, KINDS).arrays().values()
    assert sum(array.nbytes for array in held) == N * halves_bytes(KINDS, N, ROLES)
    assert halves_bytes(KINDS, N, 1) == 0  # paper mode has none
    assert (
        halves_bytes(KINDS, MOST_HALVED, ROLES) > halves_bytes(KINDS, MOST_HALVED + 1, ROLES) == 0
    )


def test_a_run_without_halves_ends_when_its_list_rests_and_says_so(monkeypatch):
    """Guards runs of millions of features, by a small one that counts as such."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 120))
    store = srs.ingest(X, target=(X[:, 3] + X[:, 7] > 0).astype(int))
    monkeypatch.setattr("srs.evidence.registry.MOST_HALVED", 100)
    seen = []
    result = srs.select(store, seed=1, threads=1, on_progress=seen.append)
    assert {3, 7} <= set(result.relevant_ids.tolist())
    assert result.features["stability"].isna().all()
    assert result.stop_reason == "the relevant set did not change in 3 rounds"
    assert [n for n in result.document["data"]["notices"] if "stability is not known" in n]
    assert all(one.remaining_seconds >= 0 for one in seen)
