"""Trees as flat arrays: grow them with the kernel, apply, save and load them.

Covers one tree or a list of trees on one block. Which columns a block has, and what to do with
importances, is decided elsewhere (`srs.batch`, `srs.importance`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import numpy as np
from numba import njit

from srs.trees.criterion import ENTROPY, GINI, VARIANCE
from srs.trees.kernel import grow_tree
from srs.trees.records import Columns, Importances, KernelSettings, Nodes, Splits, splits_of
from srs.trees.target import TreeTarget, nlogn_table

CRITERIA = {"entropy": ENTROPY, "gini": GINI, "variance": VARIANCE}
NO_LIMIT = np.iinfo(np.int32).max


@dataclass(frozen=True)
class TreeSettings:
    """How a tree is grown.

    criterion         "entropy" (bits), "gini" or "variance"
    max_features      columns tried at a node (K of the paper); None: all of them
    max_depth         deepest level of a leaf; None: no limit
    min_samples_leaf  fewest samples in a leaf; with weights, beyond 1, each counts by its weight
    best_cut          try every cut of a numeric column instead of one at random
    screen_size       fewest samples of a node that counts for `screened`
    peak_size         fewest samples of a node that counts for `peak`
    wander_size       fewest samples of a node that splits a column at random, not the best one
    """

    criterion: str = "entropy"
    max_features: int | None = None
    max_depth: int | None = None
    min_samples_leaf: int = 1
    best_cut: bool = False
    screen_size: int = NO_LIMIT
    peak_size: int = NO_LIMIT
    wander_size: int = NO_LIMIT

    @cached_property
    def for_kernel(self) -> KernelSettings:
        return KernelSettings(
            criterion=CRITERIA[self.criterion],
            max_features=NO_LIMIT if self.max_features is None else self.max_features,
            max_depth=NO_LIMIT if self.max_depth is None else self.max_depth,
            min_leaf=self.min_samples_leaf,
            best_cut=self.best_cut,
            screen_size=self.screen_size,
            peak_size=self.peak_size,
            wander_size=self.wander_size,
        )


@dataclass(frozen=True)
class Tree:
    """One tree. Row i of each array is node i; node 0 is the root; a leaf has left[i] == -1.

    column     int32: column of the block that the node splits; -1 in a leaf
    cut_code   uint8: code c goes left when uint8(c + cut_shift) <= cut_code
    cut_shift  int32: 1 where missing values go left; see `subset` for categorical columns
    left       int32: child node, right likewise
    n_node     int32: samples of the node
    impurity   float64: impurity of the node
    value      float64 (n_nodes, n_classes): class shares, or the mean target in one column
    subset     uint8 (n_subsets, 256): levels that go left, one row a categorical split
    subset_row int32: row of `subset` that the node uses; -1 where it has a cut
    """

    column: np.ndarray
    cut_code: np.ndarray
    cut_shift: np.ndarray
    left: np.ndarray
    right: np.ndarray
    n_node: np.ndarray
    impurity: np.ndarray
    value: np.ndarray
    subset: np.ndarray
    subset_row: np.ndarray

    @property
    def n_nodes(self) -> int:
        return len(self.left)

    @property
    def splits(self) -> Splits:
        return splits_of(self)

    @property
    def n_leaves(self) -> int:
        return int((self.left < 0).sum())


def grow(
    block: np.ndarray,
    target: TreeTarget,
    tree_key: int,
    settings: TreeSettings | None = None,
    *,
    rows: np.ndarray | None = None,
    is_categorical: np.ndarray | None = None,
    root_column: int = -1,
    into: Importances | None = None,
) -> tuple[Tree, Importances]:
    """Grow one tree on a block of codes.

    block           uint8 (n_samples, n_columns), C-contiguous; code 255 is missing
    tree_key        integer below 2**64: all the randomness of this tree
    rows            the samples to use (repeats allowed, as in a bootstrap); None: all
    is_categorical  bool (n_columns,): columns to be split by subsets of levels
    root_column     column that the root splits, whatever its score; -1: the best one
    into            importances to add to; None: fresh ones

    >>> import numpy as np
    >>> codes = np.array([[0, 3], [0, 1], [1, 3], [1, 1]], np.uint8)
    >>> tree, importances = grow(codes, TreeTarget.of_classes(np.array([0, 0, 1, 1]), 2), 7)
    >>> tree.n_leaves, importances.used.tolist()
    (2, [1.0, 0.0])
    """
    settings = settings or TreeSettings()
    n_samples, n_columns = block.shape
    rows = np.arange(n_samples, dtype=np.int32) if rows is None else rows.astype(np.int32)
    if not n_columns or not len(rows):
        raise ValueError("a tree needs at least one column and one sample")
    if is_categorical is None:
        is_categorical = np.zeros(n_columns, np.bool_)
    importances = into if into is not None else Importances.empty(n_columns)
    how = settings.for_kernel
    n_subsets = len(rows) if is_categorical.any() else 0
    nodes = Nodes.empty(max(2 * len(rows) - 1, 1), target.n_classes, n_subsets)
    n_nodes = grow_tree(
        columns=Columns(block, is_categorical),
        target=target.for_kernel,
        nlogn=nlogn_table(target.mass(rows) if how.criterion == ENTROPY else 0),
        settings=how,
        rows=rows,
        tree_key=np.uint64(tree_key),
        root_column=root_column,
        nodes=nodes,
        importances=importances,
    )
    return _tree_of(nodes, n_nodes, is_categorical, target.offset), importances


def _tree_of(nodes: Nodes, n_nodes: int, is_categorical: np.ndarray, offset: float) -> Tree:
    """The nodes that a tree has, of those that there was room for."""
    column, cut_code = nodes.column[:n_nodes].copy(), nodes.cut_code[:n_nodes].copy()
    cut_shift = nodes.cut_shift[:n_nodes].copy()
    subset_row = np.full(n_nodes, -1, np.int32)
    n_subsets = 0
    if len(nodes.subset):
        by_subset = (column >= 0) & is_categorical[column]
        subset_row[by_subset] = cut_code[by_subset] + (cut_shift[by_subset] << 8)
        n_subsets = int(by_subset.sum())
    return Tree(
        column=column,
        cut_code=cut_code,
        cut_shift=cut_shift,
        left=nodes.left[:n_nodes].copy(),
        right=nodes.right[:n_nodes].copy(),
        n_node=nodes.n_node[:n_nodes].copy(),
        impurity=nodes.impurity[:n_nodes].copy(),
        value=nodes.value[:n_nodes] + offset,
        subset=nodes.subset[:n_subsets].copy(),
        subset_row=subset_row,
    )


@njit(nogil=True, cache=True)
def _apply(block, rows, splits, leaves):  # type: ignore[no-untyped-def]
    column, left, right = splits.column, splits.left, splits.right
    cut_code, cut_shift = splits.cut_code, splits.cut_shift
    subset, subset_row = splits.subset, splits.subset_row
    for i in range(rows.shape[0]):
        node = 0
        while left[node] >= 0:
            code = block[rows[i], column[node]]
            if subset_row[node] >= 0:
                go_left = subset[subset_row[node], code] != 0
            else:
                go_left = np.uint8(code + np.uint8(cut_shift[node])) <= cut_code[node]
            node = left[node] if go_left else right[node]
        leaves[i] = node


def apply_tree(tree: Tree, block: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
    """The leaf (node number) that each sample of the block reaches."""
    rows = np.arange(len(block), dtype=np.int32) if rows is None else rows.astype(np.int32)
    leaves = np.empty(len(rows), np.int32)
    _apply(block, rows, tree.splits, leaves)
    return leaves


def predict_tree(tree: Tree, block: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
    """Class shares (n, n_classes) or mean target (n, 1) of the leaf that each sample reaches."""
    predicted: np.ndarray = tree.value[apply_tree(tree, block, rows)]
    return predicted


def save_trees(trees: Sequence[Tree], path: str | os.PathLike[str]) -> None:
    """Write trees to one .npz file; `load_trees` reads them back."""
    arrays: dict[str, np.ndarray] = {
        "n_nodes": np.array([tree.n_nodes for tree in trees], np.int64)
    }
    arrays["n_subsets"] = np.array([len(tree.subset) for tree in trees], np.int64)
    for field in fields(Tree):
        parts = [getattr(tree, field.name) for tree in trees]
        arrays[field.name] = np.concatenate(parts) if parts else np.empty(0)
    with Path(path).open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def load_trees(path: str | os.PathLike[str]) -> list[Tree]:
    """Read the trees that `save_trees` wrote."""
    with np.load(Path(path), allow_pickle=False) as file:
        arrays = dict(file)
    node_ends = np.cumsum(arrays.pop("n_nodes"))
    subset_ends = np.cumsum(arrays.pop("n_subsets"))
    trees = []
    for t in range(len(node_ends)):
        nodes = slice(node_ends[t - 1] if t else 0, node_ends[t])
        subsets = slice(subset_ends[t - 1] if t else 0, subset_ends[t])
        parts = {name: a[subsets if name == "subset" else nodes] for name, a in arrays.items()}
        trees.append(Tree(**parts))
    return trees
