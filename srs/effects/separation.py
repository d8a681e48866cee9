"""How well a feature tells two groups apart: the area under the curve, differences of means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from srs.effects.estimate import LEVEL, Z


@dataclass(frozen=True)
class Interval:
    """A figure and the ends of its interval of 95 % confidence."""

    value: float
    low: float
    high: float

    @classmethod
    def none(cls) -> Interval:
        return cls(*[float("nan")] * 3)


def mid_ranks(x: np.ndarray) -> np.ndarray:
    """Ranks from 1 on; equal values share the mean of theirs. (`scipy.stats` has it, and takes
    50 MB of every run to load.)"""
    _, at, counts = np.unique(x, return_inverse=True, return_counts=True)
    ranks: np.ndarray = (np.cumsum(counts) - 0.5 * (counts - 1))[at.reshape(-1)]
    return ranks


def area_under_curve(x: np.ndarray, y: np.ndarray) -> Interval:
    """Chance that a sample of the group has more than one of the others; ties count one half.

    The variance is that of DeLong and others (Biometrics 1988); the interval is symmetric on the
    logit scale, so that it stays between 0 and 1. Where the groups are apart the variance is 0, and
    the interval is that of the exact binomial test with as many samples as the smaller group has.
    """
    n1, n0 = int(y.sum()), int((~y).sum())
    if not n1 or not n0:
        return Interval.none()
    ranks = mid_ranks(x)
    placed1 = (ranks[y] - mid_ranks(x[y])) / n0
    placed0 = 1.0 - (ranks[~y] - mid_ranks(x[~y])) / n1
    area = float(placed1.mean())
    if n1 < 2 or n0 < 2:
        return Interval(area, 0.0, 1.0)
    variance = placed1.var(ddof=1) / n1 + placed0.var(ddof=1) / n0
    if area in (0.0, 1.0) or variance <= 0:
        end = float((1.0 - LEVEL) ** (1.0 / min(n1, n0)))
        return Interval(area, *((0.0, 1.0 - end) if area < 0.5 else (end, 1.0)))
    middle = float(special.logit(area))
    half = Z * float(np.sqrt(variance)) / (area * (1.0 - area))
    low, high = special.expit([middle - half, middle + half])
    return Interval(area, float(low), float(high))


def difference_of_means(x: np.ndarray, y: np.ndarray) -> tuple[Interval, Interval]:
    """How much more the group has than the others, by Welch's t; and the same in standard
    deviations (Hedges' g, with the interval of its large-sample variance)."""
    a, b = x[y], x[~y]
    if len(a) < 2 or len(b) < 2:
        return Interval.none(), Interval.none()
    gap = float(a.mean() - b.mean())
    variances = np.array([a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)])
    if variances.sum() == 0:  # both are constant
        exact = Interval(gap, gap, gap)
        return exact, Interval(0.0, 0.0, 0.0) if gap == 0 else Interval.none()
    welch = variances.sum() ** 2 / (variances**2 / [len(a) - 1, len(b) - 1]).sum()
    half = float(special.stdtrit(welch, 0.5 + LEVEL / 2) * np.sqrt(variances.sum()))
    freedom = len(a) + len(b) - 2
    pooled = ((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)) / freedom
    g = gap / float(np.sqrt(pooled)) * (1.0 - 3.0 / (4.0 * freedom - 1.0))
    error = float(np.sqrt(1.0 / len(a) + 1.0 / len(b) + g * g / (2.0 * (len(a) + len(b)))))
    return (
        Interval(gap, gap - half, gap + half),
        Interval(g, g - Z * error, g + Z * error),
    )
