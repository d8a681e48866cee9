"""Cuts of columns and what they send left: the passes of the kernel over a node's samples.

A cut sends code `c` left when `uint8(c + shift) <= cut`. `shift` is 0 or 1: MISSING (255) wraps to
0 with shift 1 and so goes left, and stays the largest code with shift 0 and so goes right.
Categorical columns are split by a random subset of levels that is a pure function of node, column
and level.
"""

import numpy as np
from numba import njit

from srs.tree.criterion import ENTROPY, VARIANCE, score_one, score_weighted
from srs.tree.random import U32, random_below, random_u32, scale_u32

MISSING = 255
U8 = np.uint8
FLUSH = 252  # most comparisons that a uint8 lane can hold, a multiple of the unrolling (4)
SUBSET_TRIES = 64
LONG_RUN = 16  # samples of one weight that are counted faster than they are weighed
FEW_SAMPLES = 40  # nodes up to this size have their levels listed by sorting


@njit(nogil=True, cache=True)
def find_ranges(block, rows, lo, hi, c0, low, high, high1):
    """Smallest code, largest code and largest code + 1 (MISSING as 0) of each column of a tile."""
    width = low.shape[0]
    for j in range(width):
        low[j] = U8(255)
        high[j] = U8(0)
        high1[j] = U8(0)
    c1 = c0 + width
    i = lo
    while i + 4 <= hi:
        a = block[rows[i], c0:c1]
        b = block[rows[i + 1], c0:c1]
        c = block[rows[i + 2], c0:c1]
        d = block[rows[i + 3], c0:c1]
        for j in range(width):
            low[j] = min(low[j], min(min(a[j], b[j]), min(c[j], d[j])))
            high[j] = max(high[j], max(max(a[j], b[j]), max(c[j], d[j])))
        i += 4
    while i < hi:
        a = block[rows[i], c0:c1]
        for j in range(width):
            low[j] = min(low[j], a[j])
            high[j] = max(high[j], a[j])
        i += 1
    any_missing = False
    for j in range(width):
        any_missing |= high[j] == U8(MISSING)
    if not any_missing:
        for j in range(width):
            high1[j] = U8(high[j] + U8(1))
        return False
    for i in range(lo, hi):
        a = block[rows[i], c0:c1]
        for j in range(width):
            high1[j] = max(high1[j], U8(a[j] + U8(1)))
    return True


@njit(nogil=True, cache=True)
def draw_cuts(cut_key, missing_key, c0, low, high, high1, any_missing, cut, shift):
    """One random cut a column. A column that cannot be cut gets low == high (no sample left).

    Cuts are uniform over the codes low..highest-1; where a node has missing values, "missing
    against the rest" is one more cut, and the side that missing values take is a coin.
    """
    width = low.shape[0]
    for j in range(width):
        span = U32(U32(high[j]) - U32(low[j]))
        cut[j] = U8(low[j] + U8(scale_u32(random_u32(cut_key, U32(c0 + j)), span)))
        shift[j] = U8(0)
    if any_missing:
        for j in range(width):
            if high[j] == U8(MISSING) and low[j] != U8(MISSING):
                highest = U8(high1[j] - U8(1))
                span = U32(U32(highest) - U32(low[j]) + U32(1))
                at = U8(low[j] + U8(scale_u32(random_u32(cut_key, U32(c0 + j)), span)))
                if at < highest and random_u32(missing_key, U32(c0 + j)) & U32(1):
                    cut[j] = U8(at + U8(1))
                    shift[j] = U8(1)
                else:
                    cut[j] = at


@njit(nogil=True, cache=True)
def count_left(block, rows, lo, hi, c0, cut, shift, any_missing, lanes, counts):
    """counts[j] += number of samples rows[lo:hi] that column j sends left."""
    width = cut.shape[0]
    c1 = c0 + width
    i = lo
    while i < hi:
        stop = min(hi, i + FLUSH)
        for j in range(width):
            lanes[j] = U8(0)
        if any_missing:
            while i < stop:
                a = block[rows[i], c0:c1]
                for j in range(width):
                    lanes[j] = U8(lanes[j] + U8(U8(a[j] + shift[j]) <= cut[j]))
                i += 1
        while i + 4 <= stop:
            a = block[rows[i], c0:c1]
            b = block[rows[i + 1], c0:c1]
            c = block[rows[i + 2], c0:c1]
            d = block[rows[i + 3], c0:c1]
            for j in range(width):
                t = cut[j]
                lanes[j] = U8(
                    lanes[j] + U8(U8(a[j] <= t) + U8(b[j] <= t)) + U8(U8(c[j] <= t) + U8(d[j] <= t))
                )
            i += 4
        while i < stop:
            a = block[rows[i], c0:c1]
            for j in range(width):
                lanes[j] = U8(lanes[j] + U8(a[j] <= cut[j]))
            i += 1
        for j in range(width):
            counts[j] += np.int32(lanes[j])


