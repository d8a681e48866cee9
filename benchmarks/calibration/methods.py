"""Ways to select features, each a function of a problem and a seed that returns ids.

All single-threaded: runs go on side by side. The nominal rate is 0.1 wherever a method has one.
The forests of BorutaPy and of Altmann's p-values are Breiman's, grown by our kernel: with those of
scikit-learn, which take several times as long, fifty runs of eight problems would take five hours.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.stats import false_discovery_control, kruskal, norm, spearmanr
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.utils import check_random_state

import srs
from benchmarks.calibration.peers import (
    IPSS_WIDE,
    KNOCKOFF_WIDE,
    MANY_CLASSES,
    TWO_CLASSES_ONLY,
    ipss_boosting,
    knockoffs,
    missing_peers,
)
from benchmarks.calibration.problems import Problem
from benchmarks.calibration.rows import Row
from srs.explain.forest import ForestSettings, criterion_of, mean_importance
from srs.explain.matrix import open_matrix
from srs.trees import TreeTarget

__all__ = ["METHODS", "NULL_METHODS", "RATE", "SLOW_METHODS", "cannot_run", "missing_peers"]

RATE = 0.1
PERMUTATIONS = 50  # of the labels, for Altmann's p-values
WIDE_FORESTS = ("paper's rule", "BorutaPy", "Altmann")  # take hours on 20,000 features


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


class KernelForest(BaseEstimator):  # type: ignore[misc]
    """A random forest on codes as BorutaPy wants one; what it learns is given beforehand."""

    def __init__(
        self,
        target: TreeTarget | None = None,
        n_estimators: int = 100,
        max_depth: int | None = None,
        random_state: int | np.random.RandomState = 0,
    ) -> None:
        self.target = target
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.random_state = random_state

    def fit(self, codes: np.ndarray, y: object = None) -> KernelForest:  # noqa: ARG002
        assert self.target is not None
        tree = ForestSettings(max_depth=self.max_depth).of_tree(
            criterion_of(self.target), codes.shape[1]
        )
        seed = int(check_random_state(self.random_state).randint(2**31))
        importance, _ = mean_importance(
            np.ascontiguousarray(codes),
            np.zeros(codes.shape[1], bool),
            target=self.target,
            tree=tree,
            n_trees=self.n_estimators,
            place=(seed,),
        )
        self.feature_importances_ = importance / max(importance.sum(), 1e-12)
        return self


def boruta(problem: Problem, seed: int) -> np.ndarray:
    """BorutaPy with forests of the depth that it recommends; confirmed features."""
    from boruta import BorutaPy

    matrix = open_matrix(problem.X, problem.y)
    forest = KernelForest(matrix.tree_target, max_depth=5)
    selector = BorutaPy(forest, n_estimators="auto", random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(matrix.codes, problem.y)
    return np.flatnonzero(selector.support_)


def altmann(problem: Problem, seed: int) -> np.ndarray:
    """Random forest importances against permuted labels: normal p-values, Benjamini-Hochberg."""
    rng = np.random.default_rng(seed)
    matrix = open_matrix(problem.X, problem.y)

    def importances(order: np.ndarray, number: int) -> np.ndarray:
        forest = KernelForest(matrix.tree_target.take(order), random_state=1_000 * seed + number)
        return forest.fit(matrix.codes).feature_importances_

    observed = importances(np.arange(matrix.n_samples), 0)
    null = np.stack(
        [
            importances(rng.permutation(matrix.n_samples), number)
            for number in range(1, PERMUTATIONS + 1)
        ]
    )
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
    made = ExtraTreesRegressor if problem.is_regression else ExtraTreesClassifier
    forest = made(1_000, max_features="sqrt", random_state=seed).fit(problem.X, problem.y)
    return np.argsort(-forest.feature_importances_)[: len(problem.relevant)]


METHODS: dict[str, Callable[[Problem, int], np.ndarray]] = {
    "srs": default_mode,
    "paper's rule": paper_rule,
    "BorutaPy": boruta,
    "Altmann": altmann,
    "knockoffs": knockoffs,
    "IPSS": ipss_boosting,
    "univariate": univariate,
    "extra-trees, true k": extra_trees_top,
}
SLOW_METHODS = ("paper's rule", "BorutaPy", "Altmann", "knockoffs", "IPSS", "extra-trees, true k")
NULL_METHODS = ("srs", "univariate")


def cannot_run(method: str, row: Row) -> bool:
    """Whether the method is not made for the data of this row, or too slow for it."""
    if method in TWO_CLASSES_ONLY and row.name in MANY_CLASSES:
        return True
    if method == "knockoffs":
        return row.name in KNOCKOFF_WIDE
    if method == "IPSS":
        return row.name in IPSS_WIDE
    return method in WIDE_FORESTS and row.name == "pair_of_20000"
