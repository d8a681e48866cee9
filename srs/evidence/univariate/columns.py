"""Statistics of one ordered column: ranks of its levels, sums by class, p-values.

A column is given as the codes of the training samples, sorted by stratum and class: a *segment* is
a class of a stratum, so sums by segment are sums over slices. Ranks are taken over all samples
that have a value, and are compared within strata (van Elteren). Kernels give p, or -1 and the
moments of a sum of squares, which `quadratic.p_of_moments` makes p of. Columns of unordered levels
are in `srs.evidence.univariate.levels`, tiles in `srs.evidence.univariate.tiles`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from srs.evidence.univariate.exact import grid_size
from srs.evidence.univariate.quadratic import moments_of_groups, variance_of
from srs.evidence.univariate.saddlepoint import SMALLEST, upper_tail
from srs.evidence.univariate.two_classes import two_class_p

MISSING = 255
SPARSE = 2.0  # expected samples of the rarest class beside the most frequent level: see `sidak`
FEW_STRATA_SAMPLES = 2  # that a stratum needs to say anything


@njit(nogil=True, cache=True)
def rank_levels(counts, ranks):
    """2 x mid-rank of each code that occurs, into `ranks`; gives the samples that have a value.

    counts  int64 (256,): samples by code
    ranks   int64 (256,)
    """
    n = 0
    for code in range(MISSING):
        k = counts[code]
        ranks[code] = 2 * n + k + 1
        n += k
    ranks[MISSING] = 0
    return n


@njit(nogil=True, cache=True)
def pack_levels(counts, ranks):
    """Ranks of the codes that occur, and the place of each code among them (int64 (256,))."""
    places = np.full(256, -1, np.int64)
    found = np.empty(256, np.int64)
    n = 0
    for code in range(MISSING):
        if counts[code]:
            places[code] = n
            found[n] = ranks[code]
            n += 1
    return found[:n], places


@njit(nogil=True, cache=True)
def count_column(column, counts):
    """Samples of each code, into `counts`: in turns into two tables, as equal codes follow often,
    and a number cannot be added to before the last sum is stored."""
    second = np.zeros(256, np.int64)
    counts[:] = 0
    n = column.shape[0]
    for i in range(0, n - 1, 2):
        counts[column[i]] += 1
        second[column[i + 1]] += 1
    if n % 2:
        counts[column[n - 1]] += 1
    for code in range(256):
        counts[code] += second[code]


@njit(nogil=True, cache=True)
def level_counts(column, segments, strata_of, places, n_levels, n_strata):
    """Samples by stratum and level, int64 (n_strata, n_levels)."""
    counts = np.zeros((n_strata, n_levels), np.int64)
    for segment in range(segments.shape[0] - 1):
        s = strata_of[segment]
        for i in range(segments[segment], segments[segment + 1]):
            place = places[column[i]]
            if place >= 0:
                counts[s, place] += 1
    return counts


@njit(nogil=True, cache=True)
def keep_mixed(counts, cases):
    """The strata that have cases and others."""
    kept = np.zeros(counts.shape[0], np.bool_)
    for s in range(counts.shape[0]):
        kept[s] = 0 < cases[s] < counts[s].sum()
    return counts[kept], cases[kept]


@njit(nogil=True, cache=True)
def sidak(p, n_tests):
    """The p-value of the smallest p of several tests."""
    return max(-math.expm1(n_tests * math.log1p(-min(p, 1.0 - 1e-16))), SMALLEST)


@njit(nogil=True, cache=True)
def against_rest(column, segments, of_segments, levels, tested, log_factorials):
    """The p-value of each class against the others, the smallest of which counts.

    of_segments  int64 (2, n_segments): strata and classes
    levels       ranks (n_levels,) and places (256,)
    tested       int64 (2,): strata and classes that there are
    """
    ranks, places = levels
    n_strata, n_classes = tested
    counts = level_counts(
        column,
        segments,
        of_segments[0],
        places,
        n_levels=ranks.shape[0],
        n_strata=n_strata,
    )
    smallest, n_tests = 1.0, 0
    for c in range(n_classes):
        cases = np.zeros(n_strata, np.int64)
        sums = np.zeros(n_strata)
        for segment in range(segments.shape[0] - 1):
            if of_segments[1, segment] == c:
                s = of_segments[0, segment]
                for i in range(segments[segment], segments[segment + 1]):
                    place = places[column[i]]
                    if place >= 0:
                        cases[s] += 1
                        sums[s] += ranks[place]
        kept, kept_cases = keep_mixed(counts, cases)
        score = 0.0
        for s in range(n_strata):
            if 0 < cases[s] < counts[s].sum():
                score += sums[s]
        if kept.shape[0]:
            smallest = min(smallest, two_class_p(ranks, kept, kept_cases, score, log_factorials))
            n_tests += 1
        if n_classes == 2:
            return smallest
    return sidak(smallest, max(n_tests, 1))


@njit(nogil=True, cache=True)
def class_column(column, segments, of_segments, tested, log_factorials, moments):
    """p and effect of an ordered column and classes; p = -1: see `moments` (float64 (4,))."""
    n_strata, n_classes = tested
    counts, ranks = np.empty(256, np.int64), np.empty(256, np.int64)
    count_column(column, counts)
    n = rank_levels(counts, ranks)
    packed, places = pack_levels(counts, ranks)
    if packed.shape[0] < 2:
        return 1.0, 0.0
    mean = n + 1.0
    sizes, sums = np.zeros((n_strata, n_classes)), np.zeros((n_strata, n_classes))
    squares = np.zeros(n_strata)
    for segment in range(segments.shape[0] - 1):
        s, c = of_segments[0, segment], of_segments[1, segment]
        total = square = 0.0
        known = 0
        for i in range(segments[segment], segments[segment + 1]):
            if column[i] != MISSING:
                x = ranks[column[i]] - mean
                known += 1
                total += x
                square += x * x
        sizes[s, c] += known
        sums[s, c] += total
        squares[s] += square
    away, totals = np.zeros(n_classes), np.zeros(n_classes)
    spread = np.zeros(n_strata)  # variance of x within a stratum
    weight = variance = 0.0
    n_informative = 0.0
    for s in range(n_strata):
        n_s, sum_s = sizes[s].sum(), sums[s].sum()
        if n_s < 2 or sizes[s].max() == n_s:
            sizes[s] = 0.0
            continue
        spread[s] = max(squares[s] - sum_s * sum_s / n_s, 0.0) / (n_s - 1.0)
        n_informative += n_s
        for c in range(n_classes):
            away[c] += sums[s, c] - sizes[s, c] / n_s * sum_s
            totals[c] += sizes[s, c]
        weight += sizes[s, 1] * (n_s - sizes[s, 1]) / n_s
        variance += spread[s] * sizes[s, 1] * (n_s - sizes[s, 1]) / n_s
    n_minor = n - counts[:MISSING].max()
    if spread.sum() <= 1e-9:
        return 1.0, 0.0
    levels = (packed, places)
    if n_classes == 2:
        effect = min(max(away[1] / (weight * n), -1.0), 1.0)
        _, size = grid_size(counts[:MISSING], 64)
        z = abs(away[1]) / math.sqrt(variance)
        if z <= 2.0 and size < 0 and n_minor > 64:
            return 2.0 * upper_tail(z), effect
        p = against_rest(
            column,
            segments,
            of_segments,
            levels,
            tested=tested,
            log_factorials=log_factorials,
        )
        return p, effect
    smallest = np.inf
    n_present = 0
    for c in range(n_classes):
        if totals[c] > 0:
            smallest = min(smallest, totals[c])
            n_present += 1
    if n_minor * smallest < SPARSE * n_informative:
        p = against_rest(
            column,
            segments,
            of_segments,
            levels,
            tested=tested,
            log_factorials=log_factorials,
        )
        return p, 0.0
    moments_of_groups(away, sizes, spread, totals, moments)
    if n_strata == 1:
        inverse = fourth = 0.0
        for c in range(n_classes):
            if totals[c] > 0:
                inverse += 1.0 / totals[c]
        for code in range(MISSING):
            fourth += counts[code] * (ranks[code] - mean) ** 4
        fourth /= (spread[0] * (n - 1.0)) ** 2
        if n >= 4:
            squares_a = inverse - (2.0 * n_present - 1.0) / n
            moments[2] = variance_of(float(n), n_present - 1.0, squares_a, 1.0, fourth)
        moments[3] = n - 1.0
    return -1.0, 0.0


@njit(nogil=True, cache=True)
def number_column(column, scores, bounds, moments):
    """p and effect of an ordered column and scores; p = -1: see `moments` (float64 (4,)).

    scores  float64 (n,): of the samples, whose mean in each stratum is 0
    bounds  int64 (n_strata + 1,): samples of each stratum
    """
    n_strata = bounds.shape[0] - 1
    counts, ranks = np.empty(256, np.int64), np.empty(256, np.int64)
    count_column(column, counts)
    n = rank_levels(counts, ranks)
    mean = n + 1.0
    if n < 3 or counts[:MISSING].max() == n:
        return 1.0, 0.0
    away = variance = sum_xx = sum_yy = fourth_y = 0.0
    for s in range(n_strata):
        sx = sxx = sy = syy = sxy = 0.0
        known = 0
        for i in range(bounds[s], bounds[s + 1]):
            if column[i] != MISSING:
                x, y = ranks[column[i]] - mean, scores[i]
                known += 1
                sx += x
                sxx += x * x
                sy += y
                syy += y * y
                sxy += x * y
                fourth_y += y * y * y * y
        if known >= FEW_STRATA_SAMPLES:
            within_x = max(sxx - sx * sx / known, 0.0)
            within_y = max(syy - sy * sy / known, 0.0)
            away += sxy - sx * sy / known
            variance += within_x * within_y / (known - 1.0)
            sum_xx += within_x
            sum_yy += within_y
    if variance <= 1e-12 * (1.0 + sum_xx):
        return 1.0, 0.0
    effect = min(max(away / math.sqrt(sum_xx * sum_yy), -1.0), 1.0)
    if n_strata > 1 or n < 4:
        return max(2.0 * upper_tail(abs(away) / math.sqrt(variance)), SMALLEST), effect
    if counts[:MISSING].max() == n - 1:
        return _of_one_carrier(column, scores, abs(away), counts, ranks), effect
    fourth_x = 0.0
    for code in range(MISSING):
        fourth_x += counts[code] * (ranks[code] - mean) ** 4
    moments[0] = away * away / variance
    moments[1] = 1.0
    moments[2] = variance_of(float(n), 1.0, fourth_x / sum_xx**2, 1.0, fourth_y / sum_yy**2)
    moments[3] = n - 1.0
    return -1.0, effect


@njit(nogil=True, cache=True)
def _of_one_carrier(column, scores, away, counts, ranks):
    """One sample differs from the others: the p-value is its rank among the scores."""
    n = 0
    mean = high = low = 0.0
    for i in range(column.shape[0]):
        if column[i] != MISSING:
            n += 1
            mean += scores[i]
    mean /= n
    for code in range(MISSING):
        if counts[code] == n - 1:
            low = ranks[code]
        elif counts[code] == 1:
            high = ranks[code]
    distance = away / abs(high - low)
    tail = 0
    for i in range(column.shape[0]):
        if column[i] != MISSING and abs(scores[i] - mean) >= distance - 1e-9:
            tail += 1
    return tail / n
