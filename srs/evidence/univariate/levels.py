"""Statistics of one column of unordered levels: tables against classes, variance between levels.

The column is sorted as in `srs.evidence.univariate.columns`. Levels of fewer than MIN_LEVEL
samples are taken together: what they tell of the target cannot be tested one by one. Where tables
stay sparse, each level is tested against the rest exactly, and the smallest p counts.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from srs.evidence.univariate.columns import MISSING, central_sums, count_column
from srs.evidence.univariate.quadratic import (
    in_tail,
    moments_of_groups,
    product_trace,
    squares_of,
    trace_of,
    variance_of,
)
from srs.evidence.univariate.single import excess_of, sidak
from srs.evidence.univariate.two_classes import two_class_p

MIN_LEVEL = 5  # samples of a level that stands for itself
# The smallest expected count of a table.
SPARSE = 0.2  # below, each level is tested against the rest, and the smallest p counts
DENSE = 1.0  # above, two moments are enough (below, p-values are up to 2 times too large)


@njit(nogil=True, cache=True)
def merge_levels(column, least):
    """The place of each code among levels, rare codes in one place, int64 (256,); how many."""
    counts = np.empty(256, np.int64)
    count_column(column, counts)
    n_rare = 0
    smallest = -1  # the rarest of the codes that stand for themselves
    for code in range(MISSING):
        if 0 < counts[code] < least:
            n_rare += counts[code]
        elif counts[code] and (smallest < 0 or counts[code] < counts[smallest]):
            smallest = code
    limit = least
    if 0 < n_rare < least and smallest >= 0:
        limit = counts[smallest] + 1  # all rare codes together are too few
    places = np.full(256, -1, np.int64)
    n_levels = 0
    for code in range(MISSING):
        if counts[code] >= limit:
            places[code] = n_levels
            n_levels += 1
    if n_rare:
        for code in range(MISSING):
            if 0 < counts[code] < limit:
                places[code] = n_levels
        n_levels += 1
    return places, n_levels


@njit(nogil=True, cache=True)
def class_levels(column, segments, of_segments, tested, log_factorials, moments):
    """p of unordered levels and classes; -1: see `moments` (float64 (6,), 0)."""
    n_strata, n_classes = tested
    places, n_levels = merge_levels(column, MIN_LEVEL)
    if n_levels < 2:
        return 1.0
    table = np.zeros((n_strata, n_levels, n_classes), np.int64)
    for segment in range(segments.shape[0] - 1):
        s, c = of_segments[0, segment], of_segments[1, segment]
        for i in range(segments[segment], segments[segment + 1]):
            if column[i] != MISSING:
                table[s, places[column[i]], c] += 1
    by_level, by_class = np.zeros((n_strata, n_levels)), np.zeros((n_strata, n_classes))
    for s in range(n_strata):
        by_level[s] = table[s].sum(axis=1)
        by_class[s] = table[s].sum(axis=0)
        n = by_level[s].sum()
        if n < 2 or by_level[s].max() == n or by_class[s].max() == n:
            table[s] = 0
            by_level[s] = 0.0
            by_class[s] = 0.0
    fewest = _moments_of_table(table, by_level, by_class, moments)
    if fewest < 0:
        return 1.0
    if fewest < SPARSE:
        moments[1] = 0.0
    elif fewest > DENSE or not in_tail(moments):
        return -1.0
    found = _levels_against_rest(table, log_factorials, moments)
    if moments[1] == 0:
        return found
    moments[4] = found
    return -1.0


@njit(nogil=True, cache=True)
def _moments_of_table(table, by_level, by_class, moments):
    """Moments of sum (seen - expected) ** 2 / (row total * column total) over strata.

    Gives the smallest expected count of all strata together; -1 where nothing can be tested.
    """
    n_strata, n_levels, n_classes = table.shape
    row_weights, column_weights = np.zeros(n_levels), np.zeros(n_classes)
    n_all = n_rows = n_columns = n_used = 0.0
    fewest_row = fewest_column = np.inf
    for k in range(n_levels):
        total = by_level[:, k].sum()
        if total > 0:
            row_weights[k] = 1.0 / total
            n_all += total
            n_rows += 1.0
            fewest_row = min(fewest_row, total)
    for c in range(n_classes):
        total = by_class[:, c].sum()
        if total > 0:
            column_weights[c] = 1.0 / total
            n_columns += 1.0
            fewest_column = min(fewest_column, total)
    if n_all < 4 or n_rows < 2 or n_columns < 2:
        return -1.0
    away = np.zeros((n_levels, n_classes))
    mean = variance = 0.0
    for s in range(n_strata):
        n = by_level[s].sum()
        if n < 2:
            continue
        n_used += 1.0
        for k in range(n_levels):
            for c in range(n_classes):
                away[k, c] += table[s, k, c] - by_level[s, k] * by_class[s, c] / n
        rows = (
            trace_of(row_weights, by_level[s]),
            product_trace(row_weights, by_level[s], by_level[s]),
            squares_of(row_weights, by_level[s]),
        )
        columns = (
            trace_of(column_weights, by_class[s]),
            product_trace(column_weights, by_class[s], by_class[s]),
            squares_of(column_weights, by_class[s]),
        )
        mean += rows[0] * columns[0] / (n - 1.0)
        if n >= 4:
            variance += variance_of(n, rows, columns) / (n - 1.0) ** 2
        for r in range(s):
            m = by_level[r].sum()
            if m >= 2:
                trace = product_trace(row_weights, by_level[s], by_level[r])
                trace *= product_trace(column_weights, by_class[s], by_class[r])
                variance += 4.0 * trace / ((n - 1.0) * (m - 1.0))
    seen = 0.0
    for k in range(n_levels):
        for c in range(n_classes):
            seen += away[k, c] ** 2 * row_weights[k] * column_weights[c]
    scale = mean / ((n_rows - 1.0) * (n_columns - 1.0))
    moments[0] = seen / scale
    moments[1] = mean / scale
    moments[2] = variance / (scale * scale)
    moments[3] = (n_all - 1.0) * (min(n_rows, n_columns) - 1.0) if n_used == 1 else np.inf
    return fewest_row * fewest_column / n_all


@njit(nogil=True, cache=True)
def _levels_against_rest(table, log_factorials, moments):
    """Each level against the rest in each class against the rest, see `columns.against_rest`."""
    n_strata, n_levels, n_classes = table.shape
    smallest, n_tests, excess = 1.0, 0, 0.0
    ranks = np.empty(2, np.int64)
    counts = np.zeros((n_strata, 2), np.int64)
    cases = np.zeros(n_strata, np.int64)
    for k in range(n_levels):
        carriers = others = 0
        for s in range(n_strata):
            counts[s, 0] = counts[s, 1] = 0
            for level in range(n_levels):
                for c in range(n_classes):
                    counts[s, 1 if level == k else 0] += table[s, level, c]
            carriers += counts[s, 1]
            others += counts[s, 0]
        if carriers == 0 or others == 0:
            continue
        ranks[0], ranks[1] = others + 1, 2 * others + carriers + 1
        for c in range(1 if n_classes == 2 else n_classes):
            score = 0.0
            for s in range(n_strata):
                cases[s] = 0
                for level in range(n_levels):
                    cases[s] += table[s, level, c]
                if 0 < cases[s] < counts[s, 0] + counts[s, 1]:
                    hits = table[s, k, c]
                    score += hits * ranks[1] + (cases[s] - hits) * ranks[0]
            if moments[1] > 0:
                excess += excess_of(
                    ranks,
                    counts,
                    cases,
                    log_factorials,
                    seen=moments[0],
                    freedom=moments[1],
                )
            else:
                p = two_class_p(ranks, counts, cases, score, log_factorials, beyond=0.0)
                smallest = min(smallest, p)
                n_tests += 1
    return excess if moments[1] > 0 else sidak(smallest, max(n_tests, 1))


@njit(nogil=True, cache=True)
def number_levels(column, scores, bounds, moments):
    """p of unordered levels and scores; -1: see `moments` (float64 (6,), 0).

    scores  float64 (n,): of the samples, whose mean in each stratum is 0
    bounds  int64 (n_strata + 1,): samples of each stratum
    """
    n_strata = bounds.shape[0] - 1
    places, n_levels = merge_levels(column, 1)
    if n_levels < 2:
        return 1.0
    sizes = np.zeros((n_strata, n_levels))
    away, sums = np.zeros(n_levels), np.zeros(n_levels)
    spread, fourths = np.zeros(n_strata), np.zeros(n_strata)
    n_informative = 0.0
    for s in range(n_strata):
        sums[:] = 0.0
        y1 = y2 = y3 = y4 = 0.0
        for i in range(bounds[s], bounds[s + 1]):
            if column[i] != MISSING:
                y = scores[i]
                sizes[s, places[column[i]]] += 1.0
                sums[places[column[i]]] += y
                y1 += y
                y2 += y * y
                y3 += y * y * y
                y4 += y * y * y * y
        n, largest = sizes[s].sum(), sizes[s].max()
        square, _, fourth = central_sums(max(n, 1.0), (y1, y2, y3, y4))
        if n < 2 or largest == n or square <= 1e-12:
            sizes[s] = 0.0
            continue
        spread[s], fourths[s] = square / (n - 1.0), fourth / square**2
        n_informative += n
        for k in range(n_levels):
            away[k] += sums[k] - sizes[s, k] * (y1 / n)
    if n_informative < 4:
        return 1.0
    moments_of_groups(away, sizes, spread, fourths, moments)
    return -1.0
