"""Intervals of the mean decrease of accuracy by subsampling (Ishwaran and Lu 2019; thesis 4.5).

The error over trees says how far more trees would move an importance. These intervals say how far
other samples would: forests are grown on subsamples of b of the n samples. Two estimates of the
variance of an importance of n samples:

    subsampling         b / n        x  mean (importance of a subsample - their mean) ** 2
    delete-d jackknife  b / (n - b)  x  mean (importance of a subsample - importance of all) ** 2

The second holds the bias of a smaller sample, too, and is wider.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from srs.catalogue import MOST, Analysis, Option, Section
from srs.errors import InputError, SettingsError
from srs.executors import LocalExecutor
from srs.explain.analyses.mda import accuracy_decrease
from srs.explain.forest import ForestSettings, OnProgress, grow_forest
from srs.explain.matrix import Matrix, open_matrix
from srs.explain.permuting.permuted import permute_features
from srs.results.analysis import AnalysisResult, check_counts, correct, make_table
from srs.seeds import EXPLAIN, make_rng

SUBSAMPLES = EXPLAIN + 16
JACKKNIFE, SUBSAMPLING = METHODS = ("jackknife", "subsampling")
FEWEST = 10  # samples or subjects of a subsample


def mda_intervals(
    data: Any,
    target: Any = None,
    *,
    features: Any = None,
    method: str = JACKKNIFE,
    n_subsamples: int = 100,
    share: float | None = None,
    level: float = 0.95,
    n_trees: int = 200,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> AnalysisResult:
    """Mean decrease of accuracy of each feature, with an interval for other samples.

    method        "jackknife" (delete-d) or "subsampling", see the module
    n_subsamples  subsamples, with a forest each
    share         size of a subsample as a share of all samples; None: the root of their number
    level         chance that the interval holds the importance

    value      mean decrease of accuracy, of all samples
    error      its standard error over samples
    low, high  the interval
    p_value    of value / error, one-sided, under the normal law

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 3))
    >>> found = mda_intervals(X, X[:, 1] > 0, n_trees=50, n_subsamples=20)
    >>> found.frame.query("low > 0")["feature"].tolist()
    ['f1']
    """
    check_counts(seed=seed, n_trees=n_trees, n_subsamples=n_subsamples, threads=threads)
    if method not in METHODS:
        raise SettingsError(f"method must be one of {', '.join(METHODS)}, not {method!r}.")
    if n_subsamples < 2 or not 0 < level < 1:
        raise InputError("intervals need at least 2 subsamples, and a level between 0 and 1.")
    matrix = open_matrix(data, target, features)
    n_units, n_drawn = _sizes(matrix, share)

    def grow(number: int) -> np.ndarray:
        rng = make_rng(seed, SUBSAMPLES, number)
        own_seed = int(rng.integers(1 << 62))
        samples = _subsample(matrix, n_drawn, rng) if number else None
        return _importances(matrix, samples, n_trees, own_seed)

    found = []
    for values in LocalExecutor(threads).map(grow, range(n_subsamples + 1)):
        found.append(values)
        if on_progress:
            on_progress(len(found) / (n_subsamples + 1))
    error = _error(np.array(found), method, n_units, n_drawn)
    drawn = {"method": method, "n_subsamples": n_subsamples, "subsample": n_drawn}
    settings = {**drawn, "level": level, "n_trees": n_trees, "seed": seed}
    table = _table(matrix, found[0], error, level)
    return AnalysisResult("mda-intervals", table, settings, (*NOTES, *matrix.notices))


def _error(found: np.ndarray, method: str, n_units: int, n_drawn: int) -> np.ndarray:
    """Standard errors from importances of all samples, the first row, and of subsamples."""
    value, parts = found[0], found[1:]
    if method == JACKKNIFE:
        variance = n_drawn / (n_units - n_drawn) * ((parts - value) ** 2).mean(axis=0)
    else:
        variance = n_drawn / n_units * parts.var(axis=0)
    return np.asarray(np.sqrt(variance))


def _table(matrix: Matrix, value: np.ndarray, error: np.ndarray, level: float) -> Any:
    reach = float(ndtri((1 + level) / 2)) * error
    z_score = np.divide(value, error, out=np.zeros_like(value), where=error > 0)
    p_value = np.maximum(ndtr(-z_score), np.finfo(float).tiny)
    return make_table(
        matrix.names,
        value,
        error=error,
        null=np.zeros_like(value),
        p_value=p_value,
        q_value=correct(p_value),
        low=value - reach,
        high=value + reach,
    )


def _sizes(matrix: Matrix, share: float | None) -> tuple[int, int]:
    """How many samples or subjects there are, and how many a subsample has."""
    n = matrix.n_samples if matrix.subjects is None else len(np.unique(matrix.subjects))
    if share is not None and not 0 < share < 1:
        raise InputError(f"share is a part of the samples, above 0 and below 1, not {share}.")
    n_drawn = max(FEWEST, round(np.sqrt(n)) if share is None else round(share * n))
    if n_drawn >= n:
        raise InputError(
            f"{n} samples or subjects are too few for intervals: a subsample has at least "
            f"{FEWEST}, and must leave some out."
        )
    return n, n_drawn


def _subsample(matrix: Matrix, n_drawn: int, rng: np.random.Generator) -> np.ndarray:
    """Samples of some units, drawn without replacement, in order."""
    if matrix.subjects is None:
        return np.sort(rng.permutation(matrix.n_samples)[:n_drawn])
    drawn = rng.permutation(np.unique(matrix.subjects))[:n_drawn]
    return np.flatnonzero(np.isin(matrix.subjects, drawn))


def _importances(matrix: Matrix, samples: np.ndarray | None, n_trees: int, seed: int) -> np.ndarray:
    """Mean decrease of accuracy of a forest of some samples, out of its own bags."""
    forest = grow_forest(matrix, ForestSettings(n_trees), seed=seed, threads=1, samples=samples)
    if samples is not None:
        in_bag = np.ones_like(forest.in_bag)
        in_bag[:, samples] = forest.in_bag[:, samples]
        forest = replace(forest, in_bag=in_bag)
    return accuracy_decrease(forest, permute_features(forest))[0]


NOTES = (
    "Intervals are for the importance that a forest of so many samples has on average, over other "
    "samples of the same population. Smaller samples show less, so the jackknife, which counts "
    "that as error, gives intervals that are too wide rather than too narrow.",
)


MDA_INTERVALS_ANALYSIS = Analysis(
    name="mda-intervals",
    title="Intervals of the mean decrease of accuracy",
    question="How far could an importance be off with other samples",
    run=mda_intervals,
    whole_subjects=True,
    options=(
        Option(
            "method",
            "str",
            "delete-d jackknife, or subsampling, which is narrower",
            JACKKNIFE,
            choices=METHODS,
        ),
        Option("n_subsamples", "int", "subsamples, with a forest each", 100, low=2, high=MOST),
        Option(
            "share",
            "float",
            "size of a subsample as a share of all samples",
            low=0.001,
            high=0.999,
            none="the root of their number",
        ),
        Option("level", "float", "chance that an interval holds", 0.95, low=0.5, high=0.9999),
        Option("n_trees", "int", "trees of each forest", 200, low=1, high=MOST),
    ),
    section=Section(
        "How much worse a forest predicts samples it has not seen when the values of the feature "
        "are shuffled. Whiskers are two standard errors over other samples of the same population; "
        "a star marks p-values below 0.05.",
        columns=("low", "high"),
    ),
)
