"""Importances against permuted labels: p-values (Altmann), and the conditional error rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srs.catalogue import MOST, Analysis, Option, Section
from srs.executors import LocalExecutor
from srs.explain.forest import ForestSettings, OnProgress, criterion_of, mean_importance
from srs.explain.matrix import Matrix, open_matrix, random_order
from srs.results.analysis import AnalysisResult, check_counts, correct, make_table, rank_p_values
from srs.seeds import EXPLAIN, make_rng
from srs.trees import TreeTarget

LABELS = EXPLAIN + 4
ERROR_RATE = EXPLAIN + 5
GIVE_UP = 0.5  # a rate from which on lower ranks are not looked at


def label_permutation(
    data: Any,
    target: Any = None,
    *,
    features: Any = None,
    n_trees: int = 200,
    n_permutations: int = 200,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> AnalysisResult:
    """MDI of each feature against MDI for permuted labels (Altmann et al. 2010; thesis 4.5).

    value    mean decrease of impurity
    error    its standard error over trees
    null     its mean over permutations, with `null_spread`
    p_value  share of permutations that reach the value; uniform if no feature matters

    Permuting labels breaks all relations at once: the null is that *no* feature matters. Where
    some do, the others get p-values that are too large, because these take the splits: trees that
    grow until they are pure divide the same sum among the features, whatever the labels. So of few
    features that all matter the weaker ones look like chance.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> found = label_permutation(X, X[:, 3] > 0, n_trees=50, n_permutations=99)
    >>> found.frame.nsmallest(1, "p_value")[["feature", "p_value"]].values.tolist()
    [['f3', 0.01]]
    """
    check_counts(seed=seed, n_trees=n_trees, n_permutations=n_permutations, threads=threads)
    matrix = open_matrix(data, target, features)
    grow = _grower(matrix, n_trees, (seed, LABELS))

    def permuted(number: int) -> tuple[np.ndarray, np.ndarray]:
        return grow(permuted_labels(matrix, seed, number), matrix.codes, number)

    grown = []
    for pair in LocalExecutor(threads).map(permuted, range(1 + n_permutations)):
        grown.append(pair)
        if on_progress:
            on_progress(len(grown) / (1 + n_permutations))
    (value, error), null = grown[0], np.array([values for values, _ in grown[1:]])
    p_value = rank_p_values(value, null)
    q_value = correct(p_value)
    table = make_table(
        matrix.names,
        value,
        error=error,
        null=null.mean(axis=0),
        p_value=p_value,
        q_value=q_value,
        label=["significant" if q < 0.05 else None for q in q_value],
        null_spread=null.std(axis=0),
    )
    settings = {"n_trees": n_trees, "n_permutations": n_permutations, "seed": seed}
    return AnalysisResult("label-permutation", table, settings, (*NOTES, *matrix.notices))


NOTES = (
    "The null hypothesis is that no feature matters. p-values are uniform if none does, and too "
    "large if other features take the splits: among a few features that all matter, e.g. those "
    "of a selection, the weaker ones look like chance (compare mda and one-probe, which do not "
    "divide one sum among features).",
)


def conditional_error_rate(
    data: Any,
    target: Any = None,
    *,
    features: Any = None,
    n_trees: int = 100,
    n_permutations: int = 100,
    max_ranks: int = 50,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> AnalysisResult:
    """The conditional error rate of each rank (Huynh-Thu et al. 2008; thesis 4.5).

    Features are ranked by MDI. For the feature at a rank, it and all below are permuted (one
    permutation of samples for all of them), those above stay; the rate is the share of
    permutations in which any permuted feature reaches the importance that the feature had. It
    estimates the chance to take an irrelevant feature in when selecting down to this rank.

    p_value  the rate, no lower than at any rank above; null beyond the first rank where it
             reaches one half, and beyond `max_ranks`

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 6))
    >>> found = conditional_error_rate(X, X[:, 0] + X[:, 4] > 0, n_trees=50, n_permutations=49)
    >>> found.frame.query("p_value < 0.1")["feature"].tolist()
    ['f0', 'f4']
    """
    check_counts(
        seed=seed,
        n_trees=n_trees,
        n_permutations=n_permutations,
        max_ranks=max_ranks,
        threads=threads,
    )
    matrix = open_matrix(data, target, features)
    grow = _grower(matrix, n_trees, (seed, ERROR_RATE))
    value, error = grow(matrix.tree_target, matrix.codes, 0)
    order = np.argsort(-value, kind="stable")
    rates = np.full(matrix.n_features, np.nan)
    n_ranks = min(max_ranks, matrix.n_features)
    for rank in range(n_ranks):

        def reaches(number: int, rank: int = rank) -> bool:
            rest = order[rank:]
            codes = _permuted(matrix, rest, make_rng(seed, ERROR_RATE, len(rest), number))
            found, _ = grow(matrix.tree_target, codes, len(rest) * n_permutations + number)
            return bool(found[rest].max() >= value[order[rank]])

        hits = sum(LocalExecutor(threads).map(reaches, range(1, n_permutations + 1)))
        above = rates[order[rank - 1]] if rank else 0.0
        rates[order[rank]] = max(above, (hits + 1) / (n_permutations + 1))
        if on_progress:
            on_progress((rank + 1) / n_ranks)
        if rates[order[rank]] >= GIVE_UP:
            break
    ranks = np.argsort(order, kind="stable") + 1
    table = make_table(matrix.names, value, error=error, p_value=rates, rank=ranks)
    settings = {"n_trees": n_trees, "n_permutations": n_permutations, "seed": seed}
    return AnalysisResult("conditional-error-rate", table, settings, matrix.notices)


def _grower(
    matrix: Matrix, n_trees: int, place: tuple[int, int]
) -> Callable[[TreeTarget, np.ndarray, int], tuple[np.ndarray, np.ndarray]]:
    """A function that grows the forest `number` on a target and codes: importances and errors."""
    settings = ForestSettings(n_trees)
    tree = settings.of_tree(criterion_of(matrix.tree_target), matrix.n_features)

    def grow(target: TreeTarget, codes: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
        return mean_importance(
            codes,
            matrix.is_categorical,
            target,
            tree,
            n_trees,
            place=(*place, number),
            subjects=matrix.subjects,
        )

    return grow


def permuted_labels(matrix: Matrix, seed: int, number: int) -> TreeTarget:
    """The target with its samples permuted; number 0 is the target as it is."""
    if not number:
        return matrix.tree_target
    return matrix.tree_target.take(random_order(matrix, make_rng(seed, LABELS, number, 1)))


def _permuted(matrix: Matrix, columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The codes with some columns permuted, all by one order of samples."""
    shuffled = random_order(matrix, rng)
    codes = matrix.codes.copy()
    codes[:, columns] = matrix.codes[shuffled][:, columns]
    return codes


