"""The best partners against a twin, in any blocks and order, by either way of counting."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from srs.evidence.pairs.best import Best, best_by_owner, best_partners, merge_best, no_best
from srs.evidence.pairs.bits import BitRows, make_bits, tiles_of
from srs.evidence.pairs.cuts import Cuts, choose_cuts
from srs.evidence.pairs.groups import PairGroups, make_groups
from tests.evidence.pairs.samples import bits_of, group_list, unpacked
from tests.reference.pairs_twin import all_statistics_twin


def same(one: Best, other: Best) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("statistic", "partner", "rule")
    )


def mixed_codes(rng: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers, genotypes, categories, constants, duplicates, rare levels, missing values."""
    codes = rng.integers(0, 254, (n, p)).astype(np.uint8)
    kind = rng.integers(0, 7, p)
    for c in range(p):
        if kind[c] == 1:
            codes[:, c] = rng.binomial(2, rng.uniform(0.02, 0.5), n)
        elif kind[c] == 2:
            codes[:, c] = rng.integers(0, 6, n)
        elif kind[c] == 3:
            codes[:, c] = 7
        elif kind[c] == 4:
            codes[:, c] = codes[:, rng.integers(0, p)]
        elif kind[c] == 5:
            codes[rng.random(n) < 0.3, c] = 255
    return codes, kind == 2


def case(seed: int, n: int, p: int, how: str) -> tuple[BitRows, PairGroups]:
    rng = np.random.default_rng(seed)
    codes, categorical = mixed_codes(rng, n, p)
    train = np.sort(rng.permutation(n)[: max(16, int(0.9 * n))])
    target = {
        "two": rng.integers(0, 2, n),
        "many": rng.integers(0, 5, n),
        "rare": (rng.random(n) < 0.1) * 1 + (rng.random(n) < 0.05) * 1,
        "number": rng.normal(size=n),
        "tied": rng.poisson(1.0, n) * 1.0,
    }[how.split("-")[0]]
    strata = rng.integers(0, 3, n) if "strata" in how else None
    weights = rng.uniform(0.1, 2, n) if "weights" in how else None
    target[train[:6]] = [0, 0, 0, 1, 1, 1]
    groups = make_groups(train, target, strata=strata, weights=weights)
    return bits_of(codes, groups, categorical=categorical, near=bool(seed % 2)), groups


HOW = tuple(
    f"{target}{more}"
    for target in ("two", "many", "rare", "number", "tied")
    for more in ("", "-strata", "-weights", "-strata-weights")
)


@pytest.mark.long
@hypothesis_settings(max_examples=200)
@given(st.integers(0, 10**6), st.integers(24, 400), st.sampled_from(HOW), st.booleans())
def test_many_bests_are_those_of_the_twin(seed, n, how, in_registers):
    compare_with_twin(case(seed, n, 24, how), n, in_registers)


@hypothesis_settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(24, 300), st.sampled_from(HOW), st.booleans())
def test_bests_are_those_of_the_twin(seed, n, how, in_registers):
    compare_with_twin(case(seed, n, 14, how), n, in_registers)


def compare_with_twin(made: tuple[BitRows, PairGroups], n: int, in_registers: bool) -> None:
    bits, groups = made
    if not len(bits):
        return
    found = best_partners(bits, bits, groups, in_registers=in_registers)[0]
    raw = unpacked(bits, groups, n)
    expected = all_statistics_twin(raw, raw, group_list(groups))
    expected[bits.owner[:, None] == bits.owner] = 0.0
    most = expected.max(axis=1)
    assert found.statistic == pytest.approx(most, rel=1e-5, abs=1e-9)
    has_partner = found.partner >= 0
    assert ((most > 1e-9) <= has_partner).all()
    whose = {(o, r): i for i, (o, r) in enumerate(zip(bits.owner, bits.rule, strict=True))}
    for i in np.flatnonzero(has_partner & (most > 1e-9)):
        k = whose[found.partner[i], found.rule[i]]
        assert expected[i, k] == pytest.approx(most[i], rel=1e-5)


@hypothesis_settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(40, 300), st.sampled_from(HOW))
def test_results_do_not_depend_on_blocks_order_and_way_of_counting(seed, n, how):
    bits, groups = case(seed, n, 100, how)
    rng = np.random.default_rng(seed)
    whole = best_partners(bits, bits, groups, in_registers=True)[0]
    assert same(whole, best_partners(bits, bits, groups, in_registers=False)[0])
    n_rows = len(bits)
    edges = np.unique([0, *rng.integers(0, n_rows, 3), n_rows])
    parts = [part_of(bits, a, b, groups) for a, b in pairwise(edges)]
    pairs = [(i, k) for i in range(len(parts)) for k in range(i, len(parts))]
    bests = [no_best(len(part)) for part in parts]
    for turn in rng.permutation(len(pairs)):
        i, k = pairs[turn]
        if rng.random() < 0.5:
            i, k = k, i
        so_far = (bests[i], bests[k]) if rng.random() < 0.5 else None
        one, other = best_partners(parts[i], parts[k], groups, so_far=so_far)
        bests[i] = merge_best(bests[i], one)
        if i != k:
            bests[k] = merge_best(other, bests[k])
    joined = Best(*(np.concatenate(x) for x in zip(*map(fields, bests), strict=True)))
    assert same(whole, joined)


