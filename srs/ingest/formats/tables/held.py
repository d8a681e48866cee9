"""Tables of Arrow in memory as sources: `pyarrow.Table`, and data frames of polars.

Both are read through Arrow's own interface, column by column and without a copy of the whole, as
Parquet files are. Frames of pandas have their own reader (`frames`): their index is known to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from srs.ingest.block import Source, Wanted
from srs.ingest.formats.arrays.in_memory import check_shape
from srs.ingest.formats.format import OBJECT, Format
from srs.ingest.formats.tables.parquet import ParquetRows, ParquetTable

WHERE = Path("the data frame")  # in messages


class HeldColumns:
    """A table of Arrow that is in memory."""

    fixed_mem = 0

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self.schema = table.schema
        self.n_rows = table.num_rows

    def read(self, names: Sequence[str]) -> pa.Table:
        return plain_texts(self._table.select(list(names)))

    def batches(self, n_rows: int, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from plain_texts(self._table.select(list(names))).to_batches(max_chunksize=n_rows)

    def close(self) -> None:
        """Nothing to release."""


def plain_texts(table: pa.Table) -> pa.Table:
    """Views of texts, which polars hands out, as texts that all of pyarrow can read."""
    fields = [
        field.with_type(pa.large_string()) if pa.types.is_string_view(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def open_table(given: Any, wanted: Wanted) -> Source:
    """A table of Arrow, or what hands one out."""
    table = given if isinstance(given, pa.Table) else pa.table(given)
    check_shape((table.num_rows, table.num_columns), str(WHERE))
    record = {"kind": "arrow table", "orientation": wanted.orientation}
    columns = HeldColumns(table)
    if wanted.orientation == "features":
        return ParquetRows(columns, WHERE, record)
    return ParquetTable(columns, WHERE, wanted, record)


ARROW_TABLE_FORMAT = Format(
    name="arrow-table",
    title="a polars DataFrame or Arrow table",
    help="a table with column names; text becomes categories",
    open=open_table,
    kinds=(OBJECT,),
    types=("polars.DataFrame", "pyarrow.Table"),
    options=("orientation",),
)
