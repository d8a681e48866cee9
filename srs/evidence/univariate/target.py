"""The univariate test of a target: prepared once, run on tiles of codes.

For each column the p-value of the hypothesis that it tells nothing of the target, by itself and
within strata of samples, and the direction of what it tells:

    target    ordered column                               unordered levels
    2 classes rank sum, exact or by saddlepoint            chi-squared of the table
    classes   Kruskal-Wallis                               chi-squared of the table
    numbers   correlation of mid-ranks and normal scores   variance of the scores between levels

All are permutation tests within strata; samples without a value of the column are left out. A
column that says nothing, as it is constant or missing, has 1; no p-value is 0 or not a number.
Not here: what becomes of p-values (`srs.inference`), and columns that matter only together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from srs.errors import InputError
from srs.evidence.univariate.quadratic import p_of_moments
from srs.evidence.univariate.tiles import class_tiles, number_tiles, two_class_tiles


@dataclass(frozen=True)
class UnivariateTest:
    """A target as the tests need it.

    order          int64: training samples, by stratum and class
    segments       int64 (k + 1,): where each class of a stratum starts in `order`; of numbers:
                   where each stratum starts
    of_segments    int64 (2, k): stratum and class of each segment; empty of numbers
    n_classes      classes that occur; 0: the target is a number
    n_strata       strata that occur
    scores         float64: normal scores of numbers, in `order`; empty of classes
    log_factorials float64: by number of samples; empty of numbers
    """

    order: np.ndarray
    segments: np.ndarray
    of_segments: np.ndarray
    n_classes: int
    n_strata: int
    scores: np.ndarray
    log_factorials: np.ndarray

    @classmethod
    def of_classes(
        cls,
        classes: np.ndarray,
        n_classes: int,
        train: np.ndarray,
        strata: np.ndarray | None = None,
    ) -> UnivariateTest:
        """Classes 0 .. n_classes - 1 and strata of all samples; `train` are those that count."""
        of_samples = np.asarray(classes, np.int64)[train]
        if len(of_samples) == 0 or of_samples.min() < 0 or of_samples.max() >= n_classes:
            raise InputError("the univariate test needs samples whose classes are known.")
        present, labels = np.unique(of_samples, return_inverse=True)
        within, n_strata = _strata_of(strata, train)
        keys = within * len(present) + labels.reshape(-1)
        by_key = np.argsort(keys, kind="stable")
        found, starts = np.unique(keys[by_key], return_index=True)
        return cls(
            order=np.asarray(train, np.int64)[by_key],
            segments=np.append(starts, len(keys)).astype(np.int64),
            of_segments=np.stack(np.divmod(found, len(present))).astype(np.int64),
            n_classes=len(present),
            n_strata=n_strata,
            scores=np.empty(0),
            log_factorials=special.gammaln(np.arange(len(keys) + 1) + 1.0),
        )

    @classmethod
    def of_numbers(
        cls,
        values: np.ndarray,
        train: np.ndarray,
        strata: np.ndarray | None = None,
        *,
        by_rank: bool = True,
    ) -> UnivariateTest:
        """Numbers and strata of all samples; `train` are those that count.

        by_rank  take normal scores of their ranks; else as they are, but for means of strata
        """
        of_samples = np.asarray(values, np.float64)[train]
        if len(of_samples) == 0 or not np.isfinite(of_samples).all():
            raise InputError("the univariate test needs samples whose target is known.")
        within, n_strata = _strata_of(strata, train)
        scores = of_samples - _means(of_samples, within)
        if by_rank:
            scores = normal_scores(of_samples, within)
        order = np.argsort(within, kind="stable")
        starts = np.searchsorted(within[order], np.arange(n_strata + 1))
        return cls(
            order=np.asarray(train, np.int64)[order],
            segments=starts.astype(np.int64),
            of_segments=np.empty((2, 0), np.int64),
            n_classes=0,
            n_strata=n_strata,
            scores=scores[order],
            log_factorials=np.empty(0),
        )

    def run_tile(self, codes: np.ndarray, by_subset: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """p (float64) and effect (float32) of each column, tile by tile.

        codes      uint8 (n_samples, n_columns) or (n_tiles, n_samples, n_columns)
        by_subset  bool by column: unordered levels

        The effect is the rank-biserial correlation with the second of two classes (2 AUC - 1), the
        correlation of mid-ranks with normal scores of numbers, and 0 where there is no direction.
        """
        tiles = codes if codes.ndim == 3 else codes[None]
        n = tiles.shape[0] * tiles.shape[2]
        unordered = np.ascontiguousarray(by_subset, dtype=bool).reshape(-1)
        if len(unordered) != n:
            raise ValueError(f"{len(unordered)} kinds of {n} columns")
        p, effects, moments = np.ones(n), np.zeros(n, np.float32), np.zeros((n, 6))
        found = (p, effects, moments)
        if self.n_classes == 1:
            return p, effects
        if self.n_classes == 0:
            number_tiles(
                tiles,
                self.order,
                self.scores,
                bounds=self.segments,
                by_subset=unordered,
                found=found,
            )
        else:
            self._run_classes(tiles, unordered, found)
        open_ones = np.flatnonzero(p < 0)
        if len(open_ones):
            p[open_ones] = p_of_moments(moments[open_ones])
        return p, effects

    def _run_classes(
        self,
        tiles: np.ndarray,
        unordered: np.ndarray,
        found: tuple[np.ndarray, np.ndarray, np.ndarray],
    ) -> None:
        counted = self.n_classes == 2 and self.n_strata == 1
        if counted:
            orders = (self.order[: self.segments[1]], self.order[self.segments[1] :])
            two_class_tiles(
                tiles,
                orders,
                unordered,
                self.log_factorials,
                p=found[0],
                effects=found[1],
            )
        if not counted or unordered.any():
            class_tiles(
                tiles,
                (self.order, self.segments, self.of_segments),
                (self.n_strata, self.n_classes),
                by_subset=unordered,
                log_factorials=self.log_factorials,
                found=found,
            )


def _strata_of(strata: np.ndarray | None, train: np.ndarray) -> tuple[np.ndarray, int]:
    """The stratum of each training sample, numbered from 0 on, and how many there are."""
    if strata is None:
        return np.zeros(len(train), np.int64), 1
    found, numbers = np.unique(np.asarray(strata)[train], return_inverse=True)
    return numbers.reshape(-1).astype(np.int64), len(found)


def normal_scores(values: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Normal quantiles of the ranks of what is left of the values within strata, mean 0 in each.

    What is left is the distance from the median: means of skewed values differ by chance, and the
    ranks then tell of the stratum. Ties have the mean of their quantiles, so that scores do not
    depend on the order of samples.

    >>> normal_scores(np.array([3.0, 100.0, -2.0]), np.zeros(3, int)).round(2).tolist()
    [0.0, 0.87, -0.87]
    """
    rest = values - _medians(values, strata)
    span = np.abs(values).max() if len(values) else 0.0
    rest = np.round(rest / span, 12) if span > 0 else rest  # equal but for rounding is equal
    quantiles = special.ndtri((np.arange(len(rest)) + 0.625) / (len(rest) + 0.25))
    ties = np.unique(rest, return_inverse=True)[1].reshape(-1)
    in_order = np.sort(ties)
    by_tie = np.bincount(in_order, weights=quantiles) / np.bincount(in_order)
    scores = by_tie[ties]
    centred: np.ndarray = scores - _means(scores, strata)
    return centred


def _medians(values: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """The median of each sample's stratum."""
    order = np.lexsort((values, strata))
    starts = np.searchsorted(strata[order], np.arange(strata.max() + 2))
    low, high = (starts[:-1] + starts[1:] - 1) // 2, (starts[:-1] + starts[1:]) // 2
    medians = 0.5 * (values[order[low]] + values[order[high]])
    found: np.ndarray = medians[strata]
    return found


def _means(values: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """The mean of each sample's stratum."""
    means = np.bincount(strata, weights=values) / np.maximum(np.bincount(strata), 1)
    found: np.ndarray = means[strata]
    return found
