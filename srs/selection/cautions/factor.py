"""Whether one unmeasured factor could explain a long list: batch, ancestry, cell composition.

Such a factor moves many features at once, so it is a leading principal component of the samples.
Where the target follows it, every feature that it moves is associated with the target. The
components are those of a random sample of features; the list is judged by features outside of
that sample, which do not make the component themselves. A feature of the list goes along with the
component if two things hold:

- given the target it still follows the component. Where the classes differ in many features that
  have nothing else in common, the component is the target itself, and this does not hold;
- given the component most of its association with the target is gone.

A component must also be wide: it moves a good part of all features. One block of correlated
features (a gene's variants, a region of voxels) is no such factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc

from srs.selection.groups.association import column_directions

N_COMPONENTS = 10
N_ROUNDS = 12  # of the subspace iteration: components that stand out are exact by then
FOLLOWS = 1e-4  # p-value at which the target follows one of the components
ALONG = 0.05  # p-value at which a feature follows the component, given the target
GONE = 0.05  # p-value above which nothing of an association is left
LEFT = 0.25  # share of an association that may be left
MOST = 0.6  # share of the list that must go along
MOVED = 0.01  # p-value at which a component moves a feature
WIDE = 0.07  # share of all features that a factor must move
MIN_CHECKED = 20  # features of the list that must be outside of the sample
TINY = 1e-6


@dataclass(frozen=True)
class Factor:
    """A component that the target follows, and with it most of the list.

    component  its number, from 1 on
    variance   share of the variance of all features
    moved      share of all features that follow it
    followed   share of the target's variance that goes along with it
    along      bool: for each feature of the list that was checked, whether it goes along with it
    """

    component: int
    variance: float
    moved: float
    followed: float
    along: np.ndarray

    @property
    def n_checked(self) -> int:
        return len(self.along)

    @property
    def n_along(self) -> int:
        return int(np.count_nonzero(self.along))


@dataclass(frozen=True)
class Looked:
    """Samples that are looked at, and what is known of them.

    outputs   float64 (n_samples, k): the target as numbers, e.g. indicators of classes
    strata    int (n_samples,): samples equal in all confounders; None: no confounders
    subjects  int (n_samples,): samples that belong together; None: each is its own
    """

    outputs: np.ndarray
    strata: np.ndarray | None = None
    subjects: np.ndarray | None = None

    def adjust(self, columns: np.ndarray) -> np.ndarray:
        """Columns without the means of strata, as means of subjects, of length 1 or 0."""
        before = _lengths(columns)
        if self.strata is not None:
            columns = columns - _means(columns, self.strata)[self.strata]
        if self.subjects is not None:
            columns = _means(columns, self.subjects)
        return _unit(columns - columns.mean(axis=0), TINY * before)

    @property
    def n_free(self) -> int:
        """Samples or subjects that can differ, less one for each stratum."""
        n = len(self.outputs) if self.subjects is None else len(np.unique(self.subjects))
        return n - (1 if self.strata is None else len(np.unique(self.strata)))


def find_factor(
    sampled: np.ndarray,
    others: np.ndarray,
    listed: np.ndarray,
    looked: Looked,
    rng: np.random.Generator,
) -> Factor | None:
    """The component that most of the list goes along with; None if there is none.

    sampled  float32 (n_samples, m): a random sample of features, as `standardise` makes them
    others   float32 (n_samples, k): another random sample, of features that are not in the first
    listed   float32 (n_samples, h): features of the list that are not in the first sample
    """
    target = _basis(looked.adjust(looked.outputs))
    n_free, n_outputs = looked.n_free, target.shape[1]
    if listed.shape[1] < MIN_CHECKED or not n_outputs or n_free < n_outputs + 10:
        return None
    sampled = looked.adjust(sampled)
    components, variance = leading_components(sampled, rng)
    others, listed = looked.adjust(others), looked.adjust(listed)
    followed = ((target.T @ components) ** 2).sum(axis=0)
    best: Factor | None = None
    for at in np.flatnonzero(_p_value(followed, n_outputs, n_free) < FOLLOWS):
        component = components[:, at]
        shares = (component @ others) ** 2
        moved = float((_p_value(shares, 1, n_free) < MOVED).mean()) - MOVED
        if moved < WIDE:
            continue
        along = go_along(listed, target, component, n_free)
        n_along = int(np.count_nonzero(along))
        if n_along < MOST * len(along) or (best is not None and n_along <= best.n_along):
            continue
        best = Factor(
            component=int(at) + 1,
            variance=round(float(variance[at]), 4),
            moved=round(moved, 4),
            followed=round(float(followed[at]), 4),
            along=along,
        )
    return best


def go_along(
    listed: np.ndarray, target: np.ndarray, component: np.ndarray, n_free: int
) -> np.ndarray:
    """bool (h,): which features go along with the component rather than with the target.

    listed     (n, h) of length 1; target: (n, k) orthonormal; component: (n,) of length 1
    """
    n_outputs = target.shape[1]
    alone = ((target.T @ listed) ** 2).sum(axis=0)
    given = _unit(listed - np.outer(component, component @ listed))
    target_given = _basis(target - np.outer(component, component @ target))
    left = ((target_given.T @ given) ** 2).sum(axis=0)
    within = _unit(listed - target @ (target.T @ listed))
    component_within = _unit(component - target @ (target.T @ component))
    tied = (component_within @ within) ** 2
    follows = _p_value(tied, 1, n_free - n_outputs) < ALONG
    gone = (_p_value(left, n_outputs, n_free - 1) > GONE) | (left < LEFT * alone)
    found: np.ndarray = follows & gone
    return found


def leading_components(
    columns: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Leading principal components of the samples (n, k), and their shares of the variance.

    By subspace iteration: each round costs two products with a thin matrix.
    """
    n_kept = min(N_COMPONENTS, *columns.shape)
    start = rng.standard_normal((len(columns), min(2 * n_kept, len(columns)))).astype(np.float32)
    basis = np.linalg.qr(start)[0]
    for _ in range(N_ROUNDS):
        basis = np.linalg.qr(columns @ (columns.T @ basis))[0]
    within = basis.T @ columns
    values, turned = np.linalg.eigh((within @ within.T).astype(np.float64))
    order = np.argsort(-values)[:n_kept]
    components = _unit(np.asarray(basis, np.float64) @ turned[:, order])
    return components, values[order] / max(float((_lengths(columns) ** 2).sum()), 1e-30)


