"""Per-class importance: which features tell one class from all others.

After Prevedello, Cramer and Bava (2019), a draft; what it leaves open is defined here.

For a class c and a node t of a tree, let n_c(t) be its samples of class c and n_o(t) the others.
Seen from c a node is impure only by samples of other classes, whichever these are: with weights a
for samples of c and b for others, the node has the mass M = a n_c + b n_o, the share p = a n_c / M,
and the impurity i_c = 2 p (1 - p) (Gini of two classes). The importance of feature j for c is the
sum over nodes that split j of

    [M(t) i_c(t) - M(left) i_c(left) - M(right) i_c(right)] / M(root)

over those nodes, and only those, below which some leaf predicts c; averaged over trees; and then
divided by its sum over features, so that classes can be compared.

Balance: a = 1 / N_c and b = 1 / (N - N_c) give c and the rest the same mass, however rare c is.
With a = b = 1 (`balanced=False`) a class of 1 % has nearly pure nodes everywhere.

Two classes. i_1 and i_2 are then the same function of a node, the Gini impurity of the tree
(2 p (1 - p) = 1 - p^2 - (1 - p)^2), if a = b. In a tree grown until its leaves are pure every inner
node is impure, so leaves of both classes are below it and no node is left out. Hence both rows of
the matrix equal the global importance (the MDI of the forest); normalised, its shares. With
balance they equal one another, and the global importance of the same trees with balanced classes.
(A leaf that stays impure, where samples of both classes have equal features, predicts the larger
class; then a node may have no leaf of the smaller one below it, and the rows may differ.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from srs.catalogue import Analysis, Option, Section
from srs.errors import InputError
from srs.explain.forest import Forest, forest_of
from srs.explain.matrix import check_classes
from srs.results.analysis import AnalysisResult, make_table


@njit(nogil=True, cache=True)
def _per_class(ends, splits, n_node, value, weights, total, squares):  # type: ignore[no-untyped-def]
    """total[c, j] += importance of column j for class c in each tree; squares likewise.

    weights  two arrays (n_classes,): of a sample of the class, and of any other
    """
    column, left, right = splits.column, splits.left, splits.right
    inside, outside = weights
    n_classes, p = total.shape
    one = np.zeros((n_classes, p))
    for t in range(ends.shape[0] - 1):
        first, n = ends[t], ends[t + 1] - ends[t]
        reached = np.zeros((n, n_classes), np.bool_)
        one[:] = 0.0
        for node in range(n - 1, -1, -1):  # children come after their parent
            at = first + node
            if left[at] < 0:
                reached[node, value[at].argmax()] = True
                continue
            a, b = left[at], right[at]
            for c in range(n_classes):
                reached[node, c] = reached[a, c] or reached[b, c]
                if reached[node, c]:
                    fall = 0.0
                    for part in range(3):
                        k = at if part == 0 else first + (a if part == 1 else b)
                        sign = 1.0 if part == 0 else -1.0
                        own = n_node[k] * value[k, c] * inside[c]
                        other = n_node[k] * (1.0 - value[k, c]) * outside[c]
                        if own + other > 0:
                            fall += sign * 2.0 * own * other / (own + other)
                    one[c, column[at]] += max(fall, 0.0)
        for c in range(n_classes):
            root = n_node[first] * (
                value[first, c] * inside[c] + (1.0 - value[first, c]) * outside[c]
            )
            for j in range(p):
                got = one[c, j] / root
                total[c, j] += got
                squares[c, j] += got * got


def _sums(forest: Forest, inside: np.ndarray, outside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Importances (n_classes, n_features) over trees, and their squares.

    inside, outside  (n_classes,): weight of a sample of the class, and of any other
    """
    trees = forest.trees
    total, squares = (np.zeros((len(inside), forest.matrix.n_features)) for _ in range(2))
    _per_class(
        trees.ends,
        trees.splits,
        trees.n_node,
        trees.value,
        weights=(inside, outside),
        total=total,
        squares=squares,
    )
    return total, squares


def per_class(
    data: Any,
    target: Any = None,
    *,
    features: Any = None,
    n_trees: int = 1000,
    balanced: bool = True,
    seed: int = 0,
    threads: int | None = None,
) -> AnalysisResult:
    """The per-class importance matrix, one row per feature and class (see the module's text).

    balanced  give each class and the rest the same weight: a rare class counts like any

    value   share of the class' importance that is the feature's: sums to 1 over features
    error   its standard error over trees
    raw     the importance before it is normalised
    overall share of the global importance (MDI) that is the feature's
    label   "class-specific" where `value` is more than twice `overall` and more than 2 / n_features

    data may be a `Forest`, which is then used as it is; else see `srs.explain`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> y = np.where(X[:, 2] > 1.5, "rare", np.where(X[:, 0] > 0, "a", "b"))
    >>> found = per_class(X, y, n_trees=100).frame
    >>> found.loc[found.groupby("part")["value"].idxmax(), ["part", "feature"]].values.tolist()
    [['a', 'f0'], ['b', 'f0'], ['rare', 'f2']]
    """
    forest = forest_of(data, target, features, n_trees, seed, threads=threads)
    matrix = forest.matrix
    if not matrix.is_classification:
        raise InputError(
            "per_class needs classes, and the target is a number: use mdi or mda instead."
        )
    check_classes(matrix)
    known = matrix.known_target
    sizes = np.bincount(known.values, minlength=known.n_classes).astype(np.float64)
    inside, outside = np.ones(len(sizes)), np.ones(len(sizes))
    if balanced:
        inside, outside = 1.0 / sizes, 1.0 / (sizes.sum() - sizes)
    total, squares = _sums(forest, inside, outside)
    raw = total / forest.n_trees
    spread = np.maximum(squares / forest.n_trees - raw**2, 0.0) / max(forest.n_trees - 1, 1)
    scale = np.maximum(raw.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    value, p = raw / scale, matrix.n_features
    overall = forest.importance / (forest.importance.sum() or 1.0)
    specific = (value > 2 * overall) & (value > 2 / p)
    table = make_table(
        list(matrix.names) * len(sizes),
        value.ravel(),
        part=[label for label in known.labels for _ in range(p)],
        error=(np.sqrt(spread) / scale).ravel(),
        label=["class-specific" if s else None for s in specific.ravel()],
        raw=raw.ravel(),
        overall=np.tile(overall, len(sizes)),
    )
    settings = {"n_trees": forest.n_trees, "balanced": balanced, "seed": forest.seed}
    return AnalysisResult("per-class", table, settings, matrix.notices)


PER_CLASS_ANALYSIS = Analysis(
    name="per-class",
    title="Importance by class",
    question="Which features separate one class from all others, including rare classes",
    run=per_class,
    options=(
        Option("balanced", "bool", "give each class the same weight as all others together", True),
    ),
    forest=True,
    whole_subjects=True,
    section=Section(
        "Share of each feature in separating one class from all others. The shares of a class "
        "sum to 1, also for rare classes.",
        chart="heat-map",
        columns=("raw", "overall"),
    ),
)
