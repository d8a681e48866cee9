"""What effects are adjusted for: covariates, strata of the confounders, weights and subjects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from srs.engine.adjusting.strata import sample_column
from srs.engine.context import RunContext

SAMPLES_PER_STRATUM = 10  # fewer on average, and strata are too many for a column each


@dataclass(frozen=True)
class Adjustment:
    """Of the training samples, in their order.

    train     int: the training samples
    others    float64 (n, k): covariates with a column of ones before them
    weights   float64, 1 in the mean; None: all alike
    clusters  int: subjects; None: each sample is its own
    names     columns of the store that effects are adjusted for
    """

    train: np.ndarray
    others: np.ndarray
    weights: np.ndarray | None
    clusters: np.ndarray | None
    names: tuple[str, ...]


def adjustment_of(context: RunContext) -> Adjustment:
    """What the samples of a run ask for."""
    samples, settings = context.samples, context.settings
    train = np.asarray(samples.train, np.int64)
    others = np.ones((len(train), 1))
    names: tuple[str, ...] = ()
    if samples.covariates is not None:  # with strata of the confounders among its columns
        others = samples.covariates.columns[train]
        names = (*settings.covariates, *settings.confounders)
    elif samples.strata is not None:
        _, numbers = np.unique(samples.strata[train], return_inverse=True)
        n_strata = int(numbers.max()) + 1
        if n_strata * SAMPLES_PER_STRATUM <= len(train):
            own = (numbers.reshape(-1, 1) == np.arange(1, n_strata)).astype(np.float64)
            others, names = np.column_stack([others, own]), settings.confounders
    weights = None
    if settings.sample_weight is not None:
        column = sample_column(context.store, settings.sample_weight)
        given = column.values.astype(np.float64)
        if column.has_classes:
            given = np.array([float(label) for label in column.labels])[column.values]
        weights = given[train] / given[train].mean()
    clusters = None if samples.subjects is None else samples.subjects[train]
    return Adjustment(train, others, weights, clusters=clusters, names=names)
