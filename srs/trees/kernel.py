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

Cuts of columns are made in `cuts` or `best_cuts`, scored in `criterion`. Ties are broken at random,
never by column position. Where samples have weights, masses (sums of weights) take the place of
counts.

What lives as long as a tree comes in named tuples (`records`). What changes from tile to tile is
given by keyword: a tuple that is built in that loop costs an atomic increment and decrement an
array, 10 % where a node tries few columns.
"""

import numpy as np
from numba import njit

from srs.trees.best_cuts import find_best_cuts, make_cut_scratch
from srs.trees.criterion import (
    ENTROPY,
    VARIANCE,
    Node,
    class_impurity,
    fill_tables,
    score_columns,
    value_impurity,
)
from srs.trees.cuts import (
    U8,
    count_left,
    draw_cuts,
    draw_subset,
    find_ranges,
    find_subset,
    sum_left,
    sum_subset,
    weigh_runs,
    weigh_subset,
)
from srs.trees.random import (
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
from srs.trees.segments import group_by_class, weigh_classes

TILE_BYTES = 1 << 18  # rows of a tile stay in a 512 KiB L2 cache between the two passes
MIN_TILE, MAX_TILE = 128, 2048


@njit(nogil=True, cache=True)
def grow_tree(columns, target, settings, rows, nlogn, tree_key, root_column, nodes, importances):
    """Grow one tree on the samples `rows` (reordered in place) and return its number of nodes.

    columns, target, settings  see `records`
    rows         int32 (n_rows,): samples of the tree
    nlogn        float64 (mass of all rows + 1,), x log2 x; one entry unless ENTROPY
    tree_key     uint64, all randomness of this tree
    root_column  column that the root splits, if it can be; -1: as other nodes
    nodes        filled
    importances  added to (peak: maximised with) what the arrays hold
    """
    block, is_categorical = columns.codes, columns.is_categorical
    classes, values, products = target.classes, target.values, target.products
    weights, n_classes, unit = target.weights, target.n_classes, target.unit
    criterion, max_features = settings.criterion, settings.max_features
    max_depth, min_leaf, best_cut = settings.max_depth, settings.min_leaf, settings.best_cut
    screen_size, peak_size = settings.screen_size, settings.peak_size
    wander_size = settings.wander_size
    column, cut_code, cut_shift = nodes.column, nodes.cut_code, nodes.cut_shift
    left, right, n_node = nodes.left, nodes.right, nodes.n_node
    impurity, value, subset = nodes.impurity, nodes.value, nodes.subset
    used, screened = importances.used, importances.screened
    peak, n_splits = importances.peak, importances.n_splits
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
            n_segments = group_by_class(
                rows, lo, hi, classes, scratch=scratch, class_counts=class_counts, starts=starts_all
            )
        starts = starts_all[: n_segments + 1]
        mass = n
        if weighted:
            mass = weigh_classes(rows, starts, weights, sizes)
        else:
            for s in range(n_segments):
                sizes[s] = starts[s + 1] - starts[s]
        if criterion == VARIANCE:
            node_impurity, total = value_impurity(values, weights, rows, lo, hi, mass=mass)
        else:
            node_impurity, total = class_impurity(criterion, nlogn, sizes, n_segments, mass), 0.0
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

        scored = Node(
            criterion=criterion,
            weighted=weighted,
            mass=mass,
            total=total,
            min_leaf=min_leaf,
            tables=tables,
            nlogn=nlogn,
        )
        fill_tables(scored, sizes, n_segments)
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
                    columns,
                    target,
                    scored,
                    rows,
                    starts,
                    scratch=cut_scratch,
                    tie_key=tie_key,
                    c0=c0,
                    low=low,
                    high=high,
                    cut=cut,
                    shift=shift,
                    counts=counts,
                    sums=sums,
                )
                if any_categorical:
                    for j in range(width):
                        if is_categorical[c0 + j]:
                            here = slice(j, j + 1)
                            find_ranges(
                                block,
                                rows,
                                lo,
                                hi,
                                c0 + j,
                                low=low[here],
                                high=high[here],
                                high1=high1[here],
                            )
            else:
                any_missing = find_ranges(block, rows, lo, hi, c0, low=low, high=high, high1=high1)
                draw_cuts(
                    cut_key,
                    missing_key,
                    c0,
                    low=low,
                    high=high,
                    high1=high1,
                    any_missing=any_missing,
                    cut=cut,
                    shift=shift,
                )
                for s in range(n_segments):
                    for j in range(width):
                        counts[s, j] = 0
                    if weighted:
                        weigh_runs(
                            block,
                            rows,
                            starts[s],
                            starts[s + 1],
                            c0,
                            cut=cut,
                            shift=shift,
                            any_missing=any_missing,
                            weights=weights,
                            lanes=lanes_all[:width],
                            part=part_all[:width],
                            counts=counts[s],
                        )
                        continue
                    count_left(
                        block,
                        rows,
                        starts[s],
                        starts[s + 1],
                        c0,
                        cut=cut,
                        shift=shift,
                        any_missing=any_missing,
                        lanes=lanes_all[:width],
                        counts=counts[s],
                    )
                if criterion == VARIANCE:
                    for j in range(width):
                        sums[j] = 0.0
                    sum_left(
                        block, rows, lo, hi, c0, cut=cut, shift=shift, values=products, sums=sums
                    )
            if any_categorical:
                for j in range(width):
                    col = c0 + j
                    if not is_categorical[col] or low[j] == high[j]:
                        continue
                    attempts[col] = find_subset(block, rows[lo:hi], col, subset_key, levels)
                    if attempts[col] < 0:
                        high[j] = low[j]
                        continue
                    for s in range(n_segments):
                        samples = rows[starts[s] : starts[s + 1]]
                        counts[s, j] = weigh_subset(block, samples, col, levels, weights)
                    if criterion == VARIANCE:
                        sums[j] = sum_subset(block, rows[lo:hi], col, levels, products)
            score_columns(
                scored, low=low, high=high, counts=counts, sums=sums, n_left=n_left, scores=scores
            )
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
