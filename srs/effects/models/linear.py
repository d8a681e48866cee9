"""The slope of a numeric target, by least squares."""

from __future__ import annotations

import numpy as np

from srs.effects.estimate import Design, Estimate


def slope(design: Design, y: np.ndarray) -> Estimate:
    """What one unit more of the feature adds to the target, covariates being equal."""
    n, k = len(y), design.others.shape[1] + 1
    if n <= k:
        return Estimate.none("there are not enough samples with a value.")
    if not design.tells():
        return Estimate.none("it is constant, or the covariates tell all of it.")
    columns = design.columns
    root = np.sqrt(design.mass)[:, None]
    bread = np.linalg.pinv((root * columns).T @ (root * columns))
    beta = bread @ (columns.T @ (design.mass * y))
    rest = y - columns @ beta
    if design.is_plain:
        error = np.sqrt(max(float(rest @ rest), 0.0) / (n - k) * bread[-1, -1])
    else:
        covariance = design.sandwich(bread, columns * (design.mass * rest)[:, None])
        error = np.sqrt(covariance[-1, -1])
    if error <= 1e-12 * abs(float(beta[-1])):
        return Estimate.none("the target is an exact function of it.")
    clusters = design.clusters
    freedom = n - k if clusters is None else len(np.unique(clusters)) - 1
    return Estimate.of(float(beta[-1]), float(error), freedom)
