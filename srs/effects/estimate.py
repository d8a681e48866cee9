"""An estimate with its confidence interval, and what fits share: designs and variances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

LEVEL = 0.95
Z = float(special.ndtri(0.5 + LEVEL / 2))


@dataclass(frozen=True)
class Estimate:
    """An effect of one feature.

    beta            estimate: a slope, or the logarithm of a ratio
    standard_error  of beta
    low, high       ends of the interval of beta that covers the truth with 95 % confidence
    p_value         that beta is 0; not a number where there is no estimate
    note            why there is no estimate, or why it was made in another way; "": nothing to say
    """

    beta: float
    standard_error: float
    low: float
    high: float
    p_value: float
    note: str = ""

    @classmethod
    def none(cls, note: str) -> Estimate:
        nan = float("nan")
        return cls(nan, nan, nan, high=nan, p_value=nan, note=note)

    @classmethod
    def of(cls, beta: float, error: float, freedom: float = np.inf, note: str = "") -> Estimate:
        """By the t distribution with so many degrees of freedom; the normal one if infinite."""
        if not np.isfinite(beta) or not np.isfinite(error) or error <= 0:
            return cls.none(note or "the samples do not tell its size.")
        t = beta / error
        if np.isinf(freedom):
            half, p_value = Z * error, 2.0 * float(special.ndtr(-abs(t)))
        else:
            half = float(special.stdtrit(freedom, 0.5 + LEVEL / 2)) * error
            p_value = 2.0 * float(special.stdtr(freedom, -abs(t)))
        tiny = float(np.finfo(float).tiny)
        p_value = max(p_value, tiny)
        return cls(beta, error, beta - half, high=beta + half, p_value=p_value, note=note)


@dataclass(frozen=True)
class Design:
    """The samples that a fit uses.

    x         float64 (n,): the feature; none is missing
    others    float64 (n, k): covariates, with a column of ones before them
    weights   float64 (n,): how much each sample counts, 1 in the mean; None: all alike
    clusters  int (n,): samples of one subject; None: each is its own
    """

    x: np.ndarray
    others: np.ndarray
    weights: np.ndarray | None = None
    clusters: np.ndarray | None = None

    @property
    def columns(self) -> np.ndarray:
        """The design matrix; the feature comes last."""
        return np.column_stack([self.others, self.x])

    @property
    def mass(self) -> np.ndarray:
        return np.ones(len(self.x)) if self.weights is None else self.weights

    @property
    def is_plain(self) -> bool:
        """Whether samples are alike and independent, so that the model's own variance holds."""
        return self.weights is None and self.clusters is None

    def tells(self) -> bool:
        """Whether the feature is more than a combination of the covariates."""
        rest = self.x - self.others @ np.linalg.lstsq(self.others, self.x, rcond=None)[0]
        spread = float(np.var(self.x))
        return spread > 0 and float(np.var(rest)) > 1e-10 * spread

    def sandwich(self, bread: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The robust covariance of coefficients.

        bread   (k, k): inverse information
        scores  (n, k): derivative of each sample's log-likelihood, with its weight
        """
        n, k = scores.shape
        if self.clusters is None:
            factor = n / max(n - k, 1)
        else:
            numbers = np.unique(self.clusters, return_inverse=True)[1].reshape(-1)
            sums = np.zeros((int(numbers.max()) + 1, k))
            np.add.at(sums, numbers, scores)
            scores = sums
            groups = len(sums)
            factor = groups / max(groups - 1, 1) * (n - 1) / max(n - k, 1)
        found: np.ndarray = factor * bread @ (scores.T @ scores) @ bread
        return found
