"""Cuts of columns and what they send left: the passes of the kernel over a node's samples.

A cut sends code `c` left when `uint8(c + shift) <= cut`. `shift` is 0 or 1: MISSING (255) wraps to
0 with shift 1 and so goes left, and stays the largest code with shift 0 and so goes right.
Categorical columns are split by a random subset of levels that is a pure function of node, column
and level. The best cut of a column is in `best_cuts`.
"""

import numpy as np
from numba import njit

from srs.trees.random import U32, random_u32, scale_u32

MISSING = 255
U8 = np.uint8
FLUSH = 252  # most comparisons that a uint8 lane can hold, a multiple of the unrolling (4)
SUBSET_TRIES = 64
LONG_RUN = 16  # samples of one weight that are counted faster than they are weighed


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
def weigh_runs(block, rows, lo, hi, c0, cut, shift, any_missing, weights, lanes, part, counts):
    """The same as `weigh_left`, where samples stand by weight: long runs of one are counted."""
    start, i = lo, lo  # start: where samples begin that stand in short runs
    while i < hi:
        w = weights[rows[i]]
        stop = i + 1
        while stop < hi and weights[rows[stop]] == w:
            stop += 1
        if stop - i >= LONG_RUN:
            weigh_left(
                block, rows, start, i, c0, cut=cut, shift=shift, weights=weights, counts=counts
            )
            part[:] = 0
            count_left(
                block,
                rows,
                i,
                stop,
                c0,
                cut=cut,
                shift=shift,
                any_missing=any_missing,
                lanes=lanes,
                counts=part,
            )
            for j in range(part.shape[0]):
                counts[j] += part[j] * w
            start = stop
        i = stop
    weigh_left(block, rows, start, hi, c0, cut=cut, shift=shift, weights=weights, counts=counts)


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
def find_subset(block, samples, col, key, levels):
    """Draw a subset of levels that splits the samples; the attempt used, -1 if none does."""
    present = np.zeros(256, np.uint8)
    for i in range(samples.shape[0]):
        present[block[samples[i], col]] = 1
    n_present = 0
    for c in range(256):
        n_present += present[c]
    if n_present < 2:
        return -1
    for attempt in range(SUBSET_TRIES):
        draw_subset(key, col, attempt, levels)
        n_left = 0
        for c in range(256):
            n_left += present[c] & levels[c]
        if 0 < n_left < n_present:
            return attempt
    return -1


@njit(nogil=True, cache=True)
def weigh_subset(block, samples, col, levels, weights):
    """Mass of the samples whose level goes left."""
    mass = 0
    if weights.shape[0]:
        for i in range(samples.shape[0]):
            mass += levels[block[samples[i], col]] * np.int64(weights[samples[i]])
    else:
        for i in range(samples.shape[0]):
            mass += levels[block[samples[i], col]]
    return mass


@njit(nogil=True, cache=True)
def sum_subset(block, samples, col, levels, values):
    """Sum of the (weighted) target over the samples whose level goes left."""
    total = 0.0
    for i in range(samples.shape[0]):
        if levels[block[samples[i], col]]:
            total += values[samples[i]]
    return total
