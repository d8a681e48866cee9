"""Two classes: logistic regression."""

from __future__ import annotations

import numpy as np
from scipy import special

from srs.targets.models.newton import Fit, newton_or_ridge
from srs.targets.models.null import NullDesign, NullModel, single_index


def fit_columns(columns: np.ndarray, y: np.ndarray, mass: np.ndarray) -> Fit:
    """Coefficients of the log odds of y (bool)."""

    def derivatives(beta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        linear = columns @ beta
        p = special.expit(linear)
        value = float((mass * (y * linear - np.logaddexp(0.0, linear))).sum())
        weights = mass * p * (1.0 - p)
        gradient = columns.T @ (mass * (y - p))
        return value, gradient, columns.T @ (weights[:, None] * columns)

    start = np.zeros(columns.shape[1])
    start[0] = special.logit(np.clip(np.average(y, weights=mass), 1e-6, 1.0 - 1e-6))
    return newton_or_ridge(start, derivatives)


def fit_logistic(classes: np.ndarray, design: NullDesign) -> NullModel:
    """The null model of classes 0 and 1; residuals are of class 1, expected are shares of both."""
    y = classes == 1
    found = fit_columns(design.fitted, y[design.train], design.counted)
    p = special.expit(design.columns @ found.beta)
    variance = p * (1.0 - p)
    cumulants = variance * (1.0 - 2.0 * p), variance * (1.0 - 6.0 * variance)
    return single_index(
        design,
        y - p,
        variance,
        cumulants,
        np.stack([1.0 - p, p], axis=1),
        converged=found.converged,
    )
