"""p-values against a sample of the null: ranks in the bulk, a fitted tail beyond it.

Ranks among m probes cannot say less than 1 / (m + 1), which is too much for a few features among a
million. Beyond the largest probes the p-value comes from a generalised Pareto tail, if that fits
the largest probes; if not, from ranks alone, and the `Tail` says so.

p-values are spread over the whole range up to 1, because kinds of evidence are combined by all of
them (`srs.inference.combine`): ties are counted in full where the p-value is below one half, and by
half above it. Most columns of a wide data set make no split, and tie at the bottom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import pdtrc

TAIL_SHARES = (0.01, 0.005, 0.02)  # of the null, fitted by the tail; the first that fits is used
ENOUGH, LEAST = 100, 25  # values that a tail is fitted on: a 12th, and a quarter of small nulls
MIN_EXCEEDING = 10  # with fewer null values above it, a p-value comes from the tail
MIN_FITTED = 10  # values that a tail is fitted on, or there is none
MIN_NULL = 4 * MIN_FITTED  # null values without which there is none either
MIN_SAMPLED = 40_000  # null values from which on the bulk is sampled: sorting all takes longer
SAMPLED = 16_384  # values of that sample: p-values above 0.1 are known to about 2 %


@dataclass(frozen=True)
class Tail:
    """The tail that p-values beyond the null's largest values come from.

    fits       whether it fitted; if not, all p-values are ranks
    n          values that it was fitted on
    share      their share of the null
    threshold  where it begins
    shape      0 is exponential, larger is heavier
    scale      in units of the statistic
    """

    fits: bool
    n: int
    share: float = 0.0
    threshold: float = 0.0
    shape: float = 0.0
    scale: float = 0.0


@dataclass(frozen=True)
class Null:
    """A sample of the null, which observed values are compared with.

    ordered  its largest values, ascending; of a small sample all
    bulk     a part of the sample, ascending, for values below these; empty where all are ordered
    n        values of the whole sample
    tail     where p-values beyond the largest come from
    """

    ordered: np.ndarray
    bulk: np.ndarray
    n: int
    tail: Tail

    @classmethod
    def of(cls, values: np.ndarray) -> Null:
        """The null of a sample, which is reordered: of millions there is no room for copies."""
        n, bulk = len(values), values[:0]
        if n >= MIN_SAMPLED:
            bulk = np.sort(values[:: n // SAMPLED])
            values.partition(n - n // 10)
            values = values[values >= values[n - n // 10]]
        values.sort()
        return cls(values, bulk, n, find_tail(values, n))

    @property
    def least(self) -> float:
        """Observed values from here on have p-values up to about 0.1; of small samples all."""
        return float(self.ordered[0]) if len(self.bulk) else -np.inf

    def p_values(self, observed: np.ndarray) -> np.ndarray:
        """P(null >= observed), never 0 and never 1.

        >>> import numpy as np
        >>> Null.of(np.array([1.0, 2.0, 3.0])).p_values(np.array([0.5, 2.5])).tolist()
        [0.875, 0.5]
        """
        if not len(self.bulk):
            return self.small_p_values(observed)
        n_at_least = len(self.bulk) - _places(self.bulk, observed)
        p_values = _ranked(self.bulk, observed, len(self.bulk), n_at_least)
        large = np.flatnonzero(observed >= self.ordered[0])
        p_values[large] = self.small_p_values(observed[large])
        return p_values

    def small_p_values(self, observed: np.ndarray) -> np.ndarray:
        """The same, for values that are at least `least`."""
        tail = self.tail
        n_at_least = len(self.ordered) - _places(self.ordered, observed)
        p_values = _ranked(self.ordered, observed, self.n, n_at_least)
        far = np.flatnonzero((n_at_least < MIN_EXCEEDING) & (observed > tail.threshold))
        if tail.fits and len(far):
            excess = observed[far].astype(np.float64) - tail.threshold
            beyond = tail.share * tail_survival(excess, tail.shape, tail.scale)
            p_values[far] = np.maximum(beyond, np.finfo(float).tiny)
        return p_values


def _places(ordered: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """How many of `ordered` are below each value.

    Values are looked up in their order: a search among thousands that begins anywhere takes three
    times as long, sorting included.
    """
    order = np.argsort(observed)
    found = np.empty(len(observed), np.int64)
    found[order] = np.searchsorted(ordered, observed[order], side="left")
    return found


def _ranked(
    ordered: np.ndarray, observed: np.ndarray, n: int, n_at_least: np.ndarray
) -> np.ndarray:
    """p-values by ranks among n values, of which `ordered` holds the largest."""
    p_values: np.ndarray = (n_at_least + 1.0) / (n + 1.0)
    large = np.flatnonzero(p_values > 0.5)  # where ties count by half
    if len(large):
        n_above = len(ordered) - np.searchsorted(ordered, observed[large], side="right")
        halved = (0.5 * (n_at_least[large] + n_above) + 1.0) / (n + 1.0)
        p_values[large] = np.maximum(np.minimum(halved, (n + 0.5) / (n + 1.0)), 0.5)
    return p_values


def find_tail(ordered: np.ndarray, n_null: int) -> Tail:
    """Fit the tail of a null of n_null values, of which `ordered` holds the largest, ascending."""
    n = 0
    for share in TAIL_SHARES:
        n = max(int(n_null * share), min(ENOUGH, n_null // 12), min(LEAST, n_null // 4))
        if n < MIN_FITTED or n >= len(ordered):
            return Tail(False, n)
        threshold = float(ordered[len(ordered) - n - 1])
        excess = ordered[ordered > threshold].astype(np.float64) - threshold
        if len(excess) < MIN_FITTED:
            return Tail(False, len(excess))
        shape, scale = fit_tail(excess)
        if fits(excess, shape, scale):
            return Tail(
                fits=True,
                n=len(excess),
                share=len(excess) / n_null,
                threshold=threshold,
                shape=shape,
                scale=scale,
            )
    return Tail(False, n)


def fit_tail(excess: np.ndarray) -> tuple[float, float]:
    """Shape and scale of a generalised Pareto distribution, by probability-weighted moments.

    The shape is kept between 0 (exponential) and 0.5: a negative shape would end the tail at a
    point beyond which p-values were 0. One standard error is added to it: p-values far beyond the
    data hang on it, and those of too light a tail are too small by orders of magnitude.
    """
    ordered = np.sort(excess)
    n = len(ordered)
    mean = float(ordered.mean())
    weighted = float((ordered * (n - 1 - np.arange(n))).sum() / (n * (n - 1)))
    shape = 2.0 - mean / (mean - 2.0 * weighted) if mean > 2.0 * weighted else 0.0
    shape = min(max(shape, 0.0) + 1.0 / np.sqrt(n), 0.5)
    return shape, mean * (1.0 - shape)


def fits(excess: np.ndarray, shape: float, scale: float) -> bool:
    """Whether the tail describes the excesses, and above all is not too light at their far end.

    One-sided: a tail heavier than the data (as the exponential is for a bounded null) gives larger
    p-values than it should and does no harm. The body by Kolmogorov-Smirnov at the 1 % level; the
    far end by how many values were to be expected beyond the largest, the 5th and the 20th.
    """
    ordered = np.sort(excess)
    survival = tail_survival(ordered, shape, scale)
    n = len(ordered)
    above = 1.0 - np.arange(1, n + 1) / n  # share of the excesses above each of them
    if (above - survival).max() >= 1.52 / np.sqrt(n):
        return False
    ranks = np.array([k for k in (1, 5, 20) if k <= n])
    return bool((pdtrc(ranks - 1, n * survival[n - ranks]) > 0.001).all())


def tail_survival(excess: np.ndarray, shape: float, scale: float) -> np.ndarray:
    """P(X > excess) of the generalised Pareto distribution."""
    if scale <= 0:
        return np.ones_like(excess)
    if shape < 1e-6:
        survival: np.ndarray = np.exp(-excess / scale)
        return survival
    heavy: np.ndarray = (1.0 + shape * excess / scale) ** (-1.0 / shape)
    return heavy
