"""Cuts: which two sides of a feature are made a bit.

Covers the choice of cuts from the codes of the training samples; `bits` applies them. A cut is an
interval: the bit is set where low <= code <= high. Missing values (255) are in none, so a missing
value counts as below, or as not that level. That is a rule like another: a probe is permuted with
its missing values, so the null is right.

- ordered, more than 3 levels: the cut nearest to one half of the values that are not missing; with
  `near` also the cut nearest to the inner half, from the lower to the upper quartile
- ordered, 2 or 3 levels (genotypes): every cut
- categorical, more than 2 levels: each of the 4 most frequent levels against all others

A cut with fewer than 1 % or 5 of the samples on a side is left out. A permutation of the training
samples does not change cuts: probes have those of their feature.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from srs.trees import MISSING

TILE = 64  # columns of a tile of codes
MOST_CUTS = 4  # of a feature
LEAST_SHARE, LEAST_SAMPLES = 0.01, 5  # of the samples, on each side of a cut


@dataclass(frozen=True)
class Cuts:
    """The cuts of some features, sorted by column.

    column  int32: column of the codes, tile * 64 + lane
    owner   int32: number of the feature
    low     uint8: least code of the side where the bit is set
    high    uint8: largest code there
    """

    column: np.ndarray
    owner: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def __len__(self) -> int:
        return len(self.column)

    @property
    def rule(self) -> np.ndarray:
        """int32: low * 256 + high, a cut of a feature as one number."""
        rule: np.ndarray = self.low.astype(np.int32) * 256 + self.high
        return rule


def choose_cuts(
    tiles: np.ndarray,
    train: np.ndarray,
    owners: np.ndarray,
    *,
    categorical: np.ndarray | None = None,
    near: bool = False,
) -> Cuts:
    """The cuts of features.

    tiles        uint8 (n_tiles, n_samples, 64), as in a store
    train        samples that decide
    owners       int32: number of the feature of each column, fewer than columns if the last tile
                 is padded; below 0: no feature
    categorical  bool by column: levels have no order; None: all have one
    near         whether to add the cut between quartiles
    """
    n_columns = len(owners)
    kinds = np.zeros(n_columns, np.bool_) if categorical is None else categorical
    low = np.zeros((n_columns, MOST_CUTS), np.uint8)
    high = np.zeros((n_columns, MOST_CUTS), np.uint8)
    least = max(LEAST_SAMPLES, int(np.ceil(LEAST_SHARE * len(train))))
    counts = _choose(tiles, np.asarray(train, np.int64), kinds, (least, near), (low, high))
    counts[np.asarray(owners) < 0] = 0
    kept = np.arange(MOST_CUTS) < counts[:, None]
    column = np.nonzero(kept)[0].astype(np.int32)
    return Cuts(column, np.asarray(owners, np.int32)[column], low[kept], high[kept])


@njit(nogil=True, cache=True)
def _choose(tiles, train, categorical, options, out):
    least, near = options
    low, high = out
    n_columns = len(categorical)
    n_cuts = np.zeros(n_columns, np.int64)
    counts = np.zeros((TILE, 256), np.int32)
    for tile in range((n_columns + TILE - 1) // TILE):
        counts[:] = 0
        for i in range(len(train)):
            codes = tiles[tile, train[i]]
            for lane in range(TILE):
                counts[lane, codes[lane]] += 1
        for lane in range(min(TILE, n_columns - tile * TILE)):
            c = tile * TILE + lane
            if categorical[c]:
                n_cuts[c] = _level_cuts(counts[lane], len(train), least, low[c], high[c])
            else:
                n_cuts[c] = _ordered_cuts(counts[lane], len(train), (least, near), low[c], high[c])
    return n_cuts


@njit(nogil=True, cache=True)
def _ordered_cuts(counts, n, options, low, high):
    least, near = options
    n_valid = n - counts[MISSING]
    n_levels = (counts[:MISSING] > 0).sum()
    n_cuts, above = 0, n_valid
    median, lower, upper = (-1, n), (-1, n), (-1, n)  # code, distance from the share wanted, in 1/4
    for code in range(MISSING):  # the side is code .. 254
        if counts[code] > 0 and above < n_valid:
            if n_levels <= 3:
                if above >= least and n - above >= least:
                    low[n_cuts], high[n_cuts] = code, MISSING - 1
                    n_cuts += 1
            else:
                if median[0] < 0 or abs(4 * above - 2 * n_valid) < median[1]:
                    median = (code, abs(4 * above - 2 * n_valid))
                if lower[0] < 0 or abs(4 * above - 3 * n_valid) < lower[1]:
                    lower = (code, abs(4 * above - 3 * n_valid))
                if upper[0] < 0 or abs(4 * above - n_valid) < upper[1]:
                    upper = (code, abs(4 * above - n_valid))
        above -= counts[code]
    if n_levels <= 3:
        return n_cuts
    above = counts[median[0] : MISSING].sum()
    if above >= least and n - above >= least:
        low[0], high[0] = median[0], MISSING - 1
        n_cuts = 1
    if near and upper[0] > lower[0]:
        inside = counts[lower[0] : upper[0]].sum()
        if inside >= least and n - inside >= least:
            low[n_cuts], high[n_cuts] = lower[0], upper[0] - 1
            n_cuts += 1
    return n_cuts


@njit(nogil=True, cache=True)
def _level_cuts(counts, n, least, low, high):
    n_levels = (counts[:MISSING] > 0).sum()
    if n_levels < 2:
        return 0
    most = 1 if n_levels == 2 else MOST_CUTS
    n_cuts = 0
    limit, after = n + 1, -1  # count and code of the level before, in order of frequency
    for _ in range(min(most, n_levels)):
        best = -1
        for code in range(MISSING):
            count = counts[code]
            is_next = count < limit or (count == limit and code > after)
            if count > 0 and is_next and (best < 0 or count > counts[best]):
                best = code
        limit, after = counts[best], best
        if limit >= least and n - limit >= least:
            low[n_cuts], high[n_cuts] = best, best
            n_cuts += 1
    return n_cuts
