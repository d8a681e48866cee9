"""Impurities and scores of splits: entropy, Gini and variance.

Scores are n_node x impurity decrease, up to a part that all columns of a node share. They are
symmetric in left and right to the last bit, so that equal splits compare equal.

Samples may have weights, which are whole numbers: what is counted is then their mass, the sum of
weights, in the place of their number, and as exact. Without weights mass and number are the same.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

ENTROPY, GINI, VARIANCE = 0, 1, 2


class Node(NamedTuple):
    """A node, as far as scores depend on it.

    criterion  ENTROPY, GINI or VARIANCE
    weighted   whether samples have weights
    mass       of all its samples
    total      weighted sum of its numeric target; 0 for classes
    min_leaf   least mass of a side
    tables     float64: see `fill_tables`
    nlogn      float64: x log2 x
    """

    criterion: int
    weighted: bool
    mass: int
    total: float
    min_leaf: int
    tables: np.ndarray
    nlogn: np.ndarray


@njit(nogil=True, cache=True)
def class_impurity(criterion, nlogn, class_sizes, n_segments, mass):
    """mass x impurity of a node: ENTROPY or GINI."""
    impurity = nlogn[mass] if criterion == ENTROPY else np.float64(mass)
    for s in range(n_segments):
        size = class_sizes[s]
        impurity -= nlogn[size] if criterion == ENTROPY else np.float64(size) * size / mass
    return max(impurity, 0.0)


@njit(nogil=True, cache=True)
def value_impurity(values, weights, rows, lo, hi, mass):
    """mass x variance of the samples rows[lo:hi], and the weighted sum of their values."""
    total, squares = 0.0, 0.0
    first = values[rows[lo]]
    if weights.shape[0]:
        for i in range(lo, hi):
            y, w = values[rows[i]], np.float64(weights[rows[i]])
            total += y * w
            squares += (y - first) * (y - first) * w
    else:
        for i in range(lo, hi):
            y = values[rows[i]]
            total += y
            squares += (y - first) * (y - first)
    shifted = total - mass * first
    return max(squares - shifted * shifted / mass, 0.0), total


@njit(nogil=True, cache=True)
def fill_tables(node, class_sizes, n_segments):
    """Per-node tables, so that a column's score is one look-up a class.

    ENTROPY: row s holds f(x) + f(n_s - x) with f(x) = x log x, the last row f(x) + f(n - x).
    GINI, or ENTROPY with weights: column 0 holds the class sizes. (Masses are many times larger
    than numbers of samples: their tables would take longer than the look-ups that they save.)
    """
    nlogn, tables, n = node.nlogn, node.tables, node.mass
    if node.criterion == ENTROPY and not node.weighted:
        for s in range(n_segments):
            size = class_sizes[s]
            for x in range(size + 1):
                tables[s, x] = nlogn[x] + nlogn[size - x]
        for x in range(n + 1):
            tables[n_segments, x] = nlogn[x] + nlogn[n - x]
    elif node.criterion != VARIANCE:
        for s in range(n_segments):
            tables[s, 0] = class_sizes[s]


@njit(nogil=True, cache=True)
def score_columns(node, low, high, counts, sums, n_left, scores):
    """Score of every cut without the node's impurity; -inf where it cannot be made.

    low, high  uint8: equal where a cut cannot be made
    counts     int32 (n_segments, n_cuts): mass on the left by class, of classes that the node has
    sums       float64: sum of the target on the left
    n_left     int32: mass on the left, filled
    scores     float64: filled
    """
    criterion, weighted, n, total = node.criterion, node.weighted, node.mass, node.total
    least, tables, nlogn = max(node.min_leaf, 1), node.tables, node.nlogn
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
    if criterion == ENTROPY and weighted:
        for j in range(width):
            scores[j] = -(nlogn[n_left[j]] + nlogn[n - n_left[j]])
        for s in range(n_segments):
            size = np.int64(tables[s, 0])
            for j in range(width):
                scores[j] += nlogn[counts[s, j]] + nlogn[size - counts[s, j]]
    elif criterion == ENTROPY:
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
    for j in range(width):
        if low[j] == high[j] or n_left[j] < least or n - n_left[j] < least:
            scores[j] = -np.inf
