"""Cuts of columns and what they send left: the passes of the kernel over a node's samples.

A cut sends code `c` left when `uint8(c + shift) <= cut`. `shift` is 0 or 1: MISSING (255) wraps to
0 with shift 1 and so goes left, and stays the largest code with shift 0 and so goes right.
Categorical columns are split by a random subset of levels that is a pure function of node, column
and level.
"""

import numpy as np
from numba import njit

from srs.tree.criterion import VARIANCE, score_one
from srs.tree.random import U32, random_below, random_u32, scale_u32

MISSING = 255
U8 = np.uint8
FLUSH = 252  # most comparisons that a uint8 lane can hold, a multiple of the unrolling (4)
SUBSET_TRIES = 64


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
def sum_left(block, rows, lo, hi, c0, cut, shift, values, sums):
    """sums[j] += sum of the target over the samples that column j sends left."""
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
def cut_categories(block, rows, starts, col, j, subset_key, values, criterion, counts, sums,
                    levels):  # fmt: skip
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
def find_best_cut(block, rows, starts, col, j, low, highest, missing, values, tables, criterion,
              total, min_leaf, tie_key, cut, shift, counts, sums):  # fmt: skip
    """Put the best cut of one column into cut[j], shift[j], counts[:, j] and sums[j]."""
    n_segments = starts.shape[0] - 1
    n = starts[n_segments] - starts[0]
    hist = np.zeros((n_segments, 256), np.int32)
    hist_sum = np.zeros(256, np.float64)
    for s in range(n_segments):
        for i in range(starts[s], starts[s + 1]):
            hist[s, block[rows[i], col]] += 1
    if criterion == VARIANCE:
        for i in range(starts[0], starts[n_segments]):
            hist_sum[block[rows[i], col]] += values[rows[i]]
    best, ties = -np.inf, 0
    left = np.zeros(n_segments, np.int32)
    for direction in range(2 if missing else 1):
        left[:] = 0
        left_sum = 0.0
        if direction == 1:
            left[:] = hist[:, MISSING]
            left_sum = hist_sum[MISSING]
        last = highest if missing and direction == 0 else highest - 1
        for code in range(low, last + 1):
            for s in range(n_segments):
                left[s] += hist[s, code]
            left_sum += hist_sum[code]
            n_left = left.sum()
            if hist[:, code].sum() == 0 or n_left < min_leaf or n - n_left < min_leaf:
                continue
            score = score_one(criterion, left, n_left, n, left_sum, total, tables)
            if score > best:
                ties = 0
            if score >= best:
                ties += 1
                if random_below(tie_key, U32(code * 2 + direction), ties) == 0:
                    best = score
                    cut[j] = U8(code + direction)
                    shift[j] = U8(direction)
                    counts[:n_segments, j] = left
                    sums[j] = left_sum
