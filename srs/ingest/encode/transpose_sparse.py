"""Sparse samples turned to features: bands of samples, in memory or in a temporary file.

A band is some samples compressed by features. Bands stay in memory as long as their share of it
lasts; the others go to a file without a name. So memory and disk follow from what is stored, and
not from the shape.
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from srs.ingest.encode.sparse_values import SparseValues
from srs.ingest.encode.transpose import pread_into

TURN_THREADS = 2


class Band(NamedTuple):
    """Samples compressed by features: where each feature starts, samples, values."""

    starts: np.ndarray
    samples: np.ndarray
    items: np.ndarray


@njit(nogil=True, cache=True)
def _count_places(places, counts):  # type: ignore[no-untyped-def]
    for i in range(places.shape[0]):
        counts[places[i]] += 1


@njit(nogil=True, cache=True)
def _turn(starts, places, values, first_sample, low, high, ends, samples, items):  # type: ignore[no-untyped-def]
    """Put the items of features from `low` to `high` where their features end so far."""
    for line in range(starts.shape[0] - 1):
        for i in range(starts[line], starts[line + 1]):
            feature = places[i]
            if feature >= low and feature < high:
                at = ends[feature]
                ends[feature] = at + 1
                samples[at] = first_sample + line
                items[at] = values[i]


def turn(
    starts: np.ndarray, places: np.ndarray, values: np.ndarray, n_features: int, first_sample: int
) -> Band:
    """A band from samples compressed by rows; threads share the features, by their items."""
    starts, places = starts.astype(np.int64, copy=False), places.astype(np.int32, copy=False)
    counts = np.zeros(n_features, np.int64)
    _count_places(places, counts)
    turned = Band(
        np.concatenate([[0], np.cumsum(counts)]),
        np.empty(len(places), np.int32),
        np.empty(len(places), values.dtype),
    )
    ends = turned.starts[:-1].copy()
    shares = np.arange(TURN_THREADS + 1) * len(places) // TURN_THREADS
    bounds = np.searchsorted(turned.starts, shares)
    bounds[0], bounds[-1] = 0, n_features

    def turn_share(share: int) -> None:
        _turn(
            starts,
            places,
            values=values,
            first_sample=first_sample,
            low=bounds[share],
            high=bounds[share + 1],
            ends=ends,
            samples=turned.samples,
            items=turned.items,
        )

    with ThreadPoolExecutor(TURN_THREADS, "srs-turn") as pool:
        list(pool.map(turn_share, range(TURN_THREADS)))
    return turned


class SparseSpill:
    """Bands of float32 or float64.

    mem  bytes of bands that may stay in memory
    """

    def __init__(self, folder: Path, dtype: np.dtype[Any], mem: int) -> None:
        self.n_features = 0
        self.dtype = dtype
        self._mem_left = mem
        self._folder = folder
        self._file: Any = None
        self._bands: list[Band | tuple[int, int, int]] = []  # or offset, features, stored items

    def add(
        self,
        first_sample: int,
        n_features: int,
        starts: np.ndarray,
        places: np.ndarray,
        values: np.ndarray,
    ) -> None:
        """Append samples compressed by rows; bands may differ in their number of features."""
        self.n_features = max(self.n_features, n_features)
        values = values.astype(self.dtype, copy=False)
        band = turn(starts, places, values, n_features, first_sample)
        needed = sum(part.nbytes for part in band)
        if needed <= self._mem_left:
            self._mem_left -= needed
            self._bands.append(band)
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115
        self._bands.append((self._file.tell(), n_features, len(places)))
        for part in band:
            view = part.view(np.uint8).data
            while len(view):
                view = view[self._file.write(view) :]

    def read(self, first: int, n_lines: int, n_samples: int) -> SparseValues:
        """The features from `first` on."""
        values = SparseValues((n_lines, n_samples), self.dtype)
        for band in self._bands:
            n_features = len(band.starts) - 1 if isinstance(band, Band) else band[1]
            n_here = min(n_lines, n_features - first)
            if n_here <= 0:
                continue
            part = band if isinstance(band, Band) else self._read_part(band, first, n_here)
            starts = part.starts[first : first + n_here + 1] if part is band else part.starts
            values.add(starts, part.samples, part.items)
        return values

    def _read_part(self, band: tuple[int, int, int], first: int, n_here: int) -> Band:
        """Some features of a band of the file; starts count from the first of them."""
        offset, n_features, n_items = band
        fd = self._file.fileno()
        starts = np.empty(n_here + 1, np.int64)
        pread_into(fd, starts, offset + 8 * first)
        samples = np.empty(starts[-1] - starts[0], np.int32)
        items = np.empty(len(samples), self.dtype)
        begin = offset + 8 * (n_features + 1)
        if len(samples):
            pread_into(fd, samples, begin + 4 * int(starts[0]))
            pread_into(fd, items, begin + 4 * n_items + items.itemsize * int(starts[0]))
        return Band(starts - starts[0], samples, items)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._bands.clear()
