"""Parquet, Arrow and Feather files as sources: columns are read some at a time, as they are stored.

With orientation="features" a row is a feature, and rows stream in batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from srs.errors import SourceError, listed, near
from srs.ingest.block import ColumnBlock, Source, Wanted, read_from_blocks
from srs.ingest.formats.arrays.in_memory import check_shape, folder_mark
from srs.ingest.formats.folders import FolderSigns
from srs.ingest.formats.format import FILE, FOLDER, Format
from srs.ingest.formats.tables.frames import TableSource
from srs.ingest.readers.arrow_files import ColumnFile, IpcFile, ParquetFiles, check_arrow
from srs.ingest.readers.columns import Column, parse_column
from srs.ingest.tables.ids import FoundIds, find_ids, id_texts, is_unnamed
from srs.store.layout import NUMERIC, Annotation

OPEN_SHARE = 4  # of the memory, for files of a folder that stay open
HELD = 24  # arrow's column, its decoded pages, and the pandas copy, for each value


def open_parquet(path: Path, wanted: Wanted) -> Source:
    """A Parquet file, or a folder of them whose rows belong together."""
    if not path.is_dir():
        return _open(ParquetFiles([path], 0), path, wanted)
    paths = sorted(path.rglob("*.parquet"))
    if not paths:
        raise SourceError(f"the folder {path} has no .parquet file.")
    source = _open(ParquetFiles(paths, wanted.mem // OPEN_SHARE), path, wanted)
    if any("=" in part for one in paths for part in one.relative_to(path).parts[:-1]):
        notice = "folders named key=value are not read as columns: only files were read."
        source.notices = [*source.notices, notice]
    return source


def open_arrow(path: Path, wanted: Wanted) -> Source:
    """An Arrow or Feather file."""
    return _open(IpcFile(path), path, wanted)


def _open(file: ColumnFile, path: Path, wanted: Wanted) -> Source:
    try:
        check_shape((file.n_rows, len(file.schema)), str(path))
        stat = path.stat()
        mark = {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns}
        record = {
            "kind": "parquet",
            "path": str(path.resolve()),
            **(folder_mark(path) if path.is_dir() else mark),
            "orientation": wanted.orientation,
            "targets": list(wanted.columns),
        }
        source: Source
        if wanted.orientation == "features":
            source = ParquetRows(file, path, record)
        else:
            source = ParquetTable(file, path, wanted, record)
    except SourceError:
        file.close()
        raise
    source.fixed_mem += file.fixed_mem
    return source


def _index_columns(schema: pa.Schema) -> list[str]:
    """Columns that pandas wrote for its index: ids of samples, not features."""
    metadata = schema.pandas_metadata or {}
    return [name for name in metadata.get("index_columns", []) if isinstance(name, str)]


def _is_small(kind: pa.DataType) -> bool:
    """Whether float32 holds every value; category numbers fit too."""
    if pa.types.is_dictionary(kind) or pa.types.is_boolean(kind) or pa.types.is_float32(kind):
        return True
    return bool(pa.types.is_integer(kind) and kind.bit_width <= 16)


class ParquetTable(TableSource):
    """A sample a row."""

    def __init__(
        self, file: ColumnFile, path: Path, wanted: Wanted, record: Mapping[str, Any]
    ) -> None:
        self._file, self._path = file, path
        schema = file.schema
        if len(set(schema.names)) != len(schema.names):
            raise SourceError(
                f"{path} has several columns with the same name, which cannot be distinguished."
            )
        rows = self._row_names()
        found = self._find_ids(rows, wanted)
        id_column = None if found.place is None else schema.names[found.place]
        skipped = {*rows, *wanted.columns, id_column}
        features = [name for name in schema.names if name not in skipped]
        small = all(_is_small(schema.field(name).type) for name in features)
        super().__init__(
            (file.n_rows, len(features)),
            features,
            self._fetch_columns,
            self._fetch_target,
            dtype=np.dtype(np.float32 if small else np.float64),
            record={**record, "id_column": id_column or ""},  # "": none, also when it is read again
        )
        self.in_memory = False
        self.held = HELD + self.dtype.itemsize
        self._features = features
        self.sample_ids, self.notices = found.values, found.notices

    def _row_names(self) -> list[str]:
        """Columns that hold names of rows: of pandas' index, or the first if it has no name."""
        names = self._file.schema.names
        index = [name for name in _index_columns(self._file.schema) if name in names]
        return index or [name for name in names[:1] if is_unnamed(name)]

    def _find_ids(self, rows: list[str], wanted: Wanted) -> FoundIds:
        schema = self._file.schema
        index = schema.names.index(rows[0]) if rows else None
        counted = bool(rows) and is_unnamed(rows[0]) and pa.types.is_integer(schema.types[index])

        def read(place: int) -> list[str]:
            return id_texts(self._series(schema.names[place]))

        return find_ids(schema.names, index, counted, wanted, read)

    def _fetch_columns(self, ids: np.ndarray) -> Iterator[Column]:
        names = [self._features[i] for i in ids]
        table = self._file.read(names)
        for name in names:
            column = table.column(name)
            if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
                yield Column(column.to_numpy(), NUMERIC)  # a Series would take ten times as long
            else:
                yield parse_column(_to_series(column, name), name)
        del table, column
        pa.default_memory_pool().release_unused()

    def _fetch_target(self, name: str) -> pd.Series[Any]:
        if name not in self._file.schema.names:
            raise SourceError(
                f"the target {name!r}: no column of {self._path} has this name, and no file has it"
                f"{near(name, self._file.schema.names)}{listed(self._file.schema.names)}"
            )
        return self._series(name)

    def _series(self, name: str) -> pd.Series[Any]:
        return _to_series(self._file.read([name]).column(name), name)

    def close(self) -> None:
        self._file.close()


