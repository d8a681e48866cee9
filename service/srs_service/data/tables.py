"""Tables of results as JSON pages, CSV or Parquet; runs in child processes only.

A table of ten million features is sorted and written in the memory of a child, which gives it
back. Texts that a spreadsheet would take for formulas are written with an apostrophe before them.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from srs_service.errors import Invalid

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
ROWS_AT_ONCE = 50_000


def read_table(order: Mapping[str, Any]) -> dict[str, Any]:
    """Filter, sort and cut a table; JSON rows are returned, other forms are written to `out`."""
    table: pa.Table = pq.read_table(order["path"])
    if order["verdict"]:
        table = table.filter(pc.is_in(table["verdict"], pa.array(order["verdict"])))
    if order["search"]:
        matches = (
            pc.match_substring(table[column], order["search"], ignore_case=True)
            for column in order["search_in"]
        )
        table = table.filter(reduce(pc.or_, matches))
    if order["sort"]:
        table = _sort(table, order["sort"])
    n_total = table.num_rows
    if order["limit"] is not None:
        table = table.slice(order["offset"], order["limit"])
    if order["form"] == "json":
        return {"n_total": n_total, "items": [_finite(row) for row in table.to_pylist()]}
    if order["form"] == "csv":
        write_csv(table, Path(order["out"]))
    else:
        pq.write_table(table, order["out"])
    return {"n_total": n_total}


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


def write_csv(table: pa.Table, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([defuse(name) for name in table.column_names])
        for batch in table.to_batches(ROWS_AT_ONCE):
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                writer.writerow([defuse(value) for value in row])


def defuse(value: Any) -> Any:
    """A cell that no spreadsheet runs.

    >>> defuse("=1+1"), defuse("age"), defuse(-1.5), defuse(None)
    ("'=1+1", 'age', -1.5, '')
    """
    if isinstance(value, (dict, list)):
        return json.dumps(value)
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA_STARTS) else value
    return "" if value is None else value
