"""Many trees on one block in one call: the loop over trees without the interpreter.

A forest of small trees (a hundred samples) spends more time around the kernel than in it if every
tree is a call from Python. Here trees share buffers, and their nodes are stored one after another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from srs.trees.criterion import ENTROPY
from srs.trees.forest import NO_LIMIT, TreeSettings
from srs.trees.kernel import grow_tree
from srs.trees.records import Columns, Importances, Nodes, Splits, splits_of
from srs.trees.target import TreeTarget, nlogn_table


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
    def splits(self) -> Splits:
        return splits_of(self)

    @property
    def n_trees(self) -> int:
        return len(self.ends) - 1


class _Ensemble(NamedTuple):
    """What `_grow_trees` fills, besides nodes.

    ends           int64 (n_trees + 1,): where the nodes of each tree end
    subset_starts  int64 (n_trees,): where the subsets of each tree begin
    used_sum, used_sq  float64 (n_columns,)
    """

    ends: np.ndarray
    subset_starts: np.ndarray
    used_sum: np.ndarray
    used_sq: np.ndarray


@njit(nogil=True, cache=True)
def _grow_trees(columns, target, settings, rows, nlogn, keys, keep, nodes, importances, grown):  # type: ignore[no-untyped-def]
    """Grow one tree a row of `rows`; returns the number of subsets; `importances` are all 0."""
    n_columns = columns.codes.shape[1]
    is_categorical, used = columns.is_categorical, importances.used
    n_subsets, at = 0, 0
    grown.ends[0] = 0
    for t in range(rows.shape[0]):
        free = Nodes(
            column=nodes.column[at:],
            cut_code=nodes.cut_code[at:],
            cut_shift=nodes.cut_shift[at:],
            left=nodes.left[at:],
            right=nodes.right[at:],
            n_node=nodes.n_node[at:],
            impurity=nodes.impurity[at:],
            value=nodes.value[at:],
            subset=nodes.subset[n_subsets:],
        )
        n_nodes = grow_tree(
            columns=columns,
            target=target,
            nlogn=nlogn,
            settings=settings,
            rows=rows[t].copy(),
            tree_key=keys[t],
            root_column=np.int64(-1),  # a bare -1 is a type of its own: a kernel more to compile
            nodes=free,
            importances=importances,
        )
        for j in range(n_columns):
            grown.used_sum[j] += used[j]
            grown.used_sq[j] += used[j] * used[j]
            used[j] = 0.0
        grown.subset_starts[t] = n_subsets
        if keep:
            for i in range(n_nodes):
                if free.column[i] >= 0 and is_categorical[free.column[i]]:
                    n_subsets += 1
            at += n_nodes
        grown.ends[t + 1] = at
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
    n_trees, n_drawn = rows.shape
    n_kept = n_trees if keep else 1
    how = settings.for_kernel._replace(
        screen_size=NO_LIMIT, peak_size=NO_LIMIT, wander_size=NO_LIMIT
    )
    nodes = Nodes.empty(
        n_nodes=max(2 * n_drawn - 1, 1) * n_kept,
        n_classes=target.n_classes,
        n_subsets=n_drawn * n_kept if is_categorical.any() else 0,
    )
    grown = _Ensemble(
        ends=np.zeros(n_trees + 1, np.int64),
        subset_starts=np.zeros(n_trees, np.int64),
        used_sum=np.zeros(n_columns),
        used_sq=np.zeros(n_columns),
    )
    n_subsets = _grow_trees(
        columns=Columns(block, is_categorical),
        target=target.for_kernel,
        nlogn=nlogn_table(target.mass(rows) if how.criterion == ENTROPY else 0),
        settings=how,
        rows=np.ascontiguousarray(rows, np.int32),
        keys=np.ascontiguousarray(keys, np.uint64),
        keep=keep,
        nodes=nodes,
        importances=Importances.empty(n_columns),
        grown=grown,
    )
    return _trees_of(nodes, grown, n_subsets, is_categorical, target.offset)


def _trees_of(
    nodes: Nodes, grown: _Ensemble, n_subsets: int, is_categorical: np.ndarray, offset: float
) -> Trees:
    """The nodes that trees have, of those that there was room for."""
    n = int(grown.ends[-1])
    column, cut_code = nodes.column[:n].copy(), nodes.cut_code[:n].copy()
    cut_shift = nodes.cut_shift[:n].copy()
    subset_row = np.full(n, -1, np.int32)
    if n_subsets:
        by_subset = (column >= 0) & is_categorical[column]
        first = np.repeat(grown.subset_starts, np.diff(grown.ends))
        subset_row[by_subset] = (cut_code + (cut_shift << 8) + first)[by_subset]
    return Trees(
        ends=grown.ends,
        column=column,
        cut_code=cut_code,
        cut_shift=cut_shift,
        left=nodes.left[:n].copy(),
        right=nodes.right[:n].copy(),
        n_node=nodes.n_node[:n].copy(),
        value=nodes.value[:n] + offset,
        subset=nodes.subset[:n_subsets].copy(),
        subset_row=subset_row,
        used_sum=grown.used_sum,
        used_sq=grown.used_sq,
    )


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
