"""Cuts and bits against the twin: numbers, genotypes, categories, missing values, probes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from srs.evidence.pairs.bits import make_bits, tiles_of
from srs.evidence.pairs.cuts import choose_cuts
from srs.evidence.pairs.groups import make_groups
from tests.evidence.pairs.samples import unpacked
from tests.reference.pairs_twin import cuts_twin


@hypothesis_settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(20, 300), st.booleans())
def test_cuts_and_bits_are_those_of_the_twin(seed, n, near):
    rng = np.random.default_rng(seed)
    p = 70
    codes = (rng.integers(0, 255, (n, p)) % rng.choice([1, 2, 3, 4, 5, 9, 255], p)).astype(np.uint8)
    codes[rng.random((n, p)) < rng.choice([0.0, 0.2, 0.9], p)] = 255
    codes = np.where(rng.random((n, p)) < rng.choice([0.0, 0.9], p), codes[:1], codes)
    categorical = rng.random(p) < 0.3
    train = np.sort(rng.permutation(n)[: n - n // 5])
    y = rng.integers(0, 3, n)
    y[train[:4]] = [0, 0, 1, 1]
    groups = make_groups(train, y)
    owners = rng.permutation(1000)[:p].astype(np.int32)
    owners[3] = -1
    tiles = tiles_of(codes)
    cuts = choose_cuts(tiles, train, owners, categorical=categorical, near=near)
    expected = [
        (c, int(owners[c]), *cut)
        for c in range(p)
        if owners[c] >= 0
        for cut in cuts_twin(codes[train, c], bool(categorical[c]), near)
    ]
    parts = (cuts.column, cuts.owner, cuts.low, cuts.high)
    assert list(zip(*(x.tolist() for x in parts), strict=True)) == expected
    permutation = rng.permutation(n)
    for order in (None, permutation):
        moved = codes if order is None else codes[order]
        bits = make_bits(tiles, cuts, groups, order)
        raw = unpacked(bits, groups, n)
        used = groups.order[groups.order >= 0]
        for i, (c, owner, low, high) in enumerate(expected):
            assert bits.owner[i] == owner
            assert bits.rule[i] == low * 256 + high
            inside = (moved[used, c] >= low) & (moved[used, c] <= high)
            assert np.array_equal(raw[i, used], inside)


def test_missing_values_count_as_below_and_as_no_level():
    codes = np.repeat(np.array([[0], [1], [2], [255]], np.uint8), 25, axis=0)
    groups = make_groups(np.arange(100), np.arange(100) % 2)
    tiles = tiles_of(codes)
    ordered = choose_cuts(tiles, groups.train, np.array([0]))
    assert ordered.low.tolist() == [1, 2]
    raw = unpacked(make_bits(tiles, ordered, groups), groups, 100)
    assert raw.sum(axis=1).tolist() == [50, 25]
    assert not raw[:, 75:].any()
    levels = choose_cuts(tiles, groups.train, np.array([0]), categorical=np.array([True]))
    assert levels.low.tolist() == levels.high.tolist() == [0, 1, 2]
    assert not unpacked(make_bits(tiles, levels, groups), groups, 100)[:, 75:].any()


@pytest.mark.parametrize(("n_rare", "n_cuts"), [(4, 1), (5, 2), (19, 2)])
def test_a_cut_needs_samples_on_both_sides(n_rare, n_cuts):
    codes = np.zeros((400, 1), np.uint8)
    codes[:200] = 1
    codes[:n_rare] = 2
    cuts = choose_cuts(tiles_of(codes), np.arange(400), np.array([0]))
    assert len(cuts) == n_cuts


def test_a_permutation_of_the_training_samples_leaves_cuts_as_they_are():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 255, (200, 64)).astype(np.uint8)
    train = np.arange(0, 200, 2)
    moved = codes.copy()
    moved[train] = codes[rng.permutation(train)]
    one, other = (choose_cuts(tiles_of(c), train, np.arange(64)) for c in (codes, moved))
    assert np.array_equal(one.low, other.low)
    assert np.array_equal(one.column, other.column)


def test_cuts_are_known_from_bits(global_random_seed):
    """Probes take them from the bits of their features, of which a block may hold more."""
    rng = np.random.default_rng(global_random_seed)
    codes = rng.integers(0, rng.choice([1, 2, 3, 40], size=130), (200, 130)).astype(np.uint8)
    tiles, first = tiles_of(codes), 1_000
    groups = make_groups(np.arange(200), rng.integers(0, 2, 200))
    owners = np.arange(first, first + 130)
    categorical = rng.random(130) < 0.3
    cuts = choose_cuts(tiles, groups.train, owners, categorical=categorical)
    bits = make_bits(tiles, cuts, groups)
    for n in (130, 64, 1):
        some = choose_cuts(tiles, groups.train, owners[:n], categorical=categorical[:n])
        known = bits.cuts(first, n)
        for name in ("column", "owner", "low", "high"):
            one, other = getattr(known, name), getattr(some, name)
            assert one.dtype == other.dtype
            assert np.array_equal(one, other)
