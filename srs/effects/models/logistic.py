"""The odds ratio of a class against others, by logistic regression.

Where a feature separates the classes, the likelihood has no maximum. Firth's penalty
(Biometrika 1993) makes the estimate finite; its interval is that of the penalised likelihood
(Heinze and Schemper, Statistics in Medicine 2002), which may be open at one end only if a search
does not find it.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from srs.effects.estimate import LEVEL, Design, Estimate
from srs.targets.models.newton import Fit, invert, newton

STEEP = 12.0  # log odds between the ends of the feature: beyond, its classes are apart
REACH = 60.0  # how far the ends of an interval are searched, in standard errors
SEPARATED = "it separates the classes: estimated with Firth's penalty."


def log_odds_ratio(design: Design, y: np.ndarray) -> Estimate:
    """What one unit more of the feature adds to the log odds of class 1, covariates being equal.

    y  bool (n,)
    """
    n, k = len(y), design.others.shape[1] + 1
    if n <= k or y.all() or not y.any():
        return Estimate.none("there are not enough samples with a value in both classes.")
    if not design.tells():
        return Estimate.none("it is constant, or the covariates tell all of it.")
    centre, scale = float(design.x.mean()), float(design.x.std())
    standard = Design(
        (design.x - centre) / scale, design.others, design.weights, clusters=design.clusters
    )
    found = _fit(standard, y)
    fitted = _probabilities(standard.columns @ found.beta)
    span = float(np.ptp(standard.x))
    apart = abs(float(found.beta[-1])) * span > STEEP or bool((np.abs(fitted - y) < 1e-7).all())
    if not found.converged or apart:
        return _scaled(_firth(standard, y), scale)
    bread = invert(found.information)
    if bread is None:
        return Estimate.none("the covariates and the feature cannot be told apart.")
    covariance = bread
    if not design.is_plain:
        rest = standard.mass * (y - fitted)
        covariance = standard.sandwich(bread, standard.columns * rest[:, None])
    estimate = Estimate.of(float(found.beta[-1]), float(np.sqrt(covariance[-1, -1])))
    return _scaled(estimate, scale)


def _scaled(one: Estimate, scale: float) -> Estimate:
    """Per unit, of what is per standard deviation."""
    return Estimate(
        one.beta / scale,
        one.standard_error / scale,
        one.low / scale,
        high=one.high / scale,
        p_value=one.p_value,
        note=one.note,
    )


def _probabilities(linear: np.ndarray) -> np.ndarray:
    return np.asarray(special.expit(linear))


def _fit(design: Design, y: np.ndarray) -> Fit:
    columns, mass = design.columns, design.mass

    def derivatives(beta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        linear = columns @ beta
        p = _probabilities(linear)
        value = float((mass * (y * linear - np.logaddexp(0.0, linear))).sum())
        w = mass * p * (1.0 - p)
        return value, columns.T @ (mass * (y - p)), columns.T @ (w[:, None] * columns)

    return newton(np.zeros(columns.shape[1]), derivatives)


def _penalised(
    columns: np.ndarray, mass: np.ndarray, y: np.ndarray, fixed: float | None
) -> tuple[float, np.ndarray, np.ndarray]:
    """The largest penalised log-likelihood, its coefficients and its information.

    fixed  the last coefficient, if it is given
    """
    free = slice(None) if fixed is None else slice(0, -1)
    best = np.zeros(columns.shape[1])
    if fixed is not None:
        best[-1] = fixed

    def at(beta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        linear = columns @ beta
        p = _probabilities(linear)
        w = mass * p * (1.0 - p)
        information = columns.T @ (w[:, None] * columns) + 1e-12 * np.eye(columns.shape[1])
        inverse = np.linalg.inv(information)
        sign, size = np.linalg.slogdet(information)
        hat = w * np.einsum("ij,jk,ik->i", columns, inverse, columns)
        value = float((mass * (y * linear - np.logaddexp(0.0, linear))).sum())
        value += 0.5 * size if sign > 0 else -np.inf
        return value, columns.T @ (mass * (y - p) + hat * (0.5 - p)), information

    value, gradient, information = at(best)
    for _ in range(200):
        step = np.zeros_like(best)
        step[free] = np.linalg.solve(information[free, free], gradient[free])
        step *= min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-300))
        for _ in range(40):
            trial = at(best + step)
            if trial[0] >= value - 1e-12 * abs(value):
                break
            step = step / 2
        best = best + step
        value, gradient, information = trial
        if np.abs(step).max() < 1e-8:
            break
    return value, best, information


def _firth(design: Design, y: np.ndarray) -> Estimate:
    """The estimate of the penalised likelihood, with its profile interval."""
    columns, mass = design.columns, design.mass
    top, beta, information = _penalised(columns, mass, y, None)
    bread = invert(information)
    if bread is None:
        return Estimate.none("it separates the classes, and its size cannot be told.")
    middle, error = float(beta[-1]), float(np.sqrt(bread[-1, -1]))
    drop = float(special.chdtri(1.0, 1.0 - LEVEL)) / 2

    from scipy import optimize  # 12 MB, for few features

    def below(value: float) -> float:
        return top - _penalised(columns, mass, y, value)[0] - drop

    ends = []
    for side in (-1.0, 1.0):
        step = error
        while below(middle + side * step) < 0 and step < REACH * error:
            step *= 2
        if below(middle + side * step) < 0:
            ends.append(side * np.inf)
            continue
        far = middle + side * step
        found = optimize.brentq(below, min(middle, far), max(middle, far), xtol=1e-6)
        ends.append(float(found))
    ratio = 2.0 * (top - _penalised(columns, mass, y, 0.0)[0])
    p_value = float(special.chdtrc(1.0, max(ratio, 0.0)))
    low, high = ends
    return Estimate(middle, error, low, high=high, p_value=p_value, note=SEPARATED)
