"""Data for tests of pairs, and bits back to samples."""

import numpy as np

from srs.evidence.pairs.bits import BitRows, make_bits, tiles_of
from srs.evidence.pairs.cuts import choose_cuts
from srs.evidence.pairs.groups import WORD, PairGroups
from srs.evidence.pairs.lanes import LANES


def codes_of(X: np.ndarray) -> np.ndarray:
    """Numbers (n_samples, n_features) as ranks in 255 codes."""
    ranks = X.argsort(axis=0).argsort(axis=0)
    return (ranks * 255 // len(X)).astype(np.uint8)


def bits_of(
    codes: np.ndarray,
    groups: PairGroups,
    *,
    owners: np.ndarray | None = None,
    categorical: np.ndarray | None = None,
    near: bool = False,
    permutation: np.ndarray | None = None,
) -> BitRows:
    tiles = tiles_of(codes)
    owners = np.arange(codes.shape[1]) if owners is None else owners
    cuts = choose_cuts(tiles, groups.train, owners, categorical=categorical, near=near)
    return make_bits(tiles, cuts, groups, permutation)


def unpacked(bits: BitRows, groups: PairGroups, n_samples: int) -> np.ndarray:
    """bool (n_rows, n_samples): the bit of each sample, False in no group."""
    found = np.zeros((len(bits), n_samples), bool)
    is_sample = groups.order >= 0
    for i in range(len(bits)):
        words = np.ascontiguousarray(bits.words[i // LANES, :, i % LANES])
        flat = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")
        assert not flat[~is_sample].any()
        found[i, groups.order[is_sample]] = flat[is_sample]
    return found


def group_list(groups: PairGroups) -> list[tuple[np.ndarray, int, float]]:
    """Samples, arm and weight of each group."""
    found = []
    for g in range(groups.n_groups):
        samples = groups.order[groups.first[g] * WORD : groups.first[g + 1] * WORD]
        samples = samples[samples >= 0]
        assert len(samples) == groups.size[g]
        found.append((samples, int(groups.arm[g]), float(groups.omega[g])))
    return found
