"""Sparse matrices as sources: what is not stored is an exact zero, what is stored as NaN is
missing.

Compressed by features they are read some features at a time. Compressed by samples they are turned
in bands (`srs.ingest.encode.transpose_sparse`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from srs.errors import SourceError
from srs.ingest.block import ColumnBlock, Wanted, numeric_block, small_block, value_dtype
from srs.ingest.encode.sparse_values import SparseValues
from srs.ingest.encode.transpose_sparse import SparseSpill
from srs.ingest.formats.arrays.in_memory import check_shape
from srs.store.layout import Annotation

BAND_COPIES = 4  # of a band while it is turned: read, typed, turned
KEPT_SHARE = 8  # of the memory, for bands that need no file


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
        n_items = int(matrix.starts[-1])
        share = n_items / (self.n_samples * self.n_features)
        self.held = self.dtype.itemsize + int(48 * min(1.0, share)) + 1
        bands = n_items * (4 + self.dtype.itemsize) + 8 * (self.n_features + 1)
        self._kept_mem = 0 if matrix.by_features else min(wanted.mem // KEPT_SHARE, bands)
        self.fixed_mem = 3 * matrix.starts.nbytes + self._kept_mem
        self.in_memory = False
        self.record = record

    def blocks(self, n_features: int) -> Iterator[ColumnBlock]:
        n_features = small_block(n_features, self.n_samples * self.dtype.itemsize)
        if self._matrix.by_features:
            for first in range(0, self.n_features, n_features):
                stop = min(first + n_features, self.n_features)
                yield numeric_block(first, self._read_features(first, stop))
            return
        spill = SparseSpill(self._wanted.folder, self.dtype, self._kept_mem)
        try:
            for first_sample, band in self._bands():
                spill.add(first_sample, self.n_features, band.indptr, band.indices, band.data)
                del band
            for first in range(0, self.n_features, n_features):
                n_here = min(n_features, self.n_features - first)
                yield numeric_block(first, spill.read(first, n_here, self.n_samples))
        finally:
            spill.close()

    def _read_features(self, first: int, stop: int) -> SparseValues:
        starts = self._matrix.starts[first : stop + 1]
        samples, items = self._read(int(starts[0]), int(starts[-1]), self.n_samples)
        values = SparseValues((stop - first, self.n_samples), self.dtype)
        values.add(
            starts - starts[0],
            samples.astype(np.int32, copy=False),
            items.astype(self.dtype, copy=False),
        )
        return values

    def _read(self, start: int, stop: int, n_places: int) -> tuple[np.ndarray, np.ndarray]:
        """Stored items with their positions checked: a wrong one would be written anywhere."""
        places, values = self._matrix.read(start, stop)
        if len(places) != stop - start or len(values) != stop - start:
            raise SourceError(f"{self._where} is truncated.")
        if len(places) and (int(places.min()) < 0 or int(places.max()) >= n_places):
            raise SourceError(f"{self._where} has an index outside its shape: it is damaged.")
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
            yield (
                first,
                sparse.csr_matrix(
                    (values.astype(self.dtype, copy=False), places, inside), shape=shape
                ),
            )
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
