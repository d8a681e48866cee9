"""Permutation importances of other kinds: repeated, conditional, by the area under the curve.

As `permuted`, which has Breiman's own: what a tree loses on samples that it did not see when the
values of a feature are shuffled among them. Here

- every feature may be shuffled several times, and the mean is taken (thesis, equation 4.4);
- it may be shuffled only among samples that are alike in the features it is associated with: those
  that fall in the same cell of the grid that the tree cuts of them (Strobl et al. 2008);
- the loss may be 1 - AUC, the area under the ROC curve of the tree's class shares, instead of the
  share of wrong classes (Janitza et al. 2013): a rare class counts as much as a frequent one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import njit

from srs.executors import LocalExecutor
from srs.explain.forest import Forest
from srs.explain.matrix import Matrix
from srs.explain.permuting.permuted import DOMAIN_PERMUTED, PERMUTED, TREES_AT_ONCE, Permuted, _leaf
from srs.seeds import draw_tree_key, make_rng
from srs.trees import MISSING
from srs.trees.random import U32, U64, mix64, node_key, random_below

NO_CLASSES = np.zeros((0, 0), np.int64)


@dataclass(frozen=True)
class Scheme:
    """How features are shuffled, and what is lost.

    n_repeats  shuffles of each feature in each tree
    auc        whether the loss is 1 - AUC; classes only
    given      bool (n_features, n_features): row m says within which features m is shuffled; empty:
               among all samples
    only       the one column that is shuffled; -1: all
    """

    n_repeats: int = 1
    auc: bool = False
    given: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.bool_))
    only: int = -1


class _Outcome(NamedTuple):
    """What trees predict, by node, and what is true, by sample.

    is_class  whether classes are predicted, or numbers
    by_auc    whether the loss is 1 - AUC
    vote      int64: class that a leaf predicts
    value     float64 (n_nodes, n_classes): class shares of a leaf, or its number
    classes   int32 (n_samples,): true classes
    truth     float64 (n_samples,): true numbers; empty for classes
    """

    is_class: bool
    by_auc: bool
    vote: np.ndarray
    value: np.ndarray
    classes: np.ndarray
    truth: np.ndarray


class _Room(NamedTuple):
    """Where a thread works: rows and leaves of the samples of a tree."""

    rows: np.ndarray
    other: np.ndarray
    leaves: np.ndarray
    cell: np.ndarray


@njit(nogil=True, cache=True)
def _area(score, positive, m):  # type: ignore[no-untyped-def]
    """The area under the ROC curve, ties count half; NaN if all are of one kind."""
    order = np.argsort(score[:m])
    n_positive, ranks, start = 0, 0.0, 0
    while start < m:
        stop = start
        while stop < m and score[order[stop]] == score[order[start]]:
            stop += 1
        middle = (start + stop + 1) / 2.0
        for k in range(start, stop):
            if positive[order[k]]:
                n_positive += 1
                ranks += middle
        start = stop
    n_negative = m - n_positive
    if n_positive == 0 or n_negative == 0:
        return np.nan
    return (ranks - n_positive * (n_positive + 1) / 2.0) / (float(n_positive) * n_negative)


@njit(nogil=True, cache=True)
def _loss(outcome, first, leaves, rows, m):  # type: ignore[no-untyped-def]
    """Mean loss of one tree on m samples; 1 less the mean AUC of each class against the others."""
    if not outcome.by_auc:
        loss = 0.0
        for k in range(m):
            if outcome.is_class:
                loss += 1.0 if outcome.vote[first + leaves[k]] != outcome.classes[rows[k]] else 0.0
            else:
                loss += (outcome.value[first + leaves[k], 0] - outcome.truth[rows[k]]) ** 2
        return loss / m
    n_classes = outcome.value.shape[1]
    score, positive = np.empty(m), np.empty(m, np.bool_)
    total, n_areas = 0.0, 0
    for c in range(1 if n_classes == 2 else 0, n_classes):
        for k in range(m):
            score[k] = outcome.value[first + leaves[k], c]
            positive[k] = outcome.classes[rows[k]] == c
        area = _area(score, positive, m)
        if area == area:
            total += area
            n_areas += 1
    return 1.0 - total / n_areas if n_areas else np.nan


@njit(nogil=True, cache=True)
def _cells(block, splits, first, stop, given, rows, m, cell):  # type: ignore[no-untyped-def]
    """Which cell of the tree's grid of some features each sample is in, as a number.

    Every node that tests one of them gives a bit of its own to the samples that would go left.
    """
    for k in range(m):
        cell[k] = U64(0)
    for at in range(first, stop):
        column = splits.column[at]
        if column < 0 or not given[column]:
            continue
        bit = mix64(U64(at - first + 1) * U64(0x9E3779B97F4A7C15))
        for k in range(m):
            code = block[rows[k], column]
            if splits.subset_row[at] >= 0:
                go_left = splits.subset[splits.subset_row[at], code] != 0
            else:
                go_left = np.uint8(code + np.uint8(splits.cut_shift[at])) <= splits.cut_code[at]
            if go_left:
                cell[k] ^= bit


@njit(nogil=True, cache=True)
def _shuffle(stream, number, m, cells, order, room):  # type: ignore[no-untyped-def]
    """room.other[k] is the sample whose value sample k gets; `order` sorts samples by cell."""
    rows, other, cell = room.rows, room.other, room.cell
    start = 0
    while start < m:
        stop = m
        if cells:
            stop = start
            while stop < m and cell[order[stop]] == cell[order[start]]:
                stop += 1
        for k in range(start, stop):
            at = order[k] if cells else k
            other[at] = rows[at]
        for k in range(stop - 1, start, -1):
            j = start + random_below(stream, U32(number * m + k), k - start + 1)
            one, two = (order[k], order[j]) if cells else (k, j)
            other[one], other[two] = other[two], other[one]
        start = stop


@njit(nogil=True, cache=True)
def _shuffle_trees(block, ends, splits, outcome, in_bag, t0, t1, key, scheme, found):  # type: ignore[no-untyped-def]
    """Fill `found` with what shuffling does in the trees t0..t1; returns the number of pairs."""
    n_repeats, only, given = scheme
    n, p = block.shape
    rows, other, leaves = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    room = _Room(rows=rows, other=other, leaves=leaves, cell=np.empty(n, np.uint64))
    plain = np.empty(n, np.int64)
    seen = np.full(p, -1, np.int64)
    order = np.empty(0, np.int64)
    n_out = 0
    for t in range(t0, t1):
        m = 0
        for i in range(n):
            if in_bag[t, i] == 0:
                rows[m] = i
                m += 1
        found.base[t] = np.nan
        if m == 0:
            continue
        first, stop = ends[t], ends[t + 1]
        for k in range(m):
            plain[k] = _leaf(block, splits, first, rows[k], -1, other=0)
        loss = _loss(outcome, first, plain, rows, m)
        found.base[t] = loss
        if loss != loss:
            continue
        for i in range(first, stop):
            col = splits.column[i]
            if col < 0 or seen[col] == t or (only >= 0 and col != only):
                continue
            seen[col] = t
            stream = node_key(key, np.int64(t) * p + col, DOMAIN_PERMUTED)
            cells = given.shape[0] > 0
            if cells:
                _cells(block, splits, first, stop, given[col], rows=rows, m=m, cell=room.cell)
                order = np.argsort(room.cell[:m])
            shuffled = 0.0
            for number in range(n_repeats):
                _shuffle(stream, number, m, cells, order, room=room)
                for k in range(m):
                    leaves[k] = plain[k]
                    if block[rows[k], col] != block[other[k], col]:
                        leaves[k] = _leaf(block, splits, first, rows[k], col, other=other[k])
                shuffled += _loss(outcome, first, leaves, rows, m)
            found.tree[n_out] = t
            found.column[n_out] = col
            found.rise[n_out] = shuffled / n_repeats - loss
            n_out += 1
    return n_out


def shuffle_features(forest: Forest, scheme: Scheme, purpose: int = 0) -> Permuted:
    """Shuffle features among the samples that trees did not see, by a scheme.

    With one repeat among all samples it is `permute_features`, permutation by permutation.
    """
    matrix, trees, target = forest.matrix, forest.trees, forest.target
    is_class = not len(target.values)
    outcome = _Outcome(
        is_class=is_class,
        by_auc=scheme.auc,
        vote=trees.value.argmax(axis=1).astype(np.int64),
        value=trees.value,
        classes=target.classes,
        truth=np.zeros(0) if is_class else target.values * target.unit + target.offset,
    )
    key = np.uint64(draw_tree_key(make_rng(forest.seed, PERMUTED, purpose)))
    base = np.empty(forest.n_trees)

    def shuffle(start: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        stop = min(start + TREES_AT_ONCE, forest.n_trees)
        most = int(trees.ends[stop] - trees.ends[start])
        found = Permuted(
            tree=np.empty(most, np.int32),
            column=np.empty(most, np.int32),
            rise=np.empty(most),
            base=base,
            votes=NO_CLASSES,
            shift=NO_CLASSES[None],
        )
        n = _shuffle_trees(
            matrix.codes,
            trees.ends,
            trees.splits,
            outcome,
            forest.in_bag,
            t0=start,
            t1=stop,
            key=key,
            scheme=(scheme.n_repeats, scheme.only, scheme.given),
            found=found,
        )
        return found.tree[:n].copy(), found.column[:n].copy(), found.rise[:n].copy()

    starts = range(0, forest.n_trees, TREES_AT_ONCE)
    parts = list(LocalExecutor(forest.threads).map(shuffle, starts))
    tree, column, rise = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return Permuted(tree, column, rise, base, votes=NO_CLASSES, shift=NO_CLASSES[None])


def associations(matrix: Matrix) -> np.ndarray:
    """How strongly each pair of features goes together, from 0 to 1; float64, 0 on the diagonal.

    Two ordered features: the size of the correlation of their codes. A categorical and an ordered
    one: the correlation ratio, i.e. the root of the share of variance between levels. Two
    categorical ones: Cramer's V.
    """
    p, categorical = matrix.n_features, matrix.is_categorical
    found = np.zeros((p, p))
    codes = matrix.codes.astype(np.float64)
    known = matrix.codes != MISSING
    for i in range(p):
        for j in range(i):
            both = known[:, i] & known[:, j]
            one, two = (j, i) if categorical[j] else (i, j)
            found[i, j] = found[j, i] = _associated(
                codes[both, one], codes[both, two], bool(categorical[one]), bool(categorical[two])
            )
    return found


def _associated(one: np.ndarray, two: np.ndarray, one_by_level: bool, two_by_level: bool) -> float:
    spread = two.var() * len(two) if len(two) else 0.0
    if not spread or not one.var():
        return 0.0
    if not one_by_level:
        return float(abs(np.corrcoef(one, two)[0, 1]))
    _, level, sizes = np.unique(one, return_inverse=True, return_counts=True)
    if not two_by_level:
        means = np.bincount(level, two) / sizes
        return float(np.sqrt((sizes * (means - two.mean()) ** 2).sum() / spread))
    _, other, others = np.unique(two, return_inverse=True, return_counts=True)
    table = np.bincount(level * len(others) + other, minlength=len(sizes) * len(others))
    expected = np.outer(sizes, others) / len(one)
    chi2 = ((table.reshape(expected.shape) - expected) ** 2 / expected).sum()
    return float(np.sqrt(chi2 / (len(one) * (min(expected.shape) - 1))))
