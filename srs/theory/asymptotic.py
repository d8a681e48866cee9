"""Importances of infinitely many totally randomised trees on a known discrete distribution.

Covers mean decrease of entropy, in bits, of fully grown trees with one feature tried a node
(K = 1): multiway splits (thesis 5.2, equation 5.2) and binary splits between ordered levels
(thesis 5.7). Both are exact: the distribution is the table of samples itself, equal samples add
up, and nothing is sampled. Trees that try more features, other splits and limited
depth are `randomised`; bootstrap samples are not covered.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from srs.errors import InputError
from srs.theory.table import (
    FloatArray,
    IntArray,
    Table,
    check_features,
    conditional_entropies,
    impurity,
    tabulate,
)

__all__ = ["FloatArray", "IntArray", "asymptotic_binary_importances", "asymptotic_importances"]

MAX_NODES = 1 << 20  # distinct nodes of binary trees: minutes


def asymptotic_importances(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    by_degree: bool = False,
) -> FloatArray:
    """Importance of each feature in totally randomised multiway trees, in bits.

    X          (n_samples, n_features): any values that can be sorted; each value is a level
    y          (n_samples,): likewise
    weights    (n_samples,): how much each sample counts; None: all the same
    by_degree  split by the number k of features tested before: (n_features, n_features), one
               column for each k = 0..n_features-1. The sum of the first q columns is the
               importance in trees of depth q, or in subspaces of q features (equation 5.10).
               Equation 7.1 prints the same sum without the factor 1 / (p - k), which is up to 2.1
               bits too large on the digits of Table 5.1: equation 5.10 is meant

    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]  # y = x1 xor x2
    >>> asymptotic_importances(X, y).tolist()
    [0.5, 0.5]
    >>> asymptotic_importances(X, y, by_degree=True).tolist()
    [[0.0, 0.5], [0.0, 0.5]]
    """
    table = tabulate(X, y, weights)
    p = table.n_features
    check_features(table)
    unknown = conditional_entropies(table)
    subsets = np.arange(1 << p)
    sizes = sum(((subsets >> m) & 1 for m in range(p)), np.zeros(1 << p, np.int64))
    terms = np.zeros((p, p))
    for m in range(p):
        without = subsets[(subsets >> m) & 1 == 0]
        informs = np.maximum(unknown[without] - unknown[without | (1 << m)], 0.0)
        terms[m] = np.bincount(sizes[without], weights=informs, minlength=p)
    terms /= [math.comb(p, k) * (p - k) for k in range(p)]
    return terms if by_degree else terms.sum(axis=1)


def asymptotic_binary_importances(
    X: npt.ArrayLike, y: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> FloatArray:
    """Importance of each feature in totally randomised binary trees, in bits.

    A node picks a feature at random among those that are not constant in it, then a cut at random
    between its levels: all cuts that lie between the least and the largest level of the node,
    also next to levels that the node lacks (the candidates of thesis Figure 5.2, and Extra-Trees
    on evenly spaced values). Arguments as in `asymptotic_importances`.

    >>> X, y = [[0, 0], [1, 1], [2, 1]], [0, 1, 1]  # Example 5.2
    >>> asymptotic_binary_importances(X, y).round(3).tolist()
    [0.376, 0.542]
    >>> asymptotic_importances(X, y).round(3).tolist()
    [0.459, 0.459]
    """
    table = tabulate(X, y, weights)
    _check_nodes(table)
    importances = np.zeros(table.n_features)
    n = len(table.shares)
    # Nodes by size: the chance that a tree has the node. Children are smaller than parents, so
    # the chance of a node is complete when its turn comes.
    waiting: list[dict[bytes, float]] = [defaultdict(float) for _ in range(n + 1)]
    waiting[n][np.ones(n, np.bool_).tobytes()] = 1.0
    while waiting:
        for key, chance in waiting.pop().items():
            node = np.flatnonzero(np.frombuffer(key, np.bool_))
            before = impurity(table, node)
            if before == 0.0:
                continue
            for feature, share, left in _cuts(table, node):
                parts = node[left], node[~left]
                after = sum(impurity(table, part) for part in parts)
                importances[feature] += chance * share * max(0.0, before - after)
                for part in parts:
                    waiting[len(part)][_key(part, n)] += chance * share
    return importances


def _check_nodes(table: Table) -> None:
    """Nodes are boxes of levels, and sets of outcomes: there are no more than of either."""
    levels = [int(top) + 1 for top in table.codes.max(axis=0)]
    boxes = math.prod(m * (m + 1) // 2 for m in levels)
    if min(boxes, 1 << len(table.shares)) > MAX_NODES:
        raise InputError(
            f"Binary trees on this table may have {boxes:.3g} distinct nodes, more than the "
            f"maximum of {MAX_NODES}: use fewer features or levels."
        )


def _cuts(table: Table, node: IntArray) -> Iterator[tuple[int, float, npt.NDArray[np.bool_]]]:
    """Every split that the node may get: (feature, chance, which of its outcomes go left)."""
    codes = table.codes[node]
    low, high = codes.min(axis=0), codes.max(axis=0)
    usable = np.flatnonzero(low < high)
    for m in usable.tolist():
        for cut in range(int(low[m]), int(high[m])):
            yield m, 1 / (len(usable) * float(high[m] - low[m])), codes[:, m] <= cut


def _key(node: IntArray, n_outcomes: int) -> bytes:
    inside = np.zeros(n_outcomes, np.bool_)
    inside[node] = True
    return inside.tobytes()
