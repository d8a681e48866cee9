"""The best cut of each column: every cut is tried, as in Breiman's forest.

`cuts` has the random cuts, and says what a cut is.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.cpython.unsafe import numbers

from srs.trees.criterion import VARIANCE, score_columns
from srs.trees.cuts import MISSING, U8
from srs.trees.random import U32, U64, random_below, random_u32

trailing_zeros: Any = numbers.trailing_zeros  # one instruction; typed by numba alone


class CutScratch(NamedTuple):
    """What `find_best_cuts` works with: what is added up by code, and cuts that are listed.

    seen         uint64 (4,): a bit a code that the column has; 0 between calls
    code_counts  int32 (n_classes, 256): mass by class and code; 0 between calls
    code_sums    float64 (256,): sum of the target by code; 0 between calls
    so_far       int32 (n_classes,): mass up to a code, by class
    ends         uint64: where the cuts of each column end
    cuts         int32: code << 1, and 1 if missing values go left
    zeros, ones  uint8: as low and high of cuts, which all can be made
    lefts .. scores  counts, sums, n_left and scores of `score_columns`
    """

    seen: np.ndarray
    code_counts: np.ndarray
    code_sums: np.ndarray
    so_far: np.ndarray
    ends: np.ndarray
    cuts: np.ndarray
    zeros: np.ndarray
    ones: np.ndarray
    lefts: np.ndarray
    left_sums: np.ndarray
    n_left: np.ndarray
    scores: np.ndarray


@njit(nogil=True, cache=True)
def make_cut_scratch(n_classes, size):
    """Room for so many cuts at a time."""
    return CutScratch(
        seen=np.zeros(4, np.uint64),
        code_counts=np.zeros((n_classes, 256), np.int32),
        code_sums=np.zeros(256, np.float64),
        so_far=np.empty(n_classes, np.int32),
        ends=np.empty(size + 1, np.uint64),
        cuts=np.empty(size, np.int32),
        zeros=np.zeros(size, np.uint8),
        ones=np.ones(size, np.uint8),
        lefts=np.empty((n_classes, size), np.int32),
        left_sums=np.zeros(size, np.float64),
        n_left=np.empty(size, np.int32),
        scores=np.empty(size, np.float64),
    )


@njit(nogil=True, cache=True)
def find_best_cuts(
    columns, target, node, rows, starts, scratch, tie_key, c0, low, high, cut, shift, counts, sums
):
    """The best cut of each numeric column of a tile, and what it sends left.

    starts     int64: where in `rows` the samples of each class begin, and where the last end
    low, high  filled, as all that follows; low == high where a column cannot be cut

    Samples are added up by code, and a bit a code remembers which codes there are: no node is
    sorted, and a small one does not look at all 256. Cuts of many columns are listed, then scored
    together.
    """
    block, is_categorical = columns.codes, columns.is_categorical
    values, weights = target.products, target.weights
    seen, code_counts, code_sums = scratch.seen, scratch.code_counts, scratch.code_sums
    so_far, ends, cuts = scratch.so_far, scratch.ends, scratch.cuts
    zeros, ones, lefts = scratch.zeros, scratch.ones, scratch.lefts
    left_sums, n_left, scores = scratch.left_sums, scratch.n_left, scratch.scores
    n_segments = U64(starts.shape[0] - 1)
    weighted = weights.shape[0] > 0
    numeric = node.criterion == VARIANCE
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
            node,
            low=zeros[:n_cuts],
            high=ones[:n_cuts],
            counts=lefts[:n_segments, :n_cuts],
            sums=left_sums[:n_cuts],
            n_left=n_left[:n_cuts],
            scores=scores[:n_cuts],
        )
        for k in range(first, j + 1):
            at = _pick(ends[k - first], ends[k + 1 - first], scores, cuts, tie_key, col=c0 + k)
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
