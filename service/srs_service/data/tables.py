"""Tables of results as JSON pages, CSV or Parquet; runs in child processes only.

A table of ten million features is sorted and written in the memory of a child, which gives it
back. Texts that a spreadsheet would take for formulas are written with an apostrophe before them.
"""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from srs_service.errors import Invalid

FORMULA = "^[-=+@\t\r\n]"  # what it starts with
ROWS_AT_ONCE = 50_000


def read_table(order: Mapping[str, Any]) -> dict[str, Any]:
    """Filter, sort and cut a table; JSON rows are returned, other forms are written to `out`."""
    if order["form"] == "csv" and not order["sort"] and order["limit"] is None:
        return {"n_total": _stream_csv(order)}
    table = _filter(pq.read_table(order["path"]), order)
    if order["sort"]:
        table = _sort(table, order["sort"])
    n_total = table.num_rows
    if order["limit"] is not None:
        table = table.slice(order["offset"], order["limit"])
    if order["form"] == "json":
        return {"n_total": n_total, "items": [_finite(row) for row in table.to_pylist()]}
    if order["form"] == "csv":
        write_csv(table.schema, table.to_batches(ROWS_AT_ONCE), order["out"], order["encoding"])
    else:
        pq.write_table(table, order["out"])
    return {"n_total": n_total}


def _filter(table: pa.Table, order: Mapping[str, Any]) -> pa.Table:
    if order["verdict"]:
        table = table.filter(pc.is_in(table["verdict"], pa.array(order["verdict"])))
    if order["search"]:
        matches = (
            pc.match_substring(table[column], order["search"], ignore_case=True)
            for column in order["search_in"]
        )
        table = table.filter(reduce(pc.or_, matches))
    return table


def _stream_csv(order: Mapping[str, Any]) -> int:
    """Write a table that is not sorted a part at a time; the number of its rows."""
    n_total = 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal n_total
        with pq.ParquetFile(order["path"]) as file:
            for batch in file.iter_batches(ROWS_AT_ONCE):
                table = _filter(pa.Table.from_batches([batch]), order)
                n_total += table.num_rows
                yield from table.to_batches()

    write_csv(pq.read_schema(order["path"]), batches(), order["out"], order["encoding"])
    return n_total


def _sort(table: pa.Table, sort: str) -> pa.Table:
    """By a column, "-" before it for descending; ties in the order of the table."""
    name = sort.removeprefix("-")
    if name not in table.column_names:  # results of earlier versions have fewer columns
        raise Invalid(f"the table of this job has no column {name}.")
    order = "descending" if sort.startswith("-") else "ascending"
    numbered = table.append_column("__row", pa.array(range(table.num_rows)))
    keys = [(name, order), ("__row", "ascending")]
    return table.take(pc.sort_indices(numbered, sort_keys=keys))


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }


def write_csv(
    schema: pa.Schema, batches: Iterable[pa.RecordBatch], path: str, encoding: str | None
) -> None:
    """Write a CSV file, compressed or not; texts are quoted, and no cell is a formula."""
    names = [defuse(name) for name in schema.names]
    fields = [pa.field(name, _plain(f.type)) for name, f in zip(names, schema, strict=True)]
    with _opened(path, encoding) as out, pa_csv.CSVWriter(out, pa.schema(fields)) as writer:
        for batch in batches:
            columns = [_defuse_column(column) for column in batch.columns]
            writer.write_batch(pa.record_batch(columns, names))


@contextmanager
def _opened(path: str, encoding: str | None) -> Iterator[Any]:
    if encoding == "gzip":
        # The lowest level: most of what can be won, in a quarter of the time.
        with gzip.open(path, "wb", compresslevel=1) as out:
            yield out
    elif encoding == "zstd":
        with pa.OSFile(path, "wb") as file, pa.CompressedOutputStream(file, "zstd") as out:
            yield out
    else:
        with pa.OSFile(path, "wb") as out:
            yield out


def _plain(kind: pa.DataType) -> pa.DataType:
    """What a column is written as: numbers and truths as they are, all else as text."""
    as_it_is = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return kind if as_it_is else pa.string()


def _defuse_column(column: pa.Array) -> pa.Array:
    if _plain(column.type) == column.type and not pa.types.is_string(column.type):
        return column
    if pa.types.is_nested(column.type):
        told = [None if value is None else json.dumps(value) for value in column.to_pylist()]
        return pa.array(told, pa.string())
    texts = column.cast(pa.string())
    marked = pc.binary_join_element_wise("'", texts, "")
    return pc.if_else(pc.match_substring_regex(texts, FORMULA), marked, texts)


def defuse(text: str) -> str:
    """A name that no spreadsheet runs.

    >>> defuse("=1+1"), defuse("age")
    ("'=1+1", 'age')
    """
    return f"'{text}" if re.match(FORMULA, text) else text
