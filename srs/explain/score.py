"""How well features predict together: the out-of-bag score of extra-trees (nu of UMFI and MCI).

Extra-trees that try all features at one random cut each: the kernel is made for them, a forest of
them takes a tenth of the time of one with best cuts.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from srs.explain.forest import CHUNK_TREES, draw_bags
from srs.trees import TreeSettings, TreeTarget, grow_trees


@njit(nogil=True, cache=True)
def _vote(block, rows, ends, splits, value, total, n_votes):  # type: ignore[no-untyped-def]
    """total[i] += what each tree predicts for sample i, if it did not see it."""
    column, left, right = splits.column, splits.left, splits.right
    cut_code, cut_shift = splits.cut_code, splits.cut_shift
    subset, subset_row = splits.subset, splits.subset_row
    n = block.shape[0]
    seen = np.full(n, -1, np.int64)
    for t in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            seen[rows[t, i]] = t
        first = ends[t]
        for i in range(n):
            if seen[i] == t:
                continue
            node = 0
            while left[first + node] >= 0:
                at = first + node
                code = block[i, column[at]]
                if subset_row[at] >= 0:
                    go_left = subset[subset_row[at], code] != 0
                else:
                    go_left = np.uint8(code + np.uint8(cut_shift[at])) <= cut_code[at]
                node = left[at] if go_left else right[at]
            for k in range(value.shape[1]):
                total[i, k] += value[first + node, k]
            n_votes[i] += 1


def oob_score(
    codes: np.ndarray,
    is_categorical: np.ndarray,
    target: TreeTarget,
    n_trees: int,
    place: tuple[int, ...],
    subjects: np.ndarray | None = None,
) -> float:
    """What the features explain of the target, out of bag; 0 without features.

    Also 0 where the samples out of bag are too few to tell: none, or all of one value.

    Classes: accuracy, less the share of the largest class. Numbers: R squared.

    place     where the randomness is from: seed, purpose and numbers, as `make_rng` takes them
    subjects  int (n_samples,): samples of a subject are out of bag together
    """
    n = len(codes)
    if not codes.shape[1]:
        return 0.0
    is_class = not len(target.values)
    settings = TreeSettings(
        "gini" if is_class else "variance", min_samples_leaf=1 if is_class else 3
    )
    total, n_votes = np.zeros((n, target.n_classes)), np.zeros(n, np.int64)
    for start in range(0, n_trees, CHUNK_TREES):
        size = min(CHUNK_TREES, n_trees - start)
        keys, rows = draw_bags(place[0], place[1:], start, size, n, subjects=subjects)
        trees = grow_trees(codes, target, keys, rows, settings, is_categorical=is_categorical)
        _vote(codes, rows, trees.ends, trees.splits, trees.value, total=total, n_votes=n_votes)
    voted = n_votes > 0
    if not voted.any():
        return 0.0
    if is_class:
        right = total[voted].argmax(axis=1) == target.classes[voted]
        largest = np.bincount(target.classes).max() / n
        return float(right.mean() - largest)
    truth = target.values[voted] * target.unit + target.offset
    error = ((total[voted, 0] / n_votes[voted] - truth) ** 2).sum()
    spread = ((truth - truth.mean()) ** 2).sum()
    return float(1.0 - error / spread) if spread else 0.0
