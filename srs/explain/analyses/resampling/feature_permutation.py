"""A test of each feature by permuting it alone, and growing forests anew (Hapfelmeier, Ulm 2013).

Permuting labels breaks all relations at once (`label_permutation`); here one feature is permuted,
and the others keep theirs to the target. So the others take the splits in the null as they do in
the data, and features are tested one by one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from srs.catalogue import MOST, Analysis, Option, Section
from srs.errors import SettingsError
from srs.executors import LocalExecutor
from srs.explain.analyses.mda import accuracy_decrease
from srs.explain.forest import (
    ForestSettings,
    OnProgress,
    criterion_of,
    grow_forest,
    mean_importance,
)
from srs.explain.matrix import Matrix, open_matrix, random_order
from srs.explain.permuting.shuffles import Scheme, shuffle_features
from srs.explain.permuting.staged import Counts, stages
from srs.results.analysis import AnalysisResult, check_counts, correct, make_table
from srs.seeds import EXPLAIN, make_rng

ALONE = EXPLAIN + 14
MDA, MDI = MEASURES = ("mda", "mdi")


def feature_permutation(
    data: Any,
    target: Any = None,
    *,
    features: Any = None,
    measure: str = MDA,
    n_trees: int = 100,
    n_permutations: int = 199,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> AnalysisResult:
    """Importance of each feature against its own when it alone is permuted (thesis 4.5).

    measure         "mda": mean decrease of accuracy; "mdi": mean decrease of impurity
    n_permutations  most permutations of a feature, with a forest each; fewer for features that
                    chance explains (`srs.explain.permuting.staged`)

    value    the importance
    error    its standard error over trees
    null     its mean over permutations, with `null_spread`
    p_value  share of permutations that reach the importance; uniform if the feature is independent
             of the target and of all other features

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> found = feature_permutation(X, X[:, 1] > 0, n_trees=20, n_permutations=19)
    >>> found.frame.nsmallest(1, "p_value")["feature"].tolist()
    ['f1']
    """
    check_counts(seed=seed, n_trees=n_trees, n_permutations=n_permutations, threads=threads)
    if measure not in MEASURES:
        raise SettingsError(f"measure must be one of {', '.join(MEASURES)}, not {measure!r}.")
    matrix = open_matrix(data, target, features)

    def grow(task: tuple[int, int]) -> tuple[float, float]:
        column, number = task
        rng = make_rng(seed, ALONE, column, number)
        moved = matrix if not number else _with_permuted(matrix, column, rng)
        own_seed = int(rng.integers(1 << 62))
        return _importance(moved, column, measure, n_trees, own_seed)

    executor = LocalExecutor(threads)
    plain = np.array(list(executor.map(grow, [(c, 0) for c in range(matrix.n_features)])))
    counts = Counts(plain[:, 0])
    for start, stop in stages(n_permutations):
        active = counts.active.copy()
        tasks = [(c, 1 + r) for c in np.flatnonzero(active).tolist() for r in range(start, stop)]
        null = np.zeros((stop - start, matrix.n_features))
        for done, ((column, number), pair) in enumerate(
            zip(tasks, executor.map(grow, tasks), strict=True), 1
        ):
            null[number - 1 - start, column] = pair[0]
            if on_progress:
                on_progress((start + (stop - start) * done / len(tasks)) / n_permutations)
        counts.add(active, null)
    used = {"measure": measure, "n_trees": n_trees, "n_permutations": n_permutations, "seed": seed}
    table = _table(matrix, counts, plain[:, 1])
    return AnalysisResult("feature-permutation", table, used, (*NOTES, *matrix.notices))


def _table(matrix: Matrix, counts: Counts, error: np.ndarray) -> Any:
    q_value = correct(counts.p_values)
    return make_table(
        matrix.names,
        counts.value,
        error=error,
        null=counts.null,
        p_value=counts.p_values,
        q_value=q_value,
        label=["significant" if q < 0.05 else None for q in q_value],
        null_spread=counts.spread,
    )


def _importance(
    matrix: Matrix, column: int, measure: str, n_trees: int, seed: int
) -> tuple[float, float]:
    """The importance of one feature, and its standard error over trees."""
    how = ForestSettings(n_trees)
    if measure == MDI:
        tree = how.of_tree(criterion_of(matrix.tree_target), matrix.n_features)
        value, error = mean_importance(
            matrix.codes,
            matrix.is_categorical,
            matrix.tree_target,
            tree,
            n_trees,
            place=(seed, ALONE),
            subjects=matrix.subjects,
        )
    else:
        forest = grow_forest(matrix, how, seed=seed, threads=1)
        value, error = accuracy_decrease(forest, shuffle_features(forest, Scheme(only=column)))
    return float(value[column]), float(error[column])


def _with_permuted(matrix: Matrix, column: int, rng: np.random.Generator) -> Matrix:
    codes = matrix.codes.copy()
    codes[:, column] = codes[random_order(matrix, rng), column]
    return replace(matrix, codes=codes)


NOTES = (
    "The null hypothesis is that a feature is independent of the target and of all other features. "
    "A feature that does not matter by itself but goes with one that does can be significant.",
)


FEATURE_PERMUTATION_ANALYSIS = Analysis(
    name="feature-permutation",
    title="Importance against the permuted feature",
    question="Could the importance of a feature be due to chance, whatever the others do",
    run=feature_permutation,
    whole_subjects=True,
    options=(
        Option(
            "measure",
            "str",
            "mean decrease of accuracy (mda) or of impurity (mdi)",
            MDA,
            choices=MEASURES,
        ),
        Option("n_trees", "int", "trees of each forest", 100, low=1, high=MOST),
        Option("n_permutations", "int", "most permutations of a feature", 199, low=1, high=MOST),
    ),
    section=Section(
        "Bars are the importance, with two standard errors over trees. Diamonds are its mean when "
        "the feature is permuted and the others are not, with two standard deviations. A star "
        "marks p-values below 0.05.",
        columns=("null_spread",),
    ),
)
