"""Best partners of rows of bits, called with arrays: one block of rows against one of columns.

Covers `best_partners`, how bests of several blocks are merged, and the best cut of each feature.
Which blocks there are and where they run is for the caller to decide: a block needs nothing but
its arguments, runs without the interpreter's lock, and bests merge in any order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from srs.evidence.pairs.bits import BitRows
from srs.evidence.pairs.groups import PairGroups
from srs.evidence.pairs.kernel import N_SUMS, NO_SPREAD, Plan, Side, describe, scan
from srs.evidence.pairs.lanes import LANES, ROWS, aligned_zeros


@dataclass(frozen=True)
class Best:
    """The best partner of each row, or of each feature.

    statistic  float32; 0 where no partner has a statistic above 0
    partner    int32: owner of the partner, -1 where there is none
    rule       int32: cut of the partner, see `srs.evidence.pairs.cuts.Cuts.rule`
    """

    statistic: np.ndarray
    partner: np.ndarray
    rule: np.ndarray

    def __len__(self) -> int:
        return len(self.statistic)


def no_best(n: int) -> Best:
    """Nothing found yet."""
    return Best(np.zeros(n, np.float32), np.full(n, -1, np.int32), np.full(n, -1, np.int32))


def best_partners(
    rows: BitRows,
    columns: BitRows,
    groups: PairGroups,
    *,
    rows_only: bool = False,
    so_far: tuple[Best, Best] | None = None,
    in_registers: bool = True,
) -> tuple[Best, Best]:
    """The best partner of each row among the columns, and of each column among the rows.

    rows, columns  bits of the same groups; the same object: every pair in it once, and both results
                   are the same
    rows_only      columns get no bests (they come back empty): for probes against features
    so_far         bests of rows and columns to start from; the more is known, the faster it is
    in_registers   count in vector registers, or in a plain loop; counts are the same

    Rows of one owner are no partners: cuts of a feature, or a probe and its feature.
    """
    is_square = rows is columns
    if rows_only and is_square:
        raise ValueError("bests of rows only need rows that are not the columns themselves")
    before = so_far or (no_best(len(rows)), no_best(len(columns)))
    plan = Plan(groups.first, groups.size, groups.arm, groups.omega)
    row_side = _side(rows, plan, before[0])
    column_side = row_side if is_square else _side(columns, plan, before[1])
    counts = aligned_zeros((ROWS, groups.n_groups, LANES), np.float32)
    room = counts, np.ones((N_SUMS, groups.n_arms))
    scan(row_side, column_side, plan, (is_square, not rows_only, in_registers), room)
    found = _best(row_side, len(rows))
    return found, found if is_square else _best(column_side, len(columns))


def merge_best(one: Best, other: Best) -> Best:
    """The better of two bests, row by row; the order of the two does not matter."""
    keys = [(-b.statistic, b.partner, b.rule) for b in (one, other)]
    is_better = np.zeros(len(one), bool)
    is_equal = np.ones(len(one), bool)
    for mine, theirs in zip(*keys, strict=True):
        is_better |= is_equal & (theirs < mine)
        is_equal &= theirs == mine
    return Best(
        *(
            np.where(is_better, theirs, mine)
            for mine, theirs in (
                (one.statistic, other.statistic),
                (one.partner, other.partner),
                (one.rule, other.rule),
            )
        )
    )


def best_by_owner(best: Best, owner: np.ndarray, n_owners: int) -> Best:
    """The best of all rows of each feature 0 .. n_owners - 1."""
    order = np.lexsort((best.rule, best.partner, -best.statistic, owner))
    owners, first = np.unique(np.asarray(owner)[order], return_index=True)
    found = no_best(n_owners)
    for whole, part in (
        (found.statistic, best.statistic),
        (found.partner, best.partner),
        (found.rule, best.rule),
    ):
        whole[owners] = part[order[first]]
    return found


def _side(rows: BitRows, plan: Plan, best: Best) -> Side:
    n_tiles = len(rows.words)
    n_groups = rows.ones.shape[1]
    moments = aligned_zeros((n_tiles, 2, n_groups, LANES), np.float32)
    owner = _padded(rows.owner, n_tiles)
    describe(rows.ones, plan, owner, moments)
    statistic = _padded(best.statistic, n_tiles)
    limit = aligned_zeros((n_tiles, LANES), np.float32)
    limit[...] = np.where(moments[:, 1, 0] < NO_SPREAD, statistic, np.inf)
    return Side(
        words=rows.words,
        ones=rows.ones,
        moments=moments,
        owner=owner,
        rule=_padded(rows.rule, n_tiles),
        statistic=statistic,
        partner=_padded(best.partner, n_tiles),
        cut=_padded(best.rule, n_tiles),
        limit=limit,
    )


def _padded(values: np.ndarray, n_tiles: int) -> np.ndarray:
    """A copy by tile and lane, -1 behind the last row."""
    found = aligned_zeros((n_tiles * LANES,), values.dtype)
    found[:] = -1
    found[: len(values)] = values
    return found.reshape(n_tiles, LANES)


def _best(side: Side, n: int) -> Best:
    return Best(*(a.reshape(-1)[:n].copy() for a in (side.statistic, side.partner, side.cut)))
