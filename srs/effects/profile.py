"""Which levels of a feature go with which target: a small table for a plot.

Features of few levels are told level by level, others by fifths of the samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from srs.effects.estimate import LEVEL, Z
from srs.effects.separation import Interval

MOST_LEVELS = 8  # that are told one by one
PARTS = 5  # quantile bins of all others


@dataclass(frozen=True)
class Bin:
    """Some samples, by their value of a feature.

    name     the level, or the span of values
    samples  bool: which samples these are
    """

    name: str
    samples: np.ndarray

    @property
    def n(self) -> int:
        return int(self.samples.sum())


def cut(x: np.ndarray, labels: Sequence[str] = ()) -> list[Bin]:
    """The levels of a feature, or fifths of the samples; missing values are in none.

    labels  names of levels, if values are their numbers

    >>> [(bin.name, bin.n) for bin in cut(np.array([0.0, 1, 1, 2, np.nan]))]
    [('0', 1), ('1', 2), ('2', 1)]
    """
    known = ~np.isnan(x)
    levels, counts = np.unique(x[known], return_counts=True)
    if labels:  # the most frequent ones, in their order
        kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_LEVELS])
        return [Bin(labels[int(level)], x == level) for level in levels[kept]]
    if len(levels) <= MOST_LEVELS:
        return [Bin(format(level, ".6g"), x == level) for level in levels]
    edges = np.unique(np.quantile(x[known], np.arange(1, PARTS) / PARTS))
    numbers = np.searchsorted(edges, x, side="right")
    bins = []
    for number in range(len(edges) + 1):
        inside = known & (numbers == number)
        if inside.any():
            low, high = x[inside].min(), x[inside].max()
            bins.append(Bin(f"{low:.3g} to {high:.3g}" if low < high else f"{low:.6g}", inside))
    return bins


def share(inside: np.ndarray) -> Interval:
    """Share of a group among samples, with Wilson's interval.

    >>> found = share(np.array([True, False, False, False]))
    >>> round(found.value, 2), round(found.low, 3), round(found.high, 3)
    (0.25, 0.046, 0.699)
    """
    n = len(inside)
    if not n:
        return Interval.none()
    p, square = float(inside.mean()), Z * Z
    middle = (p + square / (2 * n)) / (1 + square / n)
    half = Z / (1 + square / n) * np.sqrt(p * (1 - p) / n + square / (4 * n * n))
    return Interval(p, max(0.0, float(middle - half)), min(1.0, float(middle + half)))


def mean(values: np.ndarray) -> Interval:
    """The mean with its t interval; one sample has no interval."""
    n = len(values)
    if not n:
        return Interval.none()
    middle = float(values.mean())
    if n < 2:
        return Interval(middle, float("nan"), float("nan"))
    error = float(values.std(ddof=1)) / np.sqrt(n)
    half = float(special.stdtrit(n - 1, 0.5 + LEVEL / 2)) * error
    return Interval(middle, middle - half, middle + half)


def profile(
    bins: Sequence[Bin], summarise: Callable[[np.ndarray], Interval]
) -> list[tuple[str, int, Interval]]:
    """Name, samples and target of each bin; summarise: tells of the target of chosen samples."""
    return [(one.name, one.n, summarise(one.samples)) for one in bins]


def rate(events: float, time: float) -> Interval:
    """Events per unit of time, with the exact interval of a Poisson count.

    >>> found = rate(4, 8.0)
    >>> round(found.value, 2), round(found.low, 3), round(found.high, 3)
    (0.5, 0.136, 1.28)
    """
    if time <= 0:
        return Interval.none()
    tail = (1.0 - LEVEL) / 2
    low = float(special.gammaincinv(events, tail)) if events > 0 else 0.0
    high = float(special.gammaincinv(events + 1.0, 1.0 - tail))
    return Interval(events / time, low / time, high / time)


def mean_rate(counts: np.ndarray, exposure: np.ndarray) -> Interval:
    """Counts per unit of exposure; the interval allows that counts vary more than Poisson ones."""
    n, total = len(counts), float(exposure.sum())
    if not n:
        return Interval.none()
    middle = float(counts.sum()) / total
    if n < 2:
        return Interval(middle, float("nan"), float("nan"))
    rest = counts - middle * exposure
    error = float(np.sqrt(n / (n - 1) * (rest**2).sum())) / total
    half = float(special.stdtrit(n - 1, 0.5 + LEVEL / 2)) * error
    return Interval(middle, max(0.0, middle - half), middle + half)
