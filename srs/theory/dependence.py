"""Which features are relevant, how, and what they share: exact, on a known discrete distribution.

Covers the definitions of thesis 2.4 and 5.1 on the table of a distribution: strong and weak
relevance (2.3 to 2.8), approximate irrelevance (2.9), Markov boundaries (2.10, 2.11), redundancy
(2.12 to 2.16, equations 2.27 to 2.30), the degree of a relevant feature (5.1), and the importance
of the last level of trees (equation 8.1). Features are named by their columns, 0, 1, .... Estimates
from samples are `srs.explain` (the analysis degrees) and `srs.select`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from srs.errors import InputError
from srs.theory.table import (
    FloatArray,
    IntArray,
    Table,
    check_features,
    conditional_entropies,
    entropy_within,
    sums,
    tabulate,
)

TOLERANCE = 1e-9  # bits: less information is none
IRRELEVANT, WEAK, STRONG = "irrelevant", "weakly relevant", "strongly relevant"
TOTAL, PARTIAL, NOT = "total", "partial", "none"


@dataclass(frozen=True)
class Relevance:
    """How features are relevant; arrays of n_features.

    degree   int64: the smallest number of features that must be known before the feature tells
             something (Definition 5.1); 0: it is marginally relevant; -1: it is irrelevant
    largest  float64: the largest I(X; Y | B) of all B, in bits: the feature is approximately
             irrelevant at this level and above (Definition 2.9)
    last     float64: I(X; Y | all others), in bits: the importance of the last level (equation
             8.1), above 0 if and only if the feature is strongly relevant (Definition 2.8)
    level    information, in bits, up to which a feature counts as irrelevant
    """

    degree: IntArray
    largest: FloatArray
    last: FloatArray
    level: float = TOLERANCE

    @property
    def relevant(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.degree >= 0)

    @property
    def strong(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.last > self.level)

    @property
    def weak(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.relevant & ~self.strong)

    @property
    def marginal(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.degree == 0)

    @property
    def words(self) -> list[str]:
        """A word for each feature."""
        kinds = zip(self.relevant, self.strong, strict=True)
        return [
            STRONG if strong else WEAK if relevant else IRRELEVANT for relevant, strong in kinds
        ]


def relevance(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    level: float = TOLERANCE,
) -> Relevance:
    """How each feature is relevant to y; the table of samples is the distribution.

    X        (n_samples, n_features): any values that can be sorted; each value is a level
    y        (n_samples,): likewise
    weights  (n_samples,): how much each sample counts; None: all the same
    level    information, in bits, up to which a feature counts as irrelevant (Definition 2.9)

    >>> rows = [[a, b, a, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    >>> found = relevance(rows, [a ^ b for a, b, _, _ in rows])  # the third is a copy
    >>> found.words
    ['weakly relevant', 'strongly relevant', 'weakly relevant', 'irrelevant']
    >>> found.degree.tolist()
    [1, 1, 1, -1]
    """
    if not (np.isfinite(level) and level >= 0):
        raise InputError(f"level must be a number from 0 on, in bits, not {level}.")
    table = _table(X, y, weights)
    p = table.n_features
    level = max(level, TOLERANCE)
    informs = _informations(table)
    sizes = _sizes(p)
    degree, largest, last = np.full(p, -1, np.int64), np.zeros(p), np.zeros(p)
    for m in range(p):
        without, told = informs(m)
        largest[m], last[m] = told.max(), told[-1]
        if largest[m] > level:
            degree[m] = sizes[without[told > level]].min()
    return Relevance(degree, largest, last, level)


def last_level_importances(
    X: npt.ArrayLike, y: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> FloatArray:
    """What each feature tells that no others tell, in bits (equation 8.1): its direct link to y.

    >>> last_level_importances([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).tolist()
    [1.0, 1.0]
    """
    return relevance(X, y, weights).last


def conditional_information(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    feature: int,
    given: Sequence[int] = (),
    weights: npt.ArrayLike | None = None,
) -> float:
    """I(feature; y | given), in bits."""
    table = tabulate(X, y, weights)
    _check_columns(table, [feature, *given])
    return _information(table, feature, given)


def minimal_conditionings(
    X: npt.ArrayLike, y: npt.ArrayLike, feature: int, weights: npt.ArrayLike | None = None
) -> list[tuple[int, ...]]:
    """Every minimal set of features that must be known for a feature to tell something (5.1).

    Empty for an irrelevant feature; [()] for a marginally relevant one.
    """
    table = _table(X, y, weights)
    _check_columns(table, [feature])
    without, told = _informations(table)(feature)
    dependent = without[told > TOLERANCE].tolist()
    sizes = _sizes(table.n_features)
    minimal: list[int] = []
    for subset in sorted(dependent, key=lambda subset: (sizes[subset], subset)):
        if not any(subset & small == small for small in minimal):
            minimal.append(subset)
    return [_members(subset) for subset in minimal]


def is_markov_blanket(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    features: Sequence[int],
    weights: npt.ArrayLike | None = None,
) -> bool:
    """Whether y depends on no other feature once these are known (Definition 2.10)."""
    table = tabulate(X, y, weights)
    _check_columns(table, features)
    left = entropy_within(table, _groups(table, features))
    return left - entropy_within(table, _groups(table, range(table.n_features))) <= TOLERANCE


def markov_boundaries(
    X: npt.ArrayLike, y: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> list[tuple[int, ...]]:
    """Every Markov blanket that no feature can be taken from (Definition 2.11).

    >>> rows = [[a, b, a] for a in (0, 1) for b in (0, 1)]
    >>> markov_boundaries(rows, [a ^ b for a, b, _ in rows])
    [(0, 1), (1, 2)]
    """
    table = _table(X, y, weights)
    left = conditional_entropies(table)
    blankets = left - left[-1] <= TOLERANCE
    found = [
        subset
        for subset in np.flatnonzero(blankets).tolist()
        if not any(blankets[subset ^ (1 << m)] for m in _members(subset))
    ]
    return sorted(_members(subset) for subset in found)


def total_correlation(X: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
    """What features share with one another, whatever the target, in bits (equation 2.27).

    >>> total_correlation([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
    1.0
    """
    X = np.asarray(X)
    table = tabulate(X, np.zeros(len(X)) if X.ndim else X, weights)
    alone = sum(_entropy(table, [m]) for m in range(table.n_features))
    return float(alone - _entropy(table, range(table.n_features)))


def redundancy_degree(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    first: int,
    second: int,
    given: Sequence[int] = (),
    *,
    weights: npt.ArrayLike | None = None,
) -> float:
    """I(first; second; y | given), in bits (Definition 2.16, equation 2.30; 2.29 without given).

    Above 0: they share what they tell. Below 0: they tell more together.

    >>> redundancy_degree([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], 0, 1)
    -1.0
    """
    table = tabulate(X, y, weights)
    _check_columns(table, [first, second, *given])
    alone = _information(table, first, given)
    return alone - _information(table, first, [*given, second])


def redundancy(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    first: int,
    second: int,
    weights: npt.ArrayLike | None = None,
) -> str:
    """How redundant the first feature is to the second: "total", "partial" or "none".

    total    it tells nothing once the second is known, whatever else is (Definition 2.14); both are
             totally redundant (2.13) if the second is to the first, too
    partial  wherever it still tells something, it tells less than without the second (2.15)
    """
    table = _table(X, y, weights)
    _check_columns(table, [first, second])
    without, told = _informations(table)(first)
    by_subset = dict(zip(without.tolist(), told.tolist(), strict=True))
    bit = 1 << second
    pairs = [(by_subset[s], by_subset[s | bit]) for s in by_subset if not s & bit]
    left = [(alone, beside) for alone, beside in pairs if beside > TOLERANCE]
    if not left:
        return TOTAL
    return PARTIAL if all(alone - beside > TOLERANCE for alone, beside in left) else NOT


def is_redundant_to(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    feature: int,
    others: Sequence[int],
    weights: npt.ArrayLike | None = None,
) -> bool:
    """Whether a set can replace a weakly relevant feature altogether (Yu and Liu, Definition 2.12).

    The set has a Markov blanket of the feature among y and all other features; if a part of it is
    one, the whole is.
    """
    table = _table(X, y, weights)
    _check_columns(table, [feature, *others])
    if not relevance(X, y, weights).weak[feature]:
        return False
    rest = [m for m in range(table.n_features) if m != feature]
    known = np.column_stack([table.codes[:, rest], table.classes])
    beside = Table(known, table.codes[:, feature], table.shares)
    at = [rest.index(m) for m in others]
    left = entropy_within(beside, _groups(beside, at))
    return left - entropy_within(beside, _groups(beside, range(len(rest) + 1))) <= TOLERANCE


def _table(X: npt.ArrayLike, y: npt.ArrayLike, weights: npt.ArrayLike | None) -> Table:
    table = tabulate(X, y, weights)
    check_features(table)
    return table


def _informations(table: Table) -> Callable[[int], tuple[IntArray, FloatArray]]:
    """A function of m: all subsets without feature m, and I(Xm; Y | subset) of each, in bits."""
    left = conditional_entropies(table)
    subsets = np.arange(len(left))

    def informs(m: int) -> tuple[IntArray, FloatArray]:
        without = subsets[(subsets >> m) & 1 == 0]
        return without, np.maximum(left[without] - left[without | (1 << m)], 0.0)

    return informs


def _sizes(p: int) -> IntArray:
    subsets = np.arange(1 << p)
    return np.asarray(sum(((subsets >> m) & 1 for m in range(p)), np.zeros(1 << p, np.int64)))


def _members(subset: int) -> tuple[int, ...]:
    return tuple(m for m in range(subset.bit_length()) if subset >> m & 1)


def _groups(table: Table, columns: Sequence[int]) -> IntArray:
    """The configuration of some features, numbered from 0, of each outcome."""
    groups = np.zeros(len(table.shares), np.int64)
    for m in columns:
        joined = groups * (table.codes[:, m].max() + 1) + table.codes[:, m]
        groups = np.unique(joined, return_inverse=True)[1].ravel()
    return groups


def _information(table: Table, feature: int, given: Sequence[int]) -> float:
    before = entropy_within(table, _groups(table, given))
    return max(before - entropy_within(table, _groups(table, [*given, feature])), 0.0)


def _entropy(table: Table, columns: Sequence[int]) -> float:
    groups = _groups(table, columns)
    shares = sums(groups, table.shares, int(groups.max()) + 1)
    return float(-np.sum(shares * np.log2(shares)))


def _check_columns(table: Table, columns: Sequence[int]) -> None:
    for column in columns:
        if not 0 <= column < table.n_features:
            raise InputError(
                f"there is no feature {column}: the table has {table.n_features}, from 0 on."
            )
    if len(set(columns)) < len(columns):
        raise InputError(f"the features {list(columns)} must differ: name each once.")
