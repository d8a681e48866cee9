"""A known discrete distribution as a table, and the entropies of its parts.

What `asymptotic`, `randomised` and `dependence` share. The distribution is the table of samples
itself: equal samples add up, and nothing is sampled. Entropies are in bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from srs.errors import InputError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

MAX_FEATURES = 20  # 2**20 subsets of 200 outcomes take three minutes


@dataclass(frozen=True)
class Table:
    """A discrete distribution; row i is one outcome of positive probability.

    codes      (n_outcomes, n_features): levels 0, 1, ... of each feature, in order
    classes    (n_outcomes,): levels of the target
    shares     (n_outcomes,): probabilities, which sum to 1
    """

    codes: IntArray
    classes: IntArray
    shares: FloatArray

    @property
    def n_features(self) -> int:
        return int(self.codes.shape[1])

    @property
    def n_classes(self) -> int:
        return int(self.classes.max()) + 1


def tabulate(X: npt.ArrayLike, y: npt.ArrayLike, weights: npt.ArrayLike | None) -> Table:
    """The distribution that samples are, each with its weight."""
    X, y = np.asarray(X), np.asarray(y)
    if X.ndim != 2 or not X.size:
        raise InputError(f"X must be a table of samples by features, not of shape {X.shape}.")
    if y.shape != (len(X),):
        raise InputError(f"y must have one value for each of {len(X)} samples, not {y.shape}.")
    shares = _shares(len(X), weights)
    X, y, shares = X[shares > 0], y[shares > 0], shares[shares > 0]
    try:
        columns = [np.unique(column, return_inverse=True)[1] for column in (*X.T, y)]
    except TypeError as error:
        raise InputError("The values of a feature, and of y, must be sortable.") from error
    outcomes, outcome = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    total = sums(outcome.ravel(), shares, len(outcomes))
    return Table(outcomes[:, :-1].astype(np.int64), outcomes[:, -1].astype(np.int64), total)


def sums(groups: IntArray, shares: FloatArray, n_groups: int) -> FloatArray:
    """Sum of the shares of each group."""
    return np.bincount(groups, weights=shares, minlength=n_groups).astype(np.float64, copy=False)


def _shares(n_samples: int, weights: npt.ArrayLike | None) -> FloatArray:
    if weights is None:
        return np.full(n_samples, 1 / n_samples)
    given = np.asarray(weights, np.float64)
    if given.shape != (n_samples,):
        raise InputError(f"weights must hold one number for each of {n_samples} samples.")
    if not np.isfinite(given).all() or (given < 0).any() or not given.any():
        raise InputError("weights must be finite, not negative, and not all zero.")
    scaled = given / given.max()
    return np.asarray(scaled / scaled.sum())


def conditional_entropies(table: Table) -> FloatArray:
    """H(Y | B) of every subset B of the features; bit m of the index says that B has feature m."""
    entropies = np.empty(1 << table.n_features)
    levels = table.codes.max(axis=0) + 1
    start = np.zeros(len(table.shares), np.int64)
    stack = [(0, 0, start)]  # subset, first feature that may join it, group of each outcome
    while stack:
        subset, first, groups = stack.pop()
        entropies[subset] = entropy_within(table, groups)
        for m in range(first, table.n_features):
            finer = np.unique(groups * levels[m] + table.codes[:, m], return_inverse=True)[1]
            stack.append((subset | 1 << m, m + 1, finer))
    return entropies


def entropy_within(table: Table, groups: IntArray) -> float:
    """H(Y | group): groups are numbered from 0 without gaps."""
    n_groups = int(groups.max()) + 1
    cells = groups * table.n_classes + table.classes
    joint = sums(cells, table.shares, n_groups * table.n_classes)
    return spread(joint.reshape(n_groups, table.n_classes))


def spread(joint: FloatArray) -> float:
    """Sum of x log2(row sum / x): entropy within rows, weighted by their probability."""
    totals = np.broadcast_to(joint.sum(axis=1, keepdims=True), joint.shape)
    present = joint > 0
    x = joint[present]
    return float(np.sum(x * np.log2(totals[present] / x)))


def impurity(table: Table, node: IntArray) -> float:
    """Probability of the node times the entropy of the target in it."""
    by_class = sums(table.classes[node], table.shares[node], table.n_classes)
    return spread(by_class[None, :])


def check_features(table: Table, most: int = MAX_FEATURES) -> None:
    """Refuse tables whose subsets of features are too many to go through."""
    if table.n_features > most:
        raise InputError(
            f"Exact importances take 2**n_features steps: at most {most} features, not "
            f"{table.n_features}."
        )
