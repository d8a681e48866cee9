"""Mean decrease of accuracy (MDA), or permutation importance, with its z-score."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr

from srs.catalogue import Analysis, Section
from srs.explain.forest import Forest, forest_of
from srs.explain.permuted import Permuted, permute_features
from srs.results.analysis import AnalysisResult, correct, make_table


def mda(
    data: Any,
    target: Any = None,
    *,
    features: Any = None,
    n_trees: int = 1000,
    seed: int = 0,
    threads: int | None = None,
) -> AnalysisResult:
    """Mean decrease of accuracy of each feature (thesis 4.2.2, equation 4.5).

    value    mean over trees of what shuffling the feature adds to the error on the samples that
             the tree did not see: share of wrong classes, or mean squared error
    error    standard error over trees
    z_score  value / error (equation 4.20)
    p_value  of the z-score, one-sided, under the normal law

    data may be a `Forest`, which is then used as it is; else see `srs.explain`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 4))
    >>> found = mda(X, X[:, 1] + X[:, 2] > 0, n_trees=100)
    >>> sorted(found.frame.nlargest(2, "value")["feature"])
    ['f1', 'f2']
    """
    forest = forest_of(data, target, features, n_trees, seed, threads=threads)
    permuted = permute_features(forest)
    value, error = accuracy_decrease(forest, permuted)
    z_score = np.divide(value, error, out=np.zeros_like(value), where=error > 0)
    p_value = np.maximum(ndtr(-z_score), np.finfo(float).tiny)
    n_used = np.bincount(permuted.column, minlength=forest.matrix.n_features)
    table = make_table(
        forest.matrix.names,
        value,
        error=error,
        null=np.zeros_like(value),
        p_value=p_value,
        q_value=correct(p_value),
        z_score=z_score,
        n_trees_used=n_used,
    )
    notes = (
        "The z-score treats trees as independent observations. They see the same samples, so it "
        "grows without bound with the number of trees (Strobl and Zeileis 2008). It shows "
        "whether this forest uses the feature, not whether the feature matters in the "
        "population.",
    )
    settings = {"n_trees": forest.n_trees, "seed": forest.seed}
    return AnalysisResult("mda", table, settings, (*notes, *forest.matrix.notices))


def accuracy_decrease(forest: Forest, permuted: Permuted) -> tuple[np.ndarray, np.ndarray]:
    """Mean rise of the loss by feature, and its standard error over trees."""
    n = max(int(np.isfinite(permuted.base).sum()), 1)
    p = forest.matrix.n_features
    value = np.bincount(permuted.column, permuted.rise, p) / n
    squares = np.bincount(permuted.column, permuted.rise**2, p) / n
    return value, np.sqrt(np.maximum(squares - value**2, 0.0) / max(n - 1, 1))


MDA_ANALYSIS = Analysis(
    name="mda",
    title="Mean decrease of accuracy",
    question="How much worse a forest predicts unseen samples without a feature",
    run=mda,
    forest=True,
    whole_subjects=True,
    section=Section(
        "How much worse the forest predicts samples it has not seen when the values of the "
        "feature are shuffled. Whiskers are two standard errors over trees; a star marks p-values "
        "below 0.05.",
        columns=("z_score", "n_trees_used"),
    ),
)
