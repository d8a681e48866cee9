"""Turn values into codes: exact levels where a feature has at most 255, ranks where it has more.

Small whole numbers are counted, others are put into order (`srs.ingest.encode.order`). Codes then
follow from ranks; a search of each value among the edges of bins took as long as all else together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from srs.ingest.block import NO_VALUE
from srs.ingest.encode.order import SAMPLE, find_span, sort_values
from srs.ingest.encode.transpose import turn_lines
from srs.store.layout import DOSAGE_STEPS, FRACTIONS, MAX_LEVELS, MISSING

GROUP_BYTES = 512 << 10  # values that are turned at a time: they stay in the cache of a core
LINE = 16  # values of a line of the cache


@dataclass(frozen=True)
class Coded:
    """Some features as codes, and what coding found.

    codes       uint8 (k, n_samples)
    n_levels    uint8 (k,): distinct codes, missing aside
    n_ranked    int32 (k,): known values, where all 255 codes occur equally often (give or take
                one), else 0
    n_infinite  int32 (k,): infinite values
    dosages     uint8 (k,): which dosages occur, bit 0 for 0 and so on, or FRACTIONS; 0 where
                values are no dosages
    """

    codes: np.ndarray
    n_levels: np.ndarray
    n_ranked: np.ndarray
    n_infinite: np.ndarray
    dosages: np.ndarray

    @classmethod
    def empty(cls, n_features: int, n_samples: int) -> Coded:
        return cls(
            np.empty((n_features, n_samples), np.uint8),
            np.empty(n_features, np.uint8),
            np.zeros(n_features, np.int32),
            np.zeros(n_features, np.int32),
            np.zeros(n_features, np.uint8),
        )

    def __getitem__(self, features: slice) -> Coded:
        return Coded(
            self.codes[features],
            self.n_levels[features],
            self.n_ranked[features],
            self.n_infinite[features],
            self.dosages[features],
        )


@njit(nogil=True, cache=True)
def _read_wholes(values, codes):  # type: ignore[no-untyped-def]
    """Put values that are all whole numbers from 0 to 254, or missing, into codes; else False."""
    n = values.shape[0]
    for k in range(min(n, 8)):  # most fractions are seen at once
        if values[k] == values[k] and values[k] != np.floor(values[k]):
            return False
    n_others = 0
    for k in range(n):
        v = values[k]
        inside = v >= 0 and v < MISSING
        whole = np.int32(v if inside else 0)
        codes[k] = whole if inside else MISSING
        n_others += v == v and not (inside and v == whole)
    return n_others == 0


@njit(nogil=True, cache=True)
def _number(codes):  # type: ignore[no-untyped-def]
    """Number the codes that occur without gaps; how many there are."""
    used = np.zeros(256, np.uint8)
    for k in range(codes.shape[0]):
        used[codes[k]] = 1
    number = np.empty(256, np.uint8)
    n_levels = 0
    for level in range(MAX_LEVELS):
        number[level] = n_levels
        n_levels += used[level]
    number[MISSING] = MISSING
    if n_levels < MAX_LEVELS:
        for k in range(codes.shape[0]):
            codes[k] = number[codes[k]]
    return n_levels


@njit(nogil=True, cache=True)
def _code_levels(values, entries, codes):  # type: ignore[no-untyped-def]
    """One code for each distinct value."""
    level, before = -1, values[entries[0] & SAMPLE]
    for r in range(entries.shape[0]):
        k = entries[r] & SAMPLE
        level += r == 0 or values[k] != before
        before = values[k]
        codes[k] = level


@njit(nogil=True, cache=True)
def _code_ranks(entries, bins, codes):  # type: ignore[no-untyped-def]
    """The bin of each rank, where no two values are equal."""
    for r in range(entries.shape[0]):
        codes[entries[r] & SAMPLE] = bins[r]


@njit(nogil=True, cache=True)
def _code_tied_ranks(values, entries, codes):  # type: ignore[no-untyped-def]
    """Equal values share the bin of the middle of their ranks."""
    n, r = entries.shape[0], 0
    while r < n:
        value, stop = values[entries[r] & SAMPLE], r + 1
        while stop < n and values[entries[stop] & SAMPLE] == value:
            stop += 1
        bin_ = (r + stop - 1) * MAX_LEVELS // (2 * n)
        for i in range(r, stop):
            codes[entries[i] & SAMPLE] = bin_
        r = stop


@njit(nogil=True, cache=True)
def _fill_bins(bins, n):  # type: ignore[no-untyped-def]
    """The bin r * 255 // n of each rank r, for n > 255, without divisions."""
    bin_, rest = 0, 0
    for r in range(n):
        bins[r] = bin_
        rest += MAX_LEVELS
        bin_ += rest >= n
        rest -= n if rest >= n else 0