def standardise(codes: np.ndarray, is_categorical: np.ndarray) -> np.ndarray:
    """Codes (n, k) as float32 columns of length 1: mid-ranks; of a category its first direction.

    What is missing is put in the middle.
    """
    columns = np.empty(codes.shape, np.float32)
    for at in range(codes.shape[1]):
        columns[:, at] = column_directions(codes[:, at], bool(is_categorical[at]))[:, 0]
    return columns


def _p_value(shares: np.ndarray, n_outputs: int, n_free: int) -> np.ndarray:
    """p-values of shares of variance that `n_outputs` columns explain by chance."""
    n_left = max(n_free - n_outputs, 1)
    ratio = (shares / n_outputs) / np.maximum((1.0 - shares) / n_left, 1e-12)
    return np.asarray(fdtrc(n_outputs, n_left, ratio))


def _means(columns: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Means of the rows of each group, groups in their order."""
    numbers = np.unique(groups, return_inverse=True)[1]
    order = np.argsort(numbers, kind="stable")
    counts = np.bincount(numbers)
    sums = np.add.reduceat(columns[order], np.cumsum(counts) - counts, axis=0)
    means: np.ndarray = (sums / counts[:, None]).astype(columns.dtype)
    return means


def _unit(columns: np.ndarray, least: float | np.ndarray = TINY) -> np.ndarray:
    """Columns of length 1; those that are no longer than `least` become 0."""
    lengths = _lengths(columns)
    factors = np.where(lengths > least, 1.0 / np.maximum(lengths, 1e-30), 0.0)
    scaled: np.ndarray = columns * factors.astype(columns.dtype)
    return scaled


def _lengths(columns: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(np.einsum("i...,i...->...", columns, columns)))


def _basis(columns: np.ndarray) -> np.ndarray:
    """Orthonormal columns (n, rank) that span the given ones."""
    left, values, _ = np.linalg.svd(np.asarray(columns, np.float64), full_matrices=False)
    basis: np.ndarray = left[:, values > 1e-6]
    return basis
