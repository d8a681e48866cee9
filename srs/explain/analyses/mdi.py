"""Mean decrease of impurity (MDI), with its error over trees; selection frequency; corrections."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from srs.catalogue import Analysis, Option, Section
from srs.errors import SettingsError
from srs.explain.forest import Forest, error_of_mean, forest_of, grow_forest
from srs.explain.matrix import Matrix, random_order
from srs.explain.permuting.mirrored import few_mirrored, mirrored_p_values
from srs.results.analysis import AnalysisResult, check_counts, correct, make_table
from srs.seeds import EXPLAIN, make_rng

SHADOWS = EXPLAIN + 13
IMPURITY, FREQUENCY, CORRECTED = MEASURES = ("impurity", "frequency", "corrected")


def mdi(
    data: Any,
    target: Any = None,
    *,
    features: Any = None,
    measure: str = IMPURITY,
    n_repeats: int = 1,
    n_trees: int = 1000,
    seed: int = 0,
    threads: int | None = None,
) -> AnalysisResult:
    """Mean decrease of impurity of each feature (thesis 4.2.1), Gini or variance.

    measure    "impurity"; "frequency": share of the nodes that split the feature (equation 4.1);
               "corrected": MDI less that of a copy of the feature whose samples are permuted, in a
               forest of features and copies (Sandri and Zuccolotto 2008; the actual impurity
               reduction of Nembrini et al. 2018), with p-values by mirrored importances
    n_repeats  forests of a corrected MDI, each with new copies, whose mean is taken

    value  mean over trees of the sum of (n_node / n) x decrease where the feature was split
    error  its standard error over trees: how far more trees would move it, not other data
    null   corrected only: MDI of the copies

    data may be a `Forest`, which is then used as it is; else see `srs.explain`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 4))
    >>> found = mdi(X, X[:, 1] + X[:, 2] > 0, n_trees=100)
    >>> sorted(found.frame.nlargest(2, "value")["feature"])
    ['f1', 'f2']
    """
    check_counts(n_repeats=n_repeats)
    if measure not in MEASURES:
        raise SettingsError(f"measure must be one of {', '.join(MEASURES)}, not {measure!r}.")
    forest = forest_of(data, target, features, n_trees, seed, threads=threads)
    settings: dict[str, Any] = {"n_trees": forest.n_trees, "seed": forest.seed}
    if measure == CORRECTED:
        return _corrected(forest, n_repeats, settings)
    if measure == FREQUENCY:
        return _frequency(forest, settings)
    value = forest.importance
    error = error_of_mean(forest.trees.used_sum, forest.trees.used_sq, forest.n_trees)
    share = value / (value.sum() or 1.0)
    table = make_table(forest.matrix.names, value, error=error, share=share)
    notes = (
        "MDI is never negative, and it is above 0 for features that do not matter: compare it "
        "with a null distribution (label-permutation) before reading it as evidence.",
    )
    return AnalysisResult("mdi", table, settings, (*notes, *forest.matrix.notices))


def _frequency(forest: Forest, settings: dict[str, Any]) -> AnalysisResult:
    """Share of nodes that split each feature; the error is that of a ratio of means over trees."""
    trees, p = forest.trees, forest.matrix.n_features
    tree = np.repeat(np.arange(forest.n_trees), np.diff(trees.ends))
    inner = trees.column >= 0
    column, tree = trees.column[inner], tree[inner]
    counts = np.bincount(column, minlength=p)
    n_nodes = max(len(column), 1)
    value = counts / n_nodes
    cells = np.bincount(tree.astype(np.int64) * p + column, minlength=forest.n_trees * p)
    by_tree = cells.reshape(forest.n_trees, p)
    apart = by_tree - by_tree.sum(axis=1, keepdims=True) * value
    error = np.sqrt((apart**2).sum(axis=0)) / n_nodes
    table = make_table(
        forest.matrix.names, value, error=error, n_nodes=counts, share=value / (value.sum() or 1.0)
    )
    notes = (
        "The frequency counts every node alike, near the root or far from it, so it favours "
        "features that split many small nodes, and those with many values.",
    )
    settings["measure"] = FREQUENCY
    return AnalysisResult("mdi", table, settings, (*notes, *forest.matrix.notices))


def _corrected(forest: Forest, n_repeats: int, settings: dict[str, Any]) -> AnalysisResult:
    """MDI less that of permuted copies, mean over forests."""
    matrix, p = forest.matrix, forest.matrix.n_features
    how = replace(forest.settings, max_features=forest.settings.max_features or _tried(p))
    features, copies, errors = [], [], []
    for number in range(n_repeats):
        rng = make_rng(forest.seed, SHADOWS, number)
        wider = with_copies(matrix, random_order(matrix, rng))
        own_seed = int(rng.integers(1 << 62))
        grown = grow_forest(wider, how, seed=own_seed, threads=forest.threads)
        error = error_of_mean(grown.trees.used_sum, grown.trees.used_sq, grown.n_trees)
        features.append(grown.importance[:p])
        copies.append(grown.importance[p:])
        errors.append(np.hypot(error[:p], error[p:]))
    plain, null = np.mean(features, axis=0), np.mean(copies, axis=0)
    value = plain - null
    error = errors[0]
    if n_repeats > 1:
        error = (np.array(features) - copies).std(axis=0, ddof=1) / np.sqrt(n_repeats)
    p_value = mirrored_p_values(value)
    table = make_table(
        matrix.names,
        value,
        error=error,
        null=null,
        p_value=p_value,
        q_value=correct(p_value),
        share=np.maximum(value, 0.0) / (np.maximum(value, 0.0).sum() or 1.0),
        impurity=plain,
    )
    settings |= {"measure": CORRECTED, "n_repeats": n_repeats}
    notes = (
        "The importance of a permuted copy is what a feature with these values has by chance; it "
        "is taken off, so features that do not matter are near 0, on either side.",
        *few_mirrored(value),
    )
    return AnalysisResult("mdi", table, settings, (*notes, *matrix.notices))


def _tried(n_features: int) -> int:
    return max(1, int(np.sqrt(n_features)))


def with_copies(matrix: Matrix, order: np.ndarray) -> Matrix:
    """The matrix with a copy of every feature beside it, whose samples are in another order."""
    return replace(
        matrix,
        codes=np.ascontiguousarray(np.hstack([matrix.codes, matrix.codes[order]])),
        is_categorical=np.tile(matrix.is_categorical, 2),
        names=(*matrix.names, *(f"copy of {name}" for name in matrix.names)),
        feature_ids=np.concatenate([matrix.feature_ids, np.full(matrix.n_features, -1)]),
    )


MDI_ANALYSIS = Analysis(
    name="mdi",
    title="Mean decrease of impurity",
    question="How much a forest uses a feature",
    run=mdi,
    forest=True,
    whole_subjects=True,
    options=(
        Option(
            "measure",
            "str",
            "impurity, frequency of splits, or impurity corrected by permuted copies",
            IMPURITY,
            choices=MEASURES,
        ),
        Option("n_repeats", "int", "forests of a corrected measure", 1, low=1, high=1000),
    ),
    section=Section(
        "How much the splits of a feature reduce the impurity of the target, as a mean over the "
        "trees of a forest. Whiskers are two standard errors over trees.",
        columns=("share",),
    ),
)
