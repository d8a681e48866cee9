"""Totally randomised trees with one branch a level, and what their splits tell in contexts.

A node splits a feature drawn at random among those that are not constant in it (K = 1): a
categorical one into all its levels, a numeric one at a random cut. The tree does not depend on the
target but for its end: pure nodes are leaves. So the same nodes serve any number of contexts:
`masks` says, for each context and each of many assignments of contexts to samples, which samples
are in; all assignments are counted side by side. Nodes are not kept.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

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


class MultiwaySums(NamedTuple):
    """What splits tell, summed over trees.

    imp, imp_sq   float64 (n_columns,): importance, and its square
    absolute      float64 (n_contexts, n_columns, n_assignments), equation 11
    absolute_sq   float64 (n_contexts, n_columns): its square, first assignment
    signed        like absolute, equation 12
    overall       float64 (n_columns, n_assignments): importance less that with context known
    """

    imp: np.ndarray
    imp_sq: np.ndarray
    absolute: np.ndarray
    absolute_sq: np.ndarray
    signed: np.ndarray
    overall: np.ndarray

    @classmethod
    def empty(cls, n_contexts: int, n_columns: int, n_assignments: int) -> "MultiwaySums":
        return cls(
            imp=np.zeros(n_columns),
            imp_sq=np.zeros(n_columns),
            absolute=np.zeros((n_contexts, n_columns, n_assignments)),
            absolute_sq=np.zeros((n_contexts, n_columns)),
            signed=np.zeros((n_contexts, n_columns, n_assignments)),
            overall=np.zeros((n_columns, n_assignments)),
        )


class Cells(NamedTuple):
    """The cells of a node: pairs of a child and a class that it has.

    n_cells, n_classes, n_children  how many there are
    of_class  int64: class of each cell
    of_child  int64: child of each cell
    """

    n_cells: int
    n_classes: int
    n_children: int
    of_class: np.ndarray
    of_child: np.ndarray


@njit(nogil=True, cache=True)
def _information(counts_in, cells, nlogn, by_class, by_child, acc):
    """acc[a] = n x mutual information of class and child, for each assignment a; returns the sizes.

    counts_in  int32 (n_cells, n_assignments): samples of each cell that are in
    """
    cell_class, child_of_cell = cells.of_class, cells.of_child
    n_cells, n_classes, n_children = cells.n_cells, cells.n_classes, cells.n_children
    q = acc.shape[0]
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
def grow_multiway(columns, target, rows, masks, keys, nlogn, min_node, sums):
    """Grow one tree a key and add what its splits tell.

    columns    categorical ones get one branch a level, others one random cut
    rows       int32: the samples of the trees
    masks      uint8 (n_contexts, n_samples, n_assignments): 1 where a sample is in a context
    nlogn      float64 (n_rows + 1,): x log2 x
    min_node   fewest samples of a node that is split
    sums       added to
    """
    codes, is_categorical = columns.codes, columns.is_categorical
    classes, values, n_classes = target.classes, target.values, target.n_classes
    imp, imp_sq, overall = sums.imp, sums.imp_sq, sums.overall
    absolute, absolute_sq, signed = sums.absolute, sums.absolute_sq, sums.signed
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
                    tree_abs[c, col] += _add(
                        told,
                        share,
                        n_rows,
                        total,
                        acc,
                        absolute=absolute[c, col],
                        signed=signed[c, col],
                        overall=overall[col],
                    )
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
                told = _told(child[lo:hi], node_cells, nlogn) / n
                for c in range(n_contexts):
                    counts[:n_cells, :] = 0
                    for i in range(lo, hi):
                        mask, row = masks[c, here[i]], counts[child[i]]
                        for a in range(q):
                            row[a] += mask[a]
                    total = _information(
                        counts, node_cells, nlogn, by_class=by_class, by_child=by_child, acc=acc
                    )
                    tree_abs[c, col] += _add(
                        told,
                        share,
                        n_rows,
                        total,
                        acc,
                        absolute=absolute[c, col],
                        signed=signed[c, col],
                        overall=overall[col],
                    )
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
def _told(cell_of, cells, nlogn):
    """n x mutual information of class and child over all samples of the node."""
    n_cells, n_classes, n_children = cells.n_cells, cells.n_classes, cells.n_children
    cell_class, child_of_cell = cells.of_class, cells.of_child
    n = cell_of.shape[0]
    cell = np.zeros(n_cells, np.int64)
    of_class, of_child = np.zeros(n_classes, np.int64), np.zeros(n_children, np.int64)
    for i in range(n):
        cell[cell_of[i]] += 1
    told = nlogn[n]
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
def _add(told, share, n_rows, total, acc, absolute, signed, overall):
    """Add what one node tells in one context: a node that no sample of it reaches tells 0.

    absolute, signed, overall  float64 (n_assignments,), added to
    Returns what the first assignment adds to `absolute`.
    """
    for a in range(acc.shape[0]):
        difference = share * (told - acc[a] / max(total[a], 1))
        absolute[a] += abs(difference)
        signed[a] += difference
        overall[a] -= acc[a] / n_rows
    return abs(share * (told - acc[0] / max(total[0], 1)))
