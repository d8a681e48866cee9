"""Tables that pyarrow reads by columns: Parquet files, folders of them, Arrow and Feather files.

One face for all: a schema, a number of rows, some columns of all rows, batches of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from srs.errors import SourceError


class ColumnFile(Protocol):
    """What a table of columns can do; errors are SourceErrors."""

    schema: pa.Schema
    n_rows: int

    def read(self, names: Sequence[str]) -> pa.Table:
        """Some columns, all rows."""

    def batches(self, n_rows: int, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Rows in order, at most so many at a time."""

    def close(self) -> None: ...


class ParquetFiles:
    """One Parquet file, or the files of a folder in the order of their names."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files: list[Any] = []
        try:
            for path in paths:
                self._files.append((path, _open_parquet(path)))
        except SourceError:
            self.close()
            raise
        first_path, first = self._files[0]
        self.schema = first.schema_arrow
        for path, file in self._files[1:]:
            if not file.schema_arrow.equals(self.schema):
                self.close()
                raise SourceError(f"{path} has other columns than {first_path}.")
        self.n_rows = sum(file.metadata.num_rows for _, file in self._files)

    def read(self, names: Sequence[str]) -> pa.Table:
        parts = []
        for path, file in self._files:
            try:
                parts.append(file.read(columns=list(names), use_pandas_metadata=False))
            except (pa.ArrowException, OSError) as error:
                raise SourceError(f"{path} cannot be read: {error}") from None
        return pa.concat_tables(parts)

    def batches(self, n_rows: int, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for path, file in self._files:
            try:
                yield from file.iter_batches(n_rows, columns=list(names))
            except (pa.ArrowException, OSError) as error:
                raise SourceError(f"{path} cannot be read: {error}") from None

    def close(self) -> None:
        for _, file in self._files:
            file.close()


def _open_parquet(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise SourceError(f"{path} cannot be read as Parquet: {error}") from None


class IpcFile:
    """An Arrow file, which Feather files are; columns are read without the others."""

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


def _say_form(path: Path) -> str | None:
    """What to do about forms of Arrow that columns cannot be read from."""
    with path.open("rb") as file:
        start = file.read(4)
    if start == b"FEA1":
        return "it is Feather version 1; write it as version 2 (pyarrow.feather.write_feather)."
    if start == b"\xff\xff\xff\xff":
        return "it is a stream; write it in the file format (pyarrow.ipc.new_file)."
    return None