@njit(nogil=True, cache=True)
def weigh_left(block, rows, lo, hi, c0, cut, shift, weights, counts):
    """counts[j] += mass of the samples rows[lo:hi] that column j sends left."""
    width = cut.shape[0]
    c1 = c0 + width
    for i in range(lo, hi):
        a = block[rows[i], c0:c1]
        w = weights[rows[i]]
        for j in range(width):
            counts[j] += w if U8(a[j] + shift[j]) <= cut[j] else np.int32(0)


@njit(nogil=True, cache=True)
def weigh_runs(
    block, rows, lo, hi, c0, cut, shift, any_missing, weights, lanes, part, counts
):  # fmt: skip
    """The same as `weigh_left`, where samples stand by weight: long runs of one are counted."""
    start, i = lo, lo  # start: where samples begin that stand in short runs
    while i < hi:
        w = weights[rows[i]]
        stop = i + 1
        while stop < hi and weights[rows[stop]] == w:
            stop += 1
        if stop - i >= LONG_RUN:
            weigh_left(block, rows, start, i, c0, cut, shift, weights, counts)
            part[:] = 0
            count_left(block, rows, i, stop, c0, cut, shift, any_missing, lanes, part)
            for j in range(part.shape[0]):
                counts[j] += part[j] * w
            start = stop
        i = stop
    weigh_left(block, rows, start, hi, c0, cut, shift, weights, counts)


@njit(nogil=True, cache=True)
def sum_left(block, rows, lo, hi, c0, cut, shift, values, sums):
    """sums[j] += sum of the (weighted) target over the samples that column j sends left."""
    width = cut.shape[0]
    c1 = c0 + width
    for i in range(lo, hi):
        a = block[rows[i], c0:c1]
        y = values[rows[i]]
        for j in range(width):
            sums[j] += y if U8(a[j] + shift[j]) <= cut[j] else 0.0


@njit(nogil=True, cache=True)
def draw_subset(key, col, attempt, levels):
    """levels[c] = 1 where code c goes left; a pure function of node key, column and attempt."""
    base = random_u32(key, U32(col * SUBSET_TRIES + attempt))
    for word in range(8):
        bits = random_u32(base, U32(word))
        for b in range(32):
            levels[word * 32 + b] = U8((bits >> U32(b)) & U32(1))


@njit(nogil=True, cache=True)
def cut_categories(block, rows, starts, col, j, subset_key, values, weights, criterion, counts,
                   sums, levels):  # fmt: skip
    """Split a categorical column by a random subset of levels; the attempt used, -1 if none."""
    n_segments = starts.shape[0] - 1
    present = np.zeros(256, np.uint8)
    for i in range(starts[0], starts[n_segments]):
        present[block[rows[i], col]] = 1
    n_present = 0
    for c in range(256):
        n_present += present[c]
    if n_present < 2:
        return -1
    for attempt in range(SUBSET_TRIES):
        draw_subset(subset_key, col, attempt, levels)
        n_left = 0
        for c in range(256):
            n_left += present[c] & levels[c]
        if 0 < n_left < n_present:
            break
    else:
        return -1
    for s in range(n_segments):
        in_left = 0
        if weights.shape[0]:
            for i in range(starts[s], starts[s + 1]):
                in_left += levels[block[rows[i], col]] * np.int64(weights[rows[i]])
        else:
            for i in range(starts[s], starts[s + 1]):
                in_left += levels[block[rows[i], col]]
        counts[s, j] = in_left
    if criterion == VARIANCE:
        total = 0.0
        for i in range(starts[0], starts[n_segments]):
            if levels[block[rows[i], col]]:
                total += values[rows[i]]
        sums[j] = total
    return attempt


