"""Context-dependent importances of infinitely many totally randomised multiway trees, exact.

Covers the importances of Sutera et al., "Context-dependent feature analysis with random forests"
(2016), on a known discrete distribution: classes with entropy in bits, or a numeric target with
variance. The context is no feature of the trees. Forests of finite size are
`srs.explain.analyses.context`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from srs.errors import InputError
from srs.theory.asymptotic import FloatArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa

MAX_FEATURES = 14
TOLERANCE = 1e-9

INDEPENDENT, COMPLEMENTARY, REDUNDANT = "independent", "complementary", "redundant"
IRRELEVANT, MIXED = "irrelevant", "dependent"


@dataclass(frozen=True)
class ContextImportances:
    """Importances of features, overall and in each context; rows are contexts where there are two.

    contexts   the values of the context, sorted
    imp        (n_features,): Imp, all samples (equation 8)
    given      (n_contexts, n_features): Imp given the context, its samples alone
    absolute   (n_contexts, n_features): Imp^|xc| (equation 11): 0 for all contexts if and only if
               the feature is context-independent
    signed     (n_contexts, n_features): Imp_s^xc (equation 12): negative if the context adds to
               what the feature tells, positive if it takes from it
    overall    (n_features,): Imp^Xc, the effect of knowing the context
    names      names of the features
    """

    contexts: tuple[object, ...]
    imp: FloatArray
    given: FloatArray
    absolute: FloatArray
    signed: FloatArray
    overall: FloatArray
    names: tuple[str, ...]

    @property
    def table(self) -> pa.Table:
        """One row a feature and context, named as in `srs.explain.analyses.context`."""
        import pyarrow as pa  # here, because planning a run needs this package and no tables

        k, p = self.absolute.shape
        columns = {
            "feature": list(self.names) * k,
            "part": [str(context) for context in self.contexts for _ in range(p)],
            "value": self.absolute.ravel(),
            "label": [word for row in self.labels for word in row],
            "signed": self.signed.ravel(),
            "imp": np.tile(self.imp, k),
            "given": self.given.ravel(),
            "overall": np.tile(self.overall, k),
        }
        return pa.table(columns)

    def to_json(self) -> dict[str, Any]:
        """The table by rows, as JSON values."""
        return {"name": "asymptotic-context", "rows": self.table.to_pylist()}

    @property
    def labels(self) -> list[list[str]]:
        """A word for each context and feature, by Theorem 3."""
        return [
            [characterise(*values) for values in zip(absolute, signed, self.imp, strict=True)]
            for absolute, signed in zip(self.absolute, self.signed, strict=True)
        ]


def characterise(absolute: float, signed: float, imp: float, tolerance: float = TOLERANCE) -> str:
    """What the context does to a feature (Definitions 2 to 4, by Theorem 3).

    >>> characterise(0.0, 0.0, 1.0), characterise(0.4, -0.4, 0.1), characterise(0.1, 0.1, 0.2)
    ('independent', 'complementary', 'redundant')
    >>> characterise(0.1, 0.1, 0.1), characterise(0.3, 0.1, 0.5)
    ('irrelevant', 'dependent')
    """
    if absolute <= tolerance:
        return INDEPENDENT
    if absolute - abs(signed) > tolerance:
        return MIXED
    if signed < 0:
        return COMPLEMENTARY
    return IRRELEVANT if abs(signed - imp) <= tolerance else REDUNDANT


def asymptotic_context(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    context: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    *,
    regression: bool = False,
) -> ContextImportances:
    """Exact importances of features in contexts; the table of samples is the distribution.

    X           (n_samples, n_features) or a data frame: any values that can be sorted; each value
                is a level
    y           (n_samples,): classes; numbers if `regression`, and impurity is variance then
    context     (n_samples,): the context of each sample
    weights     (n_samples,): how much each sample counts; None: all the same

    A node that no sample of a context reaches tells nothing in that context: 0 there.

    >>> rows = [[a, b] for a in (0, 1) for b in (0, 1)]
    >>> found = asymptotic_context(rows * 2, [0, 0, 1, 1, 0, 1, 0, 1], [0] * 4 + [1] * 4)
    >>> found.given.tolist()  # y is the first feature in context 0, the second in context 1
    [[1.0, 0.0], [0.0, 1.0]]
    >>> found.labels
    [['complementary', 'irrelevant'], ['irrelevant', 'complementary']]
    """
    names = tuple(map(str, getattr(X, "columns", ())))
    X, y, c, w, contexts = _parse(X, y, context, weights)
    if regression and not np.isfinite(y.astype(np.float64)).all():
        raise InputError("a numeric target must be finite in every sample: leave others out.")
    target = _columns(y, w, regression)
    masks = [np.ones(len(w)), *(np.where(c == k, 1.0, 0.0) for k in range(len(contexts)))]
    columns = [mask[:, None] * target for mask in masks]
    p = X.shape[1]
    groups = _groups(X)
    imp, overall = np.zeros(p), np.zeros(p)
    given, absolute, signed = (np.zeros((len(contexts), p)) for _ in range(3))
    shares = np.array([(w * mask).sum() for mask in masks])
    for subset in range((1 << p) - 1):  # all but the whole
        size = subset.bit_count()
        weight = 1 / (math.comb(p, size) * (p - size))
        coarse = groups[subset]
        n = int(coarse.max()) + 1
        before = [_impurities(coarse, part, n, regression) for part in columns]
        mass = [np.asarray(np.bincount(coarse, w * mask, n), np.float64) for mask in masks]
        for m in range(p):
            if subset >> m & 1:
                continue
            fine = groups[subset | 1 << m]
            after = _within(fine, coarse, columns, regression)
            gains = [np.maximum(b - a, 0.0) for b, a in zip(before, after, strict=True)]
            imp[m] += weight * gains[0].sum()
            overall[m] += weight * (gains[0].sum() - sum(gain.sum() for gain in gains[1:]))
            for k in range(len(contexts)):
                difference = gains[0] - mass[0] * _rates(gains[k + 1], mass[k + 1])
                given[k, m] += weight * gains[k + 1].sum() / shares[k + 1]
                absolute[k, m] += weight * np.abs(difference).sum()
                signed[k, m] += weight * difference.sum()
    names = names or tuple(f"f{m}" for m in range(p))
    return ContextImportances(contexts, imp, given, absolute, signed, overall=overall, names=names)


def _parse(
    X: npt.ArrayLike, y: npt.ArrayLike, context: npt.ArrayLike, weights: npt.ArrayLike | None
) -> tuple[IntArray, npt.NDArray[np.generic], IntArray, FloatArray, tuple[object, ...]]:
    X, y, context = np.asarray(X), np.asarray(y), np.asarray(context)
    if X.ndim != 2 or not X.size:
        raise InputError(f"X must be a table of samples by features, not of shape {X.shape}.")
    if y.shape != (len(X),) or context.shape != (len(X),):
        raise InputError(f"y and context must have one value for each of {len(X)} samples.")
    if X.shape[1] > MAX_FEATURES:
        raise InputError(
            f"Exact importances take 2**n_features steps: at most {MAX_FEATURES} features, not "
            f"{X.shape[1]}."
        )
    w = np.ones(len(X)) if weights is None else np.asarray(weights, np.float64)
    if w.shape != (len(X),) or not np.isfinite(w).all() or (w < 0).any() or not w.any():
        raise InputError(
            "weights must be one finite number per sample, not negative, not all zero."
        )
    kept = w > 0
    X, y, context, w = X[kept], y[kept], context[kept], w[kept] / w.sum()
    codes = np.column_stack([np.unique(column, return_inverse=True)[1] for column in X.T])
    contexts, c = np.unique(context, return_inverse=True)
    if len(contexts) < 2:
        raise InputError(
            f"the context has only one value ({contexts[0]!s}), so nothing can depend on it: "
            "give a context with at least two values."
        )
    return codes.astype(np.int64), y, c, w, tuple(contexts.tolist())


def _columns(y: npt.NDArray[np.generic], w: FloatArray, regression: bool) -> FloatArray:
    """What impurities are made from: class masses, or mass and first two moments."""
    if not regression:
        classes = np.unique(y, return_inverse=True)[1]
        return np.asarray(np.eye(int(classes.max()) + 1)[classes] * w[:, None])
    values = y.astype(np.float64)
    values = values - (w * values).sum()
    return np.column_stack([w, w * values, w * values**2])


def _impurities(groups: IntArray, columns: FloatArray, n: int, regression: bool) -> FloatArray:
    """Mass x impurity of each group."""
    sums = np.column_stack([np.bincount(groups, column, n) for column in columns.T])
    if regression:
        mass = np.where(sums[:, 0] > 0, sums[:, 0], 1.0)
        return np.asarray(np.maximum(sums[:, 2] - sums[:, 1] ** 2 / mass, 0.0))
    totals = np.broadcast_to(sums.sum(axis=1, keepdims=True), sums.shape)
    present = sums > 0
    terms = np.zeros_like(sums)
    terms[present] = sums[present] * np.log2(totals[present] / sums[present])
    return np.asarray(terms.sum(axis=1))


def _within(
    fine: IntArray, coarse: IntArray, columns: list[FloatArray], regression: bool
) -> list[FloatArray]:
    """Mass x impurity that is left in each coarse group once it is split into its fine ones."""
    n, n_fine = int(coarse.max()) + 1, int(fine.max()) + 1
    parent = np.empty(n_fine, np.int64)
    parent[fine] = coarse
    left = (_impurities(fine, part, n_fine, regression) for part in columns)
    return [np.asarray(np.bincount(parent, part, n), np.float64) for part in left]


def _rates(gains: FloatArray, mass: FloatArray) -> FloatArray:
    """Gain per mass of each group; 0 in groups without mass."""
    rates = np.zeros(len(mass))
    inside = mass > 0
    rates[inside] = gains[inside] / mass[inside]
    return rates


def _groups(X: IntArray) -> list[IntArray]:
    """The group of each sample by the values of every subset of features, numbered without gaps."""
    p = X.shape[1]
    groups: list[IntArray] = [np.zeros(len(X), np.int64)]
    for subset in range(1, 1 << p):
        last = subset.bit_length() - 1
        joined = groups[subset ^ 1 << last] * (int(X[:, last].max()) + 1) + X[:, last]
        groups.append(np.unique(joined, return_inverse=True)[1])
    return groups