@njit(nogil=True, cache=True)
def _encode_line(values, bits, codes, room):  # type: ignore[no-untyped-def]
    """Codes of one feature; its n_levels, n_ranked and n_infinite."""
    if _read_wholes(values, codes):
        return _number(codes), 0, 0
    entries, other, bins, n_binned = room
    n = values.shape[0]
    low, high, any_missing = find_span(values, bits)
    n_known, n_infinite = n, 0
    if any_missing:
        for k in range(n):
            n_known -= values[k] != values[k]
    if np.isinf(low) or np.isinf(high):
        for k in range(n):
            n_infinite += np.isinf(values[k])
    if n_known < n:
        codes[:] = MISSING
    ordered, n_distinct = sort_values(
        values, bits, low=low, high=high, n_known=n_known, entries=entries, other=other
    )
    if n_distinct <= MAX_LEVELS:
        _code_levels(values, ordered, codes)
        return n_distinct, 0, n_infinite
    if n_distinct < n_known:
        _code_tied_ranks(values, ordered, codes)
        return _number(codes), 0, n_infinite
    if n_known != n_binned[0]:
        _fill_bins(bins, n_known)
        n_binned[0] = n_known
    _code_ranks(ordered, bins, codes)
    return MAX_LEVELS, n_known, n_infinite


@njit(nogil=True, cache=True)
def _make_room(n):  # type: ignore[no-untyped-def]
    """Arrays to work in, for features of so many samples: entries twice, the bins of ranks, and
    for how many known values these bins are."""
    return (
        np.empty(n, np.uint64),
        np.empty(n, np.uint64),
        np.empty(n, np.uint8),
        np.zeros(1, np.int64),
    )


@njit(nogil=True, cache=True)
def _encode(values, bits, step, codes, n_levels, n_ranked, n_infinite):  # type: ignore[no-untyped-def]
    """Features of which each begins `step` values after the one before."""
    n = codes.shape[1]
    room = _make_room(n)
    for f in range(codes.shape[0]):
        start = f * step
        n_levels[f], n_ranked[f], n_infinite[f] = _encode_line(
            values[start : start + n], bits[start : start + n], codes[f], room
        )


@njit(nogil=True, cache=True)
def _code_table(values, codes):  # type: ignore[no-untyped-def]
    seen = np.zeros(256, np.uint8)
    code_of = np.empty(256, np.uint8)
    for i in range(values.shape[0]):
        seen[values[i] + 128] = 1
    n_found = 0
    for v in range(256):
        code_of[v] = n_found
        if v - 128 == NO_VALUE:
            code_of[v] = MISSING
        elif seen[v]:
            n_found += 1
    for i in range(values.shape[0]):
        codes[i] = code_of[values[i] + 128]
    return n_found


