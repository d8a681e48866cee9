"""Counts: Poisson regression, or negative binomial where counts vary more than Poisson ones."""

from __future__ import annotations

import numpy as np
from scipy import special

from srs.targets.models.newton import Fit, newton_or_ridge
from srs.targets.models.null import NullDesign, NullModel, dispersed, single_index

MOST_LINEAR = 50.0  # of a linear predictor: beyond, steps are halved
LEAST_SPREAD = 1e-6  # of the negative binomial: below, it is Poisson


def fit_columns(
    columns: np.ndarray,
    counts: np.ndarray,
    mass: np.ndarray,
    offset: np.ndarray,
    spread: float = 0.0,
) -> Fit:
    """Coefficients of the log rate. The variance is mean + spread * mean ** 2; 0: Poisson."""

    def derivatives(beta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        linear = columns @ beta + offset
        if np.abs(columns @ beta).max() > MOST_LINEAR:
            return -np.inf, np.zeros(len(beta)), np.eye(len(beta))
        mean = np.exp(linear)
        if spread > 0:
            value = counts * linear - (counts + 1.0 / spread) * np.log1p(spread * mean)
        else:
            value = counts * linear - mean
        weights = mass * mean / (1.0 + spread * mean)
        gradient = columns.T @ (mass * (counts - mean) / (1.0 + spread * mean))
        return float(mass @ value), gradient, columns.T @ (weights[:, None] * columns)

    start = np.zeros(columns.shape[1])
    start[0] = np.log(max(float(mass @ counts), 1e-3) / float(mass @ np.exp(offset)))
    return newton_or_ridge(start, derivatives)


def _log_likelihood(counts: np.ndarray, mean: np.ndarray, mass: np.ndarray, spread: float) -> float:
    size = 1.0 / spread
    value = special.gammaln(counts + size) - special.gammaln(size)
    value += counts * np.log(spread * mean) - (counts + size) * np.log1p(spread * mean)
    return float(mass @ value)


def find_spread(
    columns: np.ndarray, counts: np.ndarray, mass: np.ndarray, offset: np.ndarray
) -> float:
    """The spread of counts by maximum likelihood; 0 where they vary no more than Poisson ones do in
    the regression of Cameron and Trivedi (1990)."""
    beta = fit_columns(columns, counts, mass, offset).beta
    mean = np.exp(columns @ beta + offset)
    extra = ((counts - mean) ** 2 - counts) / mean
    slope = float((mass * mean) @ extra / ((mass * mean) @ mean))
    if slope <= LEAST_SPREAD:
        return 0.0
    spread = max(slope, LEAST_SPREAD)
    for _ in range(30):  # the mean given the spread, and the spread given the mean
        beta = fit_columns(columns, counts, mass, offset, spread=spread).beta
        mean = np.exp(columns @ beta + offset)
        last, spread = spread, _best_spread(counts, mean, mass, spread)
        if abs(np.log(spread / last)) < 1e-7:
            break
    return 0.0 if spread <= LEAST_SPREAD else spread


def _best_spread(counts: np.ndarray, mean: np.ndarray, mass: np.ndarray, near: float) -> float:
    """The most likely spread given the means, by golden section on its logarithm."""
    ratio = (np.sqrt(5.0) - 1.0) / 2.0
    low, high = np.log(near) - 4.0, np.log(near) + 4.0
    inner = [high - ratio * (high - low), low + ratio * (high - low)]
    found = [_log_likelihood(counts, mean, mass, float(np.exp(one))) for one in inner]
    while high - low > 1e-8:
        if found[0] > found[1]:
            high, inner[1], found[1] = inner[1], inner[0], found[0]
            inner[0] = high - ratio * (high - low)
            found[0] = _log_likelihood(counts, mean, mass, float(np.exp(inner[0])))
        else:
            low, inner[0], found[0] = inner[0], inner[1], found[1]
            inner[1] = low + ratio * (high - low)
            found[1] = _log_likelihood(counts, mean, mass, float(np.exp(inner[1])))
    return max(float(np.exp((low + high) / 2.0)), LEAST_SPREAD)


def fit_counts(counts: np.ndarray, design: NullDesign, offset: np.ndarray) -> NullModel:
    """The null model of counts; offset: logarithm of the exposure of each sample."""
    inside = design.train
    some = (design.fitted, counts[inside], design.counted, offset[inside])
    spread = find_spread(*some)
    found = fit_columns(*some, spread=spread)
    mean = np.exp(np.clip(design.columns @ found.beta, -MOST_LINEAR, MOST_LINEAR) + offset)
    shrink = 1.0 + spread * mean
    # Cumulants of a negative binomial count, of which a residual is one divided by `shrink`.
    third = mean * (1.0 + 2.0 * spread * mean) / shrink**2
    fourth = mean * (1.0 + 6.0 * spread * mean + 6.0 * (spread * mean) ** 2) / shrink**3
    null = single_index(
        design,
        (counts - mean) / shrink,
        mean / shrink,
        (third, fourth),
        mean,
        converged=found.converged,
    )
    return dispersed(null, design)
