"""What a feature tells of the target in groups of samples, less what it would tell by chance.

Information that is estimated from samples is above 0 also where there is none, the more so the
smaller the groups are (thesis 5.8.2). Here the mean over all permutations of the feature within its
group is taken off, exactly: for classes the expectation of the mutual information of two fixed
margins, for numbers a share of the sum of squares. What is left is 0 on average where the feature
is independent of the target given the group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from srs.trees import MISSING, TreeTarget

MOST_CATEGORIES = 8  # levels of a categorical feature; rarer ones are one level together


class Learned(NamedTuple):
    """The target as kernels want it.

    classes    int64 (n_samples,): class numbers; zeros for numbers
    values     float64 (n_samples,): numbers of unit variance; empty for classes
    n_classes  number of classes
    logs       float64 (n_samples + 1,): log k! for k = 0..n_samples
    """

    classes: np.ndarray
    values: np.ndarray
    n_classes: int
    logs: np.ndarray


def learned(target: TreeTarget) -> Learned:
    """The target of trees, with numbers scaled to unit variance."""
    n = len(target.classes)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    values = target.values.astype(np.float64)
    if len(values):
        values = (values - values.mean()) / (values.std() or 1.0)
    return Learned(target.classes.astype(np.int64), values, target.n_classes, logs)


def cut_levels(codes: np.ndarray, is_categorical: bool, n_levels: int) -> np.ndarray:
    """Few levels 0, 1, ... of one feature: equal parts of the samples, or the commonest categories.

    Missing values are a level of their own.

    >>> cut_levels(np.array([9, 1, 5, 1, 7, 255], np.uint8), False, 2).tolist()
    [1, 0, 1, 0, 1, 2]
    """
    known = codes != MISSING
    values, at, counts = np.unique(codes[known], return_inverse=True, return_counts=True)
    if is_categorical:
        order = np.argsort(-counts, kind="stable")
        rank = np.empty(len(values), np.int64)
        rank[order] = np.minimum(np.arange(len(values)), MOST_CATEGORIES)
    elif len(values) <= n_levels:
        rank = np.arange(len(values))
    else:
        middle = (np.cumsum(counts) - counts / 2) / counts.sum()
        rank = np.minimum((middle * n_levels).astype(np.int64), n_levels - 1)
    levels = np.full(len(codes), int(rank.max()) + 1 if len(rank) else 0, np.int64)
    levels[known] = rank[at]
    return np.unique(levels, return_inverse=True)[1].ravel().astype(np.int64)


@njit(nogil=True, cache=True)
def _expected_bits(a, b, n, logs):  # type: ignore[no-untyped-def]
    """What a cell of margins a and b adds to the mean mutual information over permutations."""
    fixed = logs[a] + logs[b] + logs[n - a] + logs[n - b] - logs[n]
    total = 0.0
    for x in range(max(1, a + b - n), min(a, b) + 1):
        chance = np.exp(fixed - logs[x] - logs[a - x] - logs[b - x] - logs[n - a - b + x])
        total += chance * x / n * np.log2(float(n) * x / (float(a) * b))
    return total


@njit(nogil=True, cache=True)
def class_information(groups, n_groups, levels, n_levels, target):  # type: ignore[no-untyped-def]
    """Mean information of a feature on classes within groups, in bits, less that of chance."""
    classes, logs, n_classes = target.classes, target.logs, target.n_classes
    n = len(groups)
    counts = np.zeros((n_groups, n_levels, n_classes), np.int64)
    for i in range(n):
        counts[groups[i], levels[i], classes[i]] += 1
    total = 0.0
    by_level, by_class = np.empty(n_levels, np.int64), np.empty(n_classes, np.int64)
    for g in range(n_groups):
        size = 0
        by_level[:], by_class[:] = 0, 0
        for a in range(n_levels):
            for c in range(n_classes):
                by_level[a] += counts[g, a, c]
                by_class[c] += counts[g, a, c]
        for a in range(n_levels):
            size += by_level[a]
        told = 0.0
        for a in range(n_levels):
            for c in range(n_classes):
                if by_level[a] == 0 or by_class[c] == 0:
                    continue
                x = counts[g, a, c]
                if x:
                    share = float(size) * x / (float(by_level[a]) * by_class[c])
                    told += x / size * np.log2(share)
                told -= _expected_bits(by_level[a], by_class[c], size, logs)
        total += told * size
    return total / n


@njit(nogil=True, cache=True)
def number_information(groups, n_groups, levels, n_levels, target):  # type: ignore[no-untyped-def]
    """Share of the variance that a feature explains within groups, less that of chance."""
    values = target.values
    n = len(groups)
    sizes = np.zeros((n_groups, n_levels))
    sums = np.zeros((n_groups, n_levels))
    squares = np.zeros(n_groups)
    for i in range(n):
        sizes[groups[i], levels[i]] += 1.0
        sums[groups[i], levels[i]] += values[i]
        squares[groups[i]] += values[i] ** 2
    total = 0.0
    for g in range(n_groups):
        size, whole, between, n_present = 0.0, 0.0, 0.0, 0
        for a in range(n_levels):
            if sizes[g, a] > 0:
                n_present += 1
                size += sizes[g, a]
                whole += sums[g, a]
                between += sums[g, a] ** 2 / sizes[g, a]
        if size < 2:
            continue
        middle = whole**2 / size
        total += between - middle - (squares[g] - middle) * (n_present - 1) / (size - 1)
    return total / n


@njit(nogil=True, cache=True)
def told_within(groups, n_groups, levels, orders, target, found):  # type: ignore[no-untyped-def]
    """found[r]: what a feature tells within groups when its samples are in the order orders[r]."""
    n = len(groups)
    n_levels = levels.max() + 1
    moved = np.empty(n, np.int64)
    by_number = len(target.values) > 0
    for r in range(orders.shape[0]):
        for i in range(n):
            moved[i] = levels[orders[r, i]]
        if by_number:
            found[r] = number_information(groups, n_groups, moved, n_levels, target)
        else:
            found[r] = class_information(groups, n_groups, moved, n_levels, target)
