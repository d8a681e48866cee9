"""Vote-shift indices J_chi2 and J_ks of Paul and Dupont: does shuffling a feature move votes?"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import chdtrc
from scipy.stats import kstwo

from srs.catalogue import Analysis, Option, Section
from srs.errors import InputError
from srs.explain.analyses.mda import accuracy_decrease
from srs.explain.forest import Forest, forest_of
from srs.explain.matrix import check_classes
from srs.explain.permuting.permuted import Permuted, permute_features
from srs.results.analysis import AnalysisResult, correct, make_table

METHODS = ("chi2", "ks")


def vote_shift(
    data: Any,
    target: Any = None,
    *,
    features: Any = None,
    method: str = "chi2",
    n_trees: int = 10_000,
    seed: int = 0,
    threads: int | None = None,
) -> AnalysisResult:
    """J_chi2 or J_ks of each feature, for two classes or many.

    method "chi2": class by vote (all entries of the confusion matrix) is counted over all trees
    and their out-of-bag samples, with the feature as it is and shuffled; the p-value is that of
    Pearson's chi-squared test that both columns of counts have one distribution. "ks": the
    accuracy of each tree, likewise, and the test of Kolmogorov and Smirnov.

    value      mean decrease of accuracy, for the size of the effect
    statistic  chi-squared, or the largest distance of the two distribution functions
    effect     size of the effect, which does not grow with the number of trees: Cohen's w, the root
               of chi-squared by the number of votes (0.1 is small, 0.3 medium, 0.5 large), or the
               same distance
    p_value    of the test
    label      "significant" where q_value < 0.05

    data may be a `Forest`, which is then used as it is; else see `srs.explain`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 30))
    >>> found = vote_shift(X, X[:, 1] + X[:, 2] > 0, n_trees=500)
    >>> found.frame.query("label == 'significant'")["feature"].tolist()
    ['f1', 'f2']
    """
    if method not in METHODS:
        raise InputError(f"the method of vote_shift is {method!r}; it must be chi2 or ks.")
    forest = forest_of(data, target, features, n_trees, seed, threads=threads)
    if not forest.matrix.is_classification:
        raise InputError("vote_shift needs classes, and the target is a number: use mda instead.")
    check_classes(forest.matrix)
    permuted = permute_features(forest)
    test = chi_squared if method == "chi2" else kolmogorov_smirnov
    statistic, p_value = test(forest, permuted)
    n_votes = 2 * max(int(permuted.votes.sum()), 1)
    effect = np.sqrt(statistic / n_votes) if method == "chi2" else statistic
    value, error = accuracy_decrease(forest, permuted)
    q_value = correct(p_value)
    labels = ["significant" if q < 0.05 else None for q in q_value]
    table = make_table(
        forest.matrix.names,
        value,
        error=error,
        null=np.zeros_like(value),
        p_value=p_value,
        q_value=q_value,
        label=labels,
        statistic=statistic,
        effect=effect,
    )
    settings = {"method": method, "n_trees": forest.n_trees, "seed": forest.seed}
    return AnalysisResult("vote-shift", table, settings, (CAVEAT, *forest.matrix.notices))


CAVEAT = (
    "The test treats the votes of all trees as independent, which they are not: trees share "
    "samples, and the votes before and after shuffling are those of the same samples. A feature "
    "that a tree does not use gives equal votes, which makes small forests blind (p-values near "
    "1); with more trees any chance association in this sample becomes significant in the end, "
    "even for features that do not matter in the population. Read a small p-value as: this "
    "forest uses the feature."
)


def chi_squared(forest: Forest, permuted: Permuted) -> tuple[np.ndarray, np.ndarray]:
    """Pearson's statistic of votes with the feature as it is against shuffled, and its p-value."""
    before = permuted.votes.ravel().astype(np.float64)
    after = before + permuted.shift.reshape(forest.matrix.n_features, -1)
    expected = (before + after) / 2  # both columns have the same number of votes
    terms = np.divide((after - before) ** 2, expected, out=np.zeros_like(after), where=expected > 0)
    statistic = terms.sum(axis=1) / 2
    freedom = np.maximum((expected > 0).sum(axis=1) - 1, 1)
    p_value = chdtrc(freedom, statistic)
    return statistic, np.maximum(p_value, np.finfo(float).tiny)


def kolmogorov_smirnov(forest: Forest, permuted: Permuted) -> tuple[np.ndarray, np.ndarray]:
    """Largest distance of the distributions of accuracy over trees, and its p-value.

    Trees that do not use a feature are the same in both, so only those that use it are sorted.
    """
    n_trees = int(np.isfinite(permuted.base).sum())
    p = forest.matrix.n_features
    order = np.argsort(permuted.column, kind="stable")
    column, tree = permuted.column[order], permuted.tree[order]
    before = permuted.base[tree]
    after = before + permuted.rise[order]
    bounds = np.searchsorted(column, np.arange(p + 1))
    statistic = np.zeros(p)
    for j in range(p):
        here = slice(bounds[j], bounds[j + 1])
        steps = np.concatenate([before[here], after[here]]).round(12)
        signs = np.repeat([1.0, -1.0], bounds[j + 1] - bounds[j])
        if not len(steps):
            continue
        levels, at = np.unique(steps, return_inverse=True)
        distance = np.cumsum(np.bincount(at, signs, len(levels)))
        statistic[j] = np.abs(distance).max() / n_trees
    p_value = kstwo.sf(statistic, max(round(n_trees / 2), 1))
    return statistic, np.clip(p_value, np.finfo(float).tiny, 1.0)


VOTE_SHIFT_ANALYSIS = Analysis(
    name="vote-shift",
    title="Vote shift",
    question="Do the votes of trees change when a feature is shuffled",
    run=vote_shift,
    value="method",
    options=(
        Option(
            "method",
            "str",
            "test of all votes (chi2) or of the accuracy of trees (ks)",
            "chi2",
            choices=METHODS,
        ),
    ),
    forest=True,
    whole_subjects=True,
    section=Section(
        "Bars are the accuracy that trees lose when the feature is shuffled, with two standard "
        "errors; p-values are of the test whether their votes change at all. A star marks those "
        "below 0.05. p-values shrink with the number of trees; the effect does not (Cohen's w for "
        "chi2: 0.1 is small, 0.3 medium, 0.5 large).",
        columns=("statistic", "effect"),
    ),
)
