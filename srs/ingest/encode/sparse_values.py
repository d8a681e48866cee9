"""Values of sparse features: made dense where they are coded, or coded without that.

Counts are whole numbers, and most are zero. Their codes follow from the stored items alone: a row
of codes is filled with zeros, the items are put in, and the levels that occur are numbered, as
`srs.ingest.encode.codes` does it for dense values. Everything else becomes dense, a slice at a
time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from srs.store.layout import MAX_LEVELS


@njit(nogil=True, cache=True)
def add_lines(out, starts, places, values):  # type: ignore[no-untyped-def]
    """Add the stored items of some lines to `out` (lines, places); an item may be split in two."""
    for line in range(out.shape[0]):
        for i in range(starts[line], starts[line + 1]):
            out[line, places[i]] += values[i]


@njit(nogil=True, cache=True)
def _add_wholes(starts, places, values, codes, n_stored, split):  # type: ignore[no-untyped-def]
    """The same into codes, where all are whole numbers from 0 to 254; else False.

    n_stored  places of each line that are not zero
    split     lines of which an item is stored in two
    """
    for line in range(starts.shape[0] - 1):
        out, n_new, n_again = codes[line], 0, 0
        for i in range(starts[line], starts[line + 1]):
            v, before = values[i], np.int32(out[places[i]])
            inside = v >= 0 and v < MAX_LEVELS
            whole = np.int32(v if inside else 0)
            if v != whole or before + whole >= MAX_LEVELS:
                return False
            out[places[i]] = before + whole
            n_new += 1 if before == 0 and whole > 0 else 0
            n_again += 1 if before > 0 else 0
        n_stored[line] += n_new
        split[line] |= n_again > 0
    return True


@njit(nogil=True, cache=True)
def _see_levels(starts, places, codes, seen, tops):  # type: ignore[no-untyped-def]
    """seen uint8 (lines, 256): the levels of stored items; tops (lines,): the largest."""
    for line in range(starts.shape[0] - 1):
        top = tops[line]
        for i in range(starts[line], starts[line + 1]):
            code = codes[line, places[i]]
            seen[line, code] = 1
            top = max(top, code)
        tops[line] = top


@njit(nogil=True, cache=True)
def _number_levels(seen, tops, n_levels):  # type: ignore[no-untyped-def]
    """Number the levels of each line without gaps, in place of `seen`."""
    for line in range(seen.shape[0]):
        n_found = 0
        for level in range(tops[line] + 1):
            is_seen = seen[line, level]
            seen[line, level] = n_found
            n_found += is_seen
        n_levels[line] = n_found


@njit(nogil=True, cache=True)
def _renumber(starts, places, values, number, split, codes):  # type: ignore[no-untyped-def]
    for line in range(starts.shape[0] - 1):
        if not split[line]:
            for i in range(starts[line], starts[line + 1]):
                if values[i] != 0:  # a zero may stand beside a value of the same place
                    codes[line, places[i]] = number[line, codes[line, places[i]]]


class SparseValues:
    """Values (k, n_samples) of a block, of which slices of features become arrays: so threads make
    them where they are coded, in the cache, and zeros are never read from memory."""

    def __init__(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype, self.itemsize = shape, dtype, dtype.itemsize
        self._parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, starts: np.ndarray, samples: np.ndarray, items: np.ndarray) -> None:
        """Stored items of the first features: where each starts, samples, values to be added."""
        self._parts.append((starts, samples, items))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, features: slice) -> np.ndarray:
        first, stop, _ = features.indices(len(self))
        out = np.zeros((stop - first, self.shape[1]), self.dtype)
        for starts, samples, items in self._parts_of(first, stop):
            add_lines(out[: len(starts) - 1], starts, samples, items)
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[0 : len(self)], dtype)

    def _parts_of(self, first: int, stop: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        return [
            (starts[first : stop + 1], samples, items)
            for starts, samples, items in self._parts
            if len(starts) > first + 1
        ]

    def encode_wholes(self, features: slice, codes: np.ndarray, n_levels: np.ndarray) -> bool:
        """Codes and levels of features that are all whole numbers from 0 to 254, as
        `encode_numeric` gives for the dense ones; False, and nothing of use, for others."""
        first, stop, _ = features.indices(len(self))
        codes[:] = 0
        n_stored, split = np.zeros(stop - first, np.int64), np.zeros(stop - first, np.bool_)
        parts = self._parts_of(first, stop)
        for starts, samples, items in parts:
            if not _add_wholes(
                starts, samples, values=items, codes=codes, n_stored=n_stored, split=split
            ):
                return False
        number, tops = np.zeros((stop - first, 256), np.uint8), np.zeros(stop - first, np.uint8)
        for starts, samples, _ in parts:
            _see_levels(starts, samples, codes, number, tops)
        number[:, 0] = n_stored < self.shape[1]
        _number_levels(number, tops, n_levels)
        for starts, samples, items in parts:
            _renumber(starts, samples, values=items, number=number, split=split, codes=codes)
        for line in np.flatnonzero(split):
            codes[line] = number[line][codes[line]]
        return True
