"""The tree kernel: grow one randomised tree on a block of codes.

Covers: choosing and making splits, importances and the three kinds of evidence. Does not cover:
applying or saving trees (`forest`), drawing features (`srs.subspace`), or what importances mean
(`srs.decision`).

The block is row-major uint8 `(n_samples, n_columns)`, so a node is two passes over the rows of
its samples, each vectorised over columns: column-wise minimum and maximum, then, after one random
cut a column, counts of samples on the left of the cut, by class. Samples of a node are grouped by
class first, so that the counting loop adds up to 252 comparisons of one class in uint8 lanes
before it widens them. Columns are taken in tiles whose rows stay in the L2 cache between the two
passes.

A cut sends code `c` left when `uint8(c + shift) <= cut`. `shift` is 0 or 1: MISSING (255) wraps to
0 with shift 1 and so goes left, and stays the largest code with shift 0 and so goes right.
Categorical columns are split by a random subset of levels that is a pure function of node, column
and level.

Scores are n_node x impurity decrease. They are symmetric in left and right to the last bit, so
that equal splits compare equal and ties are broken at random, never by column position.
"""

import numpy as np
from numba import njit

from srs.tree.random import (
    DOMAIN_COLUMNS,
    DOMAIN_CUT,
    DOMAIN_MISSING,
    DOMAIN_SUBSET,
    DOMAIN_TIE,
    U32,
    node_key,
    random_below,
    random_u32,
    scale_u32,
)

MISSING = 255
ENTROPY, GINI, VARIANCE = 0, 1, 2

U8 = np.uint8
TILE_BYTES = 1 << 18  # rows of a tile stay in a 512 KiB L2 cache between the two passes
MIN_TILE, MAX_TILE = 128, 2048
FLUSH = 252  # most comparisons that a uint8 lane can hold, a multiple of the unrolling (4)
SUBSET_TRIES = 64


@njit(nogil=True, cache=True)
def _minmax(block, rows, lo, hi, c0, low, high, high1):
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
def _draw_cuts(cut_key, missing_key, c0, low, high, high1, any_missing, cut, shift):
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
def _count_left(block, rows, lo, hi, c0, cut, shift, any_missing, lanes, counts):
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
def _sum_left(block, rows, lo, hi, c0, cut, shift, values, sums):
    """sums[j] += sum of the target over the samples that column j sends left."""
    width = cut.shape[0]
    c1 = c0 + width
    for i in range(lo, hi):
        a = block[rows[i], c0:c1]
        y = values[rows[i]]
        for j in range(width):
            sums[j] += y if U8(a[j] + shift[j]) <= cut[j] else 0.0


