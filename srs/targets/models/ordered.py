"""Ordered classes: the proportional-odds model.

The log odds of a class above j are  eta - theta_j  at every j, so one number tells what moves a
sample up the scale. The score residual of a sample of class j is F(theta_j - eta) +
F(theta_(j-1) - eta) - 1: without covariates its mid-rank, as in Wilcoxon's test.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from srs.targets.models.newton import Fit, newton_or_ridge
from srs.targets.models.null import NullDesign, NullModel, dispersed


def _cumulative(thresholds: np.ndarray, linear: np.ndarray) -> np.ndarray:
    """P(class <= j), (n, n_classes + 1): from 0 of no class to 1 of the last."""
    inner = special.expit(thresholds - linear[:, None])
    return np.column_stack([np.zeros(len(linear)), inner, np.ones(len(linear))])


def _scores(
    cumulative: np.ndarray, columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each sample and class it might have: the residual, and the score of each threshold.

    shares (n, J), residual (n, J), of_thresholds (n, J, J - 1)
    """
    n_classes = cumulative.shape[1] - 1
    shares = np.maximum(np.diff(cumulative, axis=1), 1e-300)
    residual = cumulative[:, 1:] + cumulative[:, :-1] - 1.0
    density = cumulative * (1.0 - cumulative)
    of_thresholds = np.zeros((len(columns), n_classes, n_classes - 1))
    for j in range(n_classes - 1):
        of_thresholds[:, j, j] = density[:, j + 1] / shares[:, j]
        of_thresholds[:, j + 1, j] = -density[:, j + 1] / shares[:, j + 1]
    return shares, residual, of_thresholds


def _expected_information(
    columns: np.ndarray, scores: tuple[np.ndarray, np.ndarray, np.ndarray], mass: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fisher's information of thresholds and slopes; the variance of each residual, and its
    covariance with the scores of thresholds (n, J - 1)."""
    shares, residual, of_thresholds = scores
    spread = (shares * residual**2).sum(axis=1)
    crossed = np.einsum("ij,ij,ijt->it", shares, residual, of_thresholds)
    inner = np.einsum("i,ij,ijt,iju->tu", mass, shares, of_thresholds, of_thresholds)
    mixed = crossed.T @ (mass[:, None] * columns)
    slopes = columns.T @ ((mass * spread)[:, None] * columns)
    return np.block([[inner, mixed], [mixed.T, slopes]]), spread, crossed


def fit_columns(columns: np.ndarray, classes: np.ndarray, mass: np.ndarray, n_classes: int) -> Fit:
    """Thresholds, and what each column (no column of ones) adds to the log odds of more.

    Steps are those of Fisher's scoring; thresholds that cross make the likelihood 0.
    """
    at = np.arange(len(classes))

    def derivatives(beta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        thresholds, slopes = beta[: n_classes - 1], beta[n_classes - 1 :]
        cumulative = _cumulative(thresholds, columns @ slopes)
        scores = _scores(cumulative, columns)
        information = _expected_information(columns, scores, mass)[0]
        residual, of_thresholds = scores[1][at, classes], scores[2][at, classes]
        gradient = np.concatenate([mass @ of_thresholds, columns.T @ (mass * residual)])
        seen = np.diff(cumulative, axis=1)[at, classes]
        crossed = (np.diff(thresholds) <= 0).any() or (seen <= 0).any()
        value = -np.inf if crossed else float(mass @ np.log(seen))
        return value, gradient, information

    counts = np.maximum(np.bincount(classes, mass, n_classes), 1e-6)
    below = np.cumsum(counts)[:-1] / counts.sum()
    start = np.concatenate([special.logit(below), np.zeros(columns.shape[1])])
    return newton_or_ridge(start, derivatives)


def fit_ordered(classes: np.ndarray, design: NullDesign, n_classes: int) -> NullModel:
    """The null model of ordered classes 0 .. n_classes - 1; expected are shares of classes."""
    columns = design.columns[:, 1:]
    some = columns[design.train]
    found = fit_columns(some, classes[design.train], design.counted, n_classes)
    slopes = found.beta[n_classes - 1 :]
    cumulative = _cumulative(found.beta[: n_classes - 1], columns @ slopes)
    shares, residual, of_thresholds = _scores(cumulative, columns)
    at = design.train
    inside = shares[at], residual[at], of_thresholds[at]
    information = _expected_information(some, inside, design.counted)[0]
    _, spread, crossed = _expected_information(
        columns, (shares, residual, of_thresholds), design.mass
    )
    fourth = (shares * residual**4).sum(axis=1) - 3.0 * spread**2
    null = NullModel(
        residuals=residual[np.arange(len(classes)), classes],
        information=spread,
        cross=np.column_stack([crossed, spread[:, None] * columns]),
        bread=np.linalg.pinv(information),
        third=(shares * residual**3).sum(axis=1),
        fourth=fourth,
        expected=shares,
        converged=found.converged,
    )
    return dispersed(null, design)


def score_residuals(
    columns: np.ndarray, beta: np.ndarray, classes: np.ndarray, n_classes: int
) -> np.ndarray:
    """What each sample adds to the gradient of thresholds and slopes, (n, k)."""
    cumulative = _cumulative(beta[: n_classes - 1], columns @ beta[n_classes - 1 :])
    _, residual, of_thresholds = _scores(cumulative, columns)
    at = np.arange(len(classes))
    return np.column_stack([of_thresholds[at, classes], residual[at, classes][:, None] * columns])
