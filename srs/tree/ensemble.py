"""Many trees on one block in one call: the loop over trees without the interpreter.

A forest of small trees (a hundred samples) spends more time around the kernel than in it if every
tree is a call from Python. Here trees share buffers, and their nodes are stored one after another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from srs.tree.criterion import ENTROPY
from srs.tree.forest import CRITERIA, NO_LIMIT, TreeSettings
from srs.tree.kernel import grow_tree
from srs.tree.target import TreeTarget, nlogn_table


@dataclass(frozen=True)
class Trees:
    """Trees whose nodes stand one after another; node numbers count within a tree.

    ends       int64 (n_trees + 1,): tree t has the nodes ends[t]..ends[t + 1]
    column .. value  as in `Tree`, without `impurity`
    subset     uint8 (n_subsets, 256): levels that go left
    subset_row int32: row of `subset` that a node uses; -1 where it has a cut
    used_sum   float64 (n_columns,): importances added up over trees
    used_sq    float64 (n_columns,): their squares added up
    """

    ends: np.ndarray
    column: np.ndarray
    cut_code: np.ndarray
    cut_shift: np.ndarray
    left: np.ndarray
    right: np.ndarray
    n_node: np.ndarray
    value: np.ndarray
    subset: np.ndarray
    subset_row: np.ndarray
    used_sum: np.ndarray
    used_sq: np.ndarray

    @property
    def n_trees(self) -> int:
        return len(self.ends) - 1


@njit(nogil=True, cache=True)
def _grow_trees(  # type: ignore[no-untyped-def]
    block, is_categorical, classes, values, products, weights, n_classes, rows, keys, criterion,
    max_features, max_depth, min_leaf, best_cut, nlogn, unit, keep,
    ends, column, cut_code, cut_shift, left, right, n_node, impurity, value, subset,
    subset_starts, used_sum, used_sq,
):  # fmt: skip
    n_columns = block.shape[1]
    used, screened, peak = np.zeros(n_columns), np.zeros(n_columns), np.zeros(n_columns)
    n_splits = np.zeros(n_columns, np.int32)
    n_subsets, at = 0, 0
    never = np.int64(2**31 - 1)
    ends[0] = 0
    for t in range(rows.shape[0]):
        n_nodes = grow_tree(
            block, is_categorical, classes, values, products, weights, n_classes, rows[t].copy(),
            criterion, max_features, max_depth, min_leaf, best_cut, never, never, never, -1,
            keys[t], nlogn, unit,
            column[at:], cut_code[at:], cut_shift[at:], subset[n_subsets:], left[at:], right[at:],
            n_node[at:], impurity[at:], value[at:], used, screened, peak, n_splits,
        )  # fmt: skip
        for j in range(n_columns):
            used_sum[j] += used[j]
            used_sq[j] += used[j] * used[j]
            used[j] = 0.0
        subset_starts[t] = n_subsets
        if keep:
            for i in range(at, at + n_nodes):
                if column[i] >= 0 and is_categorical[column[i]]:
                    n_subsets += 1
            at += n_nodes
        ends[t + 1] = at
    return n_subsets


def grow_trees(
    block: np.ndarray,
    target: TreeTarget,
    keys: np.ndarray,
    rows: np.ndarray,
    settings: TreeSettings,
    *,
    is_categorical: np.ndarray | None = None,
    keep: bool = True,
) -> Trees:
    """Grow one tree a key on the samples in its row of `rows`.

    keys  uint64 (n_trees,): all the randomness of each tree
    rows  int32 (n_trees, n_drawn): samples of each tree, repeats allowed
    keep  whether nodes are kept; if not, only importances are

    The trees are those of `grow` with the same keys and rows.
    """
    n_columns = block.shape[1]
    if is_categorical is None:
        is_categorical = np.zeros(n_columns, np.bool_)
    criterion = CRITERIA[settings.criterion]
    n_trees, n_drawn = rows.shape
    most = max(2 * n_drawn - 1, 1) * (n_trees if keep else 1)
    column, left, right, n_node, cut_shift = (np.empty(most, np.int32) for _ in range(5))
    cut_code = np.empty(most, np.uint8)
    impurity = np.empty(most)
    value = np.empty((most, target.n_classes))
    n_rows = n_drawn * (n_trees if keep else 1) if is_categorical.any() else 0
    subset = np.empty((n_rows, 256), np.uint8)
    ends = np.zeros(n_trees + 1, np.int64)
    subset_starts = np.zeros(n_trees, np.int64)
    used_sum, used_sq = np.zeros(n_columns), np.zeros(n_columns)
    n_subsets = _grow_trees(
        block, is_categorical, target.classes, target.values, target.products, target.weights,
        target.n_classes, np.ascontiguousarray(rows, np.int32),
        np.ascontiguousarray(keys, np.uint64), criterion,
        n_columns if settings.max_features is None else settings.max_features,
        NO_LIMIT if settings.max_depth is None else settings.max_depth,
        settings.min_samples_leaf, settings.best_cut,
        nlogn_table(target.mass(rows) if criterion == ENTROPY else 0), target.unit, keep,
        ends, column, cut_code, cut_shift, left, right, n_node, impurity, value, subset,
        subset_starts, used_sum, used_sq,
    )  # fmt: skip
    n = int(ends[-1])
    column = column[:n].copy()
    subset_row = np.full(n, -1, np.int32)
    by_subset = (column >= 0) & is_categorical[column]
    first = np.repeat(subset_starts, np.diff(ends))
    within = cut_code[:n] + (cut_shift[:n] << 8)
    subset_row[by_subset] = (within + first)[by_subset]
    return Trees(
        ends, column, cut_code[:n].copy(), cut_shift[:n].copy(), left[:n].copy(),
        right[:n].copy(), n_node[:n].copy(), value[:n] + target.offset, subset[:n_subsets].copy(),
        subset_row, used_sum, used_sq,
    )  # fmt: skip


def join_trees(parts: list[Trees]) -> Trees:
    """Trees of several calls as one; importances are added up in the order of the parts."""
    starts = np.cumsum([0, *(int(part.ends[-1]) for part in parts)])
    subset_starts = np.cumsum([0, *(len(part.subset) for part in parts)])
    ends = [part.ends[1:] + start for part, start in zip(parts, starts, strict=False)]
    rows = [
        np.where(part.subset_row >= 0, part.subset_row + np.int32(start), np.int32(-1))
        for part, start in zip(parts, subset_starts, strict=False)
    ]
    names = ("column", "cut_code", "cut_shift", "left", "right", "n_node", "value", "subset")
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return Trees(
        ends=np.concatenate([np.zeros(1, np.int64), *ends]),
        subset_row=np.concatenate(rows).astype(np.int32),
        used_sum=np.sum([part.used_sum for part in parts], axis=0),
        used_sq=np.sum([part.used_sq for part in parts], axis=0),
        **joined,
    )
