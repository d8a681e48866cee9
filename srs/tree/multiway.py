"""Totally randomised trees with one branch a level, and what their splits tell in contexts.

A node splits a feature drawn at random among those that are not constant in it (K = 1): a
categorical one into all its levels, a numeric one at a random cut. The tree does not depend on the
target but for its end: pure nodes are leaves. So the same nodes serve any number of contexts:
`masks` says, for each context and each of many assignments of contexts to samples, which samples
are in; all assignments are counted side by side. Nodes are not kept.
"""

import numpy as np
from numba import njit

from srs.tree.random import DOMAIN_COLUMNS, DOMAIN_CUT, U32, node_key, random_below


@njit(nogil=True, cache=True)
def _information(counts_in, n_cells, cell_class, child_of_cell, n_children, n_classes, nlogn, q,
                 by_class, by_child, acc):  # fmt: skip
    """acc[q] = n x mutual information of class and child, for each assignment q; returns nothing.

    counts_in  int32 (n_cells, n_assignments): samples of each cell (child and class) that are in
    """
    by_class[:n_classes, :] = 0
    by_child[:n_children, :] = 0
    acc[:] = 0.0
    for cell in range(n_cells):
        row = counts_in[cell]
        of_class, of_child = by_class[cell_class[cell]], by_child[child_of_cell[cell]]
        for a in range(q):
            of_class[a] += row[a]
            of_child[a] += row[a]
            acc[a] += nlogn[row[a]]
    for k in range(n_classes):
        row = by_class[k]
        for a in range(q):
            acc[a] -= nlogn[row[a]]
    total = np.zeros(q, np.int32)
    for k in range(n_children):
        row = by_child[k]
        for a in range(q):
            acc[a] -= nlogn[row[a]]
            total[a] += row[a]
    for a in range(q):
        acc[a] = max(acc[a] + nlogn[total[a]], 0.0)
    return total


