"""Marginal contribution feature importance (Catav et al. 2021): the most a feature ever adds."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from srs.catalogue import MOST, Analysis, Option, Section
from srs.errors import InputError
from srs.executors import LocalExecutor
from srs.explain.forest import OnProgress
from srs.explain.matrix import check_classes, open_matrix
from srs.explain.score import oob_score
from srs.results.analysis import AnalysisResult, check_counts, make_table
from srs.seeds import EXPLAIN, make_rng

MCI = EXPLAIN + 8
MAX_EXACT = 14
FEW_FEATURES = 8
MAX_FORESTS = 200_000


def mci(
    data: Any,
    target: Any = None,
    *,
    features: Any = None,
    method: str | None = None,
    max_size: int = 3,
    n_orders: int = 100,
    n_trees: int = 100,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> AnalysisResult:
    """The largest rise of the score when a feature joins any set of the others.

    method    "exact": all sets, 2**n_features forests. "submodular": sets that with the feature
              have at most `max_size` features (exact if the score is submodular beyond). "sampled":
              sets that come before the feature in `n_orders` random orders, a lower bound. None:
              exact up to 8 features, else submodular

    value  max over sets S of score(S and the feature) - score(S); score is the out-of-bag accuracy
           less that of the largest class, or R squared
    best   the set S where the maximum is, as text

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> found = mci(X, X[:, 0] + X[:, 1])
    >>> [bool(v > 0.3) for v in found.column("value")]
    [True, True, False]
    """
    check_counts(seed=seed, max_size=max_size, n_orders=n_orders, n_trees=n_trees, threads=threads)
    matrix = open_matrix(data, target, features)
    check_classes(matrix)
    if method is None:
        method = "exact" if matrix.n_features <= FEW_FEATURES else "submodular"
    sets = _sets(matrix.n_features, method, max_size, n_orders, seed)

    def score(subset: tuple[int, ...]) -> float:
        codes = np.ascontiguousarray(matrix.codes[:, subset])
        categorical = matrix.is_categorical[list(subset)]
        place = (seed, MCI, len(subset), *subset)
        return oob_score(
            codes, categorical, matrix.tree_target, n_trees, place, subjects=matrix.subjects
        )

    scores: dict[tuple[int, ...], float] = {}
    for subset, scored in zip(sets, LocalExecutor(threads).map(score, sets), strict=True):
        scores[subset] = scored
        if on_progress:
            on_progress(len(scores) / len(sets))
    value, best = _largest_rise(scores, matrix.n_features)
    texts = [", ".join(matrix.names[f] for f in subset) for subset in best]
    table = make_table(matrix.names, value, best=texts)
    settings = {"method": method, "n_forests": len(sets), "n_trees": n_trees, "seed": seed}
    return AnalysisResult("mci", table, settings, matrix.notices)


def _largest_rise(
    scores: Mapping[tuple[int, ...], float], p: int
) -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """By feature: the largest rise of the score when it joins a set, and that set."""
    value = np.zeros(p)
    best: list[tuple[int, ...]] = [()] * p
    for subset in scores:
        for feature in subset:
            without = tuple(f for f in subset if f != feature)
            if without in scores and scores[subset] - scores[without] > value[feature]:
                value[feature] = scores[subset] - scores[without]
                best[feature] = without
    return value, best


def _sets(p: int, method: str, max_size: int, n_orders: int, seed: int) -> list[tuple[int, ...]]:
    """The sets whose scores are needed, each once, smaller ones first."""
    if method == "exact" and p > MAX_EXACT:
        raise InputError(
            f"exact MCI grows 2**n_features forests: at most {MAX_EXACT} features, not {p}; use "
            f"method='submodular' or 'sampled', or umfi."
        )
    if method in ("exact", "submodular"):
        largest = p if method == "exact" else min(max_size, p)
        sets = [s for size in range(largest + 1) for s in combinations(range(p), size)]
    elif method == "sampled":
        found = {()}
        for number in range(n_orders):
            order = make_rng(seed, MCI, 0, number).permutation(p).tolist()
            found |= {tuple(sorted(order[:size])) for size in range(1, p + 1)}
        sets = sorted(found, key=lambda s: (len(s), s))
    else:
        raise InputError(
            f"the method of mci is {method!r}; it must be exact, submodular or sampled."
        )
    if len(sets) > MAX_FORESTS:
        raise InputError(
            f"MCI of {p} features needs {len(sets):,} forests: lower max_size or n_orders."
        )
    return sets


MCI_ANALYSIS = Analysis(
    name="mci",
    title="Marginal contribution",
    question="How much a feature adds at most to any set of others",
    run=mci,
    value="method",
    options=(
        Option(
            "method",
            "str",
            "which sets are evaluated: all, small ones, or random ones",
            choices=("exact", "submodular", "sampled"),
            none=f"exact up to {FEW_FEATURES} features, else submodular",
        ),
        Option("max_size", "int", "features of the largest set (submodular)", 3, low=1, high=MOST),
        Option("n_orders", "int", "random orders of features (sampled)", 100, low=1, high=MOST),
        Option("n_trees", "int", "trees of each forest", 100, low=1, high=MOST),
    ),
    whole_subjects=True,
    section=Section("The most that a feature ever adds to a set of others.", columns=("best",)),
)
