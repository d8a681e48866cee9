"""Context-dependent importances of infinitely many totally randomised multiway trees, exact.

Covers the importances of Sutera et al., "Context-dependent feature analysis with random forests"
(2016), on a known discrete distribution: classes with entropy in bits, or a numeric target with
variance. The context is no feature of the trees. Forests of finite size are
`srs.explain.analyses.context`.

All subsets of the features are visited, those of one size at a time, so that memory grows with the
largest number of subsets of one size, not with all of them.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from srs.errors import InputError
from srs.theory.asymptotic import FloatArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa

MAX_FEATURES = 22  # time doubles with each
MAX_BYTES = 2 << 30
TOLERANCE = 1e-9
TINY = 1e-300
EMPTY = ("skip", "zero")  # what a node counts that no sample of the context reaches

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
    reached    (n_contexts, n_features): the part of Imp of the nodes that the context reaches; all
               of it under the rule "zero"
    names      names of the features
    """

    contexts: tuple[object, ...]
    imp: FloatArray
    given: FloatArray
    absolute: FloatArray
    signed: FloatArray
    overall: FloatArray
    reached: FloatArray
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
            "shared": (self.reached - self.signed).ravel(),
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
            [characterise(*values) for values in zip(*rows, strict=True)]
            for rows in zip(self.absolute, self.signed, self.reached, strict=True)
        ]


