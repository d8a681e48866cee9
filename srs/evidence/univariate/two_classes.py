"""The p-value of a rank sum of one of two classes, given counts by level: which formula is good.

    few points of the grid of `exact`      exact, everywhere (rare variants, small samples)
    few minor samples, many levels         exact in the number of cases among these
    |z| <= 2, or 3 where few are tied      normal, with the correction for steps
    more points, but countable             exact
    otherwise                              saddlepoint

The test is two-sided by the distance from the expectation: what is as far on the other side counts
by its own probability, which is none for a rare variant. All of it is a permutation within strata,
and what decides between formulas does not depend on who is a case, |z| aside. The score of columns
moves in steps (ties, few samples); p-values are P(as far or farther), see `exact.settle`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from srs.evidence.univariate.exact import (
    by_number,
    grid_size,
    log_choose,
    one_stratum,
    settle,
    several_strata,
)
from srs.evidence.univariate.saddlepoint import SMALLEST, tilted_tail, upper_tail

ALWAYS_EXACT = 64  # points of a grid that is always counted
TAIL_EXACT = 4096  # and where |z| > TAIL
STRATA_EXACT = 512  # and of several strata
FEW_MINOR = 32  # samples beside the most frequent level
TAIL = 2.0  # |z| beyond which a normal p-value is not good enough
FAR_TAIL = 3.0  # the same for columns of few ties and MANY samples of both classes
MANY = 100
FINE = 0.02  # steps, in standard deviations, that do not matter


@njit(nogil=True, cache=True)
def _step_of(x, sd):
    """The distance of the values that the score can take, x being whole numbers (2 x mid-ranks)."""
    smallest = x[1] - x[0]
    for level in range(2, x.shape[0]):
        smallest = min(smallest, x[level] - x[level - 1])
    if smallest < FINE * sd:
        return 1.0
    step = smallest
    for level in range(1, x.shape[0]):
        a, b = step, x[level] - x[level - 1]
        while b:
            a, b = b, a % b
        step = a
        if step == 1:
            break
    return float(step)


@njit(nogil=True, cache=True)
def _farthest(x, counts, cases, sign):
    """The largest sum of sign * x over cases."""
    total = 0.0
    n_levels = x.shape[0]
    for s in range(counts.shape[0]):
        left = cases[s]
        for k in range(n_levels):
            level = n_levels - 1 - k if sign > 0 else k
            taken = min(left, counts[s, level])
            total += sign * taken * x[level]
            left -= taken
    return total


@njit(nogil=True, cache=True)
def _chance_of_farthest(counts, cases, sign, log_factorials):
    """The probability of the farthest score: the saddlepoint formula makes it 2/3 of that."""
    log_p = 0.0
    n_levels = counts.shape[1]
    for s in range(counts.shape[0]):
        left = cases[s]
        log_p -= log_choose(counts[s].sum(), left, log_factorials)
        for k in range(n_levels):
            level = n_levels - 1 - k if sign > 0 else k
            taken = min(left, counts[s, level])
            log_p += log_choose(counts[s, level], taken, log_factorials)
            left -= taken
    return math.exp(log_p)


@njit(nogil=True, cache=True)
def _one_side(x, counts, cases, sign, seen, sd, step, log_factorials):
    """P(sum of sign * x over cases >= seen)."""
    room = _farthest(x, counts, cases, sign) - seen
    if room < -1e-6 * step:
        return 0.0
    if room < 1e-6 * step:
        return _chance_of_farthest(counts, cases, sign, log_factorials)
    gap = step / sd
    return tilted_tail(sign * x / sd, counts, cases, seen / sd - 0.5 * gap, gap)


@njit(nogil=True, cache=True)
def _by_saddlepoint(x, counts, cases, away, expected, sd, step, log_factorials):
    """Both tails; `away` is the signed distance of the score from its expectation."""
    sign = 1.0 if away > 0 else -1.0
    seen = sign * expected + abs(away)
    p = _one_side(
        x, counts, cases, sign, seen=seen, sd=sd, step=step, log_factorials=log_factorials
    )
    # The nearest value on the other side that is as far away.
    n_steps = math.ceil(2.0 * abs(away) / step - 1e-9)
    other = n_steps * step - seen
    p += _one_side(
        x, counts, cases, -sign, seen=other, sd=sd, step=step, log_factorials=log_factorials
    )
    return min(p, 1.0)


@njit(nogil=True, cache=True)
def _of_one(x, counts, score):
    """The p-value of one case, or of all but one: its rank by distance from the mean."""
    n = tail = tie = 0
    for level in range(x.shape[0]):
        n += counts[level]
        if abs(x[level]) >= abs(score) - 1e-6:
            tail += counts[level]
            if abs(x[level]) <= abs(score) + 1e-6:
                tie += counts[level]
    return settle(tail / n, tie / n)


@njit(nogil=True, cache=True)
def two_class_p(ranks, counts, cases, score, log_factorials, beyond=0.0):
    """The p-value of a column; or where `beyond` is above 0, P(|z| >= beyond), whatever its score.

    ranks   int64 (n_levels,): 2 x mid-rank of each level, increasing
    counts  int64 (n_strata, n_levels): samples
    cases   int64 (n_strata,); strata of cases only, or without any, say nothing
    score   float64: sum of ranks over the cases of strata that say something
    """
    n_strata, n_levels = counts.shape
    mean = 0.0
    n_samples = n_cases = 0
    n_mixed = 0
    kept = np.empty((n_strata, n_levels), np.int64)
    kept_cases = np.empty(n_strata, np.int64)
    totals = np.zeros(n_levels, np.int64)
    for s in range(n_strata):
        n = 0
        for level in range(n_levels):
            n += counts[s, level]
        if 0 < cases[s] < n:
            for level in range(n_levels):
                kept[n_mixed, level] = counts[s, level]
                totals[level] += counts[s, level]
                mean += counts[s, level] * float(ranks[level])
            kept_cases[n_mixed] = cases[s]
            n_mixed += 1
            n_samples += n
            n_cases += cases[s]
    if n_levels < 2 or n_mixed == 0:
        return 1.0
    counts, cases = kept[:n_mixed], kept_cases[:n_mixed]
    mean /= n_samples
    x = ranks - mean  # small numbers: sums of squares stay exact
    expected = variance = 0.0
    for s in range(n_mixed):
        n = 0
        sx = sxx = 0.0
        for level in range(n_levels):
            n += counts[s, level]
            sx += counts[s, level] * x[level]
            sxx += counts[s, level] * x[level] ** 2
        expected += cases[s] * sx / n
        variance += max(sxx - sx * sx / n, 0.0) / (n - 1.0) * cases[s] * (n - cases[s]) / n
    if variance <= 1e-9:
        return 1.0
    sd = math.sqrt(variance)
    away = beyond * sd if beyond > 0 else score - n_cases * mean - expected
    z = abs(away) / sd
    if n_mixed == 1 and min(n_cases, n_samples - n_cases) == 1 and beyond <= 0:
        return _of_one(x, totals, away)
    if n_mixed > 1:
        most = STRATA_EXACT if z > TAIL else ALWAYS_EXACT
    else:
        most = TAIL_EXACT if z > TAIL else ALWAYS_EXACT
    major, size = grid_size(totals, most)
    is_smooth = min(n_cases, n_samples - n_cases) >= MANY and totals[major] < n_samples // 2
    if size > 0:
        if n_mixed == 1:
            tail, tie = one_stratum(x, totals, cases[0], abs(away), log_factorials)
        else:
            tail, tie = several_strata(x, counts, cases, abs(away), log_factorials)
        return max(settle(tail, tie), SMALLEST)
    step = 1.0 if beyond > 0 else _step_of(ranks, sd)
    if n_mixed == 1 and n_samples - totals[major] <= min(FEW_MINOR, n_samples // 4):
        tail = by_number(x, totals, cases[0], abs(away) - 0.5 * step, log_factorials)
    elif z > (FAR_TAIL if is_smooth else TAIL):
        tail = _by_saddlepoint(
            x,
            counts,
            cases,
            away=away,
            expected=expected,
            sd=sd,
            step=step,
            log_factorials=log_factorials,
        )
    else:
        tail = 2.0 * upper_tail(max(abs(away) - 0.5 * step, 0.0) / sd)
        return settle(tail, 2.0 * (tail - 2.0 * upper_tail(z)))
    return max(min(tail, 1.0), SMALLEST)
