"""The loop does not know which column is a probe (design decision "symmetry").

The swap test: replace a feature by its own probe. Probes are made by a group of permutations, so
the probe of the replaced column is the feature. If nothing treats the two differently, the whole
run is the same, with the evidence of the two exchanged.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srs.engine import batch
from srs.engine.context import make_context
from srs.engine.loop import Run
from srs.engine.samples import plan_samples
from srs.executors import LocalExecutor
from srs.seeds import probe_permutations
from srs.settings import Settings
from srs.store import Target
from srs.store.content import look_at
from srs.store.opening import open_root
from srs.store.writer import StoreWriter
from tests.planted import make_planted

N, P = 120, 24


def store_in_order(codes: np.ndarray, y: np.ndarray, columns: tuple[Target, ...] = ()):
    """A store in which place and feature id are equal, whatever the content."""

    writer = StoreWriter(None, codes.shape[1], len(codes), 1 << 20)
    target = Target("y", "classes", y.astype(np.int32), ("0", "1"))
    writer.describe(names=None, sample_ids=None, targets=[target, *columns])
    writer.add(np.arange(len(codes)), codes, look_at(codes, None))
    writer._hashes = [[np.arange(len(codes), dtype=np.uint64)]]
    root = writer.finish(
        kinds=np.zeros(len(codes)),
        n_levels=np.full(len(codes), 200),
        labels={},
        source={},
        notices=[],
        srs_version="",
    )
    return open_root(root)


def run_rounds(codes, y, settings, n_rounds, flipped, monkeypatch, columns=()):
    """Evidence after some rounds; `flipped` = (run number, role): change its coins by the role."""
    drawn = batch.draw_coins
    original_cut = batch.subspace.cut_subspaces

    def recording_cut(strips, n_subspaces, rng):
        parts = original_cut(strips, n_subspaces, rng)
        queue.extend(parts)
        return parts

    def coins(rng, n_strips, n_roles):
        found = drawn(rng, n_strips, n_roles)
        runs = queue.pop(0)
        if flipped is not None:
            found[runs == flipped[0]] ^= flipped[1]
        return found

    queue: list = []
    with monkeypatch.context() as patch:
        patch.setattr(batch, "draw_coins", coins)
        patch.setattr(batch.subspace, "cut_subspaces", recording_cut)
        run = Run(make_context(store_in_order(codes, y, columns), settings), LocalExecutor(1))
        for _ in range(n_rounds):
            run._run_round()
    return run.state


@pytest.mark.parametrize(("n_probes", "role"), [(1, 1), (3, 1), (3, 2), (7, 5)])
def test_swapping_features_with_probes_swaps_the_evidence(
    n_probes, role, monkeypatch, global_random_seed
):
    """Guards point 6 of the method: exchange features with their probes, and the run treats the
    two the other way round, to the last bit, carried set included."""
    X, y = make_planted(N, P, global_random_seed)
    codes = np.clip(X.T * 20 + 100, 0, 254).astype(np.uint8)
    settings = Settings(seed=global_random_seed, n_probes=n_probes, subspace_size=16)
    permutation = probe_permutations(settings.seed, n_probes + 1, N)[role]
    assert_swapped(
        codes, y, settings=settings, role=role, permutation=permutation, monkeypatch=monkeypatch
    )


@pytest.mark.parametrize(("n_probes", "role"), [(1, 1), (7, 5)])
def test_the_swap_where_samples_are_not_alike(n_probes, role, monkeypatch, global_random_seed):
    """Guards the same with strata, subjects and weights."""
    X, y = make_planted(N, P, global_random_seed)
    codes = np.clip(X.T * 20 + 100, 0, 254).astype(np.uint8)
    rng = np.random.default_rng(global_random_seed)
    subjects = np.repeat(np.arange(N // 3), 3)
    columns = (
        Target("who", "classes", subjects.astype(np.int32), tuple(map(str, range(N // 3)))),
        Target("site", "classes", (subjects % 4).astype(np.int32), tuple("abcd")),
        Target("w", "numbers", rng.uniform(0.5, 2.0, N)),
    )
    settings = Settings(
        seed=global_random_seed,
        n_probes=n_probes,
        subspace_size=16,
        subjects="who",
        confounders=("site",),
        sample_weight="w",
        class_weight="balanced",
    )
    samples = plan_samples(store_in_order(codes, y, columns), settings, n_probes + 1)
    assert len(samples.target.weights) == N
    permutation = samples.permutations[role]
    assert_swapped(
        codes,
        y,
        settings=settings,
        role=role,
        permutation=permutation,
        monkeypatch=monkeypatch,
        columns=columns,
    )


def assert_swapped(codes, y, settings, role, permutation, monkeypatch, columns=()):
    swapped = codes.copy()
    group = slice(8, 16)  # the features of run 1: coins are drawn for a run
    swapped[group] = codes[group][:, permutation]
    plain = run_rounds(
        codes,
        y,
        settings=settings,
        n_rounds=4,
        flipped=None,
        monkeypatch=monkeypatch,
        columns=columns,
    )
    other = run_rounds(
        swapped,
        y,
        settings=settings,
        n_rounds=4,
        flipped=(1, role),
        monkeypatch=monkeypatch,
        columns=columns,
    )
    roles = np.arange(settings.n_probes + 1)
    for name in ("used", "screened", "peak"):
        found = plain.evidence.by_kind[name]
        expected = found.copy()
        expected[:, group] = expected[roles ^ role][:, group]
        assert (expected != found).any(), "nothing to exchange"
        np.testing.assert_array_equal(other.evidence.by_kind[name], expected)
    assert (plain.pool.places // 8 == 1).any(), "no feature of the group is carried"
    expected_roles = np.where(
        (plain.pool.places // 8) == 1, plain.pool.roles ^ role, plain.pool.roles
    )
    columns = set(zip(plain.pool.places, expected_roles, strict=True))
    assert columns == set(zip(other.pool.places, other.pool.roles, strict=True))


@given(
    seed=st.integers(0, 2**32),
    bits=st.integers(1, 3),
    n=st.integers(1, 40),
    split=st.integers(0, 40),
)
def test_probe_permutations_form_a_group(seed, bits, n, split):
    """Guards the exchange of roles: applying role a, then role b, is applying role a XOR b."""
    groups = (np.arange(n)[: min(split, n)], np.arange(n)[min(split, n) :])
    n_roles = 1 << bits
    permutations = probe_permutations(seed, n_roles, n, groups)
    np.testing.assert_array_equal(permutations[0], np.arange(n))
    for a in range(n_roles):
        for b in range(n_roles):
            np.testing.assert_array_equal(permutations[a][permutations[b]], permutations[a ^ b])
    first = set(groups[0].tolist())
    assert {int(permutations[1][i]) for i in first} == first


def test_no_sample_keeps_its_value_in_whole_sets():
    """Guards that probes are permuted at all: in whole sets every probe moves every sample."""
    permutations = probe_permutations(3, 4, 400)
    for role in (1, 2, 3):
        assert (permutations[role] != permutations[0]).all()


def test_probes_carry_no_signal(global_random_seed):
    """Guards the null: over seeds, a perfect feature's probe is as related to y as chance."""
    y = np.arange(400) % 2
    related = [
        y[probe_permutations(seed, 2, 400)[1]] @ (2 * y - 1)
        for seed in range(global_random_seed, global_random_seed + 300)
    ]
    # hypergeometric: standard deviation about sqrt(400) / 2 = 10 each
    assert abs(np.mean(related)) < 4 * np.std(related) / np.sqrt(300)
    assert 6 < np.std(related) < 20
