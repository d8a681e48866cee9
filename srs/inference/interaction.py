"""What two features tell of the target together beyond what each tells by itself.

A second look at pairs that the bits of `srs.evidence.pairs` point to, on the codes. Values are cut
into a few levels, as many as the samples allow. Classes: the table of both features and the target
against the model without a three-way term (each feature may tell of the target, and of the other
feature), by the chi-squared test. Numbers: cell means against row and column effects, by the F
test. So two features with effects of their own, or in linkage, are no interaction.

Which pairs are looked at is said in `srs.engine.run.second_look`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtrc, fdtrc

MISSING = 255
MOST_LEVELS = 4
CELL_SAMPLES = 10  # expected samples a cell of the table, for the chi-squared limit to hold
CELL_LEAST = 3  # and of its smallest cell: two samples in an empty one would tell too much
FIT_ROUNDS, FIT_ERROR = 200, 1e-7


@dataclass(frozen=True)
class Interaction:
    """Two features and a target.

    statistic  chi-squared, or F
    p_value    that there is no interaction
    means      mean target (share of the last class) by halves of the first and the second feature:
               lower and lower, upper and lower, lower and upper, upper and upper; None where there
               is no direction
    """

    statistic: float
    p_value: float
    means: tuple[float, float, float, float] | None

    @property
    def effects(self) -> tuple[float, float] | None:
        """What the first feature does in the lower and in the upper half of the second: difference
        of the mean target between its own halves."""
        if self.means is None:
            return None
        return self.means[1] - self.means[0], self.means[3] - self.means[2]

    def of_other_class(self, is_share: bool = True) -> Interaction:
        """The same of two classes, told of the first; is_share: else means are residuals."""
        if self.means is None:
            return self
        a, b, c, d = (float(is_share) - mean for mean in self.means)
        return replace(self, means=(a, b, c, d))


def cut_levels(
    codes: np.ndarray, n_levels: int, is_categorical: bool, least: float = 1
) -> np.ndarray:
    """Codes cut into at most n_levels levels of about equal size, from 0; missing values are -1.

    Of a categorical feature the most frequent levels, the last of ours being all others. Levels
    of fewer than `least` samples go to a neighbour.
    """
    seen = codes != MISSING
    values, counts = np.unique(codes[seen], return_counts=True)
    found = np.full(len(codes), -1, np.int64)
    if is_categorical:
        order = np.lexsort((values, -counts))
        rank = np.empty(len(values), np.int64)
        rank[order] = np.arange(len(values))
        level = np.minimum(rank, n_levels - 1)
    else:
        # A value goes where the middle of its samples goes, so equal values stay together.
        middle = np.cumsum(counts) - counts / 2
        level = np.minimum(
            (middle / max(counts.sum(), 1) * n_levels).astype(np.int64), n_levels - 1
        )
        level = np.unique(level, return_inverse=True)[1]
    if len(values):
        level = _merge_small(level, counts, least)
        found[seen] = level[np.searchsorted(values, codes[seen])]
    return found


def _merge_small(level: np.ndarray, counts: np.ndarray, least: float) -> np.ndarray:
    """Levels of values, from 0, so that each has `least` samples, if there are so many in all."""
    while (n_levels := int(level.max()) + 1) > 1:
        sizes = np.bincount(level, weights=counts)
        small = int(sizes.argmin())
        if sizes[small] >= least:
            break
        lower, upper = small - 1, small + 1
        into = upper if lower < 0 or (upper < n_levels and sizes[upper] < sizes[lower]) else lower
        level = np.unique(np.where(level == small, into, level), return_inverse=True)[1]
    return level


def least_samples(n_samples: int, smallest_share: float) -> float:
    """Samples that a level needs, so that the smallest cell of two such levels and the rarest
    class is expected to have CELL_LEAST.

    >>> round(least_samples(1_000, 0.5)), round(least_samples(30, 0.5))
    (77, 13)
    """
    return float((CELL_LEAST * n_samples / smallest_share) ** 0.5)


def count_levels(n_samples: int, n_outcomes: int) -> int:
    """Levels a feature, so that cells of the table have CELL_SAMPLES samples in the mean.

    >>> count_levels(1_000, 2), count_levels(100, 2), count_levels(60, 3)
    (4, 2, 2)
    """
    n = int((n_samples / (CELL_SAMPLES * n_outcomes)) ** 0.5)
    return min(MOST_LEVELS, max(2, n))


def interaction_of_classes(
    first: np.ndarray,
    second: np.ndarray,
    classes: np.ndarray,
    strata: np.ndarray | None = None,
) -> Interaction:
    """Levels of two features (below 0: missing), and class and stratum of each sample."""
    axes = (first, second, classes) if strata is None else (first, second, classes, strata)
    table = _table((first >= 0) & (second >= 0), axes)
    if strata is None:
        table = table[..., None]
    margins = [(0, 1, 3), (0, 2, 3), (1, 2, 3)]
    fitted = _fit(table, margins)
    if table.shape[3] == 1:  # Pearson's sum keeps its level in smaller cells than likelihoods do
        some = fitted > 0
        statistic = float(((table[some] - fitted[some]) ** 2 / fitted[some]).sum())
    else:
        statistic = _deviance(table, fitted) - _deviance(table, _fit(table, [*margins, (0, 1, 2)]))
    df = _degrees(table)
    p_value = float(chdtrc(df, statistic)) if df else 1.0
    means = _shares(table.sum(3)) if table.shape[2] == 2 else None
    return Interaction(float(statistic), max(p_value, np.finfo(float).tiny), means)


def interaction_of_numbers(
    first: np.ndarray, second: np.ndarray, values: np.ndarray
) -> Interaction:
    """Levels of two features (below 0: missing), and the numeric target of each sample."""
    seen = (first >= 0) & (second >= 0)
    a, b, y = _numbered(first[seen]), _numbered(second[seen]), values[seen].astype(np.float64)
    cells = _numbered(a * (int(b.max(initial=0)) + 1) + b)
    additive = np.concatenate([_dummies(a), _dummies(b)[:, 1:]], axis=1)
    rank = int(np.linalg.matrix_rank(additive))
    rest = y - additive @ np.linalg.lstsq(additive, y, rcond=None)[0]
    counts = np.bincount(cells)
    within = y - (np.bincount(cells, weights=y) / counts)[cells]
    df, df_within = len(counts) - rank, len(y) - len(counts)
    lack = max(0.0, float(rest @ rest - within @ within))
    noise = float(within @ within) / max(df_within, 1)
    if df < 1 or df_within < 1 or noise <= 0:
        return Interaction(0.0, 1.0, None)
    statistic = lack / df / noise
    p_value = float(fdtrc(df, df_within, statistic))
    return Interaction(statistic, max(p_value, np.finfo(float).tiny), _means(a, b, y))


def _numbered(values: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.unique(values, return_inverse=True)[1].reshape(-1)
    return found


def _dummies(levels: np.ndarray) -> np.ndarray:
    numbers = np.arange(int(levels.max(initial=0)) + 1)
    found: np.ndarray = (levels[:, None] == numbers).astype(np.float64)
    return found


def _fit(table: np.ndarray, margins: Sequence[tuple[int, ...]]) -> np.ndarray:
    """The table of the log-linear model with these margins, by iterative proportional fitting."""
    fitted = np.ones_like(table)
    axes = [tuple(axis for axis in range(table.ndim) if axis not in kept) for kept in margins]
    all_wanted = [table.sum(summed, keepdims=True) for summed in axes]
    allowed = FIT_ERROR * table.sum()
    for _ in range(FIT_ROUNDS):
        error = 0.0
        for summed, wanted in zip(axes, all_wanted, strict=True):
            has = fitted.sum(summed, keepdims=True)
            error = max(error, float(np.abs(wanted - has).max()))
            fitted *= np.divide(wanted, has, out=np.zeros_like(wanted), where=has > 0)
        if error < allowed:
            break
    return fitted


def _deviance(table: np.ndarray, fitted: np.ndarray) -> float:
    some = table > 0
    return float(2.0 * (table[some] * np.log(table[some] / np.maximum(fitted[some], 1e-300))).sum())


def _degrees(table: np.ndarray) -> int:
    """Degrees of freedom of the three-way term, cells of both features that are empty aside."""
    rows, columns, outcomes = table.shape[:3]
    empty = int((table.sum((2, 3)) == 0).sum())
    return int(max(0, ((rows - 1) * (columns - 1) - empty) * (outcomes - 1)))


def _table(seen: np.ndarray, axes: Sequence[np.ndarray]) -> np.ndarray:
    """Counts of the samples that are seen by whole numbers from 0 on; those of none are left out.

    There are few numbers on an axis: counting is faster than sorting, as `_numbered` does.
    """
    shown = [axis[seen] for axis in axes]
    shape = [int(axis.max(initial=0)) + 1 for axis in shown]
    cell = np.zeros(len(shown[0]), np.int64)
    for axis, size in zip(shown, shape, strict=True):
        cell = cell * size + axis
    table = np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)
    for i in range(len(shape)):
        others = tuple(j for j in range(len(shape)) if j != i)
        used = np.flatnonzero(table.sum(others))
        table = table.take(used if len(used) else [0], i)
    return table


def _shares(table: np.ndarray) -> tuple[float, float, float, float] | None:
    """The share of the second of two classes by halves of both features, as `_means`."""
    halves = [_upper_levels(table.sum(axes)) for axes in ((1, 2), (0, 2))]
    found = []
    for upper_second in (False, True):
        for upper_first in (False, True):
            of_first, of_second = halves[0] == upper_first, halves[1] == upper_second
            classes = table[of_first][:, of_second].sum((0, 1))
            if not classes.sum():
                return None
            found.append(float(classes[1] / classes.sum()))
    return found[0], found[1], found[2], found[3]


def _means(
    first: np.ndarray, second: np.ndarray, outcome: np.ndarray
) -> tuple[float, float, float, float] | None:
    """The mean outcome by halves of both; None if one of the four has no sample."""
    first, second = (_upper_levels(np.bincount(one))[one] for one in (first, second))
    found = []
    for upper_second in (False, True):
        for upper_first in (False, True):
            inside = outcome[(first == upper_first) & (second == upper_second)]
            if not len(inside):
                return None
            found.append(float(inside.mean()))
    return found[0], found[1], found[2], found[3]


def _upper_levels(counts: np.ndarray) -> np.ndarray:
    """Which levels are the upper half, as near to one half of the samples as they allow."""
    share = counts.cumsum() / max(counts.sum(), 1)
    cut = int(np.abs(share[:-1] - 0.5).argmin()) if len(share) > 1 else 0
    upper: np.ndarray = np.arange(len(counts)) > cut
    return upper
