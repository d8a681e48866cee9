"""Totally randomised trees with one branch a level, and what their splits tell in contexts.

A node splits a feature drawn at random among those that are not constant in it (K = 1): a
categorical one into all its levels, a numeric one at a random cut. The tree does not depend on the
target but for its end: pure nodes are leaves. So the same nodes serve any number of contexts:
`masks` says, for each context and each of many assignments of contexts to samples, which samples
are in, and how often each counts; all assignments are counted side by side. Nodes are not kept.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from srs.trees.multiway_sums import (
    Cells,
    ContextTally,
    add_context,
    add_node,
    end_context,
    end_numeric_context,
    information,
    told_by_all,
)
from srs.trees.random import DOMAIN_COLUMNS, DOMAIN_CUT, U32, node_key, random_below


class ContextTarget(NamedTuple):
    """What trees learn: classes, or numbers.

    classes    int32 (n_samples,)
    values     float64 (n_samples,), empty for classes
    n_classes  number of classes
    """

    classes: np.ndarray
    values: np.ndarray
    n_classes: int


@njit(nogil=True, cache=True)
def grow_multiway(columns, target, rows, masks, keys, nlogn, min_node, skip, sums):
    """Grow one tree a key and add what its splits tell.

    columns    categorical ones get one branch a level, others one random cut
    rows       int32: the samples of the trees
    masks      uint8 (n_contexts, n_samples, n_assignments): how often a sample counts in a context
    nlogn      float64: x log2 x, up to the number of rows x the most that a sample counts
    min_node   fewest samples of a node that is split
    skip       whether nodes that no sample of a context reaches are left out of that context
    sums       added to
    """
    codes, is_categorical = columns.codes, columns.is_categorical
    classes, values, n_classes = target.classes, target.values, target.n_classes
    imp, imp_sq, overall = sums.imp, sums.imp_sq, sums.overall
    absolute, absolute_sq, signed = sums.absolute, sums.absolute_sq, sums.signed
    reached = sums.reached
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
    child_sums = np.zeros((most if numeric and n_contexts else 1, q))
    cell_class, child_of_cell = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    by_class = np.zeros((min(n_classes, n_rows), q), np.int32)
    by_child = np.zeros((most, q), np.int32)
    acc, all_sum = np.zeros(q), np.zeros(q)
    tally = ContextTally(
        acc=np.zeros(q),
        total=np.zeros(q, np.int32),
        by_class=np.zeros((min(n_classes, n_rows) if n_contexts else 0, q), np.int32),
        sums=np.zeros(q),
    )
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
            if col < 0 and n_contexts == 0:
                continue
            # Children, numbered in the order of their codes, and the samples sorted by them.
            n_children = 2
            if col < 0:  # a leaf that is not pure: only the context may tell something there
                n_children, sizes[0] = 1, n
                child[lo:hi] = 0
            elif is_categorical[col]:
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
            if col >= 0:
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
            tally.acc[:] = 0.0
            tally.total[:] = 0

            share, n_here = n / n_rows, 0
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
                tally.sums[:] = 0.0
                for c in range(n_contexts):
                    by_child[:n_children, :] = 0
                    child_sums[:n_children, :] = 0.0
                    for i in range(lo, hi):
                        mask, of_child, of_sum = (
                            masks[c, here[i]],
                            by_child[child[i]],
                            child_sums[child[i]],
                        )
                        y = values[here[i]]
                        for a in range(q):
                            of_child[a] += mask[a]
                            of_sum[a] += y * mask[a]
                    acc[:] = 0.0
                    all_sum[:] = 0.0
                    total = np.zeros(q, np.int32)
                    for k in range(n_children):
                        of_child, of_sum = by_child[k], child_sums[k]
                        for a in range(q):
                            total[a] += of_child[a]
                            all_sum[a] += of_sum[a]
                            acc[a] += of_sum[a] * of_sum[a] / max(of_child[a], 1)
                    for a in range(q):
                        acc[a] = max(acc[a] - all_sum[a] * all_sum[a] / max(total[a], 1), 0.0)
                    for a in range(q):
                        tally.acc[a] += all_sum[a] * all_sum[a] / max(total[a], 1)
                        tally.total[a] += total[a]
                        tally.sums[a] += all_sum[a]
                    if col < 0:
                        continue
                    tree_abs[c, col] += add_node(
                        told,
                        share,
                        skip,
                        total,
                        acc,
                        absolute=absolute[c, col],
                        signed=signed[c, col],
                    )
                    reached[c, col] += 0.0 if skip and total[0] == 0 else share * told
                    for a in range(q):
                        overall[col, a] -= acc[a] / n_rows
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
                node_cells = Cells(
                    n_cells=n_cells,
                    n_classes=n_here,
                    n_children=n_children,
                    of_class=cell_class,
                    of_child=child_of_cell,
                )
                told = told_by_all(child[lo:hi], node_cells, nlogn) / n
                tally.by_class[:n_here] = 0
                for c in range(n_contexts):
                    counts[:n_cells, :] = 0
                    for i in range(lo, hi):
                        mask, row = masks[c, here[i]], counts[child[i]]
                        for a in range(q):
                            row[a] += mask[a]
                    total = information(
                        counts, node_cells, nlogn, by_class=by_class, by_child=by_child, acc=acc
                    )
                    add_context(tally, by_class, total, n_here, nlogn)
                    if col < 0:
                        continue
                    tree_abs[c, col] += add_node(
                        told,
                        share,
                        skip,
                        total,
                        acc,
                        absolute=absolute[c, col],
                        signed=signed[c, col],
                    )
                    reached[c, col] += 0.0 if skip and total[0] == 0 else share * told
                    for a in range(q):
                        overall[col, a] -= acc[a] / n_rows
            if numeric and n_contexts:
                end_numeric_context(tally, share, sums.context)
            elif n_contexts:
                end_context(tally, n_here, nlogn, share, sums.context)
            if col < 0:
                continue
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
