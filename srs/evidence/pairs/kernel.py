"""The best partner of every row of bits: a block of rows against a block of columns.

Covers the scan, the statistic of a pair and the order of partners. Counts come from `lanes`, the
calls from Python are in `best`; the definition of the statistic is in `groups`.

Nearly all pairs are beaten by the best of both their rows. So lanes compute an upper bound, with
the product of variances, in float32; it is compared with the smaller of the two bests. Where it
is not below, the statistic itself is computed in float64. There the variance in a group is the
larger one of the product and of E[(b_j - p_j)^2 (b_k - p_k)^2] - cov^2 from the 2 x 2 table: rare
bits in linkage have up to 7 times the variance of the product. Heterogeneity falls as any v_c
grows (it is a minimum over m of sums of (cov_c - m)^2 / v_c), and the smallest of three is at most
the first; so the bound holds with any number of arms, and what is found is the best by the
statistic itself.

What is stored comes from `_statistic` alone, which is symmetric in j and k to the bit, and ties go
to the smaller owner, then to the smaller rule: results do not depend on blocks, order or threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from srs.evidence.pairs.bounds import (
    ERROR_FIXED,
    ERROR_GROUP,
    SLACK,
    above_arms,
    above_two_arms,
    add_group,
    close_arm,
)
from srs.evidence.pairs.lanes import LANES, ROWS, borrowed, count_together, trailing_zeros

F32 = np.float32
COVARIANCE, VARIANCE, SPREAD_J, SPREAD_K, ONES = range(5)  # rows of what is summed by arm
N_SUMS = 5
NO_SPREAD = F32(1e30)  # spread of a row that has no statistic above 0: its bound is about 0


class Side(NamedTuple):
    """Rows or columns of a scan, arrays by tile and lane.

    words      uint32 (n_tiles, n_words, LANES)
    ones       int32 (n_tiles, n_groups, LANES)
    moments    float32 (n_tiles, 2, n_groups, LANES): shares p; and p (1 - p), or NO_SPREAD
    owner      int32 (n_tiles, LANES), -1 behind the last row
    rule       int32 (n_tiles, LANES)
    statistic  float32 (n_tiles, LANES): the best so far, 0: none
    partner    int32 (n_tiles, LANES): its owner, -1: none
    cut        int32 (n_tiles, LANES): its rule
    limit      float32 (n_tiles, LANES): the statistic; infinite where there can be none
    """

    words: np.ndarray
    ones: np.ndarray
    moments: np.ndarray
    owner: np.ndarray
    rule: np.ndarray
    statistic: np.ndarray
    partner: np.ndarray
    cut: np.ndarray
    limit: np.ndarray


class Plan(NamedTuple):
    """What the scan has of the groups: see `srs.evidence.pairs.groups.PairGroups`."""

    first: np.ndarray
    size: np.ndarray
    arm: np.ndarray
    omega: np.ndarray


@njit(nogil=True, cache=True)
def describe(ones, plan, owner, moments):
    """Fill the moments of a side; rows that cannot have a statistic get NO_SPREAD."""
    n_arms = plan.arm[-1] + 1
    has_spread = np.zeros(n_arms, np.bool_)
    for tile in range(len(ones)):
        for lane in range(LANES):
            has_spread[:] = False
            for g in range(len(plan.size)):
                p = ones[tile, g, lane] / plan.size[g]
                moments[tile, 0, g, lane] = p
                moments[tile, 1, g, lane] = p * (1 - p)
                has_spread[plan.arm[g]] |= 0 < ones[tile, g, lane] < plan.size[g]
            if has_spread.sum() < 2 or owner[tile, lane] < 0:
                moments[tile, 1, :, lane] = NO_SPREAD


@njit(nogil=True, cache=True, forceinline=True)
def _borrowed(side):
    """A side whose arrays the caller holds."""
    return Side(
        words=borrowed(side.words),
        ones=borrowed(side.ones),
        moments=borrowed(side.moments),
        owner=borrowed(side.owner),
        rule=borrowed(side.rule),
        statistic=borrowed(side.statistic),
        partner=borrowed(side.partner),
        cut=borrowed(side.cut),
        limit=borrowed(side.limit),
    )


@njit(nogil=True, cache=True)
def scan(rows, columns, plan, options, room):
    """Improve the bests of rows, and of columns if asked; returns how many pairs were computed.

    options  is_square: rows and columns are the same arrays, and each pair is looked at once;
             both: columns get their bests, too;
             in_registers: see `srs.evidence.pairs.lanes.count_together`

    room     to work: float32 (ROWS, n_groups, LANES), and float64 (N_SUMS, n_arms) of ones

    References to arrays are not counted here (`srs.evidence.pairs.lanes.borrowed`): the caller
    holds all of them. So room must not be made here, where numba would free it too early.
    """
    rows, columns = _borrowed(rows), _borrowed(columns)
    counts, arms = borrowed(room[0]), borrowed(room[1])
    plan = Plan(borrowed(plan.first), borrowed(plan.size), borrowed(plan.arm), borrowed(plan.omega))
    is_square, both, in_registers = options
    n_groups, arm, first = len(plan.size), plan.arm, plan.first
    n_arms = arm[-1] + 1
    signed = np.zeros(n_groups)  # the difference of two arms is a sum over groups
    for g in range(n_groups):
        signed[g] = -plan.omega[g] if n_arms == 2 and arm[g] == 0 else plan.omega[g]
    square = plan.omega**2 / (plan.size - 1)
    error = F32(ERROR_FIXED + ERROR_GROUP * n_groups)
    row_words, column_words = rows.words, columns.words
    row_moments, column_moments = rows.moments, columns.moments
    row_limits = rows.limit
    limits = columns.limit if both else np.full((1, LANES), np.inf, F32)
    factors = np.zeros((1 + LANES, 2, n_groups), F32)  # see `above_two_arms`
    factors[0, 0] = signed / plan.size
    factors[0, 1, 0] = error
    masks = np.zeros(ROWS, np.uint32)
    sums = np.zeros(LANES, np.uint32)
    by_arm = np.zeros((5, LANES), F32)
    n_computed = 0
    for a in range(len(row_words)):
        for lane in range(LANES):
            for g in range(n_groups):
                factors[1 + lane, 0, g] = signed[g] * row_moments[a, 0, g, lane]
                factors[1 + lane, 1, g] = SLACK * square[g] * row_moments[a, 1, g, lane]
        for b in range(a if is_square else 0, len(column_words)):
            line = b if both else 0
            for first_lane in range(0, LANES, ROWS):
                count_together(
                    row_words,
                    column_words,
                    first,
                    at=(a, first_lane, b),
                    in_registers=in_registers,
                    sums=sums,
                    out=counts,
                )
                if n_arms == 2:
                    at = (n_groups, 2 * b * n_groups, line, a, first_lane)
                    if not above_two_arms(
                        counts,
                        column_moments,
                        limits=limits,
                        row_limits=row_limits,
                        factors=factors,
                        masks=masks,
                        at=at,
                    ):
                        continue
                else:
                    for r in range(ROWS):
                        lane = first_lane + r
                        by_arm[:] = 0
                        for g in range(n_groups):
                            at_share = 2 * b * n_groups + g
                            add_group(
                                counts,
                                column_moments,
                                (r * n_groups + g, at_share, at_share + n_groups),
                                (
                                    factors[0, 0, g],
                                    factors[1 + lane, 0, g],
                                    factors[1 + lane, 1, g],
                                ),
                                by_arm,
                            )
                            if g + 1 == n_groups or arm[g + 1] != arm[g]:
                                close_arm(by_arm)
                        masks[r] = above_arms(limits, line, (row_limits[a, lane], error), by_arm)
                for r in range(ROWS):
                    if masks[r]:
                        n_computed += _improve(
                            rows,
                            columns,
                            plan,
                            at=(a, first_lane, r, b, masks[r]),
                            options=(is_square, both),
                            room=(counts, arms),
                        )
    return n_computed


@njit(nogil=True, cache=True, forceinline=True)
def _improve(rows, columns, plan, at, options, room):
    """Compute the statistic of lanes that may be better; returns how many it were."""
    a, first_lane, r, b, above = at
    is_square, both = options
    counts, arms = room
    lane = first_lane + r
    n_computed = 0
    owner, rule = rows.owner[a, lane], rows.rule[a, lane]
    owners, rules = columns.owner, columns.rule
    row_ones, column_ones = rows.ones, columns.ones
    while above:
        k = np.intp(trailing_zeros(above))
        above &= above - np.uint32(1)
        other = owners[b, k]
        if other < 0 or other == owner or (is_square and a == b and k <= lane):
            continue
        n_computed += 1
        found = F32(
            _statistic(counts, row_ones, column_ones, plan, at=(r, a, lane, b, k), arms=arms)
        )
        _keep(rows, a, lane, found, (other, rules[b, k]))
        if both:
            _keep(columns, b, k, found, (owner, rule))
    return n_computed


@njit(nogil=True, cache=True, forceinline=True)
def _keep(side, tile, lane, found, whose):
    """Keep a partner if it is better; of equal ones the smaller owner, then the smaller rule."""
    best = side.statistic[tile, lane]
    owner, rule = whose
    if found < best or found <= 0:
        return
    if found == best:
        if owner > side.partner[tile, lane]:
            return
        if owner == side.partner[tile, lane] and rule >= side.cut[tile, lane]:
            return
    side.statistic[tile, lane] = found
    side.partner[tile, lane] = owner
    side.cut[tile, lane] = rule
    side.limit[tile, lane] = found


@njit(nogil=True, cache=True, forceinline=True)
def _statistic(counts, row_ones, column_ones, plan, at, arms):
    """The statistic of a pair from its counts by group, in float64.

    counts       float32 (ROWS, n_groups, LANES)
    row_ones     int32 (n_tiles, n_groups, LANES), as column_ones
    at           row of the counts, tile and lane of the row, tile and lane of the column
    arms         float64 (N_SUMS, n_arms): room to work

    Every operation is symmetric in j and k. Arms without variance (a bit is constant there) tell
    nothing and are left out; with fewer than two others the statistic is 0.
    """
    r, a, lane, b, k = at
    sizes, omegas, arm = plan.size, plan.omega, plan.arm
    n_arms = arms.shape[1]
    for c in range(n_arms):
        for i in range(4):
            arms[i, c] = 0.0
    for g in range(len(sizes)):
        n, omega, c = sizes[g], omegas[g], arm[g]
        ones_j, ones_k, together = row_ones[a, g, lane], column_ones[b, g, k], counts[r, g, k]
        n11, n10, n01 = together, ones_j - together, ones_k - together
        n00 = (n - n11) - (n10 + n01)
        share = 1 / n
        pj, pk = ones_j * share, ones_k * share
        qj, qk = 1 - pj, 1 - pk
        cov = n11 * share - pj * pk
        apart = (n10 * ((qj * qj) * (pk * pk))) + (n01 * ((pj * pj) * (qk * qk)))
        alike = n11 * ((qj * qj) * (qk * qk)) + n00 * ((pj * pj) * (pk * pk))
        product = (pj * qj) * (pk * qk)
        is_varied = 0 < ones_j < n and 0 < ones_k < n  # n * (1 / n) need not be 1
        spread = max(product, (apart + alike) * share - cov * cov) if is_varied else 0.0
        arms[COVARIANCE, c] += omega * cov if is_varied else 0.0
        arms[VARIANCE, c] += omega * omega * (spread / (n - 1))
        arms[SPREAD_J, c] += omega * (pj * qj)
        arms[SPREAD_K, c] += omega * (pk * qk)
    found = _heterogeneity(arms, ONES)
    return min(found, min(_heterogeneity(arms, SPREAD_J), _heterogeneity(arms, SPREAD_K)))


@njit(nogil=True, cache=True)
def _heterogeneity(arms, scale):
    """How much covariance / scale differs between arms, over its variance; scale is a row."""
    n_arms = arms.shape[1]
    if n_arms == 2:
        v0, v1 = arms[VARIANCE, 0], arms[VARIANCE, 1]
        if v0 <= 0 or v1 <= 0:
            return 0.0
        s0, s1 = arms[scale, 0], arms[scale, 1]
        difference = arms[COVARIANCE, 1] * s0 - arms[COVARIANCE, 0] * s1
        return difference * difference / (v0 * (s1 * s1) + v1 * (s0 * s0))
    precision, mean, n_known = 0.0, 0.0, 0
    for c in range(n_arms):
        if arms[VARIANCE, c] > 0:
            precision += arms[scale, c] * arms[scale, c] / arms[VARIANCE, c]
            mean += arms[COVARIANCE, c] * arms[scale, c] / arms[VARIANCE, c]
            n_known += 1
    if n_known < 2:
        return 0.0
    mean /= precision
    total = 0.0
    for c in range(n_arms):
        if arms[VARIANCE, c] > 0:
            total += (arms[COVARIANCE, c] - mean * arms[scale, c]) ** 2 / arms[VARIANCE, c]
    return total
