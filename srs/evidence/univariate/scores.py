"""Kernels of score tests: sums over samples of a tile's values times the spans of a model."""

from __future__ import annotations

import numpy as np
from numba import njit

from srs.evidence.univariate.columns import MISSING

FRACTIONS = 8  # as `srs.store.layout` has it, and so the next
DOSAGE_STEPS = 127


@njit(nogil=True, cache=True)
def code_values(counts, dosages, x):
    """What the codes of a column stand for, into `x` (256,): dosages, or mid-ranks; how many
    samples have a value.

    counts   samples by code (256,)
    dosages  which of 0, 1 and 2 the codes stand for, a bit each, or FRACTIONS; 0: none
    """
    n = 0.0
    code = 0
    if dosages == FRACTIONS:
        for k in range(MISSING):
            x[k] = k / DOSAGE_STEPS
    elif dosages:
        for dosage in range(3):
            if dosages & (1 << dosage):
                x[code] = dosage
                code += 1
    for k in range(MISSING):
        if not dosages:
            x[k] = n + 0.5 * (counts[k] + 1.0)
        n += counts[k]
    return n


@njit(nogil=True, cache=True)
def level_values(counts, dosages, x):
    """Values of codes, of mean 0 over the samples that have one, into x (256,); 0 of missing ones.

    counts   int64 (256,): samples by code
    dosages  see `code_values`
    """
    mean = 0.0
    x[:] = 0.0
    n = code_values(counts, dosages, x)
    if n == 0:
        return
    scale = 1.0 if dosages else n
    for k in range(MISSING):
        mean += counts[k] * x[k] / n
    for k in range(MISSING):
        x[k] = (x[k] - mean) / scale
    x[MISSING] = 0.0


@njit(nogil=True, cache=True)
def score_tile(tile, order, dosages, spans, found):
    """Sums over samples of values times each span, and of squared values, of a tile.

    spans  float64 (n, k + 1): in the order of `order`; the last one is the information
    found  float64 (k + 2, n_columns): sums of the spans, then of squared values times the
           information; values (n_columns, 256)
    """
    sums, values = found
    n_columns = tile.shape[1]
    n_spans = spans.shape[1] - 1
    counts = np.zeros((n_columns, 256), np.int64)
    for i in order:
        for j in range(n_columns):
            counts[j, tile[i, j]] += 1
    for j in range(n_columns):
        level_values(counts[j], dosages[j], values[j])
    sums[:] = 0.0
    x = np.empty(n_columns)
    for i in range(order.shape[0]):
        row = tile[order[i]]
        for j in range(n_columns):
            x[j] = values[j, row[j]]
        for k in range(n_spans):
            span = spans[i, k]
            for j in range(n_columns):
                sums[k, j] += span * x[j]
        span = spans[i, n_spans]
        for j in range(n_columns):
            sums[n_spans, j] += span * x[j] * x[j]


@njit(nogil=True, cache=True)
def tail_sums(tile, column, order, values, fitted, cumulants):
    """Third and fourth cumulants of the score of a column.

    values     float64 (256,): of codes
    fitted     float64 (n,): what covariates tell of the column, by sample of `order`
    cumulants  float64 (n, 2): of residuals
    """
    third = fourth = 0.0
    for i in range(order.shape[0]):
        left = values[tile[order[i], column]] - fitted[i]
        square = left * left
        third += square * left * cumulants[i, 0]
        fourth += square * square * cumulants[i, 1]
    return third, fourth


@njit(nogil=True, cache=True)
def fill_values(tile, order, dosages, values, x):
    """Values of the samples of `order`, into x (n, n_columns); those of codes into `values`."""
    n_columns = tile.shape[1]
    counts = np.zeros((n_columns, 256), np.int64)
    for i in order:
        for j in range(n_columns):
            counts[j, tile[i, j]] += 1
    for j in range(n_columns):
        level_values(counts[j], dosages[j], values[j])
    for i in range(order.shape[0]):
        for j in range(n_columns):
            x[i, j] = values[j, tile[order[i], j]]
