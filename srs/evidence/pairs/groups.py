"""Groups of samples for exhaustive pairs: who is compared with whom, and how much each counts.

Covers how target, strata and weights become groups, their arms and weights, and which bit belongs
to which sample. Bits of features are made in `bits`, statistics in `kernel`.

The statistic of two bits j and k. In group g of n_g samples

    cov_g = n11_g / n_g - p_jg p_kg        v_g = p_jg (1 - p_jg) p_kg (1 - p_kg) / (n_g - 1)

where v_g is the exact variance of cov_g if the samples of the group are permuted. An *arm* pools
groups: cov_c = sum of omega_g cov_g, v_c = sum of omega_g^2 v_g. The heterogeneity of the arms is
min over m of sum_c (cov_c - m)^2 / v_c; with two arms (cov_1 - cov_0)^2 / (v_1 + v_0). It is about
chi-squared with n_arms - 1 degrees of freedom for a feature that is irrelevant, with any partner
and whatever the partner's own effect is.

The statistic is the smallest of three heterogeneities: of the covariances, and of the slopes
cov_c / (p_j (1 - p_j)) and cov_c / (p_k (1 - p_k)), with p (1 - p) pooled as cov_c is. The reason
is linked bits: their covariance is about p (1 - p), so it differs between arms if p does, be it by
chance, and their slope does not. (Rare bits, each with three near copies, 60 data sets without any
effect: 2.7 % of the features were above the 99 % quantile of probes by covariances alone, 1.1 % by
the smallest. Planted pairs lose less than 0.1 %.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from srs.errors import InputError

WORD = 32  # samples of a word
LINE = 64  # samples that padding is told in (`_too_fine`)
N_BINS = 8  # of a numeric target
BIN_SAMPLES = 16  # of each of these bins, at least; a small stratum has fewer bins
WEIGHT_BINS = 4
MOST_PADDING = 3  # lines of all groups over lines of all samples, at most
SMALL_GROUP = 8  # samples; groups below must not have half of all samples
LEAST_GROUP = 2  # samples; below there is no covariance


@dataclass(frozen=True)
class PairGroups:
    """Groups of samples, sorted by arm.

    train    int32: samples that cuts are chosen by, also those in no group
    order    int32 (n_words * 32,): sample of each bit, -1 where a group is padded
    first    int64 (n_groups + 1,): first word of each group, and the number of words
    size     int64 (n_groups,): samples of each group
    arm      int64 (n_groups,): 0, 1, ...
    omega    float64 (n_groups,): how much a group counts in its arm; adds up to 1 in each
    ignored  which of "strata" and "weights" would have made groups too small and are left out
             (probes that are permuted within strata respect these all the same)
    """

    train: np.ndarray
    order: np.ndarray
    first: np.ndarray
    size: np.ndarray
    arm: np.ndarray
    omega: np.ndarray
    ignored: tuple[str, ...] = ()

    @property
    def n_groups(self) -> int:
        return len(self.size)

    @property
    def n_words(self) -> int:
        return int(self.first[-1])

    @property
    def n_arms(self) -> int:
        return int(self.arm[-1]) + 1


@dataclass(frozen=True)
class _Cells:
    """Training samples by cell: numbers of cells, and of each cell its arm and weight."""

    cell: np.ndarray
    arm: np.ndarray
    omega: np.ndarray


def make_groups(
    train: np.ndarray,
    target: np.ndarray,
    *,
    strata: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    n_bins: int = N_BINS,
) -> PairGroups:
    """Groups of the training samples.

    train    which samples, by number
    target   by sample: whole numbers are classes, floats are numbers
    strata   int by sample: only samples of a stratum are compared; None: all are alike
    weights  float by sample, above 0 for training samples; None: all the same
    n_bins   that a numeric target is cut into

    The contrast of normal scores over 8 bins has 0.94 of the noncentrality of the full correlation
    (4 bins: 0.85, 16: 0.965; y = x1 x2 / 4 + noise, N = 1,000), more if noise has long tails.
    """
    train = np.asarray(train, np.int32)
    n = len(train)
    has_classes = np.issubdtype(target.dtype, np.integer) or target.dtype == bool
    y = np.asarray(target)[train]
    if not has_classes and not np.isfinite(y).all():
        raise InputError("the target has values that are no numbers: leave these samples out.")
    stratum = np.zeros(n, np.int64) if strata is None else _numbered(np.asarray(strata)[train])
    mass = np.ones(n) if weights is None else np.asarray(weights, np.float64)[train]
    bins = _weight_bins(mass)
    whole = np.zeros(n, np.int64)
    tries = (
        (stratum, bins, ()),
        (stratum, whole, ("weights",)),
        (whole, bins, ("strata",)),
        (whole, whole, ("strata", "weights")),
    )
    for kept, kept_bins, ignored in tries:
        if has_classes:
            cells = _class_cells(_numbered(y), kept, kept_bins, mass)
        else:
            values = y.astype(np.float64)
            if kept is whole:
                values = _residuals(values, stratum, mass)
            cells = _value_cells(values, kept, kept_bins, mass, n_bins=n_bins)
        if ignored == tries[-1][2] or not _too_fine(cells):
            break
    left_out = tuple(
        name
        for name, found in (("strata", stratum), ("weights", bins))
        if name in ignored and found.any()
    )
    return _lay_out(train, cells, left_out)


def _numbered(labels: np.ndarray) -> np.ndarray:
    return np.asarray(np.unique(labels, return_inverse=True)[1], np.int64).reshape(-1)


def _weight_bins(mass: np.ndarray) -> np.ndarray:
    """Samples of about the same weight; one bin if all weights are the same."""
    levels = np.unique(mass)
    if len(levels) > WEIGHT_BINS:
        levels = np.unique(np.quantile(mass, np.arange(1, WEIGHT_BINS) / WEIGHT_BINS))
        return np.searchsorted(levels, mass, side="right").astype(np.int64)
    return np.searchsorted(levels, mass).astype(np.int64)


def _residuals(values: np.ndarray, stratum: np.ndarray, mass: np.ndarray) -> np.ndarray:
    means = np.bincount(stratum, mass * values) / np.bincount(stratum, mass)
    found: np.ndarray = values - means[stratum]
    return found


def _class_cells(
    classes: np.ndarray, stratum: np.ndarray, bins: np.ndarray, mass: np.ndarray
) -> _Cells:
    """Class x stratum x weight bin; the arm is the class.

    A stratum counts by the harmonic mean of the (effective) sizes of its classes, the inverse of
    the variance of a difference there. In a stratum and class, bins count by their mass.
    """
    n_strata, n_bins = int(stratum.max()) + 1, int(bins.max()) + 1
    arm_stratum = classes * n_strata + stratum
    cell = arm_stratum * n_bins + bins
    n_cells = (int(classes.max()) + 1) * n_strata * n_bins
    kept = np.bincount(cell, minlength=n_cells) >= LEAST_GROUP
    used = np.where(kept[cell], mass, 0.0)
    n_arm_strata = n_cells // n_bins
    total = np.bincount(arm_stratum, used, n_arm_strata)
    squares = np.bincount(arm_stratum, used**2, n_arm_strata)
    effective = np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)
    effective = effective.reshape(-1, n_strata)
    present = effective > 0
    inverse = np.divide(1.0, effective, out=np.zeros_like(effective), where=present)
    n_present = present.sum(axis=0)
    per_stratum = np.where(n_present >= 2, n_present / np.maximum(inverse.sum(axis=0), 1e-300), 0)
    share = np.bincount(cell, used, n_cells).reshape(-1, n_bins)
    share = np.divide(share, total[:, None], out=np.zeros_like(share), where=total[:, None] > 0)
    omega = np.tile(per_stratum, n_arm_strata // n_strata)[:, None] * share
    arm = np.repeat(np.arange(n_arm_strata // n_strata), n_strata * n_bins)
    return _Cells(cell, arm, omega.reshape(-1))


def _value_cells(
    values: np.ndarray, stratum: np.ndarray, bins: np.ndarray, mass: np.ndarray, *, n_bins: int
) -> _Cells:
    """Bin of the target x stratum x weight bin; arms are scores above and below the mean.

    Scores are normal scores of the ranks in the stratum, centred there. Values that are equal get
    the same bin.
    """
    n = len(values)
    score, level = np.zeros(n), np.zeros(n, np.int64)
    for s in range(int(stratum.max()) + 1):
        own = np.flatnonzero(stratum == s)
        number, counts = np.unique(values[own], return_inverse=True, return_counts=True)[1:]
        share = ((np.cumsum(counts) - counts / 2) / len(own))[number]  # of the middle of its ranks
        level[own] = share * max(2, min(n_bins, len(own) // BIN_SAMPLES))
        z = ndtri(share)
        means = np.bincount(level[own], mass[own] * z) / np.maximum(
            np.bincount(level[own], mass[own]), 1e-300
        )
        score[own] = means[level[own]]
        score[own] -= np.average(score[own], weights=mass[own])
    score[np.abs(score) < 1e-9] = 0.0
    n_strata, n_weights = int(stratum.max()) + 1, int(bins.max()) + 1
    key = (level * n_strata + stratum) * n_weights + bins
    cell = _numbered(key)
    n_g = np.bincount(cell)
    sums = np.bincount(cell, mass * score)
    omega = np.where(n_g >= LEAST_GROUP, np.abs(sums), 0.0)
    return _Cells(cell, (sums > 0).astype(np.int64), omega)


def _too_fine(cells: _Cells) -> bool:
    sizes = np.bincount(cells.cell, minlength=len(cells.arm))
    n = int(sizes.sum())
    if -(-sizes // LINE).sum() > MOST_PADDING * -(-n // LINE):
        return True
    used = cells.omega > 0
    if len(np.unique(cells.arm[used])) < 2:
        return True
    small = (sizes < SMALL_GROUP) | ~used
    return bool(2 * sizes[small].sum() > n)


def _lay_out(train: np.ndarray, cells: _Cells, ignored: tuple[str, ...]) -> PairGroups:
    kept = np.flatnonzero(cells.omega > 0)
    kept = kept[np.argsort(cells.arm[kept], kind="stable")]
    arm = _numbered(cells.arm[kept])
    if len(arm) == 0 or arm[-1] < 1:
        raise InputError(
            "pairs of features need a target with at least two values that several samples have."
        )
    omega = cells.omega[kept] / np.bincount(arm, cells.omega[kept])[arm]
    size = np.bincount(cells.cell, minlength=len(cells.arm))[kept]
    first = np.concatenate([[0], np.cumsum(-(-size // WORD))])
    order = np.full(int(first[-1]) * WORD, -1, np.int32)
    for g, c in enumerate(kept):
        start = int(first[g]) * WORD
        order[start : start + size[g]] = train[cells.cell == c]
    return PairGroups(
        train=train,
        order=order,
        first=first,
        size=size,
        arm=arm,
        omega=omega,
        ignored=ignored,
    )
