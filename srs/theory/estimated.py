"""What estimated information is where there is none: its bias, and its law (thesis 5.8.2).

Information that is estimated from shares of samples is above 0 also between independent variables.
Its mean is equation 5.13, its distribution nearly the gamma law of equation 5.14, i.e.
2 N ln(2) x information is chi-square with |Z| (|X| - 1) (|Y| - 1) degrees of freedom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from srs.errors import InputError
from srs.theory.table import FloatArray


@dataclass(frozen=True)
class EstimatedInformation:
    """The law of estimated I(X; Y | Z), in bits, where X and Y are independent given Z.

    n_samples  samples that it is estimated from (N)
    n_x, n_y   levels of the two variables (|X|, |Y|)
    n_given    configurations of what is given (|Z|); 1: nothing

    >>> law = EstimatedInformation(n_samples=100, n_x=3, n_y=2)
    >>> round(law.mean, 4), round(float(law.p_value(0.05)), 4)
    (0.0144, 0.0312)
    >>> round(float(law.quantile(0.95)), 4)
    0.0432
    """

    n_samples: int
    n_x: int
    n_y: int
    n_given: int = 1

    def __post_init__(self) -> None:
        if self.n_samples < 1 or self.n_x < 2 or self.n_y < 2 or self.n_given < 1:
            raise InputError(
                "estimated information needs a sample, two levels of each variable, and one "
                "configuration of what is given."
            )

    @property
    def shape(self) -> float:
        return self.n_given * (self.n_x - 1) * (self.n_y - 1) / 2

    @property
    def scale(self) -> float:
        return 1.0 / (self.n_samples * math.log(2))

    @property
    def mean(self) -> float:
        """The bias of the estimate (equation 5.13)."""
        return self.shape * self.scale

    @property
    def variance(self) -> float:
        return self.shape * self.scale**2

    def p_value(self, information: npt.ArrayLike) -> FloatArray:
        """The chance of at least so much information, in bits (equation 5.14)."""
        from scipy.special import gammaincc  # here: planning a run needs this package, not scipy

        at = np.maximum(np.asarray(information, np.float64), 0.0)
        return np.asarray(gammaincc(self.shape, at / self.scale))

    def quantile(self, share: npt.ArrayLike) -> FloatArray:
        """The information, in bits, that a share of estimates does not exceed."""
        from scipy.special import gammaincinv

        return np.asarray(gammaincinv(self.shape, np.asarray(share, np.float64)) * self.scale)