def fields(best: Best) -> tuple[np.ndarray, ...]:
    return best.statistic, best.partner, best.rule


def part_of(bits: BitRows, a: int, b: int, groups: PairGroups) -> BitRows:
    """Rows a to b as a block of its own."""
    lanes = bits.words.shape[2]
    n_tiles = -(-(b - a) // lanes)

    def cut(x: np.ndarray) -> np.ndarray:
        flat = x.transpose(0, 2, 1).reshape(-1, x.shape[1])[a:b]
        padded = np.zeros((n_tiles * lanes, x.shape[1]), x.dtype)
        padded[: b - a] = flat
        return np.ascontiguousarray(padded.reshape(n_tiles, lanes, -1).transpose(0, 2, 1))

    assert groups.n_words == bits.words.shape[1]
    return BitRows(cut(bits.words), cut(bits.ones), bits.owner[a:b], bits.rule[a:b])


def test_threads_share_what_they_read():
    bits, groups = case(3, 300, 200, "two")
    whole = best_partners(bits, bits, groups)[0]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: best_partners(bits, bits, groups)[0], range(8)))
    assert all(same(whole, one) for one in found)


def test_of_equal_partners_the_smaller_owner_counts():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 250, (200, 40)).astype(np.uint8)
    codes[:, 30] = codes[:, 17] = codes[:, 5]
    y = ((codes[:, 5] > 125) ^ (codes[:, 20] > 125)).astype(int)
    groups = make_groups(np.arange(200), y)
    for owners in (np.arange(40), 100 - np.arange(40)):
        bits = bits_of(codes, groups, owners=owners)
        found = best_partners(bits, bits, groups)[0]
        assert found.partner[20] == min(owners[[5, 17, 30]])
        assert found.partner[[5, 17, 30]].tolist() == [owners[20]] * 3


def test_rows_only_are_those_of_a_rectangle():
    bits, groups = case(5, 250, 90, "many-strata")
    rows, columns = part_of(bits, 0, 30, groups), part_of(bits, 30, len(bits), groups)
    one, other = best_partners(rows, columns, groups)
    alone, nothing = best_partners(rows, columns, groups, rows_only=True)
    assert same(one, alone)
    assert same(nothing, no_best(len(columns)))
    mirrored = best_partners(columns, rows, groups)
    assert same(mirrored[0], other)
    assert same(mirrored[1], one)
    with pytest.raises(ValueError, match="rows only"):
        best_partners(rows, rows, groups, rows_only=True)


def test_a_feature_is_no_partner_of_itself_nor_of_its_probe():
    rng = np.random.default_rng(1)
    codes = rng.binomial(2, 0.4, (300, 1)).astype(np.uint8)
    groups = make_groups(np.arange(300), rng.integers(0, 2, 300))
    bits = bits_of(codes, groups)
    assert len(bits) == 2
    assert best_partners(bits, bits, groups)[0].partner.tolist() == [-1, -1]
    tiles = tiles_of(codes)
    cuts = choose_cuts(tiles, groups.train, np.array([0]))
    probe = make_bits(tiles, cuts, groups, rng.permutation(300))
    found = best_partners(probe, bits, groups, rows_only=True)[0]
    assert found.statistic.tolist() == [0.0, 0.0]


def test_bests_of_features_are_those_of_their_rows():
    best = Best(
        np.array([1, 3, 3, 0], np.float32),
        np.array([4, 9, 8, -1], np.int32),
        np.array([0, 1, 2, -1], np.int32),
    )
    found = best_by_owner(best, np.array([0, 2, 2, 3]), 5)
    assert found.statistic.tolist() == [1, 0, 3, 0, 0]
    assert found.partner.tolist() == [4, -1, 8, -1, -1]
    assert found.rule.tolist() == [0, -1, 2, -1, -1]


def test_a_bit_that_is_constant_in_an_arm_has_no_statistic():
    rng = np.random.default_rng(2)
    y = np.arange(200) % 2
    codes = rng.integers(0, 250, (200, 20)).astype(np.uint8)
    codes[:, 3] = np.where(y == 1, codes[:, 3] > 100, 0)
    groups = make_groups(np.arange(200), y)
    bits = bits_of(codes, groups)
    found = best_by_owner(best_partners(bits, bits, groups)[0], bits.owner, 20)
    assert found.statistic[3] == 0
    assert (np.delete(found.statistic, 3) > 0).all()
    assert not (found.partner == 3).any()


def test_no_rows_at_all():
    groups = make_groups(np.arange(100), np.arange(100) % 2)
    empty = np.zeros(0, np.int32)
    nothing = Cuts(empty, empty, empty.astype(np.uint8), empty.astype(np.uint8))
    bits = make_bits(np.zeros((1, 100, 64), np.uint8), nothing, groups)
    assert len(best_partners(bits, bits, groups)[0]) == 0
