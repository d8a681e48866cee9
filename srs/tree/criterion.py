"""Impurities and scores of splits: entropy, Gini and variance.

Scores are n_node x impurity decrease, up to a part that all columns of a node share. They are
symmetric in left and right to the last bit, so that equal splits compare equal.

Samples may have weights, which are whole numbers: what is counted is then their mass, the sum of
weights, in the place of their number, and as exact. Without weights mass and number are the same.
"""

import numpy as np
from numba import njit

ENTROPY, GINI, VARIANCE = 0, 1, 2


@njit(nogil=True, cache=True)
def node_impurity_of(criterion, nlogn, class_sizes, n_segments, n, values, weights, rows, lo, hi):
    """n x impurity of a node of mass n, and the weighted sum of its target (0 for classes)."""
    if criterion == VARIANCE:
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
        shifted = total - n * first
        return max(squares - shifted * shifted / n, 0.0), total
    impurity = nlogn[n] if criterion == ENTROPY else np.float64(n)
    for s in range(n_segments):
        size = class_sizes[s]
        impurity -= nlogn[size] if criterion == ENTROPY else np.float64(size) * size / n
    return max(impurity, 0.0), 0.0


@njit(nogil=True, cache=True)
def fill_tables(criterion, nlogn, class_sizes, n_segments, n, weighted, tables):
    """Per-node tables, so that a column's score is one look-up a class.

    ENTROPY: row s holds f(x) + f(n_s - x) with f(x) = x log x, the last row f(x) + f(n - x).
    GINI, or ENTROPY with weights: column 0 holds the class sizes. (Masses are many times larger
    than numbers of samples: their tables would take longer than the look-ups that they save.)
    """
    if criterion == ENTROPY and not weighted:
        for s in range(n_segments):
            size = class_sizes[s]
            for x in range(size + 1):
                tables[s, x] = nlogn[x] + nlogn[size - x]
        for x in range(n + 1):
            tables[n_segments, x] = nlogn[x] + nlogn[n - x]
    elif criterion != VARIANCE:
        for s in range(n_segments):
            tables[s, 0] = class_sizes[s]


@njit(nogil=True, cache=True)
def score_columns(criterion, counts, sums, n, total, tables, nlogn, weighted, low, high, min_leaf,
                  n_left, scores):  # fmt: skip
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
    least = max(min_leaf, 1)
    for j in range(width):
        if low[j] == high[j] or n_left[j] < least or n - n_left[j] < least:
            scores[j] = -np.inf
