"""Importances against permuted labels: p-values (Altmann), and the conditional error rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srs.exchange import permute_subjects
from srs.executors import LocalExecutor
from srs.importance.analysis import Analysis, check_counts, correct, make_table, rank_p_values
from srs.importance.forest import ForestSettings, OnProgress, criterion_of, mean_importance
from srs.importance.matrix import Matrix, open_matrix
from srs.seeds import EXPLAIN, make_rng
from srs.tree import TreeTarget

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
) -> Analysis:
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
        matrix.names, value, error=error, null=null.mean(axis=0), p_value=p_value, q_value=q_value,
        label=["significant" if q < 0.05 else None for q in q_value],
        null_spread=null.std(axis=0),
    )  # fmt: skip
    settings = {"n_trees": n_trees, "n_permutations": n_permutations, "seed": seed}
    return Analysis("label-permutation", table, settings, (*NOTES, *matrix.notices))


NOTES = (
    "The null is that no feature matters. p-values are uniform if none does, and too large where "
    "others take the splits: of few features that all matter, as a selection has, the weaker ones "
    "look like chance (compare mda and one-probe, which do not divide one sum among features).",
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
) -> Analysis:
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
        seed=seed, n_trees=n_trees, n_permutations=n_permutations, max_ranks=max_ranks,
        threads=threads,
    )  # fmt: skip
    matrix = open_matrix(data, target, features)
    grow = _grower(matrix, n_trees, (seed, ERROR_RATE))
    value, error = grow(matrix.tree_target, matrix.codes, 0)
    order = np.argsort(-value, kind="stable")
    rates = np.full(matrix.n_features, np.nan)
    n_ranks = min(max_ranks, matrix.n_features)
    for rank in range(n_ranks):
        rest = order[rank:]

        def reaches(
            number: int, rest: np.ndarray = rest, least: float = value[order[rank]]
        ) -> bool:
            shuffled = _shuffle(matrix, make_rng(seed, ERROR_RATE, len(rest), number))
            codes = matrix.codes.copy()
            codes[:, rest] = matrix.codes[shuffled][:, rest]
            found, _ = grow(matrix.tree_target, codes, len(rest) * n_permutations + number)
            return bool(found[rest].max() >= least)

        hits = sum(LocalExecutor(threads).map(reaches, range(1, n_permutations + 1)))
        above = rates[order[rank - 1]] if rank else 0.0
        rates[order[rank]] = max(above, (hits + 1) / (n_permutations + 1))
        if on_progress:
            on_progress((rank + 1) / n_ranks)
        if rates[order[rank]] >= GIVE_UP:
            break
    ranks = np.empty(matrix.n_features, np.int64)
    ranks[order] = np.arange(1, matrix.n_features + 1)
    table = make_table(matrix.names, value, error=error, p_value=rates, rank=ranks)
    settings = {"n_trees": n_trees, "n_permutations": n_permutations, "seed": seed}
    return Analysis("conditional-error-rate", table, settings, matrix.notices)


def _grower(
    matrix: Matrix, n_trees: int, place: tuple[int, int]
) -> Callable[[TreeTarget, np.ndarray, int], tuple[np.ndarray, np.ndarray]]:
    """A function that grows the forest `number` on a target and codes: importances and errors."""
    settings = ForestSettings(n_trees)
    tree = settings.of_tree(criterion_of(matrix.tree_target), matrix.n_features)

    def grow(target: TreeTarget, codes: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
        return mean_importance(
            codes, matrix.is_categorical, target, tree, n_trees, (*place, number),
            subjects=matrix.subjects,
        )  # fmt: skip

    return grow


def permuted_labels(matrix: Matrix, seed: int, number: int) -> TreeTarget:
    """The target with its samples permuted; number 0 is the target as it is."""
    if not number:
        return matrix.tree_target
    return matrix.tree_target.take(_shuffle(matrix, make_rng(seed, LABELS, number, 1)))


def _shuffle(matrix: Matrix, rng: np.random.Generator) -> np.ndarray:
    """A random order of the samples, of whole subjects where samples belong together."""
    if matrix.subjects is not None:
        return permute_subjects(matrix.subjects, rng)
    return rng.permutation(matrix.n_samples)
