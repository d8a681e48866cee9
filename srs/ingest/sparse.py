"""Sparse matrices as sources: what is not stored is an exact zero, what is stored as NaN is
missing.

Compressed by features they are read some features at a time. Compressed by samples they go
through a temporary file of bands, as dense rows do (`srs.ingest.transpose`): a band is some samples
compressed by features, so memory and disk follow from what is stored and not from the shape.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numba import njit
from scipy import sparse

from srs.errors import SourceError
from srs.ingest.arrays import check_shape
from srs.ingest.block import ColumnBlock, Wanted, numeric_block, small_block, value_dtype
from srs.ingest.transpose import pread_into
from srs.store.layout import Annotation

BAND_COPIES = 6  # of a band while it is turned: read, typed, sorted


class Compressed(Protocol):
    """A sparse matrix (samples, features), stored line after line.

    shape        samples and features
    by_features  whether a line is a feature
    dtype        of the values
    starts       int64 (lines + 1,): where each line starts
    """

    shape: tuple[int, int]
    by_features: bool
    dtype: np.dtype[Any]
    starts: np.ndarray

    def read(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Positions along the other axis and values of stored items; asked in ascending order
        while blocks are made, anyhow afterwards."""

    def close(self) -> None: ...


class SparseSpill:
    """Bands in a temporary file without a name: of each, starts by feature, samples, values."""

    def __init__(self, folder: Path, dtype: np.dtype[Any]) -> None:
        self.n_features = 0
        self.dtype = dtype
        self._file = tempfile.TemporaryFile(dir=folder, buffering=1 << 20)  # noqa: SIM115
        self._bands: list[tuple[int, int, int]] = []  # offset, features, stored items

    def add(self, first_sample: int, band: sparse.csr_matrix) -> None:
        """Append samples; their features may be fewer or more than those of other bands."""
        turned = band.tocsc()
        self._bands.append((self._file.tell(), band.shape[1], turned.nnz))
        self.n_features = max(self.n_features, band.shape[1])
        self._file.write(turned.indptr.astype(np.int64).tobytes())
        self._file.write((turned.indices + np.int32(first_sample)).astype(np.int32).tobytes())
        self._file.write(turned.data.astype(self.dtype, copy=False).tobytes())

    def read(self, first: int, n_lines: int, n_samples: int) -> SparseValues:
        """The features from `first` on."""
        self._file.flush()
        fd = self._file.fileno()
        values = SparseValues((n_lines, n_samples), self.dtype)
        for offset, n_features, n_items in self._bands:
            n_here = min(n_lines, n_features - first)
            if n_here <= 0:
                continue
            starts = np.empty(n_here + 1, np.int64)
            pread_into(fd, starts, offset + 8 * first)
            samples = np.empty(starts[-1] - starts[0], np.int32)
            items = np.empty(len(samples), self.dtype)
            begin = offset + 8 * (n_features + 1)
            if len(samples):
                pread_into(fd, samples, begin + 4 * int(starts[0]))
                pread_into(fd, items, begin + 4 * n_items + items.itemsize * int(starts[0]))
            values.add(starts - starts[0], samples, items)
        return values

    def close(self) -> None:
        self._file.close()


@njit(nogil=True, cache=True)
def add_lines(out, starts, places, values):  # type: ignore[no-untyped-def]
    """Add the stored items of some lines to `out` (lines, places); an item may be split in two."""
    for line in range(out.shape[0]):
        for i in range(starts[line], starts[line + 1]):
            out[line, places[i]] += values[i]


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
        for starts, samples, items in self._parts:
            here = starts[first : stop + 1]
            if len(here) > 1:
                add_lines(out[: len(here) - 1], here, samples, items)
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[0 : len(self)], dtype)


