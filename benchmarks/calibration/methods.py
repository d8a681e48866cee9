"""Ways to select features, each a function of a problem and a seed that returns ids.

All single-threaded: runs go on side by side. The nominal rate is 0.1 wherever a method has one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.stats import false_discovery_control, kruskal, norm, spearmanr
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

import srs
from benchmarks.calibration.problems import Problem

RATE = 0.1
PERMUTATIONS = 50  # of the labels, for Altmann's p-values


def default_mode(problem: Problem, seed: int) -> np.ndarray:
    """`srs.select` as it comes."""
    store = srs.ingest(problem.X, target=problem.y)
    return srs.select(store, fdr=RATE, seed=seed, threads=1).relevant_ids


def paper_rule(problem: Problem, seed: int) -> np.ndarray:
    """Algorithm 7.1 with its probe rule: subspaces of a tenth, half of it carried, 2,000 trees."""
    store = srs.ingest(problem.X, target=problem.y)
    size = max(problem.X.shape[1] // 10, 5)
    return srs.select(
        store, mode="paper", subspace_size=size, max_trees=2_000, seed=seed, threads=1
    ).relevant_ids


def boruta(problem: Problem, seed: int) -> np.ndarray:
    """BorutaPy with its recommended forest; confirmed features."""
    from boruta import BorutaPy

    forest = _forest("random", problem, seed, 100, max_depth=5)
    selector = BorutaPy(forest, n_estimators="auto", random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(problem.X, problem.y)
    return np.flatnonzero(selector.support_)


def altmann(problem: Problem, seed: int) -> np.ndarray:
    """Random forest importances against permuted labels: normal p-values, Benjamini-Hochberg."""
    rng = np.random.default_rng(seed)

    def importances(y: np.ndarray) -> np.ndarray:
        return _forest("random", problem, seed, 100).fit(problem.X, y).feature_importances_

    observed = importances(problem.y)
    null = np.stack([importances(rng.permutation(problem.y)) for _ in range(PERMUTATIONS)])
    z = (observed - null.mean(0)) / np.maximum(null.std(0, ddof=1), 1e-12)
    return np.flatnonzero(false_discovery_control(norm.sf(z)) <= RATE)


def univariate(problem: Problem, seed: int) -> np.ndarray:  # noqa: ARG001
    """Kruskal-Wallis by class, Spearman for a numeric target; Benjamini-Hochberg."""
    X, y = problem.X, problem.y
    if problem.is_regression:
        p_values = np.array([spearmanr(x, y).pvalue for x in X.T])
    else:
        p_values = kruskal(*(X[y == c] for c in np.unique(y))).pvalue
    return np.flatnonzero(false_discovery_control(np.nan_to_num(p_values, nan=1.0)) <= RATE)


def extra_trees_top(problem: Problem, seed: int) -> np.ndarray:
    """The top k of 1000 extra-trees, with the true k given to it; it has no rate of its own."""
    forest = _forest("extra", problem, seed, 1_000).fit(problem.X, problem.y)
    return np.argsort(-forest.feature_importances_)[: len(problem.relevant)]


def _forest(kind: str, problem: Problem, seed: int, n_trees: int, **settings: object):  # type: ignore[no-untyped-def]
    made = {
        ("random", False): RandomForestClassifier, ("random", True): RandomForestRegressor,
        ("extra", False): ExtraTreesClassifier, ("extra", True): ExtraTreesRegressor,
    }[kind, problem.is_regression]  # fmt: skip
    return made(n_trees, max_features="sqrt", random_state=seed, **settings)


METHODS: dict[str, Callable[[Problem, int], np.ndarray]] = {
    "srs": default_mode,
    "paper's rule": paper_rule,
    "BorutaPy": boruta,
    "Altmann": altmann,
    "univariate": univariate,
    "extra-trees, true k": extra_trees_top,
}
SLOW_METHODS = ("BorutaPy", "Altmann")