def characterise(absolute: float, signed: float, imp: float, tolerance: float = TOLERANCE) -> str:
    """What the context does to a feature (Definitions 2 to 4, by Theorem 3).

    imp  importance over the nodes that the context reaches

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


class _Table(NamedTuple):
    """The distribution.

    mass    float64 (1 + n_contexts, n_samples): what each sample weighs, overall and in each
            context, where it weighs 0 unless it is in
    target  classes as int64 from 0 on, or numbers
    """

    mass: FloatArray
    target: npt.NDArray[Any]


class _Level(NamedTuple):
    """What is known of one subset of features.

    groups  int32 (n_samples,): group of each sample by the values of the subset
    left    float64 (1 + n_contexts, n_samples): what each sample adds to mass x impurity of its
            group, overall and in each context
    """

    groups: IntArray
    left: FloatArray


def asymptotic_context(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    context: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    *,
    regression: bool = False,
    empty: str = "skip",
) -> ContextImportances:
    """Exact importances of features in contexts; the table of samples is the distribution.

    X           (n_samples, n_features) or a data frame: any values that can be sorted; each value
                is a level
    y           (n_samples,): classes; numbers if `regression`, and impurity is variance then
    context     (n_samples,): the context of each sample
    weights     (n_samples,): how much each sample counts; None: all the same
    empty       a node that no sample of a context reaches: "skip" leaves it out, as footnote 2 of
                the paper says, and Theorem 2 needs (Table 6.E.1 of the thesis); "zero" takes it
                that the feature tells nothing there (Tables 6.3 and 6.4)

    >>> rows = [[a, b] for a in (0, 1) for b in (0, 1)]
    >>> found = asymptotic_context(rows * 2, [0, 0, 1, 1, 0, 1, 0, 1], [0] * 4 + [1] * 4)
    >>> found.given.tolist()  # y is the first feature in context 0, the second in context 1
    [[1.0, 0.0], [0.0, 1.0]]
    >>> found.labels
    [['complementary', 'irrelevant'], ['irrelevant', 'complementary']]
    """
    if empty not in EMPTY:
        raise InputError(f"the rule for empty nodes is {empty!r}; it must be skip or zero.")
    names = tuple(map(str, getattr(X, "columns", ())))
    X, y, c, w, contexts = _parse(X, y, context, weights)
    if regression and not np.isfinite(y.astype(np.float64)).all():
        raise InputError("a numeric target must be finite in every sample: leave others out.")
    X, y, c, w = _merged(X, y, c, w)
    p, k = X.shape[1], len(contexts)
    _require_memory(p, len(w), k)
    masks = np.stack([np.ones(len(w)), *(np.where(c == i, 1.0, 0.0) for i in range(k))])
    table = _Table(masks * w, y.astype(float) if regression else _codes(y))
    sums = _Sums(table, p, empty)
    levels = {0: _level(np.zeros(len(w), np.int64), table)}
    for size in range(p):
        wider = _wider(levels, X, size + 1, table)
        weight = 1 / (math.comb(p, size) * (p - size))
        for subset, level in levels.items():
            sums.add(weight, level, {m: wider[subset | 1 << m] for m in _free(subset, p)})
        levels = wider
    names = names or tuple(f"f{m}" for m in range(p))
    return ContextImportances(
        contexts=contexts,
        imp=sums.imp,
        given=sums.given / table.mass[1:].sum(axis=1, keepdims=True),
        absolute=sums.absolute,
        signed=sums.signed,
        overall=sums.imp - sums.given.sum(axis=0),
        reached=sums.reached,
        names=names,
    )


class _Sums:
    """Importances as they add up over subsets; `given` is of the mass of each context."""

    def __init__(self, table: _Table, p: int, empty: str) -> None:
        self._table, self._empty = table, empty
        n_contexts = len(table.mass) - 1
        self.imp = np.zeros(p)
        self.given, self.absolute, self.signed, self.reached = (
            np.zeros((n_contexts, p)) for _ in range(4)
        )

    def add(self, weight: float, level: _Level, wider: dict[int, _Level]) -> None:
        """Add what features tell in the groups of one subset.

        wider  the subset with each feature added, by the number of the feature
        """
        free = list(wider)
        after = np.stack([found.left for found in wider.values()])
        order = np.argsort(level.groups, kind="stable")
        starts = np.flatnonzero(np.diff(level.groups[order], prepend=-1))
        gains = np.maximum(np.add.reduceat((level.left - after)[..., order], starts, axis=-1), 0.0)
        mass = np.add.reduceat(self._table.mass[:, order], starts, axis=-1)
        here = mass[1:] > 0
        rates = np.where(here, gains[:, 1:] / np.where(here, mass[1:], 1.0), 0.0)
        counted = here if self._empty == "skip" else np.ones_like(here)
        told = np.where(counted, gains[:, :1], 0.0)
        difference = told - mass[0] * rates
        self.imp[free] += weight * gains[:, 0].sum(axis=-1)
        self.given[:, free] += weight * gains[:, 1:].sum(axis=-1).T
        self.absolute[:, free] += weight * np.abs(difference).sum(axis=-1).T
        self.signed[:, free] += weight * difference.sum(axis=-1).T
        self.reached[:, free] += weight * told.sum(axis=-1).T


def _free(subset: int, p: int) -> list[int]:
    return [m for m in range(p) if not subset >> m & 1]


def _wider(levels: dict[int, _Level], X: IntArray, size: int, table: _Table) -> dict[int, _Level]:
    """All subsets of a size, from those that have one feature less."""
    found = {}
    for columns in itertools.combinations(range(X.shape[1]), size):
        last = columns[-1]
        subset = sum(1 << m for m in columns)
        before = levels[subset ^ 1 << last].groups.astype(np.int64)
        joined = before * (int(X[:, last].max()) + 1) + X[:, last]
        found[subset] = _level(np.unique(joined, return_inverse=True)[1], table)
    return found


def _level(groups: IntArray, table: _Table) -> _Level:
    mass, target = table
    if target.dtype.kind == "f":
        means = _sums(groups, mass * target) / np.maximum(_sums(groups, mass), TINY)
        return _Level(groups.astype(np.int32), mass * (target - means) ** 2)
    cells = groups * (int(target.max()) + 1) + target
    shares = _sums(groups, mass) / np.maximum(_sums(cells, mass), TINY)
    return _Level(groups.astype(np.int32), mass * np.log2(np.maximum(shares, 1.0)))


def _sums(groups: IntArray, mass: FloatArray) -> FloatArray:
    """For each sample the sum over its group, by row of `mass`."""
    return np.stack([np.bincount(groups, row)[groups] for row in mass])


def _codes(values: npt.NDArray[np.generic]) -> IntArray:
    return np.asarray(np.unique(values, return_inverse=True)[1], np.int64)


def _merged(
    X: IntArray, y: npt.NDArray[np.generic], c: IntArray, w: FloatArray
) -> tuple[IntArray, npt.NDArray[np.generic], IntArray, FloatArray]:
    """Samples that are alike in all as one, of their weight."""
    table = np.column_stack([X, _codes(y), c])
    _, first, of = np.unique(table, axis=0, return_index=True, return_inverse=True)
    weights = np.asarray(np.bincount(of.ravel(), w, len(first)), np.float64)
    return X[first], y[first], c[first], weights


def _require_memory(p: int, n_samples: int, n_contexts: int) -> None:
    """Refuse tables whose subsets of one size and the next do not fit."""
    widest = max(math.comb(p, size) + math.comb(p, size + 1) for size in range(p))
    needed = widest * n_samples * (8 * (1 + n_contexts) + 4)
    if needed > MAX_BYTES:
        raise InputError(
            f"Exact importances of {p} features and {n_samples} different samples need "
            f"{needed / 2**30:.1f} GiB, more than {MAX_BYTES >> 30} GiB: give fewer features."
        )


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