@njit(nogil=True, cache=True)
def encode_dosages(values, codes, n_levels, dosages):  # type: ignore[no-untyped-def]
    """Codes and levels of int8 rows, as `encode_numeric` gives, without sorting; and which of 0, 1
    and 2 occur, if nothing else does (see `Coded.dosages`).

    Of 0, 1, 2 and missing without a table, by wide instructions (five times faster).
    """
    for f in range(values.shape[0]):
        n0, n1, n2, n_missing = np.int32(0), np.int32(0), np.int32(0), np.int32(0)
        for i in range(values.shape[1]):
            v = values[f, i]
            n0, n1 = np.int32(n0 + np.int32(v == 0)), np.int32(n1 + np.int32(v == 1))
            n2 = np.int32(n2 + np.int32(v == 2))
            n_missing = np.int32(n_missing + np.int32(v == NO_VALUE))
        if n0 + n1 + n2 + n_missing < values.shape[1]:
            n_levels[f] = _code_table(values[f], codes[f])
            continue
        one, two = np.uint8(n0 > 0), np.uint8((n0 > 0) + (n1 > 0))
        n_levels[f] = two + (n2 > 0)
        dosages[f] = one + 2 * (n1 > 0) + 4 * (n2 > 0)
        for i in range(values.shape[1]):
            v = values[f, i]
            code = two if v == 2 else (one if v == 1 else np.uint8(0))
            codes[f, i] = np.uint8(MISSING) if v == NO_VALUE else code


@njit(nogil=True, cache=True)
def encode_fractions(values, codes, n_levels, dosages):  # type: ignore[no-untyped-def]
    """Codes and levels of float32 rows of dosages from 0 to 2; NaN is missing.

    Whole ones get the codes of `encode_dosages`; of others a code is the number of steps, so that
    the dosage can be told from it. Levels that do not occur leave gaps.
    """
    for f in range(values.shape[0]):
        n0, n1, n2, n_missing = np.int32(0), np.int32(0), np.int32(0), np.int32(0)
        for i in range(values.shape[1]):
            v = values[f, i]
            n0, n1 = np.int32(n0 + np.int32(v == 0)), np.int32(n1 + np.int32(v == 1))
            n2 = np.int32(n2 + np.int32(v == 2))
            n_missing = np.int32(n_missing + np.int32(v != v))
        if n0 + n1 + n2 + n_missing == values.shape[1]:
            one, two = np.uint8(n0 > 0), np.uint8((n0 > 0) + (n1 > 0))
            n_levels[f] = two + (n2 > 0)
            dosages[f] = one + 2 * (n1 > 0) + 4 * (n2 > 0)
            for i in range(values.shape[1]):
                v = values[f, i]
                code = two if v == 2 else (one if v == 1 else np.uint8(0))
                codes[f, i] = np.uint8(MISSING) if v != v else code
            continue
        highest = np.uint8(0)
        for i in range(values.shape[1]):
            v = values[f, i]
            known = v if v == v else np.float32(0)
            steps = np.float32(DOSAGE_STEPS) * min(max(known, np.float32(0)), np.float32(2))
            step = np.uint8(np.int32(steps + np.float32(0.5)))
            highest = max(highest, step)
            codes[f, i] = step if v == v else np.uint8(MISSING)
        n_levels[f] = highest + 1
        dosages[f] = FRACTIONS


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
    coded = Coded.empty(*values.shape)
    encode_into(values, coded)
    return coded.codes, coded.n_levels


def encode_into(values: np.ndarray, into: Coded) -> None:
    """The same for float32 or float64 in any order, into arrays that are there."""
    n_features, n = values.shape
    if values.flags.carray:
        _encode_lines(values.reshape(-1), n, into)
        return
    step = n + LINE  # lines whose distance is a power of two would push each other out of the cache
    n_together = min(n_features, max(LINE, GROUP_BYTES // (n * values.itemsize)))
    group = np.empty(n_together * step, values.dtype)
    for first in range(0, n_features, n_together):
        some = slice(first, first + n_together)
        turn_lines(values[some].T, group, step)
        _encode_lines(group, step, into[some])


def _encode_lines(values: np.ndarray, step: int, into: Coded) -> None:
    bits = values.view(f"i{values.itemsize}")
    _encode(
        values,
        bits,
        step=step,
        codes=into.codes,
        n_levels=into.n_levels,
        n_ranked=into.n_ranked,
        n_infinite=into.n_infinite,
    )
