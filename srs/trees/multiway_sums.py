"""What the splits of multiway trees tell in contexts, for many assignments of contexts at once.

The helpers of `srs.trees.multiway`: how much a node tells, overall and among the samples of a
context, and where it is added up. Samples may count several times in a context (whole weights).
"""

from typing import NamedTuple

import numpy as np
from numba import njit


class MultiwaySums(NamedTuple):
    """What splits tell, summed over trees.

    imp, imp_sq   float64 (n_columns,): importance, and its square
    absolute      float64 (n_contexts, n_columns, n_assignments), equation 11
    absolute_sq   float64 (n_contexts, n_columns): its square, first assignment
    signed        like absolute, equation 12
    overall       float64 (n_columns, n_assignments): importance less that with context known
    reached       float64 (n_contexts, n_columns): importance of the nodes that the context
                  reaches, first assignment
    context       float64 (n_assignments,): what the context tells in all nodes
    """

    imp: np.ndarray
    imp_sq: np.ndarray
    absolute: np.ndarray
    absolute_sq: np.ndarray
    signed: np.ndarray
    overall: np.ndarray
    reached: np.ndarray
    context: np.ndarray

    @classmethod
    def empty(cls, n_contexts: int, n_columns: int, n_assignments: int) -> "MultiwaySums":
        return cls(
            imp=np.zeros(n_columns),
            imp_sq=np.zeros(n_columns),
            absolute=np.zeros((n_contexts, n_columns, n_assignments)),
            absolute_sq=np.zeros((n_contexts, n_columns)),
            signed=np.zeros((n_contexts, n_columns, n_assignments)),
            overall=np.zeros((n_columns, n_assignments)),
            reached=np.zeros((n_contexts, n_columns)),
            context=np.zeros(n_assignments),
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
def information(counts_in, cells, nlogn, by_class, by_child, acc):
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
def told_by_all(cell_of, cells, nlogn):
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
def add_node(told, share, skip, total, acc, absolute, signed):
    """Add what one node tells in one context; returns what the first assignment adds.

    told     what the node tells over all samples
    skip     whether nodes that no sample of the context reaches are left out; else they tell 0
    total    samples of the context in the node, for each assignment
    acc      total x what they tell
    absolute, signed  float64 (n_assignments,), added to
    """
    for a in range(acc.shape[0]):
        if skip and total[a] == 0:
            continue
        difference = share * (told - acc[a] / max(total[a], 1))
        absolute[a] += abs(difference)
        signed[a] += difference
    if skip and total[0] == 0:
        return 0.0
    return abs(share * (told - acc[0] / max(total[0], 1)))


class ContextTally(NamedTuple):
    """What the context tells in one node, as contexts are added to it.

    acc       float64 (n_assignments,)
    total     int32 (n_assignments,): samples
    by_class  int32 (n_classes, n_assignments): samples of each class; of numbers, none
    sums      float64 (n_assignments,): sums of a numeric target
    """

    acc: np.ndarray
    total: np.ndarray
    by_class: np.ndarray
    sums: np.ndarray


@njit(nogil=True, cache=True)
def add_context(tally, by_class, total, n_classes, nlogn):
    """Add the samples of one context, by class."""
    acc, of_all, in_all = tally.acc, tally.by_class, tally.total
    for k in range(n_classes):
        row, whole = by_class[k], of_all[k]
        for a in range(acc.shape[0]):
            acc[a] += nlogn[row[a]]
            whole[a] += row[a]
    for a in range(acc.shape[0]):
        acc[a] -= nlogn[total[a]]
        in_all[a] += total[a]


@njit(nogil=True, cache=True)
def end_context(tally, n_classes, nlogn, share, told):
    """Add share x mutual information of class and context to `told`."""
    acc, of_all, in_all = tally.acc, tally.by_class, tally.total
    for k in range(n_classes):
        whole = of_all[k]
        for a in range(acc.shape[0]):
            acc[a] -= nlogn[whole[a]]
    for a in range(acc.shape[0]):
        told[a] += share * max(acc[a] + nlogn[in_all[a]], 0.0) / max(in_all[a], 1)


@njit(nogil=True, cache=True)
def end_numeric_context(tally, share, told):
    """Add share x variance between contexts to `told`; acc is the sum of sums**2 / samples."""
    for a in range(told.shape[0]):
        n = max(tally.total[a], 1)
        told[a] += share * max(tally.acc[a] - tally.sums[a] ** 2 / n, 0.0) / n
