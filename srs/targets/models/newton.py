"""Newton's method for log-likelihoods, and the inverse of an information matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MAX_STEPS = 50
CLOSE = 1e-9  # change of the log-likelihood, relative, at which Newton ends
RIDGE = 1e-3  # of the information, where a likelihood has no maximum


@dataclass(frozen=True)
class Fit:
    """What Newton's method found.

    beta         coefficients
    information  minus the second derivative of the log-likelihood
    converged    whether it came to an end
    """

    beta: np.ndarray
    information: np.ndarray
    converged: bool


Derivatives = Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]]


def newton(start: np.ndarray, derivatives: Derivatives) -> Fit:
    """Maximise a log-likelihood; steps that make it worse are halved.

    derivatives  of coefficients: log-likelihood, its gradient, and the information
    """
    beta = start.astype(np.float64)
    value, gradient, information = derivatives(beta)
    for _ in range(MAX_STEPS):
        try:
            step = np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError:
            return Fit(beta, information, False)
        for _ in range(30):
            trial = derivatives(beta + step)
            if np.isfinite(trial[0]) and trial[0] >= value - 1e-12 * abs(value):
                break
            step = step / 2
        else:
            return Fit(beta, information, False)
        beta = beta + step
        change, (value, gradient, information) = trial[0] - value, trial
        if abs(change) <= CLOSE * (abs(value) + 1e-3) and np.abs(step).max() < 1e-5:
            return Fit(beta, information, True)
    return Fit(beta, information, False)


def newton_or_ridge(start: np.ndarray, derivatives: Derivatives) -> Fit:
    """The same; where there is no maximum, as covariates tell the target completely, with a light
    penalty of the coefficients beside the start."""
    found = newton(start, derivatives)
    if found.converged:
        return found
    scale = RIDGE * max(1.0, float(np.trace(derivatives(start)[2])) / len(start))

    def penalised(beta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        value, gradient, information = derivatives(beta)
        away = beta - start
        return (
            value - 0.5 * scale * float(away @ away),
            gradient - scale * away,
            information + scale * np.eye(len(beta)),
        )

    kept = newton(start, penalised)
    return Fit(kept.beta, kept.information, False)


def invert(information: np.ndarray) -> np.ndarray | None:
    """The inverse of an information matrix; None if there is none."""
    try:
        found = np.linalg.inv(information)
    except np.linalg.LinAlgError:
        return None
    return found if np.isfinite(found).all() and (np.diag(found) > 0).all() else None
