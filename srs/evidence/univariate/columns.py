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

from srs.evidence.univariate.quadratic import in_tail, moments_of_groups, variance_of
from srs.evidence.univariate.saddlepoint import upper_tail
from srs.evidence.univariate.single import excess_of, sidak
from srs.evidence.univariate.two_classes import ALWAYS_EXACT, two_class_p

MISSING = 255
# Expected samples of the rarest class beside the most frequent level.
SPARSE = 0.5  # below, each class is tested against the rest, and the smallest p counts
DENSE = 20.0  # above, two moments are enough


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
def against_rest(column, segments, of_segments, levels, tested, log_factorials, moments):
    """Each class against the others: the p-value of the smallest p; or what they add to the tail
    of a sum of squares, where `moments` have one.

    of_segments  int64 (2, n_segments): strata and classes
    levels       ranks (n_levels,) and places (256,)
    tested       strata and classes that there are
    """
    ranks, places = levels
    n_strata, n_classes = tested
    n_levels = ranks.shape[0]
    counts = np.zeros((n_strata, n_levels), np.int64)
    of_classes = np.zeros((n_classes, n_strata), np.int64)
    sums = np.zeros((n_classes, n_strata))
    sizes = np.zeros(n_strata, np.int64)
    for segment in range(segments.shape[0] - 1):
        s, c = of_segments[0, segment], of_segments[1, segment]
        for i in range(segments[segment], segments[segment + 1]):
            place = places[column[i]]
            if place >= 0:
                counts[s, place] += 1
                sizes[s] += 1
                of_classes[c, s] += 1
                sums[c, s] += ranks[place]
    smallest, excess = 1.0, 0.0
    n_tests = 1 if n_classes == 2 else n_classes
    for c in range(n_tests):
        own = of_classes[c]
        if moments[1] > 0:
            excess += excess_of(
                ranks,
                counts,
                own,
                log_factorials,
                seen=moments[0],
                freedom=moments[1],
            )
            continue
        score = 0.0
        for s in range(n_strata):
            if 0 < own[s] < sizes[s]:
                score += sums[c, s]
        p = two_class_p(ranks, counts, own, score, log_factorials, beyond=0.0)
        smallest = min(smallest, p)
    if moments[1] > 0:
        return excess
    return smallest if n_tests == 1 else sidak(smallest, n_tests)


@njit(nogil=True, cache=True)
def class_column(column, segments, of_segments, tested, log_factorials, moments):
    """p and effect of an ordered column and classes; p = -1: see `moments` (float64 (6,), 0)."""
    n_strata, n_classes = tested
    counts, ranks = np.empty(256, np.int64), np.empty(256, np.int64)
    count_column(column, counts)
    n = rank_levels(counts, ranks)
    packed, places = pack_levels(counts, ranks)
    if packed.shape[0] < 2:
        return 1.0, 0.0
    x_of = np.empty(256)
    for code in range(256):
        x_of[code] = (ranks[code] - (n + 1.0)) / n
    sizes, sums = np.zeros((n_strata, n_classes)), np.zeros((n_strata, n_classes))
    powers = np.zeros((n_strata, 4))
    for segment in range(segments.shape[0] - 1):
        s, c = of_segments[0, segment], of_segments[1, segment]
        first = second = third = fourth = 0.0
        known = 0
        for i in range(segments[segment], segments[segment + 1]):
            if column[i] != MISSING:
                x = x_of[column[i]]
                known += 1
                first += x
                second += x * x
                third += x * x * x
                fourth += x * x * x * x
        sizes[s, c] += known
        sums[s, c] += first
        powers[s, 0] += first
        powers[s, 1] += second
        powers[s, 2] += third
        powers[s, 3] += fourth
    away, totals = np.zeros(n_classes), np.zeros(n_classes)
    spread, fourths = np.zeros(n_strata), np.zeros(n_strata)
    weight = variance = n_informative = 0.0
    for s in range(n_strata):
        n_s, largest = 0.0, 0.0
        for c in range(n_classes):
            n_s += sizes[s, c]
            largest = max(largest, sizes[s, c])
        square, _, fourth = central_sums(
            max(n_s, 1.0), (powers[s, 0], powers[s, 1], powers[s, 2], powers[s, 3])
        )
        if n_s < 2 or largest == n_s or square <= 1e-14:
            sizes[s] = 0.0
            continue
        spread[s], fourths[s] = square / (n_s - 1.0), fourth / square**2
        n_informative += n_s
        for c in range(n_classes):
            away[c] += sums[s, c] - sizes[s, c] / n_s * powers[s, 0]
            totals[c] += sizes[s, c]
        weight += sizes[s, 1] * (n_s - sizes[s, 1]) / n_s
        variance += spread[s] * sizes[s, 1] * (n_s - sizes[s, 1]) / n_s
    if n_informative == 0:
        return 1.0, 0.0
    n_minor = n - counts[:MISSING].max()
    effect = 0.0
    if n_classes == 2:
        effect = min(max(away[1] / weight, -1.0), 1.0)
        z = abs(away[1]) / math.sqrt(variance)
        if z <= 2.0 and n_minor > ALWAYS_EXACT:
            return 2.0 * upper_tail(z), effect
    else:
        rarest = n_informative
        for c in range(n_classes):
            if totals[c] > 0:
                rarest = min(rarest, totals[c])
        expected = n_minor * rarest / n_informative
        if expected >= SPARSE:
            moments_of_groups(away, sizes, spread, fourths, moments)
            if expected > DENSE or not in_tail(moments):
                return -1.0, 0.0
    found = against_rest(
        column,
        segments,
        of_segments,
        (packed, places),
        tested=tested,
        log_factorials=log_factorials,
        moments=moments,
    )
    if moments[1] == 0:
        return found, effect
    moments[4] = found
    return -1.0, 0.0


