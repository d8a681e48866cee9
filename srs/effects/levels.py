"""Kernels of the pass over all features: values of levels, odds and slopes from counts by level."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from srs.evidence.univariate.columns import MISSING
from srs.evidence.univariate.scores import code_values

MOST_STEPS = 25
STEEP = 15.0  # log odds between two levels, beyond which a feature separates the classes


@njit(nogil=True, cache=True)
def level_values(counts, dosages, x):
    """Values of the codes of a column, into `x` (256,): dosages, or mid-ranks whose standard
    deviation is 1. False if all samples have the same.

    counts   float64 (256,): samples by code
    dosages  see `code_values`
    """
    n = code_values(counts, dosages, x)
    if n < 2:
        return False
    mean = square = 0.0
    for k in range(MISSING):
        mean += counts[k] * x[k]
    mean /= n
    for k in range(MISSING):
        if counts[k] > 0:
            square += counts[k] * (x[k] - mean) ** 2
    if square <= 1e-12:
        return False
    if not dosages:
        spread = math.sqrt(square / n)
        for k in range(MISSING):
            x[k] = (x[k] - mean) / spread
    return True


@njit(nogil=True, cache=True)
def describe(counts, dosages, x, found):
    """What needs no target, into `found` (5,): nothing yet, the frequency of the counted allele,
    and how many samples have a value."""
    n = total = 0.0
    for k in range(MISSING):
        n += counts[k]
        if dosages:
            total += counts[k] * x[k]
    found[:3] = np.nan
    found[3] = 0.5 * total / n if dosages and n > 0 else np.nan
    found[4] = n


@njit(nogil=True, cache=True)
def _odds_step(x, controls, cases, slope, constant):
    """Gradient and information of the log-likelihood of both coefficients."""
    g0 = g1 = i00 = i01 = i11 = 0.0
    for k in range(MISSING):
        n = controls[k] + cases[k]
        if n > 0:
            p = 1.0 / (1.0 + math.exp(-(constant + slope * x[k])))
            w, rest = n * p * (1.0 - p), cases[k] - n * p
            g0 += rest
            g1 += rest * x[k]
            i00 += w
            i01 += w * x[k]
            i11 += w * x[k] * x[k]
    return g0, g1, i00, i01, i11


@njit(nogil=True, cache=True)
def odds_of_levels(x, controls, cases):
    """Log odds ratio, its error and the score z, from samples of two classes by code."""
    n0 = n1 = 0.0
    low, high = np.inf, -np.inf
    for k in range(MISSING):
        n0 += controls[k]
        n1 += cases[k]
        if controls[k] + cases[k] > 0:
            low, high = min(low, x[k]), max(high, x[k])
    if n0 == 0 or n1 == 0:
        return np.nan, np.nan, np.nan
    constant, slope = math.log(n1 / n0), 0.0
    z = beta = error = 0.0
    for step in range(MOST_STEPS):
        g0, g1, i00, i01, i11 = _odds_step(x, controls, cases, slope, constant)
        free = i11 - i01 * i01 / i00 if i00 > 0 else 0.0
        if step == 0:
            z = g1 / math.sqrt(free)
        if free <= 1e-12 or abs(slope) * (high - low) > STEEP:
            return np.nan, np.nan, z
        change = (g1 - i01 / i00 * g0) / free
        constant += (g0 - i01 * change) / i00
        slope += change
        beta, error = slope, 1.0 / math.sqrt(free)
        if abs(change) * (high - low) < 1e-8:
            break
    return beta, error, z


@njit(nogil=True, cache=True)
def slope_of_levels(x, counts, sums, squares):
    """Slope, its error and the score z; counts, and sums and summed squares of the target by
    code."""
    n = sx = sxx = sy = syy = sxy = 0.0
    for k in range(MISSING):
        if counts[k] > 0:
            n += counts[k]
            sx += counts[k] * x[k]
            sxx += counts[k] * x[k] * x[k]
            sy += sums[k]
            syy += squares[k]
            sxy += sums[k] * x[k]
    if n < 3:
        return np.nan, np.nan, np.nan
    sxx -= sx * sx / n
    sxy -= sx * sy / n
    syy -= sy * sy / n
    if sxx <= 1e-12 or syy <= 0:
        return np.nan, np.nan, np.nan
    beta = sxy / sxx
    rest = max(syy - beta * sxy, 0.0)
    return beta, math.sqrt(rest / (n - 2) / sxx), sxy / math.sqrt(sxx * syy / (n - 1))


@njit(nogil=True, cache=True)
def odds_of_tiles(tiles, orders, dosages, skipped, found):
    """Two classes, without covariates; into `found`, float32 (5, n_tiles * n_columns).

    tiles    uint8 (n_tiles, n_samples, n_columns)
    orders   two int64 arrays: samples of each class
    dosages  uint8 by column, see `level_values`
    skipped  bool by column: levels without order
    """
    n_columns = tiles.shape[2]
    counts = np.zeros((2, n_columns, 256))
    x = np.zeros(256)
    for t in range(tiles.shape[0]):
        counts[:] = 0.0
        for c in range(2):
            for i in orders[c]:
                for j in range(n_columns):
                    counts[c, j, tiles[t, i, j]] += 1.0
        for j in range(n_columns):
            at = t * n_columns + j
            both = counts[0, j] + counts[1, j]
            usable = level_values(both, dosages[at], x)
            describe(both, dosages[at], x, found[:, at])
            if usable and not skipped[at]:
                beta, error, z = odds_of_levels(x, counts[0, j], counts[1, j])
                if beta != beta:  # apart: half a sample more in each class of each end
                    beta, error, _ = _with_halves(x, counts[0, j], counts[1, j])
                found[0, at], found[1, at], found[2, at] = beta, error, z


@njit(nogil=True, cache=True)
def _with_halves(x, controls, cases):
    first = last = -1
    for k in range(MISSING):
        if controls[k] + cases[k] > 0:
            first = k if first < 0 else first
            last = k
    more_controls, more_cases = controls.copy(), cases.copy()
    for k in (first, last):
        more_controls[k] += 0.5
        more_cases[k] += 0.5
    return odds_of_levels(x, more_controls, more_cases)


@njit(nogil=True, cache=True)
def slopes_of_tiles(tiles, order, y, dosages, skipped, found):
    """A number, without covariates; as `odds_of_tiles`. y: of the samples of `order`."""
    n_columns = tiles.shape[2]
    counts = np.zeros((n_columns, 256))
    sums, squares = np.zeros((n_columns, 256)), np.zeros((n_columns, 256))
    x = np.zeros(256)
    for t in range(tiles.shape[0]):
        counts[:] = 0.0
        sums[:] = 0.0
        squares[:] = 0.0
        for i in range(order.shape[0]):
            value = y[i]
            square = value * value
            for j in range(n_columns):
                code = tiles[t, order[i], j]
                counts[j, code] += 1.0
                sums[j, code] += value
                squares[j, code] += square
        for j in range(n_columns):
            at = t * n_columns + j
            usable = level_values(counts[j], dosages[at], x)
            describe(counts[j], dosages[at], x, found[:, at])
            if usable and not skipped[at]:
                told = slope_of_levels(x, counts[j], sums[j], squares[j])
                found[0, at], found[1, at], found[2, at] = told


@njit(nogil=True, cache=True)
def values_of_tile(tile, order, dosages, skipped, x, found):
    """Values of the samples of `order`, centred, missing ones 0, into x (n, n_columns); NaN in the
    first row of a column that tells nothing. found: see `describe`."""
    n_columns = tile.shape[1]
    counts = np.zeros((n_columns, 256))
    for i in order:
        for j in range(n_columns):
            counts[j, tile[i, j]] += 1.0
    values = np.zeros((n_columns, 256))
    usable = np.zeros(n_columns, np.bool_)
    for j in range(n_columns):
        usable[j] = level_values(counts[j], dosages[j], values[j]) and not skipped[j]
        describe(counts[j], dosages[j], values[j], found[:, j])
        mean = n = 0.0
        for k in range(MISSING):
            mean += counts[j, k] * values[j, k]
            n += counts[j, k]
        mean = mean / n if n > 0 else 0.0
        for k in range(MISSING):
            values[j, k] -= mean
        values[j, MISSING] = 0.0
    for i in range(order.shape[0]):
        for j in range(n_columns):
            x[i, j] = values[j, tile[order[i], j]]
    for j in range(n_columns):
        if not usable[j]:
            x[0, j] = np.nan


@njit(nogil=True, cache=True)
def sums_of_values(x, spans, sums):
    """Sums over samples of x times each span but the last, and of x squared times the last.

    (A product of matrices would do, but the threads of BLAS get in the way of ours.)

    x      float64 (n, n_columns)
    spans  float64 (n, k + 1)
    sums   float64 (k + 1, n_columns)
    """
    n_columns = x.shape[1]
    n_spans = spans.shape[1] - 1
    sums[:] = 0.0
    for i in range(x.shape[0]):
        for k in range(n_spans):
            span = spans[i, k]
            for j in range(n_columns):
                sums[k, j] += span * x[i, j]
        span = spans[i, n_spans]
        for j in range(n_columns):
            sums[n_spans, j] += span * x[i, j] * x[i, j]