class SparseSource:
    """A Source made of a sparse matrix.

    targets  gives the values of a target column, where there are any
    """

    def __init__(
        self,
        matrix: Compressed,
        wanted: Wanted,
        record: Mapping[str, Any],
        where: str,
        targets: Callable[[str], Any] | None = None,
    ) -> None:
        self._matrix, self._wanted, self._where, self._targets = matrix, wanted, where, targets
        check_shape(matrix.shape, where)
        check_starts(matrix, where)
        self.n_samples, self.n_features = matrix.shape
        self.names: Sequence[str] | None = None
        self.sample_ids: Sequence[str] | None = None
        self.annotations: Mapping[str, Annotation] = {}
        self.notices: Sequence[str] = ()
        self.dtype = value_dtype(matrix.dtype, where)
        share = int(matrix.starts[-1]) / (self.n_samples * self.n_features)
        self.held = self.dtype.itemsize + int(48 * min(1.0, share)) + 1
        self.fixed_mem = 3 * matrix.starts.nbytes
        self.in_memory = False
        self.record = record

    def blocks(self, n_features: int) -> Iterator[ColumnBlock]:
        n_features = small_block(n_features, self.n_samples * self.dtype.itemsize)
        if self._matrix.by_features:
            for first in range(0, self.n_features, n_features):
                stop = min(first + n_features, self.n_features)
                yield numeric_block(first, self._read_features(first, stop))
            return
        spill = SparseSpill(self._wanted.folder, self.dtype)
        try:
            for first_sample, band in self._bands():
                spill.add(first_sample, band)
            for first in range(0, self.n_features, n_features):
                n_here = min(n_features, self.n_features - first)
                yield numeric_block(first, spill.read(first, n_here, self.n_samples))
        finally:
            spill.close()

    def _read_features(self, first: int, stop: int) -> SparseValues:
        starts = self._matrix.starts[first : stop + 1]
        samples, items = self._read(int(starts[0]), int(starts[-1]), self.n_samples)
        values = SparseValues((stop - first, self.n_samples), self.dtype)
        values.add(starts - starts[0], samples.astype(np.int32, copy=False),
                   items.astype(self.dtype, copy=False))  # fmt: skip
        return values

    def _read(self, start: int, stop: int, n_places: int) -> tuple[np.ndarray, np.ndarray]:
        """Stored items with their positions checked: a wrong one would be written anywhere."""
        places, values = self._matrix.read(start, stop)
        if len(places) != stop - start or len(values) != stop - start:
            raise SourceError(f"{self._where} is truncated.")
        if len(places) and (int(places.min()) < 0 or int(places.max()) >= n_places):
            raise SourceError(f"{self._where} has an index out of its shape: it is damaged.")
        return places, values

    def _bands(self) -> Iterator[tuple[int, sparse.csr_matrix]]:
        """Samples as large as a share of the memory allows, at least one at a time."""
        most, starts = self.band_items(), self._matrix.starts
        first = 0
        while first < self.n_samples:
            stop = int(np.searchsorted(starts, starts[first] + most, side="right")) - 1
            stop = min(max(stop, first + 1), self.n_samples)
            places, values = self._read(int(starts[first]), int(starts[stop]), self.n_features)
            inside = starts[first : stop + 1] - starts[first]
            shape = (stop - first, self.n_features)
            yield first, sparse.csr_matrix((values.astype(self.dtype, copy=False), places, inside),
                                           shape=shape)  # fmt: skip
            first = stop

    def band_items(self) -> int:
        """Stored items of a band."""
        return max(1, self._wanted.mem // 2 // (BAND_COPIES * (8 + self.dtype.itemsize)))

    def read(self, feature_ids: np.ndarray) -> np.ndarray:
        out = np.zeros((len(feature_ids), self.n_samples))
        if self._matrix.by_features:
            for i, feature_id in enumerate(feature_ids.tolist()):
                out[i] = self._read_features(feature_id, feature_id + 1)[0:1][0]
            return out
        for first, band in self._bands():
            out[:, first : first + band.shape[0]] += band[:, feature_ids].toarray().T
        return out

    def column(self, name: str) -> Any:
        if self._targets is not None:
            return self._targets(name)
        raise SourceError(
            f"the target {name!r} names a column, but {self._where} has none, and no file has this "
            f"name: give the target as an array or a file."
        )

    def close(self) -> None:
        self._matrix.close()


def check_starts(matrix: Compressed, where: str) -> None:
    n_lines = matrix.shape[1] if matrix.by_features else matrix.shape[0]
    starts = matrix.starts
    if len(starts) != n_lines + 1 or starts[0] != 0 or (np.diff(starts) < 0).any():
        raise SourceError(f"{where} has line starts that do not fit its shape: it is damaged.")