@njit(nogil=True, cache=True)
def grow_multiway(
    codes, is_categorical, classes, values, n_classes, rows, masks, keys, nlogn,
    min_node, imp, imp_sq, absolute, absolute_sq, signed, overall,
):  # fmt: skip
    """Grow one tree a key and add what its splits tell.

    codes           uint8 (n_samples, n_columns)
    is_categorical  bool (n_columns,): one branch a level; else one random cut
    classes         int32 (n_samples,); values  float64 (n_samples,), empty for classes
    rows            int32: the samples of the trees
    masks           uint8 (n_contexts, n_samples, n_assignments): 1 where a sample is in a context
    nlogn           float64 (n_rows + 1,): x log2 x
    min_node        fewest samples of a node that is split
    imp, imp_sq     float64 (n_columns,): importance summed over trees, and its square
    absolute        float64 (n_contexts, n_columns, n_assignments), equation 11, summed over trees
    absolute_sq     float64 (n_contexts, n_columns): its square, first assignment
    signed          like absolute, equation 12
    overall         float64 (n_columns, n_assignments): importance less that with context known
    """
    p = codes.shape[1]
    n_rows = rows.shape[0]
    n_contexts, q = masks.shape[0], masks.shape[2]
    numeric = values.shape[0] > 0
    order = np.arange(p)
    here = np.empty(n_rows, np.int32)
    scratch = np.empty(n_rows, np.int32)
    stack_lo, stack_hi = np.empty(n_rows + 1, np.int64), np.empty(n_rows + 1, np.int64)
    child = np.empty(n_rows, np.int64)
    child_of = np.empty(256, np.int64)
    sizes = np.empty(257, np.int64)
    most = min(n_rows, 256)
    slot = np.full(n_classes, -1, np.int64)
    cells = n_rows if n_contexts else 1
    counts = np.zeros((cells, q), np.int32)
    sums = np.zeros((most if numeric and n_contexts else 1, q))
    cell_class, child_of_cell = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    by_class = np.zeros((min(n_classes, n_rows), q), np.int32)
    by_child = np.zeros((most, q), np.int32)
    acc, all_sum = np.zeros(q), np.zeros(q)
    tree_imp = np.zeros(p)
    tree_abs = np.zeros((n_contexts, p))
    for t in range(keys.shape[0]):
        here[:] = rows
        tree_imp[:] = 0.0
        tree_abs[:] = 0.0
        stack_lo[0], stack_hi[0] = 0, n_rows
        n_stack, node = 1, 0
        while n_stack > 0:
            n_stack -= 1
            lo, hi = stack_lo[n_stack], stack_hi[n_stack]
            n = hi - lo
            if n < min_node:
                continue
            pure = True
            for i in range(lo + 1, hi):
                if numeric:
                    pure = values[here[i]] == values[here[lo]]
                else:
                    pure = classes[here[i]] == classes[here[lo]]
                if not pure:
                    break
            if pure:
                continue
            key = node_key(keys[t], node, DOMAIN_COLUMNS)
            cut_key = node_key(keys[t], node, DOMAIN_CUT)
            node += 1
            col, low, high = -1, np.int64(0), np.int64(0)
            for drawn in range(p):
                pick = drawn + random_below(key, U32(drawn), p - drawn)
                order[drawn], order[pick] = order[pick], order[drawn]
                c = order[drawn]
                low = high = np.int64(codes[here[lo], c])
                for i in range(lo + 1, hi):
                    code = np.int64(codes[here[i], c])
                    low = code if code < low else low
                    high = code if code > high else high
                if low != high:
                    col = c
                    break
            if col < 0:
                continue
            # Children, numbered in the order of their codes, and the samples sorted by them.
            n_children = 2
            if is_categorical[col]:
                child_of[low : high + 1] = -1
                for i in range(lo, hi):
                    child_of[codes[here[i], col]] = 0
                n_children = 0
                for level in range(low, high + 1):
                    if child_of[level] == 0:
                        child_of[level] = n_children
                        n_children += 1
            else:
                cut = low + random_below(cut_key, U32(0), high - low)
                for level in range(low, high + 1):
                    child_of[level] = 0 if level <= cut else 1
            sizes[: n_children + 1] = 0
            for i in range(lo, hi):
                sizes[child_of[codes[here[i], col]] + 1] += 1
            for k in range(n_children):
                sizes[k + 1] += sizes[k]
            for i in range(lo, hi):
                k = child_of[codes[here[i], col]]
                scratch[lo + sizes[k]] = here[i]
                child[lo + sizes[k]] = k
                sizes[k] += 1
            here[lo:hi] = scratch[lo:hi]
            # sizes[k] is now where child k ends.

            share = n / n_rows
            if numeric:
                total_sum, gain, start = 0.0, 0.0, 0
                for k in range(n_children):
                    part = 0.0
                    for i in range(lo + start, lo + sizes[k]):
                        part += values[here[i]]
                    gain += part * part / (sizes[k] - start)
                    total_sum += part
                    start = sizes[k]
                told = max(gain - total_sum * total_sum / n, 0.0) / n
                for c in range(n_contexts):
                    by_child[:n_children, :] = 0
                    sums[:n_children, :] = 0.0
                    for i in range(lo, hi):
                        mask, of_child, of_sum = (
                            masks[c, here[i]],
                            by_child[child[i]],
                            sums[child[i]],
                        )
                        y = values[here[i]]
                        for a in range(q):
                            of_child[a] += mask[a]
                            of_sum[a] += y * mask[a]
                    acc[:] = 0.0
                    all_sum[:] = 0.0
                    total = np.zeros(q, np.int32)
                    for k in range(n_children):
                        of_child, of_sum = by_child[k], sums[k]
                        for a in range(q):
                            total[a] += of_child[a]
                            all_sum[a] += of_sum[a]
                            acc[a] += of_sum[a] * of_sum[a] / max(of_child[a], 1)
                    for a in range(q):
                        acc[a] = max(acc[a] - all_sum[a] * all_sum[a] / max(total[a], 1), 0.0)
                    _add(c, col, q, told, share, n_rows, total, acc, absolute, signed, overall,
                         tree_abs)  # fmt: skip
            else:
                # Cells of child and class; classes of the node are numbered as they come.
                n_here, n_cells, start = 0, 0, 0
                told = 0.0
                for i in range(lo, hi):
                    slot[classes[here[i]]] = -1
                for k in range(n_children):
                    first = n_cells
                    for i in range(lo + start, lo + sizes[k]):
                        y = classes[here[i]]
                        if slot[y] < 0:
                            slot[y] = n_here
                            n_here += 1
                        cell = -1
                        for other in range(first, n_cells):
                            if cell_class[other] == slot[y]:
                                cell = other
                                break
                        if cell < 0:
                            cell = n_cells
                            cell_class[cell] = slot[y]
                            child_of_cell[cell] = k
                            n_cells += 1
                        child[i] = cell
                    start = sizes[k]
                told = _told(child, lo, hi, n_cells, cell_class, child_of_cell, n_here,
                             n_children, nlogn) / n  # fmt: skip
                for c in range(n_contexts):
                    counts[:n_cells, :] = 0
                    for i in range(lo, hi):
                        mask, row = masks[c, here[i]], counts[child[i]]
                        for a in range(q):
                            row[a] += mask[a]
                    total = _information(
                        counts, n_cells, cell_class, child_of_cell, n_children, n_here, nlogn, q,
                        by_class, by_child, acc,
                    )  # fmt: skip
                    _add(c, col, q, told, share, n_rows, total, acc, absolute, signed, overall,
                         tree_abs)  # fmt: skip
            tree_imp[col] += share * told
            if n_contexts:
                for a in range(q):
                    overall[col, a] += share * told
            start = 0
            for k in range(n_children):
                if sizes[k] - start > 1:
                    stack_lo[n_stack], stack_hi[n_stack] = lo + start, lo + sizes[k]
                    n_stack += 1
                start = sizes[k]
        for j in range(p):
            imp[j] += tree_imp[j]
            imp_sq[j] += tree_imp[j] * tree_imp[j]
            for c in range(n_contexts):
                absolute_sq[c, j] += tree_abs[c, j] * tree_abs[c, j]


