"""Features against artificial contrasts: permuted copies of them all (Tuv et al. 2006, 2009)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import stdtr

from srs.catalogue import MOST, Analysis, Option, Section
from srs.errors import InputError
from srs.executors import LocalExecutor
from srs.explain.analyses.mdi import with_copies
from srs.explain.forest import ForestSettings, OnProgress, criterion_of, mean_importance
from srs.explain.matrix import Matrix, open_matrix, random_order
from srs.results.analysis import AnalysisResult, check_counts, correct, make_table
from srs.seeds import EXPLAIN, make_rng

CONTRASTS = EXPLAIN + 15


def contrasts(
    data: Any,
    target: Any = None,
    *,
    features: Any = None,
    n_forests: int = 30,
    n_trees: int = 100,
    quantile: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> AnalysisResult:
    """Whether features are more important than most contrasts, in many forests (thesis 4.5).

    n_forests  forests, each with new contrasts: a copy of every feature, its samples permuted
    quantile   of the importances of the contrasts of a forest, which a feature must exceed

    value    mean decrease of impurity, mean over forests
    error    its standard error over forests
    null     the quantile of the contrasts, mean over forests
    p_value  of a paired t-test over forests that the importance is above the quantile, one-sided

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> found = contrasts(X, X[:, 3] > 0, n_forests=10, n_trees=20)
    >>> found.frame.query("p_value < 0.01")["feature"].tolist()
    ['f3']
    """
    check_counts(seed=seed, n_forests=n_forests, n_trees=n_trees, threads=threads)
    if n_forests < 2 or not 0 < quantile <= 1:
        raise InputError(
            f"contrasts need at least 2 forests and a quantile above 0 and up to 1, not "
            f"{n_forests} and {quantile}."
        )
    matrix = open_matrix(data, target, features)
    p = matrix.n_features

    def grow(number: int) -> np.ndarray:
        wider = _with_contrasts(matrix, make_rng(seed, CONTRASTS, number))
        tree = ForestSettings(n_trees).of_tree(criterion_of(wider.tree_target), 2 * p)
        return mean_importance(
            wider.codes,
            wider.is_categorical,
            wider.tree_target,
            tree,
            n_trees,
            place=(seed, CONTRASTS, number, 1),
            subjects=matrix.subjects,
        )[0]

    found = []
    for values in LocalExecutor(threads).map(grow, range(n_forests)):
        found.append(values)
        if on_progress:
            on_progress(len(found) / n_forests)
    used = {"n_forests": n_forests, "n_trees": n_trees, "quantile": quantile, "seed": seed}
    table = _table(matrix, np.array(found), quantile)
    return AnalysisResult("contrasts", table, used, (*NOTES, *matrix.notices))


def _table(matrix: Matrix, values: np.ndarray, quantile: float) -> Any:
    """values: importances of features and contrasts, by forest."""
    n_forests, p = len(values), matrix.n_features
    bar = np.quantile(values[:, p:], quantile, axis=1, method="higher")
    above = values[:, :p] - bar[:, None]
    error = above.std(axis=0, ddof=1) / np.sqrt(n_forests)
    t = np.divide(above.mean(axis=0), error, out=np.zeros(p), where=error > 0)
    p_value = np.maximum(stdtr(n_forests - 1, -t), np.finfo(float).tiny)
    q_value = correct(p_value)
    return make_table(
        matrix.names,
        values[:, :p].mean(axis=0),
        error=values[:, :p].std(axis=0, ddof=1) / np.sqrt(n_forests),
        null=np.full(p, bar.mean()),
        p_value=p_value,
        q_value=q_value,
        label=["significant" if q < 0.05 else None for q in q_value],
        t_statistic=t,
        beaten=(above > 0).mean(axis=0),
    )


def _with_contrasts(matrix: Matrix, rng: np.random.Generator) -> Matrix:
    """The matrix with a contrast of each feature, each permuted by an order of its own."""
    wider = with_copies(matrix, np.arange(matrix.n_samples))
    codes = wider.codes.copy()
    for column in range(matrix.n_features):
        codes[:, matrix.n_features + column] = matrix.codes[random_order(matrix, rng), column]
    return replace(wider, codes=codes)


NOTES = (
    "Forests have new contrasts but the same samples: p-values say that a feature beats most "
    "contrasts in every forest. Of features that do not matter, about one in twenty does with a "
    "quantile of 0.95, by a chance association in this sample.",
)


CONTRASTS_ANALYSIS = Analysis(
    name="contrasts",
    title="Against permuted copies",
    question="Is a feature more important than permuted copies of the features",
    run=contrasts,
    whole_subjects=True,
    options=(
        Option("n_forests", "int", "forests, each with new copies", 30, low=2, high=MOST),
        Option("n_trees", "int", "trees of each forest", 100, low=1, high=MOST),
        Option(
            "quantile",
            "float",
            "of the importances of copies, which a feature must exceed",
            0.95,
            low=0.001,
            high=1,
        ),
    ),
    section=Section(
        "Bars are the mean decrease of impurity, with two standard errors over forests. Diamonds "
        "are what nineteen in twenty permuted copies do not reach (or the chosen quantile). A star "
        "marks p-values below 0.05.",
        columns=("t_statistic", "beaten"),
    ),
)
