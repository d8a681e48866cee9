"""What is expected of samples without any feature: score residuals, and how precise they are.

A null model is fitted to the target and the covariates of the training samples (a column of ones
alone if there are none). The *score residual* of a sample is the derivative of its log-likelihood
by its linear predictor: a feature that adds nothing is uncorrelated with it, and the sum of feature
times residual is the score test of that feature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class NullModel:
    """A fitted null model; all arrays are of all samples, fitted or not.

    Of a score U = sum of x_i residual_i over the training samples, the variance that is left when
    the model's own coefficients are estimated is  x' diag(information) x - a' bread a  with
    a = cross' x.

    residuals    float64 (n_samples,), or (n_samples, n_classes) of many classes
    information  float64 (n_samples,): variance of a residual
    cross        float64 (n_samples, k): covariance of a residual with the scores of coefficients
    bread        float64 (k, k): inverse information of the coefficients
    third, fourth  float64 (n_samples,): cumulants of a residual
    expected     float64 (n_samples, ...): shares of classes; the mean of numbers and counts; the
                 cumulative hazard of times to event
    converged    whether the fit came to an end: not if covariates tell the target completely
    by_rank      whether tests take normal scores of the residuals: the model does not say how
                 these are distributed, and few large ones would decide
    """

    residuals: np.ndarray
    information: np.ndarray
    cross: np.ndarray
    bread: np.ndarray
    third: np.ndarray
    fourth: np.ndarray
    expected: np.ndarray
    converged: bool = True
    by_rank: bool = False


@dataclass(frozen=True)
class NullDesign:
    """Samples and covariates of a null model.

    columns  float64 (n_samples, k): covariates, a column of ones before them
    train    int: samples that the model is fitted to
    mass     float64 (n_samples,): how much each counts, 1 in the mean
    """

    columns: np.ndarray
    train: np.ndarray
    mass: np.ndarray

    @classmethod
    def plain(cls, n_samples: int) -> NullDesign:
        """All samples, without covariates."""
        return cls(np.ones((n_samples, 1)), np.arange(n_samples), np.ones(n_samples))

    @property
    def fitted(self) -> np.ndarray:
        """Columns of the training samples."""
        return np.asarray(self.columns[self.train])

    @property
    def counted(self) -> np.ndarray:
        """How much the training samples count."""
        return np.asarray(self.mass[self.train])

    def inverse(self, information: np.ndarray) -> np.ndarray:
        """The inverse information of the columns, of the information of each sample."""
        weights = (self.mass * information)[self.train]
        return np.linalg.pinv(self.fitted.T @ (weights[:, None] * self.fitted))


def single_index(
    design: NullDesign,
    residuals: np.ndarray,
    information: np.ndarray,
    cumulants: tuple[np.ndarray, np.ndarray],
    expected: np.ndarray,
    *,
    converged: bool = True,
) -> NullModel:
    """The null model of a target whose mean depends on one linear predictor."""
    return NullModel(
        residuals=residuals,
        information=information,
        cross=information[:, None] * design.columns,
        bread=design.inverse(information),
        third=cumulants[0],
        fourth=cumulants[1],
        expected=expected,
        converged=converged,
    )


FitNull = Callable[[np.ndarray, NullDesign], NullModel]


def empirical_cumulants(
    residuals: np.ndarray, information: np.ndarray, design: NullDesign
) -> tuple[np.ndarray, np.ndarray]:
    """Third and fourth cumulants of residuals whose distribution the model does not say: those of
    all of them, in the unit of each."""
    unit = np.sqrt(np.maximum(information, 1e-300))
    standard = (residuals / unit)[design.train]
    mass = design.counted / design.counted.sum()
    centred = standard - mass @ standard
    square = mass @ centred**2
    third, fourth = mass @ centred**3, mass @ centred**4 - 3.0 * square**2
    return third * unit**3, fourth * unit**4


def dispersed(null: NullModel, design: NullDesign) -> NullModel:
    """The model with a larger variance, where residuals vary more than it says.

    Features that matter are no part of it, and make counts vary more, among others. Third and
    fourth cumulants are then those of all residuals, by the variance of each.
    """
    mass, residuals = design.counted, null.residuals[design.train]
    square = float(mass @ residuals**2)
    factor = square / max(float(mass @ null.information[design.train]), 1e-300)
    if factor <= 1.0:
        return null
    information = factor * null.information
    share = mass / mass.sum()
    mean = max(float(share @ residuals**2), 1e-300)
    third = float(share @ residuals**3) / mean
    fourth = (float(share @ residuals**4) - 3.0 * mean**2) / mean
    return replace(
        null,
        information=information,
        cross=factor * null.cross,
        bread=null.bread / factor,
        third=third * information,
        fourth=fourth * information,
    )