LABEL_PERMUTATION_ANALYSIS = Analysis(
    name="label-permutation",
    title="Importance against permuted labels",
    question="Could the importance of a feature be due to chance",
    run=label_permutation,
    whole_subjects=True,
    options=(
        Option("n_trees", "int", "trees of each forest", 200, low=1, high=MOST),
        Option("n_permutations", "int", "permutations of the labels", 200, low=1, high=MOST),
    ),
    section=Section(
        "Bars are the mean decrease of impurity, with two standard errors over trees. Diamonds "
        "are its mean when the labels are permuted, i.e. when nothing matters, with two "
        "standard deviations. A star marks p-values below 0.05.",
        columns=("null_spread",),
    ),
)
CONDITIONAL_ERROR_RATE_ANALYSIS = Analysis(
    name="conditional-error-rate",
    title="Conditional error rate",
    question="How far down the ranking is it safe to go",
    run=conditional_error_rate,
    whole_subjects=True,
    options=(
        Option("n_trees", "int", "trees of each forest", 100, low=1, high=MOST),
        Option("n_permutations", "int", "permutations at each rank", 100, low=1, high=MOST),
        Option("max_ranks", "int", "ranks that are tested", 50, low=1, high=MOST),
    ),
    section=Section(
        "Features by importance. The p-value of a rank is the probability of including an "
        "irrelevant feature when selecting down to that rank. A star marks those below 0.05.",
        columns=("rank",),
    ),
)
