"""Transposition: in memory by tiles, and out of core through one temporary file.

The file is a row of bands. A band holds some samples of all features, feature-major, so that the
features a..b of a band are one contiguous read, and a band is written without a seek. A band of
a quarter of the memory makes such reads megabytes long until the data are hundreds of times the
memory. The number of samples need not be known before the last band.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

TILE_SAMPLES, TILE_FEATURES = 64, 1024
PIECE_BYTES = 8 << 20  # rows that are transposed at a time


@njit(nogil=True, cache=True)
def turn_lines(rows, out, step):  # type: ignore[no-untyped-def]
    """Columns of rows (n, k) as lines of `out`, which begin every `step` values.

    Eight rows at a time: 0.65 ns a value of 4 bytes if the lines fit the cache (`transpose_into`
    1.1).
    """
    n, k = rows.shape
    n_whole = n - n % 8
    for i in range(0, n_whole, 8):
        r0, r1, r2, r3 = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        r4, r5, r6, r7 = rows[i + 4], rows[i + 5], rows[i + 6], rows[i + 7]
        for f in range(k):
            line = out[f * step + i : f * step + i + 8]
            line[0], line[1], line[2], line[3] = r0[f], r1[f], r2[f], r3[f]
            line[4], line[5], line[6], line[7] = r4[f], r5[f], r6[f], r7[f]
    for i in range(n_whole, n):
        for f in range(k):
            out[f * step + i] = rows[i, f]


def transpose_into(rows: np.ndarray, out: np.ndarray) -> None:
    """out (k, n) = rows (n, k) transposed, in tiles that stay in the cache.

    1.4 GB/s whatever the strides, where a plain copy falls to a fifth when n is a power of two.
    """
    for r in range(0, rows.shape[0], TILE_SAMPLES):
        band = rows[r : r + TILE_SAMPLES]
        for c in range(0, rows.shape[1], TILE_FEATURES):
            tile = band[:, c : c + TILE_FEATURES]
            out[c : c + TILE_FEATURES, r : r + TILE_SAMPLES] = tile.T


def feature_major(values: np.ndarray) -> np.ndarray:
    """The same features (k, n) C-contiguous and writeable: as they are, or turned where samples
    are rows."""
    if values.flags.carray:
        return values
    if values.flags.c_contiguous:
        return values.copy()
    turned = np.empty(values.shape, values.dtype)
    transpose_into(values.T, turned)
    return turned


def pread_into(fd: int, out: np.ndarray, offset: int) -> None:
    """Fill a C-contiguous array from a file; EOFError when the file ends before."""
    view = out.reshape(-1).view(np.uint8).data
    while len(view):
        n_read = os.preadv(fd, [view], offset)
        if n_read == 0:
            raise EOFError
        view, offset = view[n_read:], offset + n_read


def pread_lines(fd: int, out: np.ndarray, offset: int, step: int) -> None:
    """Fill the rows of a C-contiguous array, each from `step` bytes after the one before.

    A plain loop: calling `pread_into` for each takes three times as long, and holds others up.
    """
    view, length = out.reshape(-1).view(np.uint8).data, out.itemsize * out.shape[1]
    for i in range(len(out)):
        line = view[i * length : (i + 1) * length]
        if os.preadv(fd, (line,), offset + i * step) != length:
            pread_into(fd, out[i], offset + i * step)  # what a signal cut short, or the end


class FeatureSpill:
    """The temporary file. It has no name on disk, so not even a killed process leaves it."""

    def __init__(self, folder: Path, n_features: int, dtype: np.dtype[Any]) -> None:
        self.n_features = n_features
        self.n_samples = 0
        self.dtype = dtype
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self._bands: list[tuple[int, int]] = []  # first sample, number of samples

    def add_band(self, n_samples: int) -> int:
        """Make room for the next samples; the number of their band."""
        self._bands.append((self.n_samples, n_samples))
        self.n_samples += n_samples
        return len(self._bands) - 1

    def write(self, band: int, first: int, rows: np.ndarray) -> None:
        """Put rows (samples of the band, features first...) of a band into the file."""
        step = max(1, PIECE_BYTES // (len(rows) * self.dtype.itemsize))
        for c in range(0, rows.shape[1], step):
            part = rows[:, c : c + step]
            tile = np.empty(part.shape[::-1], self.dtype)
            transpose_into(part, tile)
            self.write_features(band, first + c, tile)

    def write_features(self, band: int, first: int, tile: np.ndarray) -> None:
        """Put a tile that is feature-major already, C-contiguous (features, samples of band)."""
        start, n_samples = self._bands[band]
        cell = start * self.n_features + first * n_samples
        view, offset = tile.reshape(-1).view(np.uint8).data, cell * self.dtype.itemsize
        while len(view):
            n_written = os.pwrite(self._file.fileno(), view, offset)
            view, offset = view[n_written:], offset + n_written

    def read(self, first: int, out: np.ndarray) -> None:
        """Fill `out` (k, n_samples) with the features from `first` on."""
        for start, n_samples in self._bands:
            piece = np.empty((len(out), n_samples), self.dtype)
            cell = start * self.n_features + first * n_samples
            pread_into(self._file.fileno(), piece, cell * self.dtype.itemsize)
            out[:, start : start + n_samples] = piece

    def close(self) -> None:
        self._file.close()
