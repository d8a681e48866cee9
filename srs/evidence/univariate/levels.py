"""Statistics of one column of unordered levels: tables against classes, variance between levels.

The column is sorted as in `srs.evidence.univariate.columns`. Levels of fewer than MIN_LEVEL
samples are taken together: what they tell of the target cannot be tested one by one. Where tables
stay sparse, each level is tested against the rest exactly, and the smallest p counts.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from srs.evidence.univariate.columns import MISSING, count_column, keep_mixed, sidak
from srs.evidence.univariate.quadratic import (
    moments_of_groups,
    product_trace,
    trace_of,
    variance_of,
)
from srs.evidence.univariate.two_classes import two_class_p

MIN_LEVEL = 5  # samples of a level that stands for itself
MIN_EXPECTED = 1.0  # smallest expected count of a table that moments are good for


@njit(nogil=True, cache=True)
def merge_levels(column, least):
    """The place of each code among levels, rare codes in one place, int64 (256,); how many."""
    counts = np.empty(256, np.int64)
    count_column(column, counts)
    places = np.full(256, -1, np.int64)
    n_levels = n_rare = 0
    for code in range(MISSING):
        if counts[code] >= least:
            places[code] = n_levels
            n_levels += 1
        elif counts[code]:
            n_rare += 1
    if n_rare:
        for code in range(MISSING):
            if 0 < counts[code] < least:
                places[code] = n_levels
        n_levels += 1
    return places, n_levels


@njit(nogil=True, cache=True)
def class_levels(column, segments, of_segments, tested, log_factorials, moments):
    """p of unordered levels and classes; -1: see `moments` (float64 (4,))."""
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
    rows, columns = by_level.sum(axis=0), by_class.sum(axis=0)
    n = rows.sum()
    if n < 4:
        return 1.0
    fewest_row = fewest_column = n
    p = q = -1.0
    inverse_rows = inverse_columns = 0.0
    for k in range(n_levels):
        if rows[k] > 0:
            q += 1.0
            inverse_rows += 1.0 / rows[k]
            fewest_row = min(fewest_row, rows[k])
    for c in range(n_classes):
        if columns[c] > 0:
            p += 1.0
            inverse_columns += 1.0 / columns[c]
            fewest_column = min(fewest_column, columns[c])
    if p < 1 or q < 1:
        return 1.0
    if fewest_row * fewest_column < MIN_EXPECTED * n:
        return _levels_against_rest(table, log_factorials)
    _moments_of_table(table, by_level, by_class, moments)
    if n_strata == 1:
        squares_a = inverse_columns - (2.0 * p + 1.0) / n
        squares_b = inverse_rows - (2.0 * q + 1.0) / n
        moments[2] = variance_of(n, p, squares_a, q, squares_b)
        moments[3] = (n - 1.0) * min(p, q)
    return -1.0


@njit(nogil=True, cache=True)
def _moments_of_table(table, by_level, by_class, moments):
    """Moments of sum (seen - expected) ** 2 / (row total * column total) over strata."""
    n_strata, n_levels, n_classes = table.shape
    rows, columns = by_level.sum(axis=0), by_class.sum(axis=0)
    row_weights, column_weights = np.zeros(n_levels), np.zeros(n_classes)
    for k in range(n_levels):
        if rows[k] > 0:
            row_weights[k] = 1.0 / rows[k]
    for c in range(n_classes):
        if columns[c] > 0:
            column_weights[c] = 1.0 / columns[c]
    away = np.zeros((n_levels, n_classes))
    mean = variance = 0.0
    for s in range(n_strata):
        n = by_level[s].sum()
        if n < 2:
            continue
        for k in range(n_levels):
            for c in range(n_classes):
                away[k, c] += table[s, k, c] - by_level[s, k] * by_class[s, c] / n
        traces = trace_of(row_weights, by_level[s]) * trace_of(column_weights, by_class[s])
        mean += traces / (n - 1.0)
        for r in range(s + 1):
            m = by_level[r].sum()
            if m >= 2:
                twice = 4.0 if r < s else 2.0
                trace = product_trace(row_weights, by_level[s], by_level[r])
                trace *= product_trace(column_weights, by_class[s], by_class[r])
                variance += twice * trace / ((n - 1.0) * (m - 1.0))
    seen = 0.0
    for k in range(n_levels):
        for c in range(n_classes):
            seen += away[k, c] ** 2 * row_weights[k] * column_weights[c]
    scale = mean / (((rows > 0).sum() - 1.0) * ((columns > 0).sum() - 1.0))
    moments[0] = seen / scale
    moments[1] = mean / scale
    moments[2] = variance / (scale * scale)
    moments[3] = np.inf


@njit(nogil=True, cache=True)
def _levels_against_rest(table, log_factorials):
    """The smallest p of each level against the rest, in each class against the rest."""
    n_strata, n_levels, n_classes = table.shape
    smallest, n_tests = 1.0, 0
    ranks = np.empty(2, np.int64)
    counts = np.zeros((n_strata, 2), np.int64)
    cases = np.zeros(n_strata, np.int64)
    for k in range(n_levels):
        carriers = 0
        others = 0
        for s in range(n_strata):
            counts[s, 1] = table[s, k].sum()
            counts[s, 0] = table[s].sum() - counts[s, 1]
            carriers += counts[s, 1]
            others += counts[s, 0]
        if carriers == 0 or others == 0:
            continue
        ranks[0], ranks[1] = others + 1, 2 * others + carriers + 1
        for c in range(1 if n_classes == 2 else n_classes):
            score = 0.0
            for s in range(n_strata):
                cases[s] = table[s, :, c].sum()
                if 0 < cases[s] < counts[s].sum():
                    hits = table[s, k, c]
                    score += hits * ranks[1] + (cases[s] - hits) * ranks[0]
            kept, kept_cases = keep_mixed(counts, cases)
            if kept.shape[0]:
                p = two_class_p(ranks, kept, kept_cases, score, log_factorials)
                smallest = min(smallest, p)
                n_tests += 1
    return sidak(smallest, max(n_tests, 1))


@njit(nogil=True, cache=True)
def number_levels(column, scores, bounds, moments):
    """p of unordered levels and scores; -1: see `moments` (float64 (4,)).

    scores  float64 (n,): of the samples, whose mean in each stratum is 0
    bounds  int64 (n_strata + 1,): samples of each stratum
    """
    n_strata = bounds.shape[0] - 1
    places, n_levels = merge_levels(column, 1)
    if n_levels < 2:
        return 1.0
    sizes = np.zeros((n_strata, n_levels))
    away, totals, sums = np.zeros(n_levels), np.zeros(n_levels), np.zeros(n_levels)
    spread = np.zeros(n_strata)
    fourth = 0.0
    for s in range(n_strata):
        sums[:] = 0.0
        square = 0.0
        for i in range(bounds[s], bounds[s + 1]):
            if column[i] != MISSING:
                sizes[s, places[column[i]]] += 1.0
                sums[places[column[i]]] += scores[i]
                square += scores[i] ** 2
                fourth += scores[i] ** 4
        n = sizes[s].sum()
        if n < 2 or sizes[s].max() == n:
            sizes[s] = 0.0
            continue
        spread[s] = max(square - sums.sum() ** 2 / n, 0.0) / (n - 1.0)
        away += sums - sizes[s] * (sums.sum() / n)
        totals += sizes[s]
    n = totals.sum()
    if n < 4 or spread.sum() <= 1e-12:
        return 1.0
    moments_of_groups(away, sizes, spread, totals, moments)
    if n_strata == 1:
        rank = n_levels - 1.0
        squares = (1.0 / totals).sum() - (2.0 * rank + 1.0) / n
        fourth /= (spread[0] * (n - 1.0)) ** 2
        moments[2] = variance_of(n, rank, squares, 1.0, fourth)
        moments[3] = n - 1.0
    return -1.0
