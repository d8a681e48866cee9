"""Many classes: multinomial logistic regression, the first class being the reference."""

from __future__ import annotations

import numpy as np
from scipy import special

from srs.targets.models.newton import Fit, newton_or_ridge
from srs.targets.models.null import NullDesign, NullModel


def shares_of(columns: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Shares of classes, (n, n_classes); beta: (n_classes - 1, k)."""
    linear = np.column_stack([np.zeros(len(columns)), columns @ beta.T])
    return np.asarray(special.softmax(linear, axis=1))


def information_of(columns: np.ndarray, shares: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Information of the coefficients, ((n_classes - 1) k, ...): blocks by class."""
    n_free, k = shares.shape[1] - 1, columns.shape[1]
    found = np.empty((n_free, k, n_free, k))
    for c in range(n_free):
        for d in range(n_free):
            weights = mass * shares[:, c + 1] * ((c == d) - shares[:, d + 1])
            found[c, :, d] = columns.T @ (weights[:, None] * columns)
    return found.reshape(n_free * k, n_free * k)


def fit_columns(columns: np.ndarray, classes: np.ndarray, mass: np.ndarray, n_classes: int) -> Fit:
    """Coefficients of the log odds of each class against the first, class after class."""
    k = columns.shape[1]
    outcome = classes[:, None] == np.arange(n_classes)

    def derivatives(beta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        shares = shares_of(columns, beta.reshape(-1, k))
        seen = np.maximum(shares[np.arange(len(classes)), classes], 1e-300)
        rest = mass[:, None] * (outcome - shares)
        gradient = (rest[:, 1:].T @ columns).ravel()
        return float(mass @ np.log(seen)), gradient, information_of(columns, shares, mass)

    counts = np.maximum(np.bincount(classes, mass, n_classes), 1e-6)
    start = np.zeros((n_classes - 1, k))
    start[:, 0] = np.log(counts[1:] / counts[0])
    return newton_or_ridge(start.ravel(), derivatives)


def fit_multinomial(classes: np.ndarray, design: NullDesign, n_classes: int) -> NullModel:
    """The null model of many classes; residuals and expected shares have a column per class, bread
    is of the classes but the first. The variance of residuals follows from the shares."""
    y = classes[design.train]
    found = fit_columns(design.fitted, y, design.counted, n_classes)
    shares = shares_of(design.columns, found.beta.reshape(n_classes - 1, -1))
    empty = np.empty((len(classes), 0))
    return NullModel(
        residuals=(classes[:, None] == np.arange(n_classes)) - shares,
        information=empty,
        cross=empty,
        bread=np.linalg.pinv(found.information),
        third=empty,
        fourth=empty,
        expected=shares,
        converged=found.converged,
    )
