"""Per-class importance: which features tell one class from all others.

After Prevedello, Cramer and Bava (2019), a draft; what it leaves open is defined here.

For a class c and a node t of a tree, let n_c(t) be its samples of class c and n_o(t) the others.
Seen from c a node is impure only by samples of other classes, whichever these are: with weights a
for samples of c and b for others, the node has the mass M = a n_c + b n_o, the share p = a n_c / M,
and the impurity i_c = 2 p (1 - p) (Gini of two classes), or the entropy of p in bits. The
importance of feature j for c is the sum over nodes that split j of

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

Profiles over classes (section 3): a feature with a high mean matters for all, one with a large
deviation for some. Selection by class (section 4, which the draft leaves open): the classes choose
in turn, each the feature of largest value for it that none has chosen, so that a rare class gets as
many as a frequent one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit

from srs.catalogue import MOST, Analysis, Option, Section
from srs.errors import InputError
from srs.explain.forest import Forest, forest_of
from srs.explain.matrix import check_classes
from srs.results.analysis import AnalysisResult, make_table


@njit(nogil=True, cache=True)
def _impure(own, other, entropy):  # type: ignore[no-untyped-def]
    """Mass x impurity of a node with these masses."""
    if own <= 0.0 or other <= 0.0:
        return 0.0
    mass = own + other
    if entropy:
        return own * np.log2(mass / own) + other * np.log2(mass / other)
    return 2.0 * own * other / mass


@njit(nogil=True, cache=True)
def _per_class(ends, splits, n_node, value, weights, entropy, total, squares):  # type: ignore[no-untyped-def]
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
                        fall += sign * _impure(own, other, entropy)
                    one[c, column[at]] += max(fall, 0.0)
        for c in range(n_classes):
            root = n_node[first] * (
                value[first, c] * inside[c] + (1.0 - value[first, c]) * outside[c]
            )
            for j in range(p):
                got = one[c, j] / root
                total[c, j] += got
                squares[c, j] += got * got


def _sums(
    forest: Forest, inside: np.ndarray, outside: np.ndarray, entropy: bool
) -> tuple[np.ndarray, np.ndarray]:
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
        entropy=entropy,
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
    criterion: str = "gini",
    n_selected: int | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> AnalysisResult:
    """The per-class importance matrix, one row per feature and class (see the module's text).

    balanced    give each class and the rest the same weight: a rare class counts like any
    criterion   impurity of nodes: "gini" or "entropy"; the trees are those of the forest
    n_selected  choose so many features, classes in turn

    value     share of the class' importance that is the feature's: sums to 1 over features
    error     its standard error over trees
    raw       the importance before it is normalised
    overall   share of the global importance (MDI) that is the feature's
    mean, deviation  of `value` over classes: high where all need it, large where some do
    rank      of the feature for the class, from 1 on
    selected  in the rows of the class that chose it: when, from 1 on
    label     "class-specific" where `value` is above 2 x `overall` and 2 / n_features

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
    PER_CLASS_ANALYSIS.check({"criterion": criterion, "n_selected": n_selected})
    known = matrix.known_target
    sizes = np.bincount(known.values, minlength=known.n_classes).astype(np.float64)
    inside, outside = np.ones(len(sizes)), np.ones(len(sizes))
    if balanced:
        inside, outside = 1.0 / sizes, 1.0 / (sizes.sum() - sizes)
    total, squares = _sums(forest, inside, outside, criterion == "entropy")
    raw = total / forest.n_trees
    spread = np.maximum(squares / forest.n_trees - raw**2, 0.0) / max(forest.n_trees - 1, 1)
    table = _table(forest, raw, np.sqrt(spread), n_selected)
    own = {"balanced": balanced, "criterion": criterion, "n_selected": n_selected}
    settings = {"n_trees": forest.n_trees, **own, "seed": forest.seed}
    return AnalysisResult("per-class", table, settings, matrix.notices)


def _table(forest: Forest, raw: np.ndarray, errors: np.ndarray, n_selected: int | None) -> pa.Table:
    """One row a class and feature; `raw` and its errors are (n_classes, n_features)."""
    names, labels = forest.matrix.names, forest.matrix.known_target.labels
    scale = np.maximum(raw.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    value, p = raw / scale, len(names)
    overall = forest.importance / (forest.importance.sum() or 1.0)
    specific = (value > 2 * overall) & (value > 2 / p)
    order = np.argsort(-value, axis=1, kind="stable")
    rank = np.argsort(order, axis=1) + 1
    return make_table(
        list(names) * len(labels),
        value.ravel(),
        part=[label for label in labels for _ in range(p)],
        error=(errors / scale).ravel(),
        label=["class-specific" if s else None for s in specific.ravel()],
        raw=raw.ravel(),
        overall=np.tile(overall, len(labels)),
        mean=np.tile(value.mean(axis=0), len(labels)),
        deviation=np.tile(value.std(axis=0), len(labels)),
        rank=rank.ravel().astype(np.float64),
        selected=choose_in_turn(order, n_selected or 0).ravel(),
    )


def choose_in_turn(order: np.ndarray, n_selected: int) -> np.ndarray:
    """When each feature was chosen, in the row of the class that chose it; NaN elsewhere.

    order  (n_classes, n_features): the features of each class, the best first

    >>> choose_in_turn(np.array([[0, 1, 2], [0, 2, 1]]), 2).tolist()
    [[1.0, nan, nan], [nan, nan, 2.0]]
    """
    chosen = np.full(order.shape, np.nan)
    taken: set[int] = set()
    while len(taken) < min(n_selected, order.shape[1]):
        for c, features in enumerate(order):
            free = [j for j in features.tolist() if j not in taken]
            if free and len(taken) < n_selected:
                taken.add(free[0])
                chosen[c, free[0]] = len(taken)
    return chosen


PER_CLASS_ANALYSIS = Analysis(
    name="per-class",
    title="Importance by class",
    question="Which features separate one class from all others, including rare classes",
    run=per_class,
    options=(
        Option("balanced", "bool", "give each class the same weight as all others together", True),
        Option("criterion", "str", "impurity of nodes", "gini", choices=("gini", "entropy")),
        Option(
            "n_selected",
            "int",
            "features to choose, classes in turn",
            None,
            low=1,
            high=MOST,
            none="none are chosen",
            label="Features to choose",
        ),
    ),
    forest=True,
    whole_subjects=True,
    section=Section(
        "Share of each feature in separating one class from all others. The shares of a class "
        "sum to 1, also for rare classes. A high mean over classes: needed by all; a large "
        "deviation: by some.",
        chart="heat-map",
        columns=("raw", "overall", "mean", "deviation", "rank", "selected"),
    ),
)
