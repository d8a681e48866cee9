"""Tables that pyarrow reads by columns: Parquet files, folders of them, Arrow and Feather files.

One face for all: a schema, a number of rows, some columns of all rows, batches of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from srs.errors import SourceError

COLUMN_MEM = 1600  # what pyarrow knows of a column of an open Parquet file, and beside it
PART_MEM = 900  # of each of its row groups (measured: 855)


class ColumnFile(Protocol):
    """What a table of columns can do; errors are SourceErrors.

    fixed_mem  bytes that an open file holds
    """

    schema: pa.Schema
    n_rows: int
    fixed_mem: int

    def read(self, names: Sequence[str]) -> pa.Table:
        """Some columns, all rows."""

    def batches(self, n_rows: int, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Rows in order, at most so many at a time."""

    def close(self) -> None: ...


class ParquetFiles:
    """One Parquet file, or the files of a folder in the order of their names.

    Files stay open as long as their share of the memory lasts; of the others one is open at a
    time: six files of 10,000 columns hold 150 MB, and are opened in 40 ms each.

    mem  bytes that open files may hold beside that one
    """

    def __init__(self, paths: Sequence[Path], mem: int) -> None:
        self._paths = paths
        self._kept: dict[Path, pq.ParquetFile] = {}
        self._passing: tuple[Path, pq.ParquetFile] | None = None
        self.schema = self._open(paths[0]).schema_arrow
        self.n_rows = kept_mem = passing_mem = 0
        for path in paths:
            file = self._open(path)
            if not file.schema_arrow.equals(self.schema):
                self.close()
                raise SourceError(f"{path} has different columns than {paths[0]}.")
            self.n_rows += file.metadata.num_rows
            of_column = COLUMN_MEM + PART_MEM * file.metadata.num_row_groups
            needed = of_column * len(self.schema)
            if kept_mem + needed <= mem:
                kept_mem += needed
                self._kept[path], self._passing = file, None
            else:
                passing_mem = max(passing_mem, needed)
        self.fixed_mem = kept_mem + passing_mem

    def _open(self, path: Path) -> pq.ParquetFile:
        if path in self._kept:
            return self._kept[path]
        if self._passing is None or self._passing[0] != path:
            if self._passing is not None:
                self._passing[1].close()
            self._passing = path, _open_parquet(path)
        return self._passing[1]

    def read(self, names: Sequence[str]) -> pa.Table:
        parts = []
        for path in self._paths:
            try:
                part = self._open(path).read(columns=list(names), use_pandas_metadata=False)
            except (pa.ArrowException, OSError) as error:
                raise SourceError(f"{path} cannot be read: {error}") from None
            parts.append(part)
        return pa.concat_tables(parts)

    def batches(self, n_rows: int, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for path in self._paths:
            try:
                yield from self._open(path).iter_batches(n_rows, columns=list(names))
            except (pa.ArrowException, OSError) as error:
                raise SourceError(f"{path} cannot be read: {error}") from None

    def close(self) -> None:
        passing = () if self._passing is None else (self._passing[1],)
        for file in (*self._kept.values(), *passing):
            file.close()


def _open_parquet(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise SourceError(f"{path} cannot be read as Parquet: {error}") from None


class IpcFile:
    """An Arrow file, which Feather files are; columns are read without the others."""

    fixed_mem = 0

    def __init__(self, path: Path) -> None:
        self._path = path
        reader = self._open(None)
        self.schema = reader.schema
        self._n_batches = reader.num_record_batches
        first = self._open([0]) if len(self.schema) else reader
        self.n_rows = sum(first.get_batch(i).num_rows for i in range(self._n_batches))

    def _open(self, fields: list[int] | None) -> pa.RecordBatchFileReader:
        options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
        try:
            return pa.ipc.open_file(pa.OSFile(str(self._path)), options=options)
        except (pa.ArrowException, OSError) as error:
            said = _say_form(self._path) or str(error)
            raise SourceError(f"{self._path} cannot be read as an Arrow file: {said}") from None

    def read(self, names: Sequence[str]) -> pa.Table:
        reader = self._open([self.schema.get_field_index(name) for name in names])
        try:
            return reader.read_all()
        except (pa.ArrowException, OSError) as error:
            raise SourceError(f"{self._path} cannot be read: {error}") from None

    def batches(self, n_rows: int, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        reader = self._open([self.schema.get_field_index(name) for name in names])
        for number in range(self._n_batches):
            try:
                batch = reader.get_batch(number)
            except (pa.ArrowException, OSError) as error:
                raise SourceError(f"{self._path} cannot be read: {error}") from None
            for first in range(0, batch.num_rows, n_rows):
                yield batch.slice(first, n_rows)

    def close(self) -> None:
        """Files are open only while they are read."""


def check_arrow(path: Path) -> None:
    """SourceError if buffers of the file contradict its schema: pyarrow trusts them otherwise, and
    would read memory that is not the file's."""
    file = IpcFile(path)
    try:
        for batch in file.batches(1 << 62, file.schema.names):
            batch.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"{path} is damaged: {error}") from None


def _say_form(path: Path) -> str | None:
    """What to do about forms of Arrow that columns cannot be read from."""
    with path.open("rb") as file:
        start = file.read(4)
    if start == b"FEA1":
        return "it is Feather version 1; write it as version 2 (pyarrow.feather.write_feather)."
    if start == b"\xff\xff\xff\xff":
        return "it is a stream; write it in the file format (pyarrow.ipc.new_file)."
    return None