@njit(nogil=True, cache=True)
def _best_cut(block, rows, starts, col, j, low, highest, missing, values, tables, criterion,
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
            score = _score_one(criterion, left, n_left, n, left_sum, total, tables)
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


@njit(nogil=True, cache=True)
def _score_one(criterion, left, n_left, n, left_sum, total, tables):
    """Score of one split without the impurity of its node: comparable within the node."""
    n_right = n - n_left
    if criterion == VARIANCE:
        return left_sum * left_sum / n_left + (total - left_sum) * (total - left_sum) / n_right
    score = -tables[left.shape[0], n_left] if criterion == ENTROPY else 0.0
    if criterion == ENTROPY:
        for s in range(left.shape[0]):
            score += tables[s, left[s]]
        return score
    sq_left, sq_right = 0.0, 0.0
    for s in range(left.shape[0]):
        in_right = tables[s, 0] - left[s]
        sq_left += np.float64(left[s]) * left[s]
        sq_right += in_right * in_right
    return sq_left / n_left + sq_right / n_right


@njit(nogil=True, cache=True)
def _subset(key, col, attempt, levels):
    """levels[c] = 1 where code c goes left; a pure function of node key, column and attempt."""
    base = random_u32(key, U32(col * SUBSET_TRIES + attempt))
    for word in range(8):
        bits = random_u32(base, U32(word))
        for b in range(32):
            levels[word * 32 + b] = U8((bits >> U32(b)) & U32(1))


@njit(nogil=True, cache=True)
def _cut_categories(block, rows, starts, col, j, subset_key, values, criterion, counts, sums,
                    levels):  # fmt: skip
    """Split a categorical column by a random subset of its levels; returns the attempt, -1 if none."""
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
        _subset(subset_key, col, attempt, levels)
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
def _score(criterion, counts, sums, n, total, tables, low, high, min_leaf, n_left, scores):
    """Score of every column of a tile without the node's impurity; -inf where it cannot be cut."""
    n_segments = counts.shape[0]
    width = scores.shape[0]
    if n_segments == 1:
        for j in range(width):
            n_left[j] = counts[0, j]
    else:
        for j in range(width):
            n_left[j] = counts[0, j] + counts[1, j]
        for s in range(2, n_segments):
            for j in range(width):
                n_left[j] += counts[s, j]
    if criterion == ENTROPY:
        if n_segments == 2:
            for j in range(width):
                scores[j] = (
                    -tables[2, n_left[j]] + tables[0, counts[0, j]] + tables[1, counts[1, j]]
                )
        else:
            for j in range(width):
                scores[j] = -tables[n_segments, n_left[j]]
            for s in range(n_segments):
                for j in range(width):
                    scores[j] += tables[s, counts[s, j]]
    elif criterion == GINI:
        for j in range(width):
            sq_left, sq_right = 0.0, 0.0
            for s in range(n_segments):
                in_left = np.float64(counts[s, j])
                in_right = tables[s, 0] - in_left
                sq_left += in_left * in_left
                sq_right += in_right * in_right
            n_l = np.float64(max(n_left[j], 1))
            n_r = np.float64(max(n - n_left[j], 1))
            scores[j] = sq_left / n_l + sq_right / n_r
    else:
        for j in range(width):
            n_l = np.float64(max(n_left[j], 1))
            n_r = np.float64(max(n - n_left[j], 1))
            right = total - sums[j]
            scores[j] = sums[j] * sums[j] / n_l + right * right / n_r
    least = max(min_leaf, 1)
    for j in range(width):
        if low[j] == high[j] or n_left[j] < least or n - n_left[j] < least:
            scores[j] = -np.inf


@njit(nogil=True, cache=True)
def _group_by_class(rows, lo, hi, classes, n_classes, scratch, class_counts, starts):
    """Sort rows[lo:hi] by class; fill starts; returns the number of classes present."""
    class_counts[:] = 0
    for i in range(lo, hi):
        class_counts[classes[rows[i]]] += 1
    n_segments = 0
    starts[0] = lo
    offset = np.zeros(n_classes, np.int64)
    at = lo
    for c in range(n_classes):
        offset[c] = at
        if class_counts[c] > 0:
            at += class_counts[c]
            n_segments += 1
            starts[n_segments] = at
    if n_segments > 1:
        for i in range(lo, hi):
            c = classes[rows[i]]
            scratch[offset[c]] = rows[i]
            offset[c] += 1
        rows[lo:hi] = scratch[lo:hi]
    return n_segments


@njit(nogil=True, cache=True)
def _fill_tables(criterion, nlogn, class_sizes, n_segments, n, tables):
    """Per-node tables, so that a column's score is one look-up a class.

    ENTROPY: row s holds f(x) + f(n_s - x) with f(x) = x log x, the last row f(x) + f(n - x).
    GINI: column 0 holds the class sizes.
    """
    if criterion == ENTROPY:
        for s in range(n_segments):
            size = class_sizes[s]
            for x in range(size + 1):
                tables[s, x] = nlogn[x] + nlogn[size - x]
        for x in range(n + 1):
            tables[n_segments, x] = nlogn[x] + nlogn[n - x]
    elif criterion == GINI:
        for s in range(n_segments):
            tables[s, 0] = class_sizes[s]


@njit(nogil=True, cache=True)
def _node_impurity(criterion, nlogn, class_sizes, n_segments, n, values, rows, lo, hi):
    """n x impurity of a node, and the sum of its target (0 for classes)."""
    if criterion == VARIANCE:
        total, squares = 0.0, 0.0
        first = values[rows[lo]]
        for i in range(lo, hi):
            y = values[rows[i]]
            total += y
            squares += (y - first) * (y - first)
        shifted = total - n * first
        return max(squares - shifted * shifted / n, 0.0), total
    impurity = nlogn[n] if criterion == ENTROPY else np.float64(n)
    for s in range(n_segments):
        size = class_sizes[s]
        impurity -= nlogn[size] if criterion == ENTROPY else np.float64(size) * size / n
    return max(impurity, 0.0), 0.0


@njit(nogil=True, cache=True)
def grow_tree(
    block, is_categorical, classes, values, n_classes, rows, criterion, max_features, max_depth,
    min_leaf, best_cut, screen_size, peak_size, tree_key, nlogn, unit,
    column, cut_code, cut_shift, subset, left, right, n_node, impurity, value,
    used, screened, peak, n_splits,
):  # fmt: skip
    """Grow one tree on the samples `rows` (reordered in place) and return its number of nodes.

    block           uint8 (n_samples, n_columns), C-contiguous
    is_categorical  bool (n_columns,)
    classes         int32 (n_samples,), 0..n_classes-1; zeros for VARIANCE
    values          float64 (n_samples,), the numeric target as whole numbers of `unit`, so that
                    sums are exact; empty for classes
    nlogn           float64 (n_rows + 1,), x log2 x; empty unless ENTROPY
    tree_key        uint64, all randomness of this tree
    unit            what one of `values` is worth: scores and impurities are given in unit ** 2
    column .. value one row a node, at least 2 * n_rows - 1 rows; a leaf has left == -1
    subset          uint8 (n_rows, 256): the levels that go left, one row a categorical split,
                    found by cut_code | cut_shift << 8 of its node where the column is categorical
    used            float64 (n_columns,): sum of (n_node / n) x decrease where the column was split
    screened        float64 (n_columns,): the same for every column at nodes of >= screen_size
    peak            float64 (n_columns,): largest n_node x decrease at nodes of >= peak_size
    n_splits        int32 (n_columns,)
    All importances are added to (peak: maximised with) what the arrays hold.
    """
    n_columns = block.shape[1]
    n_rows = rows.shape[0]
    scratch = np.empty(n_rows, rows.dtype)
    class_counts = np.zeros(n_classes, np.int64)
    starts_all = np.empty(n_classes + 1, np.int64)
    sizes = np.empty(n_classes, np.int64)
    table_len = n_rows + 1 if criterion == ENTROPY else 1
    tables = np.empty((n_classes + 1, table_len), np.float64)
    low_all = np.empty(n_columns, np.uint8)
    high_all = np.empty(n_columns, np.uint8)
    high1_all = np.empty(n_columns, np.uint8)
    cut_all = np.empty(n_columns, np.uint8)
    shift_all = np.empty(n_columns, np.uint8)
    lanes_all = np.empty(MAX_TILE, np.uint8)
    counts_all = np.empty((n_classes, MAX_TILE), np.int32)
    sums_all = np.empty(MAX_TILE, np.float64)
    left_all = np.empty(MAX_TILE, np.int32)
    scores_all = np.empty(MAX_TILE, np.float64)
    attempts = np.empty(n_columns, np.int16)
    levels = np.empty(256, np.uint8)
    order = np.arange(n_columns)
    any_categorical = False
    for j in range(n_columns):
        any_categorical |= is_categorical[j]

    stack_lo = np.empty(n_rows + 1, np.int64)
    stack_hi = np.empty(n_rows + 1, np.int64)
    stack_node = np.empty(n_rows + 1, np.int64)
    stack_depth = np.empty(n_rows + 1, np.int64)
    stack_lo[0], stack_hi[0], stack_node[0], stack_depth[0] = 0, n_rows, 0, 0
    n_stack, n_nodes, n_subsets = 1, 1, 0
    unit2 = unit * unit
    scale = unit2 / n_rows
    min_leaf = max(min_leaf, 1)

    while n_stack > 0:
        n_stack -= 1
        lo, hi = stack_lo[n_stack], stack_hi[n_stack]
        node, depth = stack_node[n_stack], stack_depth[n_stack]
        n = hi - lo
        if criterion == VARIANCE:
            n_segments = 1
            starts_all[0], starts_all[1] = lo, hi
        else:
            n_segments = _group_by_class(
                rows, lo, hi, classes, n_classes, scratch, class_counts, starts_all
            )
        starts = starts_all[: n_segments + 1]
        for s in range(n_segments):
            sizes[s] = starts[s + 1] - starts[s]
        node_impurity, total = _node_impurity(
            criterion, nlogn, sizes, n_segments, n, values, rows, lo, hi
        )
        n_node[node] = n
        impurity[node] = node_impurity / n * unit2
        left[node] = right[node] = column[node] = -1
        cut_code[node] = cut_shift[node] = 0
        if criterion == VARIANCE:
            value[node, 0] = total / n * unit
        else:
            for c in range(n_classes):
                value[node, c] = class_counts[c] / n
        pure = n_segments == 1 if criterion != VARIANCE else node_impurity <= 0.0
        if pure or n < 2 * min_leaf or n < 2 or depth >= max_depth:
            continue

        _fill_tables(criterion, nlogn, sizes, n_segments, n, tables)
        # What _score leaves out: the part of the decrease that is the same for all columns.
        if criterion == VARIANCE:
            base = -total * total / n
        elif criterion == ENTROPY:
            base = node_impurity
        else:
            base = node_impurity - n
        cut_key = node_key(tree_key, node, DOMAIN_CUT)
        missing_key = node_key(tree_key, node, DOMAIN_MISSING)
        subset_key = node_key(tree_key, node, DOMAIN_SUBSET)
        tie_key = node_key(tree_key, node, DOMAIN_TIE)
        columns_key = node_key(tree_key, node, DOMAIN_COLUMNS)
        screens = n >= screen_size
        peaks = n >= peak_size
        best, best_column, n_ties, n_tie_draws = -np.inf, -1, 0, U32(0)
        tile = min(max(TILE_BYTES // n, MIN_TILE), MAX_TILE)
        all_columns = max_features >= n_columns
        n_drawn, n_candidates, c0 = 0, 0, 0
        while True:
            if all_columns:
                if c0 >= n_columns:
                    break
                width = min(tile, n_columns - c0)
            else:
                # K columns that can be cut, drawn without replacement, one at a time.
                if n_candidates >= max_features or n_drawn >= n_columns:
                    break
                pick = n_drawn + random_below(columns_key, U32(n_drawn), n_columns - n_drawn)
                order[n_drawn], order[pick] = order[pick], order[n_drawn]
                c0, width = order[n_drawn], 1
                n_drawn += 1
            low, high = low_all[c0 : c0 + width], high_all[c0 : c0 + width]
            high1, cut = high1_all[c0 : c0 + width], cut_all[c0 : c0 + width]
            shift = shift_all[c0 : c0 + width]
            counts, sums = counts_all[:n_segments, :width], sums_all[:width]
            scores, n_left = scores_all[:width], left_all[:width]
            any_missing = _minmax(block, rows, lo, hi, c0, low, high, high1)
            if best_cut:
                for s in range(n_segments):
                    counts[s, :] = 0
                sums[:] = 0.0
                for j in range(width):
                    if low[j] != high[j] and not is_categorical[c0 + j]:
                        has_missing = high[j] == U8(MISSING)
                        _best_cut(
                            block, rows, starts, c0 + j, j, np.int64(low[j]),
                            np.int64(U8(high1[j] - U8(1))), has_missing, values, tables,
                            criterion, total, min_leaf,
                            random_u32(tie_key, U32(0x10000000 + c0 + j)), cut, shift, counts,
                            sums,
                        )  # fmt: skip
            else:
                _draw_cuts(cut_key, missing_key, c0, low, high, high1, any_missing, cut, shift)
                for s in range(n_segments):
                    for j in range(width):
                        counts[s, j] = 0
                    _count_left(
                        block, rows, starts[s], starts[s + 1], c0, cut, shift, any_missing,
                        lanes_all[:width], counts[s],
                    )  # fmt: skip
                if criterion == VARIANCE:
                    for j in range(width):
                        sums[j] = 0.0
                    _sum_left(block, rows, lo, hi, c0, cut, shift, values, sums)
            if any_categorical:
                for j in range(width):
                    if is_categorical[c0 + j] and low[j] != high[j]:
                        attempts[c0 + j] = _cut_categories(
                            block, rows, starts, c0 + j, j, subset_key, values, criterion, counts,
                            sums, levels,
                        )  # fmt: skip
                        if attempts[c0 + j] < 0:
                            high[j] = low[j]
            _score(criterion, counts, sums, n, total, tables, low, high, min_leaf, n_left, scores)
            tile_best = -np.inf
            for j in range(width):
                scores[j] = scores[j] + base
                tile_best = max(tile_best, scores[j])
            if not all_columns and low[0] != high[0]:
                n_candidates += 1
            if tile_best == -np.inf:
                c0 += width
                continue
            if tile_best >= best:
                if tile_best > best:
                    best, n_ties = tile_best, 0
                for j in range(width):
                    if scores[j] == best:
                        n_ties += 1
                        if random_below(tie_key, n_tie_draws, n_ties) == 0:
                            best_column = c0 + j
                        n_tie_draws = U32(n_tie_draws + U32(1))
            if screens:
                tile_screened = screened[c0 : c0 + width]
                for j in range(width):
                    tile_screened[j] += max(scores[j], 0.0) * scale
            if peaks:
                tile_peak = peak[c0 : c0 + width]
                for j in range(width):
                    tile_peak[j] = max(tile_peak[j], scores[j] * unit2)
            c0 += width
        if best_column < 0:
            continue

        col = best_column
        column[node] = col
        used[col] += max(best, 0.0) * scale
        n_splits[col] += 1
        # Partition the samples: left part in place, right part through scratch.
        at, n_right = lo, 0
        if is_categorical[col]:
            _subset(subset_key, col, attempts[col], levels)
            subset[n_subsets, :] = levels
            cut_code[node] = U8(n_subsets & 255)
            cut_shift[node] = n_subsets >> 8
            n_subsets += 1
            for i in range(lo, hi):
                if levels[block[rows[i], col]]:
                    rows[at] = rows[i]
                    at += 1
                else:
                    scratch[n_right] = rows[i]
                    n_right += 1
        else:
            code, move = cut_all[col], shift_all[col]
            cut_code[node], cut_shift[node] = code, move
            for i in range(lo, hi):
                if U8(block[rows[i], col] + move) <= code:
                    rows[at] = rows[i]
                    at += 1
                else:
                    scratch[n_right] = rows[i]
                    n_right += 1
        rows[at:hi] = scratch[:n_right]
        left[node], right[node] = n_nodes, n_nodes + 1
        n_nodes += 2
        stack_lo[n_stack], stack_hi[n_stack] = at, hi
        stack_node[n_stack], stack_depth[n_stack] = right[node], depth + 1
        n_stack += 1
        stack_lo[n_stack], stack_hi[n_stack] = lo, at
        stack_node[n_stack], stack_depth[n_stack] = left[node], depth + 1
        n_stack += 1
    return n_nodes