def _to_series(column: pa.ChunkedArray, name: str) -> pd.Series[Any]:
    """Text is made a dictionary first: a pointer and an object a value would take 60 bytes."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = column.dictionary_encode()
    series: pd.Series[Any] = column.to_pandas()
    return series.rename(name)


class ParquetRows:
    """A feature a row; a leading text column holds the names of the features."""

    def __init__(self, file: ColumnFile, path: Path, record: Mapping[str, Any]) -> None:
        self._file, self._path = file, path
        schema = file.schema
        named = pa.types.is_string(schema.types[0]) or pa.types.is_large_string(schema.types[0])
        index = _index_columns(schema)
        id_column = schema.names[0] if named else (index[0] if index else None)
        samples = [name for name in schema.names if name != id_column]
        for name in samples:
            kind = schema.field(name).type
            if not (
                pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
            ):
                raise SourceError(
                    f"the column {name!r} of {path} has type {kind}; with orientation='features' "
                    f"every column is a sample and must be numeric."
                )
        self.n_features, self.n_samples = file.n_rows, len(samples)
        small = all(_is_small(schema.field(name).type) for name in samples)
        self.dtype = np.dtype(np.float32 if small else np.float64)
        self.sample_ids: Sequence[str] | None = samples
        self.names: Sequence[str] | None = None
        if id_column is not None:
            self.names = [str(v) for v in file.read([id_column]).column(0).to_pylist()]
        self.notices: Sequence[str] = ()
        self.annotations: Mapping[str, Annotation] = {}
        self.held, self.fixed_mem, self.in_memory = HELD, 0, False
        self.record = record
        self._samples = samples

    def blocks(self, n_features: int) -> Iterator[ColumnBlock]:
        first = 0
        for batch in self._file.batches(n_features, self._samples):
            columns = (batch.column(name) for name in self._samples)
            values = np.empty((batch.num_rows, self.n_samples), self.dtype)
            for i, column in enumerate(columns):
                values[:, i] = column.to_numpy(zero_copy_only=False)
            yield ColumnBlock(first, values, np.full(len(values), NUMERIC, np.uint8))
            first += batch.num_rows

    def read(self, feature_ids: np.ndarray) -> np.ndarray:
        return read_from_blocks(self, feature_ids)

    def column(self, name: str) -> Any:
        raise SourceError(
            f"the target {name!r} names a column, but with orientation='features' columns are "
            f"samples: give the target as an array or a file."
        )

    def close(self) -> None:
        self._file.close()


PARQUET_FORMAT = Format(
    name="parquet",
    title="Parquet",
    help="a table; the rows of all files of a folder belong together",
    open=open_parquet,
    kinds=(FILE, FOLDER),
    suffixes=(".parquet",),
    signs=FolderSigns(one_of=("*.parquet",)),
    options=("orientation",),
    safe=True,
)

ARROW_FORMAT = Format(
    name="arrow",
    title="Arrow and Feather",
    help="a table in the file format of Arrow, not a stream",
    open=open_arrow,
    suffixes=(".arrow", ".feather"),
    options=("orientation",),
    safe=True,
    check=check_arrow,
)