@njit(nogil=True, cache=True)
def _told(cell_of, lo, hi, n_cells, cell_class, child_of_cell, n_classes, n_children, nlogn):
    """n x mutual information of class and child over all samples of the node."""
    cell = np.zeros(n_cells, np.int64)
    of_class, of_child = np.zeros(n_classes, np.int64), np.zeros(n_children, np.int64)
    for i in range(lo, hi):
        cell[cell_of[i]] += 1
    told = nlogn[hi - lo]
    for k in range(n_cells):
        told += nlogn[cell[k]]
        of_class[cell_class[k]] += cell[k]
        of_child[child_of_cell[k]] += cell[k]
    for k in range(n_classes):
        told -= nlogn[of_class[k]]
    for k in range(n_children):
        told -= nlogn[of_child[k]]
    return max(told, 0.0)


@njit(nogil=True, cache=True)
def _add(c, col, q, told, share, n_rows, total, acc, absolute, signed, overall, tree_abs):
    """Add what one node tells in one context: a node that no sample of it reaches tells 0."""
    to_abs, to_signed, to_overall = absolute[c, col], signed[c, col], overall[col]
    for a in range(q):
        difference = share * (told - acc[a] / max(total[a], 1))
        to_abs[a] += abs(difference)
        to_signed[a] += difference
        to_overall[a] -= acc[a] / n_rows
    tree_abs[c, col] += abs(share * (told - acc[0] / max(total[0], 1)))
