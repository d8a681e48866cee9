"""Trees as flat arrays: grow them with the kernel, apply, save and load them.

Covers one tree or a list of trees on one block. Which columns a block has, and what to do with
importances, is decided elsewhere (`srs.batch`, `srs.importance`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numba import njit

from srs.tree.criterion import ENTROPY, GINI, VARIANCE
from srs.tree.kernel import grow_tree
from srs.tree.target import TreeTarget, nlogn_table

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
    def n_leaves(self) -> int:
        return int((self.left < 0).sum())


@dataclass(frozen=True)
class Importances:
    """What trees say about the columns of one block; arrays of n_columns.

    used      float64: mean decrease of impurity, summed over trees
    screened  float64: decrease that the column offered at large nodes, summed over trees
    peak      float64: largest n x decrease that the column offered at any node
    n_splits  int32: number of nodes that split the column
    """

    used: np.ndarray
    screened: np.ndarray
    peak: np.ndarray
    n_splits: np.ndarray

    @classmethod
    def empty(cls, n_columns: int) -> Importances:
        used, screened, peak = (np.zeros(n_columns) for _ in range(3))
        return cls(used, screened, peak, np.zeros(n_columns, np.int32))


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
    criterion = CRITERIA[settings.criterion]
    most = max(2 * len(rows) - 1, 1)
    column, left, right, n_node, cut_shift = (np.empty(most, np.int32) for _ in range(5))
    cut_code = np.empty(most, np.uint8)
    impurity = np.empty(most, np.float64)
    value = np.empty((most, target.n_classes), np.float64)
    subset = np.empty((len(rows) if is_categorical.any() else 0, 256), np.uint8)
    n_nodes = grow_tree(
        block, is_categorical, target.classes, target.values, target.products, target.weights,
        target.n_classes, rows, criterion,
        n_columns if settings.max_features is None else settings.max_features,
        NO_LIMIT if settings.max_depth is None else settings.max_depth,
        settings.min_samples_leaf, settings.best_cut, settings.screen_size, settings.peak_size,
        settings.wander_size, root_column, np.uint64(tree_key),
        nlogn_table(target.mass(rows) if criterion == ENTROPY else 0), target.unit,
        column, cut_code, cut_shift, subset, left, right, n_node, impurity, value,
        importances.used, importances.screened, importances.peak, importances.n_splits,
    )  # fmt: skip
    column, cut_code, cut_shift = column[:n_nodes], cut_code[:n_nodes], cut_shift[:n_nodes]
    subset_row = np.full(n_nodes, -1, np.int32)
    by_subset = (column >= 0) & is_categorical[column]
    subset_row[by_subset] = cut_code[by_subset] + (cut_shift[by_subset] << 8)
    tree = Tree(
        column.copy(), cut_code.copy(), cut_shift.copy(), left[:n_nodes].copy(),
        right[:n_nodes].copy(), n_node[:n_nodes].copy(), impurity[:n_nodes].copy(),
        value[:n_nodes] + target.offset, subset[: int(by_subset.sum())].copy(), subset_row,
    )  # fmt: skip
    return tree, importances


@njit(nogil=True, cache=True)
def _apply(block, rows, column, cut_code, cut_shift, left, right, subset, subset_row, leaves):  # type: ignore[no-untyped-def]
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
    _apply(
        block, rows, tree.column, tree.cut_code, tree.cut_shift, tree.left, tree.right,
        tree.subset, tree.subset_row, leaves,
    )  # fmt: skip
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
