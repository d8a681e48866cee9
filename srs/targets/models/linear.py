"""Numbers: least squares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from srs.targets.models.null import NullDesign, NullModel, empirical_cumulants, single_index


def fit_linear(values: np.ndarray, design: NullDesign) -> NullModel:
    """The null model of numbers. Residuals are in units of the numbers, and as the variance is
    estimated, so is the information."""
    columns, mass = design.fitted, design.counted
    bread = np.linalg.pinv(columns.T @ (mass[:, None] * columns))
    beta = bread @ (columns.T @ (mass * values[design.train]))
    expected = design.columns @ beta
    residuals = values - expected
    freedom = max(len(columns) - columns.shape[1], 1)
    left = residuals[design.train]
    variance = float((mass * left**2).sum() / freedom)
    information = np.full(len(values), variance)
    cumulants = empirical_cumulants(residuals, information, design)
    found = single_index(design, residuals, information, cumulants, expected)
    return replace(found, by_rank=True)
