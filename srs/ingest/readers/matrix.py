"""A source that is one matrix of one dtype: the order in which its blocks are read.

`Matrix` is what differs between arrays, files and chunked arrays (see `arrays` and `npy`);
`MatrixSource` turns any of them into blocks of features, directly where that reads long runs,
else through the temporary file of `transpose`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from srs.errors import MemoryBudgetError, SourceError
from srs.ingest.block import ColumnBlock, Wanted, numeric_block, small_block, value_dtype
from srs.ingest.encode.transpose import FeatureSpill
from srs.memory import format_bytes
from srs.store.layout import Annotation


class Matrix(Protocol):
    """A two-dimensional array that is read by rectangles.

    shape      rows and columns
    dtype      as stored
    grain      rows and columns that are always read together (a chunk)
    min_run    fewest columns that are worth reading from all rows
    held       bytes held for each value fetched
    fixed_mem  bytes held however much is fetched
    in_memory  whether fetching gives views of the caller's memory
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    grain: tuple[int, int]
    min_run: int
    held: int
    fixed_mem: int
    in_memory: bool

    def fetch(self, rows: slice, columns: slice, out: np.ndarray | None = None, /) -> np.ndarray:
        """The values of a rectangle, as (rows, columns): made in `out`, if it is given, which has
        as many cells, or a part of the caller's memory."""

    def pick(self, lines: np.ndarray, axis: int) -> np.ndarray:
        """Some rows (axis 0) or columns (axis 1), as (lines, values of each)."""

    def close(self) -> None: ...


def rectangle(
    rows: slice, columns: slice, dtype: np.dtype[Any], out: np.ndarray | None
) -> np.ndarray:
    """An array for the values of a rectangle: `out`, if it is given, or a new one."""
    shape = rows.stop - rows.start, columns.stop - columns.start
    return np.empty(shape, dtype) if out is None else out.reshape(shape)


def pick_lines(matrix: Matrix, lines: np.ndarray, axis: int) -> np.ndarray:
    """Some rows (axis 0) or columns (axis 1), each fetched by itself."""
    rows, columns = (slice(0, n) for n in matrix.shape)

    def one(line: int) -> np.ndarray:
        at = slice(line, line + 1)
        return matrix.fetch(at, columns)[0] if axis == 0 else matrix.fetch(rows, at)[:, 0]

    return np.stack([one(line) for line in lines.tolist()])


class MatrixSource:
    """A Source made of a Matrix.

    features_first  a row of the matrix is a feature
    targets         gives the values of a target column, where the matrix has any
    """

    def __init__(
        self,
        matrix: Matrix,
        features_first: bool,
        wanted: Wanted,
        record: Mapping[str, Any],
        targets: Callable[[str], Any] | None = None,
    ) -> None:
        self._matrix, self._features_first, self._wanted = matrix, features_first, wanted
        shape = matrix.shape if features_first else matrix.shape[::-1]
        self.n_features, self.n_samples = shape
        grain = matrix.grain if features_first else matrix.grain[::-1]
        self._grain_features, self._grain_samples = grain
        self.names: Sequence[str] | None = None
        self.sample_ids: Sequence[str] | None = None
        self.notices: Sequence[str] = ()
        self.annotations: Mapping[str, Annotation] = {}
        self.dtype = value_dtype(matrix.dtype, "the matrix")
        self.held = self.dtype.itemsize + matrix.held
        self.fixed_mem = matrix.fixed_mem
        self.in_memory = matrix.in_memory
        self.record = record
        self._targets = targets

    def blocks(self, n_features: int) -> Iterator[ColumnBlock]:
        if n_features >= self.n_features or self._reads_runs(n_features):
            n_bytes = self.n_samples * self.dtype.itemsize
            n_features = small_block(n_features, n_bytes, self._matrix.min_run)
            if n_features > self._grain_features:
                n_features -= n_features % self._grain_features
            yield from self._direct_blocks(n_features)
        else:
            yield from self._spilled_blocks(n_features)

    def _reads_runs(self, n_features: int) -> bool:
        if n_features < self._grain_features:
            return False
        return self._features_first or n_features >= self._matrix.min_run

    def _direct_blocks(self, n_features: int) -> Iterator[ColumnBlock]:
        """Two arrays take turns: new memory costs half as much as reading into it."""
        turns: list[np.ndarray] = []
        for first in range(0, self.n_features, n_features):
            features, samples = (
                slice(first, min(first + n_features, self.n_features)),
                slice(0, self.n_samples),
            )
            shape = features.stop - first, self.n_samples
            if len(turns) < 2:
                n_cells = 0 if self._matrix.in_memory else shape[0] * shape[1]
                turns.append(np.empty(n_cells, self._matrix.dtype))
            else:
                turns.reverse()
            out = None if self._matrix.in_memory else turns[-1][: shape[0] * shape[1]]
            if self._features_first:
                values = self._matrix.fetch(features, samples, out)
            else:
                values = self._matrix.fetch(samples, features, out).T
            values = values.astype(self.dtype, copy=False)
            if self._matrix.in_memory:
                values = values.view()
                values.flags.writeable = False  # they may be the caller's
            yield numeric_block(first, values)

    def _spilled_blocks(self, n_features: int) -> Iterator[ColumnBlock]:
        native = self._matrix.dtype.newbyteorder("=")
        spill = FeatureSpill(self._wanted.folder, self.n_features, native)
        try:
            self._fill(spill)
            for first in range(0, self.n_features, n_features):
                stop = min(first + n_features, self.n_features)
                values = np.empty((stop - first, self.n_samples), self.dtype)
                spill.read(first, values)
                yield numeric_block(first, values)
        finally:
            spill.close()

    def _fill(self, spill: FeatureSpill) -> None:
        n_samples, n_features = self._tile_shape()
        for start in range(0, self.n_samples, n_samples):
            samples = slice(start, min(start + n_samples, self.n_samples))
            band = spill.add_band(samples.stop - start)
            for first in range(0, self.n_features, n_features):
                features = slice(first, min(first + n_features, self.n_features))
                if self._features_first:
                    tile = self._matrix.fetch(features, samples)
                    spill.write_features(band, first, np.ascontiguousarray(tile, spill.dtype))
                else:
                    spill.write(band, first, self._matrix.fetch(samples, features))

    def _tile_shape(self) -> tuple[int, int]:
        """Samples and features of the rectangles that go to the temporary file, whole grains."""
        cell = self._matrix.held
        allowed = max(0, self._wanted.mem - self.fixed_mem) // 2
        tall, wide = self._grain_samples, self._grain_features
        if tall * wide * cell > allowed:
            raise MemoryBudgetError(
                f"a chunk of {tall} samples x {wide} features needs "
                f"{format_bytes(tall * wide * cell)} of memory and {format_bytes(allowed)} are "
                "available: allow more memory, or store smaller chunks.",
                tall * wide * cell * 2,
                self._wanted.mem,
            )
        fit_wide = allowed // (tall * cell)
        if fit_wide < self.n_features:
            return tall, fit_wide - fit_wide % wide
        fit_tall = allowed // (self.n_features * cell)
        return max(tall, fit_tall - fit_tall % tall), self.n_features

    def read(self, feature_ids: np.ndarray) -> np.ndarray:
        picked = self._matrix.pick(feature_ids, 0 if self._features_first else 1)
        return picked.astype(np.float64)

    def column(self, name: str) -> Any:
        if self._targets is not None:
            return self._targets(name)
        raise SourceError(
            f"the target {name!r} names a column, but the source is a matrix without column "
            "names, and no file has this name: give the target as an array or a file."
        )

    def close(self) -> None:
        self._matrix.close()
