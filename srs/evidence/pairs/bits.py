"""Bits: features as rows of one bit a sample, in the layout that `lanes` counts.

Covers how codes become bits (`make_bits`), in the order of samples of `groups`. Which cuts these
are is chosen in `cuts`. Reading codes from a store is not done here: arrays in, arrays out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from srs.evidence.pairs.cuts import TILE, Cuts
from srs.evidence.pairs.groups import WORD, PairGroups
from srs.evidence.pairs.lanes import LANES, aligned_zeros, popcount
from srs.trees import MISSING

U8, U32 = np.uint8, np.uint32
STEP = 8  # samples that are put together in bytes


@dataclass(frozen=True)
class BitRows:
    """Rows of bits. Row i is lane i % LANES of tile i // LANES.

    words  uint32 (n_tiles, n_words, LANES); rows behind the last, and padding of groups, are 0
    ones   int32 (n_tiles, n_groups, LANES): bits that are set
    owner  int32 (n_rows,): number of the feature; of a probe, the feature that it was made of
    rule   int32 (n_rows,): low * 256 + high, the codes where the bit is set
    """

    words: np.ndarray
    ones: np.ndarray
    owner: np.ndarray
    rule: np.ndarray

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in (self.words, self.ones, self.owner, self.rule))

    def cuts(self, first: int, n: int) -> Cuts:
        """The cuts of n features from the feature `first` on, which is column 0."""
        here = slice(*np.searchsorted(self.owner, (first, first + n)))
        owner, rule = self.owner[here], self.rule[here]
        column = (owner - first).astype(np.int32)
        return Cuts(column, owner, (rule // 256).astype(U8), (rule % 256).astype(U8))


def make_bits(
    tiles: np.ndarray, cuts: Cuts, groups: PairGroups, permutation: np.ndarray | None = None
) -> BitRows:
    """The bits of cuts.

    tiles        uint8 (n_tiles, n_samples, 64): codes, as in a store
    permutation  int (n_samples,): sample i gets the code of sample permutation[i], for probes
    """
    order = groups.order.astype(np.int64)
    if permutation is not None:
        order = np.where(order < 0, -1, np.asarray(permutation)[order])
    n_tiles = -(-len(cuts) // LANES)
    words = aligned_zeros((n_tiles, groups.n_words, LANES), U32)
    starts = np.searchsorted(cuts.column, np.arange(len(tiles) + 1) * TILE)
    _fill(tiles, order, starts, (cuts.column, cuts.low, cuts.high), words)
    ones = np.zeros((n_tiles, groups.n_groups, LANES), np.int32)
    _count(words, groups.first, ones)
    return BitRows(words, ones, cuts.owner, cuts.rule)


def tiles_of(codes: np.ndarray) -> np.ndarray:
    """Codes (n_samples, n_columns) as tiles, the last of them padded with MISSING."""
    n_samples, n_columns = codes.shape
    n_tiles = -(-n_columns // TILE)
    tiles = np.full((n_tiles, n_samples, TILE), MISSING, U8)
    for t in range(n_tiles):
        part = codes[:, t * TILE : (t + 1) * TILE]
        tiles[t, :, : part.shape[1]] = part
    return tiles


@njit(nogil=True, cache=True)
def _fill(tiles, order, starts, cuts, words):
    """One pass over a tile for the first cut of each of its columns, one for the second, ...

    64 columns of a sample are compared at once, 8 samples are put together in a byte a column
    before these are widened to words.
    """
    column, low, high = cuts
    n_words = words.shape[1]
    least, width = np.zeros(TILE, U8), np.zeros(TILE, U8)
    row_of = np.zeros(TILE, np.int64)
    gathered, word = np.zeros(TILE, U8), np.zeros(TILE, U32)
    for tile in range(len(tiles)):
        done, end = starts[tile], starts[tile + 1]
        n_left, turn = end - done, 0
        while n_left > 0:
            row_of[:] = -1
            seen = 0
            for i in range(done, end):
                c = column[i] - tile * TILE
                seen = seen + 1 if i > done and column[i] == column[i - 1] else 0
                if seen == turn:
                    row_of[c], least[c], width[c] = i, low[i], U8(high[i] - low[i])
                    n_left -= 1
            turn += 1
            for w in range(n_words):
                word[:] = U32(0)
                for step in range(WORD // STEP):
                    gathered[:] = U8(0)
                    for s in range(STEP):
                        sample = order[w * WORD + step * STEP + s]
                        if sample < 0:
                            continue
                        codes = tiles[tile, sample]
                        for lane in range(TILE):
                            inside = U8(U8(codes[lane] - least[lane]) <= width[lane])
                            gathered[lane] |= U8(inside << U8(s))
                    for lane in range(TILE):
                        word[lane] |= U32(gathered[lane]) << U32(step * STEP)
                for lane in range(TILE):
                    row = row_of[lane]
                    if row >= 0:
                        words[row // LANES, w, row % LANES] = word[lane]


@njit(nogil=True, cache=True)
def _count(words, first, ones):
    for tile in range(len(words)):
        for g in range(len(first) - 1):
            for w in range(first[g], first[g + 1]):
                for lane in range(LANES):
                    ones[tile, g, lane] += np.int32(popcount(words[tile, w, lane]))