@njit(nogil=True, cache=True)
def list_levels(block, rows, starts, col, values, criterion, codes, segments, ys, hist, counts,
                sums):  # fmt: skip
    """Levels of a column in a node, ascending: codes, counts by class, sums; returns their number.

    Few samples are sorted, many are counted: a node of ten would spend its time on 256 bins.
    codes, segments, ys, hist are scratch; level i is codes[i], counts[i, :] and sums[i].
    """
    n_segments = starts.shape[0] - 1
    lo, hi = starts[0], starts[n_segments]
    n = hi - lo
    n_levels = 0
    if n <= FEW_SAMPLES:
        at = 0
        for s in range(n_segments):
            for i in range(starts[s], starts[s + 1]):
                row = rows[i]
                code = block[row, col]
                y = values[row] if criterion == VARIANCE else 0.0
                k = at
                while k > 0 and codes[k - 1] > code:
                    codes[k] = codes[k - 1]
                    segments[k] = segments[k - 1]
                    ys[k] = ys[k - 1]
                    k -= 1
                codes[k] = code
                segments[k] = s
                ys[k] = y
                at += 1
        for i in range(n):
            if n_levels == 0 or codes[i] != codes[n_levels - 1]:
                for s in range(n_segments):
                    counts[n_levels, s] = 0
                sums[n_levels] = 0.0
                codes[n_levels] = codes[i]
                n_levels += 1
            counts[n_levels - 1, segments[i]] += 1
            sums[n_levels - 1] += ys[i]
        return n_levels
    hist[:] = 0
    for i in range(lo, hi):
        hist[block[rows[i], col]] = 1
    for code in range(256):
        if hist[code]:
            codes[n_levels] = U8(code)
            for s in range(n_segments):
                counts[n_levels, s] = 0
            sums[n_levels] = 0.0
            hist[code] = n_levels
            n_levels += 1
    for s in range(n_segments):
        for i in range(starts[s], starts[s + 1]):
            counts[hist[block[rows[i], col]], s] += 1
    if criterion == VARIANCE:
        for i in range(lo, hi):
            sums[hist[block[rows[i], col]]] += values[rows[i]]
    return n_levels


@njit(nogil=True, cache=True)
def weigh_levels(block, rows, starts, col, weights, n_levels, codes, hist, counts):
    """Put masses in the place of the counts that `list_levels` made."""
    for i in range(n_levels):
        hist[codes[i]] = i
        for s in range(counts.shape[1]):
            counts[i, s] = 0
    for s in range(starts.shape[0] - 1):
        for i in range(starts[s], starts[s + 1]):
            counts[hist[block[rows[i], col]], s] += weights[rows[i]]


@njit(nogil=True, cache=True)
def find_best_cut(n_levels, level_codes, level_counts, level_sums, n, j, tables, nlogn, weighted,
                  criterion, total, min_leaf, tie_key, left, cut, shift, counts,
                  sums):  # fmt: skip
    """Put the best cut of one column into cut[j], shift[j], counts[:, j] and sums[j]."""
    n_segments = left.shape[0]
    weighted = weighted and criterion == ENTROPY
    missing = level_codes[n_levels - 1] == U8(MISSING)
    best, ties = -np.inf, 0
    for direction in range(2 if missing else 1):
        left[:] = 0
        left_sum, n_left = 0.0, 0
        if direction == 1:
            left_sum = level_sums[n_levels - 1]
            for s in range(n_segments):
                left[s] = level_counts[n_levels - 1, s]
                n_left += left[s]
        stop = n_levels - 2 if direction == 1 else n_levels - 1
        for i in range(stop):
            for s in range(n_segments):
                left[s] += level_counts[i, s]
                n_left += level_counts[i, s]
            left_sum += level_sums[i]
            if n_left < min_leaf or n - n_left < min_leaf:
                continue
            if weighted:
                score = score_weighted(left, n_left, n, tables, nlogn)
            else:
                score = score_one(criterion, left, n_left, n, left_sum, total, tables)
            if score > best:
                ties = 0
            if score >= best:
                ties += 1
                code = np.int64(level_codes[i])
                if ties == 1 or random_below(tie_key, U32(code * 2 + direction), ties) == 0:
                    best = score
                    cut[j] = U8(code + direction)
                    shift[j] = U8(direction)
                    for s in range(n_segments):
                        counts[s, j] = left[s]
                    sums[j] = left_sum
