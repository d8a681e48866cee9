"""Cuts of columns and what they send left: the passes of the kernel over a node's samples.

A cut sends code `c` left when `uint8(c + shift) <= cut`. `shift` is 0 or 1: MISSING (255) wraps to
0 with shift 1 and so goes left, and stays the largest code with shift 0 and so goes right.
Categorical columns are split by a random subset of levels that is a pure function of node, column
and level.
"""

from typing import Any

import numpy as np
from numba import njit
from numba.cpython.unsafe import numbers

from srs.tree.criterion import VARIANCE, score_columns
from srs.tree.random import U32, random_below, random_u32, scale_u32

MISSING = 255
U8 = np.uint8
U64 = np.uint64
trailing_zeros: Any = numbers.trailing_zeros  # one instruction; typed by numba alone
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
def make_cut_scratch(n_classes, size):
    """What `find_best_cuts` works with: sums by code, 0 between calls, and room for cuts."""
    return (
        np.zeros(4, np.uint64),
        np.zeros((n_classes, 256), np.int32),
        np.zeros(256, np.float64),
        np.empty(n_classes, np.int32),
        np.empty(size, np.int32),
        np.empty((n_classes, size), np.int32),
        np.zeros(size, np.float64),
        np.empty(size, np.int32),
        np.empty(size, np.float64),
        np.empty(size + 1, np.uint64),
        np.zeros(size, np.uint8),
        np.ones(size, np.uint8),
    )


@njit(nogil=True, cache=True)
def find_best_cuts(
    block, rows, starts, c0, is_categorical, values, weights, criterion, mass, total, tables,
    nlogn, min_leaf, tie_key, low, high, cut, shift, counts, sums, scratch,
):  # fmt: skip
    """The best cut of each numeric column of a tile, and what it sends left.

    Samples are added up by code, and a bit a code remembers which codes there are: no node is
    sorted, and a small one does not look at all 256. Cuts of many columns are listed, then scored
    together. A column that cannot be cut gets low == high.
    """
    (seen, code_counts, code_sums, so_far, cuts, lefts, left_sums, n_left, scores, ends, zeros,
     ones) = scratch  # fmt: skip
    n_segments = U64(starts.shape[0] - 1)
    weighted = weights.shape[0] > 0
    numeric = criterion == VARIANCE
    width = low.shape[0]
    first, n_cuts = 0, U64(0)  # cuts of the columns from `first` on are listed and not yet scored
    ends[0] = U64(0)
    for j in range(width):
        low[j] = high[j] = U8(0)
        start = n_cuts
        if not is_categorical[c0 + j]:
            col = U64(c0 + j)
            for s in range(n_segments):
                for i in range(U64(starts[s]), U64(starts[s + U64(1)])):
                    row = U64(rows[i])
                    code = U64(block[row, col])
                    seen[code >> U64(6)] |= U64(1) << (code & U64(63))
                    code_counts[s, code] += weights[row] if weighted else np.int32(1)
                    if numeric:
                        code_sums[code] += values[row]
            w0, w1, w2, w3 = seen[0], seen[1], seen[2], seen[3]
            seen[0] = seen[1] = seen[2] = seen[3] = U64(0)
            code, n_so_far, sum_so_far = U64(0), np.int32(0), 0.0
            so_far[:n_segments] = 0
            while w0 | w1 | w2 | w3:
                # The lowest bit that is set, without branches: which way they go is chance.
                in0, in1, in2 = w0 != U64(0), (w0 | w1) != U64(0), (w0 | w1 | w2) != U64(0)
                word = w0 if in0 else (w1 if in1 else (w2 if in2 else w3))
                base = U64(0) if in0 else (U64(64) if in1 else (U64(128) if in2 else U64(192)))
                w0 &= w0 - U64(1)
                w1 = w1 if in0 else w1 & (w1 - U64(1))
                w2 = w2 if in1 else w2 & (w2 - U64(1))
                w3 = w3 if in2 else w3 & (w3 - U64(1))
                code = base + U64(trailing_zeros(word))
                cuts[n_cuts] = np.int32(code) << 1
                if numeric:
                    n_so_far += code_counts[0, code]
                    lefts[0, n_cuts] = n_so_far
                    code_counts[0, code] = 0
                    sum_so_far += code_sums[code]
                    left_sums[n_cuts] = sum_so_far
                    code_sums[code] = 0.0
                else:
                    for s in range(n_segments):
                        so_far[s] += code_counts[s, code]
                        lefts[s, n_cuts] = so_far[s]
                        code_counts[s, code] = 0
                n_cuts += U64(1)
            n_cuts -= U64(1)  # all left is no cut
            if code == U64(MISSING):
                n_cuts = _send_missing_left(start, n_cuts, cuts, lefts, left_sums)
            high[j] = U8(n_cuts > start)
        ends[j + 1 - first] = n_cuts
        if j + 1 < width and n_cuts + U64(512) <= U64(cuts.shape[0]):
            continue
        score_columns(
            criterion, lefts[:n_segments, :n_cuts], left_sums[:n_cuts], mass, total, tables, nlogn,
            weighted, zeros[:n_cuts], ones[:n_cuts], min_leaf, n_left[:n_cuts], scores[:n_cuts],
        )  # fmt: skip
        for k in range(first, j + 1):
            at = _pick(ends[k - first], ends[k + 1 - first], scores, cuts, tie_key, c0 + k)
            if at < 0:
                sums[k] = 0.0
                for s in range(n_segments):
                    counts[s, k] = 0
                continue
            shift[k] = U8(cuts[at] & 1)
            cut[k] = U8((cuts[at] >> 1) + (cuts[at] & 1))
            sums[k] = left_sums[at]
            for s in range(n_segments):
                counts[s, k] = lefts[s, at]
        first, n_cuts = j + 1, U64(0)


@njit(nogil=True, cache=True)
def _send_missing_left(start, stop, cuts, lefts, left_sums):
    """Add the cuts start..stop of a column once more, with missing values left; returns their end.

    The last cut, missing values against all others, is the same either way.
    """
    if stop == start:
        return stop
    n_new = stop - start - U64(1)
    missing_sum = left_sums[stop] - left_sums[stop - U64(1)]
    for s in range(lefts.shape[0]):
        missing = lefts[s, stop] - lefts[s, stop - U64(1)]
        for i in range(start, start + n_new):
            lefts[s, stop + i - start] = lefts[s, i] + missing
    for i in range(start, start + n_new):
        left_sums[stop + i - start] = left_sums[i] + missing_sum
        cuts[stop + i - start] = cuts[i] + 1
    return stop + n_new


@njit(nogil=True, cache=True)
def _pick(start, stop, scores, cuts, tie_key, col):
    """Which of the cuts start..stop scores best, one of equals at random; -1 if none can be."""
    best = -np.inf
    for i in range(start, stop):
        best = max(best, scores[i])
    if best == -np.inf:
        return -1
    at, ties = start, 0
    for i in range(start, stop):
        if scores[i] == best:
            ties += 1
            if ties == 1:
                at = i
                continue
            key = random_u32(tie_key, U32(0x10000000 + col))
            if random_below(key, U32(cuts[i]), ties) == 0:
                at = i
    return np.int64(at)
