"""Draws: every feature once a pass, subspaces of the wanted size, recall that is random."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from srs.engine.memory import slab_chunks
from srs.engine.subspace import (
    count_subspaces,
    cut_subspaces,
    deal_chunks,
    draw_paper,
    draw_recall,
    draw_root,
    slab_strips,
    strip_places,
    subspace_limit,
)


@given(
    st.integers(1, 5_000),
    st.sampled_from([64, 256, 1024]),
    st.integers(1, 3_000),
    st.integers(1, 4),
    st.integers(0, 2**32),
)
def test_a_pass_explores_every_feature_once(
    n_features, chunk_features, subspace_size, slab_subspaces, seed
):
    rng = np.random.default_rng(seed)
    n_chunks = -(-n_features // chunk_features)
    seen = []
    a_slab = slab_chunks(n_features, chunk_features, subspace_size, slab_subspaces)
    limit = subspace_limit(a_slab, chunk_features, subspace_size, n_features)
    for chunk_ids in deal_chunks(n_chunks, a_slab, rng):
        runs = slab_strips(chunk_ids, n_features, chunk_features)
        n_subspaces = count_subspaces(len(chunk_ids), chunk_features, subspace_size, n_features)
        for part in cut_subspaces(runs, n_subspaces, rng):
            places = strip_places(part, n_features)
            assert len(places) <= limit
            seen.extend(places[places < n_features].tolist())
    assert sorted(seen) == list(range(n_features))


@given(
    st.integers(1, 3_000), st.sampled_from([64, 256, 1024]), st.integers(0, 500), st.integers(1, 4)
)
def test_a_subspace_of_the_size_of_the_store_holds_all(n_features, chunk_features, more, subspaces):
    size = n_features + more
    a_slab = slab_chunks(n_features, chunk_features, size, subspaces)
    rng = np.random.default_rng(0)
    (chunk_ids,) = deal_chunks(-(-n_features // chunk_features), a_slab, rng)
    runs = slab_strips(chunk_ids, n_features, chunk_features)
    n_subspaces = count_subspaces(len(chunk_ids), chunk_features, size, n_features)
    (part,) = cut_subspaces(runs, n_subspaces, rng)
    places = strip_places(part, n_features)
    assert sorted(places[places < n_features].tolist()) == list(range(n_features))


def test_subspaces_change_from_pass_to_pass():
    """Guards that features meet others: two runs share a subspace about as often as chance."""
    n_features, together = 4_096, 0
    rng = np.random.default_rng(0)
    for _ in range(400):
        runs = slab_strips(np.arange(4), n_features, 1024)
        together += any({0, 100} <= set(part.tolist()) for part in cut_subspaces(runs, 8, rng))
    assert 25 < together < 80  # 1 in 8


@given(st.integers(0, 60), st.integers(0, 50), st.integers(0, 2**32))
def test_recall_is_of_what_is_not_blocked(n_pool, most, seed):
    rng = np.random.default_rng(seed)
    blocked = rng.random(n_pool) < 0.3
    chosen = draw_recall(n_pool, blocked, most, rng)
    assert len(set(chosen.tolist())) == len(chosen) <= most
    assert not blocked[chosen].any()
    full = draw_recall(n_pool, blocked, most, rng, full=True)
    assert len(full) == min(most, (~blocked).sum())


def test_recall_takes_every_number_alike():
    rng = np.random.default_rng(0)
    sizes = [len(draw_recall(20, np.zeros(20, bool), 4, rng)) for _ in range(2_000)]
    counts = np.bincount(sizes, minlength=5)
    assert len(counts) == 5
    assert counts.min() > 300


@given(
    st.integers(1, 200),
    st.integers(1, 80),
    st.integers(0, 100),
    st.integers(0, 40),
    st.integers(0, 2**32),
)
def test_draws_of_the_paper(n_features, size, hundredths, n_relevant, seed):
    """Algorithm 7.1 (a): |R| = min(floor(alpha q), |F|), C from the rest, |R| + |C| = q."""
    rng = np.random.default_rng(seed)
    size = min(size, n_features)
    relevant = rng.choice(n_features, min(n_relevant, n_features), replace=False)
    carried, explored = draw_paper(n_features, size, hundredths / 100, relevant, rng)
    assert len(carried) == min(hundredths * size // 100, len(relevant))
    assert set(carried.tolist()) <= set(relevant.tolist())
    assert len(carried) + len(explored) == size
    assert len(set(carried.tolist()) | set(explored.tolist())) == size


def test_roots_are_drawn_of_what_stands_out():
    rng = np.random.default_rng(0)
    outstanding = np.zeros(20, bool)
    outstanding[[4, 9]] = True
    roots = []
    for _ in range(400):
        carried, at = draw_root(outstanding, np.array([1, 9, 5]), 0.5, rng)
        if at >= 0:
            roots.append(carried[at])
        else:
            assert carried.tolist() == [1, 9, 5]
    assert set(roots) == {4, 9}
    assert 150 < len(roots) < 250
    assert draw_root(np.zeros(20, bool), np.array([1]), 1.0, rng)[1] == -1
    assert draw_root(outstanding, np.array([1]), 0.0, rng)[1] == -1
