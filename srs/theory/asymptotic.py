"""Importances of infinitely many totally randomised trees on a known discrete distribution.

Covers mean decrease of entropy, in bits, of fully grown trees with one feature tried a node
(K = 1): multiway splits (thesis 5.2, equation 5.2) and binary splits between ordered levels
(thesis 5.7). Both are exact: the distribution is the table of samples itself, equal samples add
up, and nothing is sampled. Trees that try more features, and bootstrap samples, are not covered.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from srs.errors import InputError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

MAX_FEATURES = 20  # 2**20 subsets of 200 outcomes take three minutes
MAX_NODES = 1 << 20  # distinct nodes of binary trees: minutes


@dataclass(frozen=True)
class _Table:
    """A discrete distribution; row i is one outcome of positive probability.

    codes      (n_outcomes, n_features): levels 0, 1, ... of each feature, in order
    classes    (n_outcomes,): levels of the target
    shares     (n_outcomes,): probabilities, which sum to 1
    """

    codes: IntArray
    classes: IntArray
    shares: FloatArray

    @property
    def n_features(self) -> int:
        return int(self.codes.shape[1])

    @property
    def n_classes(self) -> int:
        return int(self.classes.max()) + 1


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
               column for each k = 0..n_features-1

    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]  # y = x1 xor x2
    >>> asymptotic_importances(X, y).tolist()
    [0.5, 0.5]
    >>> asymptotic_importances(X, y, by_degree=True).tolist()
    [[0.0, 0.5], [0.0, 0.5]]
    """
    table = _tabulate(X, y, weights)
    p = table.n_features
    if p > MAX_FEATURES:
        raise InputError(
            f"Exact importances take 2**n_features steps: at most {MAX_FEATURES} features, not {p}."
        )
    unknown = _conditional_entropies(table)
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
    table = _tabulate(X, y, weights)
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
            before = _impurity(table, node)
            if before == 0.0:
                continue
            for feature, share, left in _cuts(table, node):
                parts = node[left], node[~left]
                after = sum(_impurity(table, part) for part in parts)
                importances[feature] += chance * share * max(0.0, before - after)
                for part in parts:
                    waiting[len(part)][_key(part, n)] += chance * share
    return importances


def _tabulate(X: npt.ArrayLike, y: npt.ArrayLike, weights: npt.ArrayLike | None) -> _Table:
    X, y = np.asarray(X), np.asarray(y)
    if X.ndim != 2 or not X.size:
        raise InputError(f"X must be a table of samples by features, not of shape {X.shape}.")
    if y.shape != (len(X),):
        raise InputError(f"y must have one value for each of {len(X)} samples, not {y.shape}.")
    shares = _shares(len(X), weights)
    X, y, shares = X[shares > 0], y[shares > 0], shares[shares > 0]
    try:
        columns = [np.unique(column, return_inverse=True)[1] for column in (*X.T, y)]
    except TypeError as error:
        raise InputError("The values of a feature, and of y, must be sortable.") from error
    outcomes, outcome = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    total = _sums(outcome.ravel(), shares, len(outcomes))
    return _Table(outcomes[:, :-1].astype(np.int64), outcomes[:, -1].astype(np.int64), total)


def _sums(groups: IntArray, shares: FloatArray, n_groups: int) -> FloatArray:
    return np.bincount(groups, weights=shares, minlength=n_groups).astype(np.float64, copy=False)


def _shares(n_samples: int, weights: npt.ArrayLike | None) -> FloatArray:
    if weights is None:
        return np.full(n_samples, 1 / n_samples)
    given = np.asarray(weights, np.float64)
    if given.shape != (n_samples,):
        raise InputError(f"weights must hold one number for each of {n_samples} samples.")
    if not np.isfinite(given).all() or (given < 0).any() or not given.any():
        raise InputError("weights must be finite, not negative, and not all zero.")
    scaled = given / given.max()
    return np.asarray(scaled / scaled.sum())


def _conditional_entropies(table: _Table) -> FloatArray:
    """H(Y | B) of every subset B of the features; bit m of the index says that B has feature m."""
    entropies = np.empty(1 << table.n_features)
    levels = table.codes.max(axis=0) + 1
    start = np.zeros(len(table.shares), np.int64)
    stack = [(0, 0, start)]  # subset, first feature that may join it, group of each outcome
    while stack:
        subset, first, groups = stack.pop()
        entropies[subset] = _entropy_within(table, groups)
        for m in range(first, table.n_features):
            finer = np.unique(groups * levels[m] + table.codes[:, m], return_inverse=True)[1]
            stack.append((subset | 1 << m, m + 1, finer))
    return entropies


def _entropy_within(table: _Table, groups: IntArray) -> float:
    """H(Y | group): groups are numbered from 0 without gaps."""
    n_groups = int(groups.max()) + 1
    cells = groups * table.n_classes + table.classes
    joint = _sums(cells, table.shares, n_groups * table.n_classes)
    return _spread(joint.reshape(n_groups, table.n_classes))


def _spread(joint: FloatArray) -> float:
    """Sum of x log2(row sum / x): entropy within rows, weighted by their probability."""
    totals = np.broadcast_to(joint.sum(axis=1, keepdims=True), joint.shape)
    present = joint > 0
    x = joint[present]
    return float(np.sum(x * np.log2(totals[present] / x)))


def _check_nodes(table: _Table) -> None:
    """Nodes are boxes of levels, and sets of outcomes: there are no more than of either."""
    levels = [int(top) + 1 for top in table.codes.max(axis=0)]
    boxes = math.prod(m * (m + 1) // 2 for m in levels)
    if min(boxes, 1 << len(table.shares)) > MAX_NODES:
        raise InputError(
            f"Binary trees on this table may have {boxes:.3g} distinct nodes, more than the "
            f"maximum of {MAX_NODES}: use fewer features or levels."
        )


def _impurity(table: _Table, node: IntArray) -> float:
    """Probability of the node times the entropy of the target in it."""
    sums = _sums(table.classes[node], table.shares[node], table.n_classes)
    return _spread(sums[None, :])


def _cuts(table: _Table, node: IntArray) -> Iterator[tuple[int, float, npt.NDArray[np.bool_]]]:
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
