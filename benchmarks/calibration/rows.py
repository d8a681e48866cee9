"""The rows of the table: which data they have, and from which run on a method counts.

The number of a row is part of the seed of its data: it never changes, and new rows are put last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.calibration import nulls, problems
from benchmarks.calibration.problems import Problem


@dataclass(frozen=True)
class Row:
    """One kind of data.

    make       the data of a run, from its number and a random state
    is_null    nothing is relevant
    available  whether the data are at hand
    """

    name: str
    number: int
    make: Callable[[int, np.random.Generator], Problem]
    is_null: bool = False
    available: Callable[[], bool] = lambda: True

    def problem(self, run: int) -> Problem:
        """The same for all methods."""
        return self.make(run, np.random.default_rng((self.number, run)))


def _signal(make: Callable[[np.random.Generator], Problem], number: int) -> Row:
    return Row(make.__name__, number, lambda _run, rng: make(rng))


def _null(make: Callable[[int, np.random.Generator], Problem], number: int) -> Row:
    return Row(make.__name__.replace("_", " "), number, make, True)


def _permuted(name: str, number: int) -> Row:
    return Row(
        f"permuted {name}",
        number,
        lambda _run, rng: nulls.permuted(name, rng),
        True,
        partial(nulls.has_real, name),
    )


_OLD_SIGNALS = (
    problems.madelon_like,
    problems.linear,
    problems.chain,
    problems.clique,
    problems.correlated_blocks,
    problems.many_classes,
    problems.imbalance,
    problems.interactions,
)
_NEW_SIGNALS = (
    problems.weak_regression,
    problems.rare_variants,
    problems.counts,
    problems.few_samples,
    problems.pair_of_20000,
)
_NEW_NULLS = (
    nulls.null_blocks,
    nulls.null_common_factor,
    nulls.null_rare_variants,
    nulls.null_counts,
    nulls.null_30_samples,
)

_ROWS = (
    *(
        Row(f"null {n} x {p}", i, partial(nulls.null, (n, p)), True)
        for i, (n, p) in enumerate(nulls.SHAPES)
    ),
    *(_signal(make, 4 + i) for i, make in enumerate(_OLD_SIGNALS)),
    *(_signal(make, 12 + i) for i, make in enumerate(_NEW_SIGNALS)),
    *(_null(make, 17 + i) for i, make in enumerate(_NEW_NULLS)),
    *(_permuted(name, 22 + i) for i, name in enumerate(nulls.FILES)),
)
ROWS = {row.name: row for row in _ROWS}
SIGNALS = [row.name for row in _ROWS if not row.is_null]
NULLS = [row.name for row in _ROWS if row.is_null]
OLD_ROWS = {row.name for row in _ROWS if row.number < 12}  # those of version 0.1
# Rows in which some features matter only together: peers must be beaten, not only reached.
INTERACTION_ROWS = ("madelon_like", "chain", "clique", "interactions", "pair_of_20000")

OLD_METHODS = ("srs 0.1", "paper's rule", "BorutaPy", "Altmann", "extra-trees, true k")
FRESH = 2_000  # first run of all others: the rule of 0.2 was chosen by runs below it


def first_run(row: str, method: str) -> int:
    """Runs of a method count from here on."""
    return 0 if row in OLD_ROWS and method in OLD_METHODS else FRESH
