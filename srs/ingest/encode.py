"""Turn values into codes: exact levels where a feature has at most 255, ranks where it has more."""

from __future__ import annotations

import numpy as np
from numba import njit

from srs.ingest.block import NO_VALUE
from srs.store.layout import MAX_LEVELS, MISSING


@njit(nogil=True, cache=True)
def _encode(values, ordered, codes, n_levels):  # type: ignore[no-untyped-def]
    n_features, n = values.shape
    edges = np.empty(MAX_LEVELS + 1, values.dtype)
    for f in range(n_features):
        row = ordered[f]
        n_valid = n
        while n_valid > 0 and np.isnan(row[n_valid - 1]):
            n_valid -= 1
        n_distinct = 0
        for i in range(n_valid):
            if i == 0 or row[i] != row[i - 1]:
                n_distinct += 1
        n_edges, i, last_bin = 0, 0, -1
        while i < n_valid:
            j = i
            while j < n_valid and row[j] == row[i]:
                j += 1
            # Equal values share a bin: that of the middle of their ranks.
            bin_ = (
                n_edges if n_distinct <= MAX_LEVELS else (i + j - 1) * MAX_LEVELS // (2 * n_valid)
            )
            if bin_ != last_bin:
                edges[n_edges] = row[i]
                n_edges += 1
                last_bin = bin_
            i = j
        n_levels[f] = n_edges
        edges[n_edges:] = np.nan  # no value is at or above NaN
        # The largest edge at or below each value, by eight halvings, each over all samples:
        # a search a sample would wait for memory and branches at every step (3 times slower).
        code = codes[f]
        code[:] = 0
        for half in (128, 64, 32, 16, 8, 4, 2, 1):
            for k in range(n):
                at = code[k] + half
                code[k] = at if edges[at] <= values[f, k] else code[k]
        for k in range(n):
            if np.isnan(values[f, k]):
                code[k] = MISSING


@njit(nogil=True, cache=True)
def encode_dosages(values, codes, n_levels):  # type: ignore[no-untyped-def]
    """Codes and levels of int8 rows, as `encode_numeric` gives, without sorting."""
    for f in range(values.shape[0]):
        seen = np.zeros(256, np.uint8)
        code_of = np.empty(256, np.uint8)
        for i in range(values.shape[1]):
            seen[values[f, i] + 128] = 1
        n_found = 0
        for v in range(256):
            code_of[v] = n_found
            if v - 128 == NO_VALUE:
                code_of[v] = MISSING
            elif seen[v]:
                n_found += 1
        n_levels[f] = n_found
        for i in range(values.shape[1]):
            codes[f, i] = code_of[values[f, i] + 128]


def encode_numeric(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes and number of levels of numeric features, one a row; NaN becomes MISSING.

    Codes keep the order of values. A feature with at most 255 distinct values gets one code for
    each; one with more gets bins of nearly equal size, and equal values always share a code.

    >>> import numpy as np
    >>> codes, n_levels = encode_numeric(np.array([[0.5, -2.0, np.nan, 0.5]]))
    >>> codes.tolist(), n_levels.tolist()
    ([[1, 0, 255, 1]], [2])
    """
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)
    values = np.ascontiguousarray(values)
    codes = np.empty(values.shape, np.uint8)
    n_levels = np.empty(len(values), np.uint8)
    _encode(values, np.sort(values, axis=1), codes, n_levels)
    return codes, n_levels