@njit(nogil=True, cache=True)
def central_sums(n, sums):
    """Sums of powers 2, 3 and 4 of the distance from the mean, given sums of powers 1 to 4."""
    mean = sums[0] / n
    second = sums[1] - n * mean**2
    third = sums[2] - 3.0 * mean * sums[1] + 2.0 * n * mean**3
    fourth = sums[3] - 4.0 * mean * sums[2] + 6.0 * mean**2 * sums[1] - 3.0 * n * mean**4
    return max(second, 0.0), third, max(fourth, 0.0)


@njit(nogil=True, cache=True)
def number_column(column, scores, bounds, moments):
    """p and effect of an ordered column and scores; p = -1: see `moments` (float64 (6,), 0).

    scores  float64 (n,): of the samples, whose mean in each stratum is 0
    bounds  int64 (n_strata + 1,): samples of each stratum
    """
    n_strata = bounds.shape[0] - 1
    counts, ranks = np.empty(256, np.int64), np.empty(256, np.int64)
    count_column(column, counts)
    n = rank_levels(counts, ranks)
    if n < 4 or counts[:MISSING].max() == n:
        return 1.0, 0.0
    x_of = np.empty(256)
    for code in range(256):  # mean 0, largest 1: fourth powers stay moderate
        x_of[code] = (ranks[code] - (n + 1.0)) / n
    away = variance = third = fourth = sum_xx = sum_yy = 0.0
    free = 0
    for s in range(n_strata):
        x1 = x2 = x3 = x4 = y1 = y2 = y3 = y4 = sxy = 0.0
        known = 0
        for i in range(bounds[s], bounds[s + 1]):
            if column[i] != MISSING:
                x, y = x_of[column[i]], scores[i]
                xx, yy = x * x, y * y
                known += 1
                sxy += x * y
                x1 += x
                x2 += xx
                x3 += xx * x
                x4 += xx * xx
                y1 += y
                y2 += yy
                y3 += yy * y
                y4 += yy * yy
        if known < 2:
            continue
        xx, xxx, xxxx = central_sums(known, (x1, x2, x3, x4))
        yy, yyy, yyyy = central_sums(known, (y1, y2, y3, y4))
        own = xx * yy / (known - 1.0)
        if own <= 1e-14:
            continue
        away += sxy - x1 * y1 / known
        variance += own
        sum_xx += xx
        sum_yy += yy
        free += known - 1
        if known > 2:
            third += xxx * yyy * known / ((known - 1.0) * (known - 2.0))
        if known >= 4:
            square = variance_of(float(known), (1.0, 1.0, xxxx / xx**2), (1.0, 1.0, yyyy / yy**2))
            fourth += own * own * (square - 2.0)
        else:
            fourth -= own * own
    if variance <= 1e-14:
        return 1.0, 0.0
    effect = min(max(away / math.sqrt(sum_xx * sum_yy), -1.0), 1.0)
    if n_strata == 1 and counts[:MISSING].max() == n - 1:
        return _of_one_carrier(column, scores, n * abs(away), counts, ranks), effect
    moments[0] = away * away / variance
    moments[1] = 1.0
    moments[2] = 2.0 + fourth / variance**2
    moments[3] = free
    moments[5] = third / variance**1.5
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
