"""What kernels are given and fill, by noun: named tuples of arrays and numbers.

numba takes a named tuple apart where a kernel is compiled, so that a group costs nothing inside it;
a call from Python pays 0.1 microseconds a field. Kernels read a field into a variable before they
loop. Tuples that live within one kernel are beside it (`cuts`, `criterion`, `multiway`).

Compiled kernels know fields by their position, and numba's cache does not see that this file has
changed: after a change of fields that have the same type, delete the cache (`__pycache__`).
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np


class Columns(NamedTuple):
    """The block that a tree is grown on.

    codes           uint8 (n_samples, n_columns), C-contiguous; code 255 is missing
    is_categorical  bool (n_columns,): columns to be split by subsets of levels
    """

    codes: np.ndarray
    is_categorical: np.ndarray


class KernelTarget(NamedTuple):
    """What a tree learns, as kernels want it; `TreeTarget.for_kernel` makes it.

    classes    int32 (n_samples,), 0..n_classes-1; zeros for a numeric target
    values     float64 (n_samples,), the numeric target as whole numbers of `unit`, so that sums
               are exact; empty for classes
    products   values x weights; the values themselves where there are no weights
    weights    int32 (n_samples,), above 0; empty: all samples count alike
    n_classes  number of classes; 1 for a numeric target
    unit       what one of `values` is worth: scores and impurities are given in unit ** 2
    """

    classes: np.ndarray
    values: np.ndarray
    products: np.ndarray
    weights: np.ndarray
    n_classes: int
    unit: float


class KernelSettings(NamedTuple):
    """How a tree is grown: `TreeSettings` in numbers, see `TreeSettings.for_kernel`.

    criterion     ENTROPY, GINI or VARIANCE
    max_features  columns tried at a node
    max_depth     deepest level of a leaf
    min_leaf      fewest samples in a leaf; with weights, beyond 1, their mass in units of the mean
                  weight
    best_cut      try every cut of a numeric column instead of one at random
    screen_size   fewest samples of a node that counts for `Importances.screened`
    peak_size     fewest samples of a node that counts for `Importances.peak`
    wander_size   nodes of at least so many samples split a column at random
    """

    criterion: int
    max_features: int
    max_depth: int
    min_leaf: int
    best_cut: bool
    screen_size: int
    peak_size: int
    wander_size: int


class Nodes(NamedTuple):
    """Room for the nodes of a tree, one row a node, at least 2 * n_rows - 1 rows.

    Fields are those of `Tree`, and a leaf has left == -1. `subset` (n_rows, 256) has one row a
    categorical split, found by cut_code | cut_shift << 8 of its node where the column is
    categorical.
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

    @classmethod
    def empty(cls, n_nodes: int, n_classes: int, n_subsets: int) -> Nodes:
        column, cut_shift, left, right, n_node = (np.empty(n_nodes, np.int32) for _ in range(5))
        return cls(
            column=column,
            cut_code=np.empty(n_nodes, np.uint8),
            cut_shift=cut_shift,
            left=left,
            right=right,
            n_node=n_node,
            impurity=np.empty(n_nodes),
            value=np.empty((n_nodes, n_classes)),
            subset=np.empty((n_subsets, 256), np.uint8),
        )


class Importances(NamedTuple):
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


class Splits(NamedTuple):
    """The splits of grown trees, by node: all that it takes to find the leaf of a sample.

    Fields are those of `Tree`.
    """

    column: np.ndarray
    cut_code: np.ndarray
    cut_shift: np.ndarray
    left: np.ndarray
    right: np.ndarray
    subset: np.ndarray
    subset_row: np.ndarray


def splits_of(trees: Any) -> Splits:
    """The splits of a `Tree`, or of `Trees`."""
    return Splits._make(_split_fields(trees))


_split_fields = attrgetter(*Splits._fields)
