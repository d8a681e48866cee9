"""Whole tiles: codes of 64 columns, sample-major, to p-values, effects and moments.

Two classes without strata are counted as the bytes lie, 64 columns of a sample after another: the
counts by code and class are all that the test needs. Everything else takes the training samples
out first, column by column and in the order of strata and classes, and goes on with
`srs.evidence.univariate.columns` and `levels`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from srs.evidence.univariate.columns import MISSING, class_column, number_column
from srs.evidence.univariate.levels import class_levels, number_levels
from srs.evidence.univariate.two_classes import two_class_p

ROW = (
    272  # counts of a column: 256 alone put equal codes of all columns into four sets of the cache
)


@njit(nogil=True, cache=True)
def gather_columns(tile, order, columns):
    """The codes of the samples of `order`, column by column, into `columns` (n_columns, n)."""
    n_columns = tile.shape[1]
    for first in range(0, order.shape[0], 64):  # a block that the first cache holds
        last = min(first + 64, order.shape[0])
        for j in range(n_columns):
            for i in range(first, last):
                columns[j, i] = tile[order[i], j]


@njit(nogil=True, cache=True)
def count_tile(tile, order, counts):
    """Adds 1 at [j, code] of `counts` (64, ROW) for each column j of each sample of `order`."""
    n_columns = tile.shape[1]
    for i in range(order.shape[0]):
        row = tile[order[i]]
        for j in range(n_columns):
            counts[j, row[j]] += 1


@njit(nogil=True, cache=True)
def two_class_tiles(tiles, orders, skipped, log_factorials, p, effects):
    """p and effects of ordered columns and two classes without strata.

    tiles    uint8 (n_tiles, n_samples, n_columns)
    orders   two int64 arrays: samples of each class
    skipped  bool (n_tiles * n_columns,): columns that are left as they are
    """
    n_tiles, _, n_columns = tiles.shape
    counts = np.zeros((2, n_columns, ROW), np.uint32)
    ranks = np.empty(256, np.int64)
    levels = np.empty(256, np.int64)
    cases = np.empty(1, np.int64)
    for t in range(n_tiles):
        counts[:] = 0
        count_tile(tiles[t], orders[0], counts[0])
        count_tile(tiles[t], orders[1], counts[1])
        for j in range(n_columns):
            at = t * n_columns + j
            if skipped[at]:
                continue
            n = n_cases = np.int64(0)
            n_levels = 0
            score = 0.0
            for code in range(MISSING):
                b = np.int64(counts[1, j, code])
                k = np.int64(counts[0, j, code]) + b
                if k:
                    ranks[n_levels] = 2 * n + k + 1
                    levels[n_levels] = k
                    n_levels += 1
                    score += b * float(2 * n + k + 1)
                    n_cases += b
                    n += k
            p[at], effects[at] = 1.0, 0.0
            if n_levels < 2 or n_cases == 0 or n_cases == n:
                continue
            cases[0] = n_cases
            p[at] = two_class_p(
                ranks[:n_levels],
                levels[:n_levels].reshape(1, n_levels),
                cases,
                score,
                log_factorials,
                beyond=0.0,
            )
            effects[at] = (score - n_cases * (n + 1.0)) / (float(n_cases) * (n - n_cases))


@njit(nogil=True, cache=True)
def class_tiles(tiles, layout, tested, by_subset, log_factorials, found):
    """p, effects and moments of columns and classes.

    tiles      uint8 (n_tiles, n_samples, n_columns)
    layout     order, segments and (2, n_segments) strata and classes of segments, int64
    tested     strata and classes that there are
    by_subset  bool (n_tiles * n_columns,): columns of unordered levels
    found      p, effects, and moments (n, 6); p is -1 where moments say it
    """
    order, segments, of_segments = layout
    p, effects, moments = found
    n_tiles, _, n_columns = tiles.shape
    columns = np.empty((n_columns, order.shape[0]), np.uint8)
    only_subsets = tested[0] == 1 and tested[1] == 2  # the others were counted as they lie
    for t in range(n_tiles):
        gather_columns(tiles[t], order, columns)
        for j in range(n_columns):
            at = t * n_columns + j
            if by_subset[at]:
                effects[at] = 0.0
                p[at] = class_levels(
                    columns[j],
                    segments,
                    of_segments,
                    tested,
                    log_factorials=log_factorials,
                    moments=moments[at],
                )
            elif not only_subsets:
                p[at], effects[at] = class_column(
                    columns[j],
                    segments,
                    of_segments,
                    tested,
                    log_factorials=log_factorials,
                    moments=moments[at],
                )


@njit(nogil=True, cache=True)
def number_tiles(tiles, order, scores, bounds, by_subset, found):
    """p, effects and moments of columns and scores; see `class_tiles`.

    scores  float64 (n,): in the order of `order`
    bounds  int64 (n_strata + 1,): where strata start
    """
    p, effects, moments = found
    n_tiles, _, n_columns = tiles.shape
    columns = np.empty((n_columns, order.shape[0]), np.uint8)
    for t in range(n_tiles):
        gather_columns(tiles[t], order, columns)
        for j in range(n_columns):
            at = t * n_columns + j
            if by_subset[at]:
                effects[at] = 0.0
                p[at] = number_levels(columns[j], scores, bounds, moments[at])
            else:
                p[at], effects[at] = number_column(columns[j], scores, bounds, moments[at])
