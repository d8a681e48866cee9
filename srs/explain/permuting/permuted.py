"""Out-of-bag predictions of a forest, as they are and with one feature permuted.

A permutation importance asks, for every tree and feature, what the tree predicts for the samples
it did not see when the values of the feature are shuffled among them. A tree that does not use a
feature predicts the same: only pairs of a tree and a feature that it uses are looked at, so the
cost is that of the nodes, whatever the number of features.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from srs.executors import LocalExecutor
from srs.explain.forest import Forest
from srs.seeds import EXPLAIN, draw_tree_key, make_rng
from srs.trees.random import U32, U64, node_key, random_below

PERMUTED = EXPLAIN + 2
TREES_AT_ONCE = 64
DOMAIN_PERMUTED = U64(6)


class Permuted(NamedTuple):
    """What shuffling does, one entry for each pair of a tree and a feature that it uses.

    tree       int32: number of the tree
    column     int32: column of the feature
    rise       float64: loss with the feature shuffled, less that without (mean over the samples)
    base       float64 (n_trees,): loss of each tree as it is; NaN where it saw every sample
    votes      int64 (n_classes, n_classes): true class by predicted class, over all trees
    shift      int64 (n_features, n_classes, n_classes): how `votes` changes with a feature shuffled
    """

    tree: np.ndarray
    column: np.ndarray
    rise: np.ndarray
    base: np.ndarray
    votes: np.ndarray
    shift: np.ndarray


@njit(nogil=True, cache=True)
def _leaf(block, splits, first, row, column, other):  # type: ignore[no-untyped-def]
    """The leaf of sample `row`, with the code of `column` taken from sample `other`.

    first  the first node of the tree
    """
    columns, left, right = splits.column, splits.left, splits.right
    cut_code, cut_shift = splits.cut_code, splits.cut_shift
    subset, subset_row = splits.subset, splits.subset_row
    node = 0
    while left[first + node] >= 0:
        at = first + node
        tested = columns[at]
        code = block[other if tested == column else row, tested]
        if subset_row[at] >= 0:
            go_left = subset[subset_row[at], code] != 0
        else:
            go_left = np.uint8(code + np.uint8(cut_shift[at])) <= cut_code[at]
        node = left[at] if go_left else right[at]
    return node


class _Votes(NamedTuple):
    """What trees predict, by node, and what is true, by sample.

    is_class  whether classes are predicted, or numbers
    vote      int64: class that a leaf predicts
    value     float64: number that a leaf predicts
    classes   int32 (n_samples,): true classes
    truth     float64 (n_samples,): true numbers; empty for classes
    """

    is_class: bool
    vote: np.ndarray
    value: np.ndarray
    classes: np.ndarray
    truth: np.ndarray


@njit(nogil=True, cache=True)
def _permute_trees(block, ends, splits, votes, in_bag, t0, t1, key, found):  # type: ignore[no-untyped-def]
    """Fill `found` with what shuffling does in the trees t0..t1; returns the number of pairs."""
    columns, is_class, vote, value = splits.column, votes.is_class, votes.vote, votes.value
    classes, truth, base = votes.classes, votes.truth, found.base
    shift, by_class = found.shift, found.votes
    n, p = block.shape
    rows = np.empty(n, np.int64)
    other = np.empty(n, np.int64)
    plain = np.empty(n, np.int64)
    seen = np.full(p, -1, np.int64)
    n_out = 0
    for t in range(t0, t1):
        m = 0
        for i in range(n):
            if in_bag[t, i] == 0:
                rows[m] = i
                m += 1
        base[t] = np.nan
        if m == 0:
            continue
        first = ends[t]
        loss = 0.0
        for k in range(m):
            leaf = _leaf(block, splits, first, rows[k], -1, other=0)
            plain[k] = leaf
            if is_class:
                predicted = vote[first + leaf]
                by_class[classes[rows[k]], predicted] += 1
                loss += 1.0 if predicted != classes[rows[k]] else 0.0
            else:
                loss += (value[first + leaf] - truth[rows[k]]) ** 2
        base[t] = loss / m
        for i in range(first, ends[t + 1]):
            col = columns[i]
            if col < 0 or seen[col] == t:
                continue
            seen[col] = t
            stream = node_key(key, np.int64(t) * p + col, DOMAIN_PERMUTED)
            for k in range(m):
                other[k] = rows[k]
            for k in range(m - 1, 0, -1):
                j = random_below(stream, U32(k), k + 1)
                other[k], other[j] = other[j], other[k]
            shuffled = 0.0
            for k in range(m):
                leaf = plain[k]
                if block[rows[k], col] != block[other[k], col]:
                    leaf = _leaf(block, splits, first, rows[k], col, other=other[k])
                if is_class:
                    was, now, true = vote[first + plain[k]], vote[first + leaf], classes[rows[k]]
                    if was != now:
                        shift[col, true, was] -= 1
                        shift[col, true, now] += 1
                    shuffled += 1.0 if now != true else 0.0
                else:
                    shuffled += (value[first + leaf] - truth[rows[k]]) ** 2
            found.tree[n_out] = t
            found.column[n_out] = col
            found.rise[n_out] = (shuffled - loss) / m
            n_out += 1
    return n_out


def permute_features(forest: Forest, purpose: int = 0) -> Permuted:
    """Shuffle every feature once among the out-of-bag samples of every tree that uses it.

    purpose  another number, other permutations
    """
    matrix, trees, target = forest.matrix, forest.trees, forest.target
    is_class = not len(target.values)
    n_classes = target.n_classes if is_class else 1
    outcome = _Votes(
        is_class=is_class,
        vote=trees.value.argmax(axis=1).astype(np.int64),
        value=np.ascontiguousarray(trees.value[:, 0]),
        classes=target.classes,
        truth=np.zeros(0) if is_class else target.values * target.unit + target.offset,
    )
    key = np.uint64(draw_tree_key(make_rng(forest.seed, PERMUTED, purpose)))
    base = np.empty(forest.n_trees)

    def permute(start: int) -> Permuted:
        stop = min(start + TREES_AT_ONCE, forest.n_trees)
        most = int(trees.ends[stop] - trees.ends[start])
        found = Permuted(
            tree=np.empty(most, np.int32),
            column=np.empty(most, np.int32),
            rise=np.empty(most),
            base=base,
            votes=np.zeros((n_classes, n_classes), np.int64),
            shift=np.zeros((matrix.n_features if is_class else 0, n_classes, n_classes), np.int32),
        )
        n = _permute_trees(
            matrix.codes,
            trees.ends,
            trees.splits,
            outcome,
            forest.in_bag,
            t0=start,
            t1=stop,
            key=key,
            found=found,
        )
        return found._replace(
            tree=found.tree[:n].copy(), column=found.column[:n].copy(), rise=found.rise[:n].copy()
        )

    starts = range(0, forest.n_trees, TREES_AT_ONCE)
    pairs: list[tuple[np.ndarray, ...]] = []
    votes = np.zeros((n_classes, n_classes), np.int64)
    shift = np.zeros((matrix.n_features, n_classes, n_classes), np.int64)
    for part in LocalExecutor(forest.threads).map(permute, starts):
        votes += part.votes
        if is_class:
            shift += part.shift
        pairs.append((part.tree, part.column, part.rise))
    tree, column, rise = (np.concatenate(arrays) for arrays in zip(*pairs, strict=True))
    return Permuted(tree, column, rise, base, votes=votes, shift=shift)
