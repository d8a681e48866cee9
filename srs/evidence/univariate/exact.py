"""Exact tails of a rank sum under permutation within strata, where few samples differ in x.

All but the samples of the most frequent level (the *minor* ones) are counted by level: the numbers
of cases among them, one number a level, are a point of a grid, and the probability of each point
is a product of hypergeometric ones. The grid of a rare variant has ten points; that of a column of
255 levels cannot be counted. `by_number` is for many levels but few minor samples: exact in the
number of cases among these, normal in which of them.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from srs.evidence.univariate.saddlepoint import upper_tail

SLACK = 1e-9  # of scores that are equal but for rounding


@njit(nogil=True, cache=True)
def log_choose(n, k, log_factorials):
    return log_factorials[n] - log_factorials[k] - log_factorials[n - k]


@njit(nogil=True, cache=True)
def settle(tail, tie):
    """The p-value of P(as extreme or more) and P(as extreme).

    It is the whole tail up to 1/2, so at most a share alpha of null features is below any
    alpha < 1/2. Above, half of the tie is left off, down to 1/2: p-values are not all 1 where
    most features see the most frequent outcome.
    """
    if tail <= 0.5:
        return tail
    return min(max(0.5, tail - 0.5 * tie), 1.0)


@njit(nogil=True, cache=True)
def grid_size(counts, most):
    """The most frequent level, its samples, and points of the grid; -1 where above `most`."""
    major = 0
    for level in range(counts.shape[0]):
        if counts[level] > counts[major]:
            major = level
    size = 1
    for level in range(counts.shape[0]):
        if level != major:
            size *= counts[level] + 1
            if size > most:
                return major, -1
    return major, size


@njit(nogil=True, cache=True)
def one_stratum(x, counts, cases, distance, log_factorials):
    """P(|score - expected| >= distance) and P(=), of a single stratum; x is relative to the mean.

    x         float64 (n_levels,), whose mean over the samples is 0
    counts    int64 (n_levels,): samples
    cases     int64
    distance  float64
    """
    n_levels = counts.shape[0]
    n_samples = counts.sum()
    major, _ = grid_size(counts, 1 << 40)
    last = n_levels - 1 if major != n_levels - 1 else n_levels - 2
    n_major, n_last = counts[major], counts[last]
    gap = x[last] - x[major]
    taken = np.zeros(n_levels, np.int64)
    used = 0  # cases in the levels but the major and the last one
    score = cases * x[major]  # of these, the last level having none
    log_of_others = -log_choose(n_samples, cases, log_factorials)
    tail = tie = 0.0
    while True:
        free = cases - used
        first = max(0, free - n_major)
        final = min(n_last, free)
        if first <= final:
            log_p = log_of_others + log_choose(n_last, first, log_factorials)
            log_p += log_choose(n_major, free - first, log_factorials)
            for k in range(first, final + 1):
                p = math.exp(log_p)  # of many samples the first is 0 in floating point
                away = abs(score + k * gap)
                if away >= distance - SLACK * (1.0 + distance):
                    tail += p
                    if away <= distance + SLACK * (1.0 + distance):
                        tie += p
                rest = free - k
                if k < final:
                    log_p += math.log((n_last - k) * rest / ((k + 1.0) * (n_major - rest + 1.0)))
        level = 0
        while level < n_levels:
            if level in (major, last):
                level += 1
                continue
            n, k = counts[level], taken[level]
            log_of_others -= log_choose(n, k, log_factorials)
            if k < n and used < cases:
                taken[level] += 1
                used += 1
                score += x[level] - x[major]
                log_of_others += log_choose(n, k + 1, log_factorials)
                break
            used -= k
            score -= k * (x[level] - x[major])
            taken[level] = 0
            level += 1
        if level == n_levels:
            return tail, tie


@njit(nogil=True, cache=True)
def several_strata(x, counts, cases, distance, log_factorials):
    """P(|score - expected| >= distance) and P(=) over strata: a sum over grids, one after another.

    x         float64 (n_levels,)
    counts    int64 (n_strata, n_levels): samples
    cases     int64 (n_strata,)
    distance  float64
    """
    n_strata, n_levels = counts.shape
    totals = counts.sum(axis=0)
    major, size = grid_size(totals, 1 << 40)
    strides = np.zeros(n_levels, np.int64)
    stride = 1
    for level in range(n_levels):
        if level != major:
            strides[level] = stride
            stride *= totals[level] + 1
    grid, old = np.zeros(size), np.zeros(size)
    grid[0] = 1.0
    expected = 0.0
    for s in range(n_strata):
        n = counts[s].sum()
        for level in range(n_levels):
            expected += cases[s] / n * counts[s, level] * (x[level] - x[major])
        old[:] = grid
        grid[:] = 0.0
        taken = np.zeros(n_levels, np.int64)
        while True:
            rest = cases[s] - taken.sum()
            if 0 <= rest <= counts[s, major]:
                log_p = log_choose(counts[s, major], rest, log_factorials)
                log_p -= log_choose(n, cases[s], log_factorials)
                shift = 0
                for level in range(n_levels):
                    if level != major:
                        log_p += log_choose(counts[s, level], taken[level], log_factorials)
                        shift += taken[level] * strides[level]
                p = math.exp(log_p)
                for at in range(size - shift):
                    grid[at + shift] += p * old[at]
            level = 0
            while level < n_levels:
                if level != major and taken[level] < counts[s, level]:
                    taken[level] += 1
                    break
                taken[level] = 0
                level += 1
            if level == n_levels:
                break
    tail = tie = 0.0
    for at in range(size):
        score = 0.0
        for level in range(n_levels):
            if level != major:
                k = at // strides[level] % (totals[level] + 1)
                score += k * (x[level] - x[major])
        away = abs(score - expected)
        if away >= distance - SLACK * (1.0 + distance):
            tail += grid[at]
            if away <= distance + SLACK * (1.0 + distance):
                tie += grid[at]
    return tail, tie


@njit(nogil=True, cache=True)
def by_number(x, counts, cases, distance, log_factorials):
    """P(|score - expected| >= distance) of a single stratum with few minor samples.

    x         float64 (n_levels,), whose mean over the samples is 0
    counts    int64 (n_levels,): samples
    cases     int64
    distance  float64, half a step less than what was seen
    """
    n_samples = counts.sum()
    major, _ = grid_size(counts, 1 << 40)
    n_minor = n_samples - counts[major]
    mean = spread = 0.0
    for level in range(counts.shape[0]):
        if level != major:
            mean += counts[level] * (x[level] - x[major]) / n_minor
    for level in range(counts.shape[0]):
        if level != major:
            spread += counts[level] * (x[level] - x[major] - mean) ** 2 / n_minor
    base = cases * x[major]
    tail = 0.0
    for k in range(max(0, cases - counts[major]), min(n_minor, cases) + 1):
        log_p = log_choose(n_minor, k, log_factorials)
        log_p += log_choose(counts[major], cases - k, log_factorials)
        p = math.exp(log_p - log_choose(n_samples, cases, log_factorials))
        center = base + k * mean
        sd = math.sqrt(spread * k * (n_minor - k) / max(n_minor - 1.0, 1.0))
        if sd < 1e-9 * (1.0 + abs(distance)):
            tail += p * (abs(center) >= distance - SLACK * (1.0 + abs(distance)))
        else:
            tail += p * upper_tail((distance - center) / sd)
            tail += p * upper_tail((distance + center) / sd)
    return tail
