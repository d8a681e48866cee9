"""Put the values of one feature into order: a radix sort that knows where they lie.

A value has a *place*: how far it is between the smallest and the largest value, in two or three
bytes. Places are sorted, and values that share one are compared. Where a place holds too many (an
outlier, orders of magnitude, an infinity) places are made of the bits of the values instead, whose
order is that of logarithms. An *entry* is a place above bit 32 and the sample below. Missing values
have none. What codes follow from the order is `srs.ingest.encode.codes`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SHORT = 64  # values of one place that insertion may sort
TWO_BYTES = 4096  # samples up to which places of two bytes are shared by few
KEY = np.uint64(32)
SAMPLE = np.uint64(0xFFFFFFFF)
_BYTE = np.uint64(255)
_ONE = np.uint64(1)


@njit(nogil=True, cache=True)
def _ordered(bits, width):  # type: ignore[no-untyped-def]
    """The bits of a value of so many bytes as a number of the same order; its own inverse."""
    b = np.int64(bits)
    return b ^ ((b >> 63) & (0x7FFFFFFF if width == 4 else 0x7FFFFFFFFFFFFFFF))


@njit(nogil=True, cache=True)
def find_span(values, bits):  # type: ignore[no-untyped-def]
    """Smallest and largest value, NaN aside, and whether there is any NaN.

    By whole numbers, which take wide instructions (0.1 ns a value; comparisons of floats 0.5).
    NaN is above or below all others; then it is done again without.
    """
    ends = np.empty(2, bits.dtype)
    known = ends.view(values.dtype)
    low = high = _ordered(bits[0], bits.itemsize)
    for k in range(bits.shape[0]):
        b = _ordered(bits[k], bits.itemsize)
        low, high = min(low, b), max(high, b)
    ends[0], ends[1] = _ordered(low, bits.itemsize), _ordered(high, bits.itemsize)
    if known[0] == known[0] and known[1] == known[1]:
        return known[0], known[1], False
    smallest, largest = values[0], values[0]
    for k in range(values.shape[0]):
        v = values[k]
        smallest = v if v < smallest or smallest != smallest else smallest
        largest = v if v > largest or largest != largest else largest
    return smallest, largest, True


@njit(nogil=True, cache=True)
def _place_by_scale(values, n_known, low, scale, entries):  # type: ignore[no-untyped-def]
    if n_known == values.shape[0]:  # a loop without a question is made of wide instructions
        for k in range(n_known):
            place = np.uint64(np.int32((values[k] - low) * scale))
            entries[k] = (place << KEY) | np.uint64(k)
        return
    at = 0
    for k in range(values.shape[0]):
        known = values[k] == values[k]
        place = np.uint64(np.int32((values[k] - low) * scale if known else low))
        entries[at] = (place << KEY) | np.uint64(k)
        at += known


@njit(nogil=True, cache=True)
def _place_by_bits(values, bits, low, high, entries):  # type: ignore[no-untyped-def]
    """The leading 32 bits in which values differ, as whole numbers of the same order.

    These are all bits of float32, so that only values of float64 can share a place.
    """
    ends = np.array((low, high), values.dtype).view(bits.dtype)
    lowest = np.uint64(_ordered(ends[0], bits.itemsize))
    between = np.uint64(_ordered(ends[1], bits.itemsize)) - lowest
    width = np.uint64(0)
    while between >> width > SAMPLE:
        width += _ONE
    at = 0
    for k in range(values.shape[0]):
        if values[k] == values[k]:
            b = np.uint64(_ordered(bits[k] if values[k] != 0 else 0, bits.itemsize))
            entries[at] = ((b - lowest) >> width << KEY) | np.uint64(k)
            at += 1


@njit(nogil=True, cache=True)
def _sort_places(entries, other, n_bytes):  # type: ignore[no-untyped-def]
    """Sort by the last bytes of places; the array that holds the result."""
    count = np.empty(256, np.uint64)
    for byte in range(n_bytes):
        shift = np.uint64(32 + 8 * byte)
        count[:] = 0
        for k in range(entries.shape[0]):
            count[(entries[k] >> shift) & _BYTE] += _ONE
        at = np.uint64(0)
        for b in range(256):
            here = count[b]
            count[b] = at
            at += here
        for k in range(entries.shape[0]):
            b = (entries[k] >> shift) & _BYTE
            other[count[b]] = entries[k]
            count[b] += _ONE
        entries, other = other, entries
    return entries


@njit(nogil=True, cache=True)
def _sort_shared(values, shared):  # type: ignore[no-untyped-def]
    """Sort entries of one place by their values, and count the distinct ones (Shell's sort)."""
    n = shared.shape[0]
    gap = 1
    while 9 * gap < 4 * n:
        gap = 9 * gap // 4 + 1
    while gap > 0:
        for i in range(gap, n):
            entry = shared[i]
            value = values[entry & SAMPLE]
            j = i
            while j >= gap and values[shared[j - gap] & SAMPLE] > value:
                shared[j] = shared[j - gap]
                j -= gap
            shared[j] = entry
        gap = 0 if gap == 1 else max(1, 4 * gap // 9)
    n_distinct = 1
    for i in range(1, n):
        n_distinct += values[shared[i] & SAMPLE] != values[shared[i - 1] & SAMPLE]
    return n_distinct


@njit(nogil=True, cache=True)
def _settle(values, entries, longest):  # type: ignore[no-untyped-def]
    """Sort what shares a place; the number of distinct values, or -1 where more than `longest`
    that are not all equal share one."""
    n = np.uint64(entries.shape[0])
    n_distinct, i = entries.shape[0], _ONE
    while True:
        while i < n and (entries[i] ^ entries[i - _ONE]) > SAMPLE:
            i += _ONE
        if i >= n:
            return n_distinct
        start = i - _ONE
        first, pure = values[entries[start] & SAMPLE], True
        while i < n and (entries[i] ^ entries[start]) <= SAMPLE:
            pure &= values[entries[i] & SAMPLE] == first
            i += _ONE
        n_here = 1
        if not pure:
            if i - start > longest:
                return -1
            n_here = _sort_shared(values, entries[start:i])
        n_distinct += n_here - np.int64(i - start)
        i += _ONE


@njit(nogil=True, cache=True)
def _sort_known(values, bits, low, high, n_known, entries, other):  # type: ignore[no-untyped-def]
    n = values.shape[0]
    n_bytes, steps = (2, 65_535) if n <= TWO_BYTES else (3, 16_777_000)
    scale = values.dtype.type(steps) / (high - low) if high > low else values.dtype.type(0)
    if np.isfinite(scale) and (scale > 0 or high == low):
        _place_by_scale(values, n_known, low, scale, entries)
        ordered = _sort_places(entries[:n_known], other[:n_known], n_bytes)
        n_distinct = _settle(values, ordered, SHORT)
        if n_distinct >= 0:
            return ordered, n_distinct
    _place_by_bits(values, bits, low + 0, high + 0, entries)  # -0.0 becomes 0.0
    ordered = _sort_places(entries[:n_known], other[:n_known], 4)
    return ordered, _settle(values, ordered, n)


@njit(nogil=True, cache=True)
def _sort_around_zeros(values, bits, n_others, n_known, entries, other):  # type: ignore[no-untyped-def]
    """Sort what is not zero as if it were a feature of its own, and put the zeros in between."""
    rest, samples = np.empty(n_others, values.dtype), np.empty(n_others, np.uint64)
    at = 0
    for k in range(values.shape[0]):
        if values[k] == values[k] and values[k] != 0:
            rest[at], samples[at] = values[k], k
            at += 1
    rest_bits = rest.view(bits.dtype)
    low, high, _ = find_span(rest, rest_bits)
    ordered, n_distinct = _sort_known(
        rest, rest_bits, low=low, high=high, n_known=n_others, entries=entries, other=other
    )
    n_below = 0
    for k in range(n_others):
        n_below += rest[k] < 0
    around = np.empty(n_known, np.uint64)
    for r in range(n_others):
        around[r if r < n_below else r + n_known - n_others] = samples[ordered[r] & SAMPLE]
    at = n_below
    for k in range(values.shape[0]):
        if values[k] == 0:
            around[at] = k
            at += 1
    return around, n_distinct + 1


@njit(nogil=True, cache=True)
def sort_values(values, bits, low, high, n_known, entries, other):  # type: ignore[no-untyped-def]
    """Samples of the known values in ascending order (below bit 32), and how many are distinct.

    bits       the same values as whole numbers
    low, high  their span
    n_known    how many are not NaN; at least one of them is not zero
    entries, other  uint64 (n_samples,) to work in
    """
    n_zeros = 0
    for k in range(values.shape[0]):
        n_zeros += values[k] == 0
    if 2 * n_zeros > n_known:
        return _sort_around_zeros(
            values, bits, n_others=n_known - n_zeros, n_known=n_known, entries=entries, other=other
        )
    return _sort_known(
        values, bits, low=low, high=high, n_known=n_known, entries=entries, other=other
    )
