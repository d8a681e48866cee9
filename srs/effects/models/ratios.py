"""Ratios of hazards, odds and rates, by the models that the null models of these targets are."""

from __future__ import annotations

import numpy as np

from srs.effects.estimate import Design, Estimate
from srs.targets.models import counts, cox, ordered
from srs.targets.models.newton import Fit, invert

TOO_FEW = "there are not enough samples with a value."
CONSTANT = "it is constant, or the covariates tell all of it."
APART = "the target is apart by it, so its size cannot be told."
STEEP = 15.0  # logarithm of a ratio between the ends of the feature, beyond which it is no estimate


def log_hazard_ratio(design: Design, values: np.ndarray) -> Estimate:
    """What one unit more of the feature adds to the log hazard. values: (n, 2), time and event."""
    time, event = values[:, 0], values[:, 1] > 0
    refused = _refuse(design, int(event.sum()))
    if refused is not None:
        return refused
    columns, scale = _columns(design)
    found = cox.fit_columns(columns, time, event, design.mass)
    scores = None
    if not design.is_plain:
        scores = cox.score_residuals(columns, found.beta, time, event, design.mass)
    return _estimate(design, found, columns, scores, scale=scale)


def log_odds_of_more(design: Design, values: np.ndarray) -> Estimate:
    """What one unit more of the feature adds to the log odds of a higher level, at every level."""
    _, codes = np.unique(values.astype(np.int64), return_inverse=True)
    codes = codes.reshape(-1)
    n_levels = int(codes.max(initial=0)) + 1
    refused = _refuse(design, len(codes) - int(np.bincount(codes).max(initial=0)))
    if refused is not None:
        return refused
    columns, scale = _columns(design)
    found = ordered.fit_columns(columns, codes, design.mass, n_levels)
    scores = None
    if not design.is_plain:
        scores = ordered.score_residuals(columns, found.beta, codes, n_levels)
        scores = design.mass[:, None] * scores
    return _estimate(design, found, columns, scores, scale=scale)


def log_rate_ratio(design: Design, values: np.ndarray, offset: np.ndarray) -> Estimate:
    """What one unit more of the feature adds to the log rate of a count."""
    refused = _refuse(design, int((values > 0).sum()))
    if refused is not None:
        return refused
    columns, scale = _columns(design)
    columns = np.column_stack([design.others[:, :1], columns])
    spread = counts.find_spread(columns, values, design.mass, offset)
    found = counts.fit_columns(columns, values, design.mass, offset, spread=spread)
    scores = None
    if not design.is_plain:
        mean = np.exp(columns @ found.beta + offset)
        rest = design.mass * (values - mean) / (1.0 + spread * mean)
        scores = columns * rest[:, None]
    return _estimate(design, found, columns, scores, scale=scale)


def _refuse(design: Design, n_events: int) -> Estimate | None:
    k = design.others.shape[1] + 1
    if n_events < 2 or len(design.x) <= k:
        return Estimate.none(TOO_FEW)
    return None if design.tells() else Estimate.none(CONSTANT)


def _columns(design: Design) -> tuple[np.ndarray, float]:
    """Covariates without the column of ones, and the feature in standard deviations."""
    scale = float(design.x.std())
    standard = (design.x - design.x.mean()) / scale
    return np.column_stack([design.others[:, 1:], standard]), scale


def _estimate(
    design: Design, found: Fit, columns: np.ndarray, scores: np.ndarray | None, *, scale: float
) -> Estimate:
    steep = abs(float(found.beta[-1])) * float(np.ptp(columns[:, -1])) > STEEP
    bread = invert(found.information)
    if not found.converged or steep or bread is None:
        return Estimate.none(APART)
    covariance = bread if scores is None else design.sandwich(bread, scores)
    error = float(np.sqrt(covariance[-1, -1]))
    return Estimate.of(float(found.beta[-1]) / scale, error / scale)
