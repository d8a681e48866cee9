"""Mean decrease of impurity (MDI), with its error over trees."""

from __future__ import annotations

from typing import Any

import numpy as np  # noqa: F401 (for the example)

from srs.catalogue import Analysis, Section
from srs.explain.forest import error_of_mean, forest_of
from srs.results.analysis import AnalysisResult, make_table


def mdi(
    data: Any,
    target: Any = None,
    *,
    features: Any = None,
    n_trees: int = 1000,
    seed: int = 0,
    threads: int | None = None,
) -> AnalysisResult:
    """Mean decrease of impurity of each feature (thesis 4.2.1), Gini or variance.

    value  mean over trees of the sum of (n_node / n) x decrease where the feature was split
    error  its standard error over trees: how far more trees would move it, not other data

    data may be a `Forest`, which is then used as it is; else see `srs.explain`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 4))
    >>> found = mdi(X, X[:, 1] + X[:, 2] > 0, n_trees=100)
    >>> sorted(found.frame.nlargest(2, "value")["feature"])
    ['f1', 'f2']
    """
    forest = forest_of(data, target, features, n_trees, seed, threads=threads)
    n = forest.n_trees
    value = forest.importance
    error = error_of_mean(forest.trees.used_sum, forest.trees.used_sq, n)
    share = value / (value.sum() or 1.0)
    table = make_table(forest.matrix.names, value, error=error, share=share)
    notes = (
        "MDI is never negative, and it is above 0 for features that do not matter: compare it "
        "with a null distribution (label-permutation) before reading it as evidence.",
    )
    settings = {"n_trees": n, "seed": forest.seed}
    return AnalysisResult("mdi", table, settings, (*notes, *forest.matrix.notices))


MDI_ANALYSIS = Analysis(
    name="mdi",
    title="Mean decrease of impurity",
    question="How much a forest uses a feature",
    run=mdi,
    forest=True,
    whole_subjects=True,
    section=Section(
        "How much the splits of a feature reduce the impurity of the target, as a mean over the "
        "trees of a forest. Whiskers are two standard errors over trees.",
        columns=("share",),
    ),
)
