"""The samples of a node by class: one segment of its rows a class that it has."""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def group_by_class(rows, lo, hi, classes, scratch, class_counts, starts):
    """Sort rows[lo:hi] by class; fill starts; returns the number of classes present."""
    n_classes = class_counts.shape[0]
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
def weigh_classes(rows, starts, weights, masses):
    """Fill the mass of each class of a node, whose samples stand by class; returns that of all."""
    total = 0
    for s in range(starts.shape[0] - 1):
        mass = 0
        for i in range(starts[s], starts[s + 1]):
            mass += int(weights[rows[i]])
        masses[s] = mass
        total += mass
    return total
