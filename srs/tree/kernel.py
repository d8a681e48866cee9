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

Cuts of columns are made in `cuts`, scored in `criterion`. Ties are broken at random, never by
column position. Where samples have weights, masses (sums of weights) take the place of counts.
"""

import numpy as np
from numba import njit

from srs.tree.criterion import (
    ENTROPY,
    VARIANCE,
    fill_tables,
    node_impurity_of,
    score_columns,
)
from srs.tree.cuts import (
    U8,
    count_left,
    cut_categories,
    draw_cuts,
    draw_subset,
    find_best_cuts,
    find_ranges,
    make_cut_scratch,
    sum_left,
    weigh_runs,
)
from srs.tree.random import (
    DOMAIN_COLUMNS,
    DOMAIN_CUT,
    DOMAIN_MISSING,
    DOMAIN_SUBSET,
    DOMAIN_TIE,
    DOMAIN_WANDER,
    U32,
    node_key,
    random_below,
)

TILE_BYTES = 1 << 18  # rows of a tile stay in a 512 KiB L2 cache between the two passes
MIN_TILE, MAX_TILE = 128, 2048


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
def _weigh_classes(rows, starts, weights, masses):
    """Fill the mass of each class of a node, whose samples stand by class; returns that of all."""
    total = 0
    for s in range(starts.shape[0] - 1):
        mass = 0
        for i in range(starts[s], starts[s + 1]):
            mass += int(weights[rows[i]])
        masses[s] = mass
        total += mass
    return total


@njit(nogil=True, cache=True)
def grow_tree(
    block, is_categorical, classes, values, products, weights, n_classes, rows, criterion,
    max_features, max_depth, min_leaf, best_cut, screen_size, peak_size, wander_size, root_column,
    tree_key, nlogn, unit,
    column, cut_code, cut_shift, subset, left, right, n_node, impurity, value,
    used, screened, peak, n_splits,
):  # fmt: skip
    """Grow one tree on the samples `rows` (reordered in place) and return its number of nodes.

    block           uint8 (n_samples, n_columns), C-contiguous
    is_categorical  bool (n_columns,)
    classes         int32 (n_samples,), 0..n_classes-1; zeros for VARIANCE
    values          float64 (n_samples,), the numeric target as whole numbers of `unit`, so that
                    sums are exact; empty for classes
    products        values x weights; the values themselves where there are no weights
    weights         int32 (n_samples,), above 0; empty: all samples count alike
    nlogn           float64 (mass of all rows + 1,), x log2 x; empty unless ENTROPY
    wander_size     nodes of at least so many samples split a column at random
    root_column     column that the root splits, if it can be; -1: as other nodes
    tree_key        uint64, all randomness of this tree
    unit            what one of `values` is worth: scores and impurities are given in unit ** 2
    column .. value one row a node, at least 2 * n_rows - 1 rows; a leaf has left == -1
    subset          uint8 (n_rows, 256): the levels that go left, one row a categorical split,
                    found by cut_code | cut_shift << 8 of its node where the column is categorical
    min_leaf        fewest samples in a leaf; with weights, beyond 1, their mass in units of the
                    mean weight
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
    weighted = weights.shape[0] > 0
    all_mass = n_rows
    if weighted:
        all_mass = 0
        for i in range(n_rows):
            all_mass += np.int64(weights[rows[i]])
        # Samples of one weight stand together, and do so in all nodes and classes: what follows
        # keeps their order.
        rows[:] = rows[np.argsort(weights[rows], kind="mergesort")]
    part_all = np.empty(MAX_TILE, np.int32)
    table_len = n_rows + 1 if criterion == ENTROPY and not weighted else 1
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
    cut_scratch = make_cut_scratch(n_classes, MAX_TILE if best_cut else 0)
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
    scale = unit * unit / all_mass
    unit2 = unit * unit * (n_rows / all_mass)  # scores in units of samples, not of mass
    min_leaf = max(min_leaf, 1)
    if weighted and min_leaf > 1:
        min_leaf = np.int64(np.ceil(min_leaf * all_mass / n_rows))

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
        mass = n
        if weighted:
            mass = _weigh_classes(rows, starts, weights, sizes)
        else:
            for s in range(n_segments):
                sizes[s] = starts[s + 1] - starts[s]
        node_impurity, total = node_impurity_of(
            criterion, nlogn, sizes, n_segments, mass, values, weights, rows, lo, hi
        )
        n_node[node] = n
        impurity[node] = node_impurity / mass * (unit * unit)
        left[node] = right[node] = column[node] = -1
        cut_code[node] = cut_shift[node] = 0
        if criterion == VARIANCE:
            value[node, 0] = total / mass * unit
        else:
            s = 0
            for c in range(n_classes):
                value[node, c] = 0.0
                if class_counts[c] > 0:
                    value[node, c] = sizes[s] / mass
                    s += 1
        pure = n_segments == 1 if criterion != VARIANCE else node_impurity <= 0.0
        if pure or mass < 2 * min_leaf or n < 2 or depth >= max_depth:
            continue

        fill_tables(criterion, nlogn, sizes, n_segments, mass, weighted, tables)
        # What score_columns leaves out: the part of the decrease that is the same for all columns.
        if criterion == VARIANCE:
            base = -total * total / mass
        elif criterion == ENTROPY:
            base = node_impurity
        else:
            base = node_impurity - mass
        cut_key = node_key(tree_key, node, DOMAIN_CUT)
        missing_key = node_key(tree_key, node, DOMAIN_MISSING)
        subset_key = node_key(tree_key, node, DOMAIN_SUBSET)
        tie_key = node_key(tree_key, node, DOMAIN_TIE)
        columns_key = node_key(tree_key, node, DOMAIN_COLUMNS)
        screens = n >= screen_size
        peaks = n >= peak_size
        best, best_column, n_ties, n_tie_draws = -np.inf, -1, 0, U32(0)
        forced, forced_score = (root_column if node == 0 else -1), -np.inf
        if forced < 0 and n >= wander_size:
            forced = random_below(node_key(tree_key, node, DOMAIN_WANDER), U32(0), n_columns)
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
            if best_cut:
                find_best_cuts(
                    block, rows, starts, c0, is_categorical, products, weights, criterion, mass,
                    total, tables, nlogn, min_leaf, tie_key, low, high, cut, shift, counts, sums,
                    cut_scratch,
                )  # fmt: skip
                if any_categorical:
                    for j in range(width):
                        if is_categorical[c0 + j]:
                            find_ranges(
                                block, rows, lo, hi, c0 + j, low[j : j + 1], high[j : j + 1],
                                high1[j : j + 1],
                            )  # fmt: skip
            else:
                any_missing = find_ranges(block, rows, lo, hi, c0, low, high, high1)
                draw_cuts(cut_key, missing_key, c0, low, high, high1, any_missing, cut, shift)
                for s in range(n_segments):
                    for j in range(width):
                        counts[s, j] = 0
                    if weighted:
                        weigh_runs(
                            block, rows, starts[s], starts[s + 1], c0, cut, shift, any_missing,
                            weights, lanes_all[:width], part_all[:width], counts[s],
                        )  # fmt: skip
                        continue
                    count_left(
                        block, rows, starts[s], starts[s + 1], c0, cut, shift, any_missing,
                        lanes_all[:width], counts[s],
                    )  # fmt: skip
                if criterion == VARIANCE:
                    for j in range(width):
                        sums[j] = 0.0
                    sum_left(block, rows, lo, hi, c0, cut, shift, products, sums)
            if any_categorical:
                for j in range(width):
                    if is_categorical[c0 + j] and low[j] != high[j]:
                        attempts[c0 + j] = cut_categories(
                            block, rows, starts, c0 + j, j, subset_key, products, weights,
                            criterion, counts, sums, levels,
                        )  # fmt: skip
                        if attempts[c0 + j] < 0:
                            high[j] = low[j]
            score_columns(
                criterion, counts, sums, mass, total, tables, nlogn, weighted, low, high,
                min_leaf, n_left, scores,
            )  # fmt: skip
            tile_best = -np.inf
            for j in range(width):
                scores[j] = scores[j] + base
                tile_best = max(tile_best, scores[j])
            if not all_columns and low[0] != high[0]:
                n_candidates += 1
            if c0 <= forced < c0 + width:
                forced_score = scores[forced - c0]
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
        if forced_score > -np.inf:
            best, best_column = forced_score, forced

        col = best_column
        column[node] = col
        used[col] += max(best, 0.0) * scale
        n_splits[col] += 1
        # Partition the samples: left part in place, right part through scratch.
        at, n_right = lo, 0
        if is_categorical[col]:
            draw_subset(subset_key, col, attempts[col], levels)
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
