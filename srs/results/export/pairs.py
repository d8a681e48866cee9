"""Pairs of features that matter together, as CSV or Parquet: one row per pair."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from srs.errors import InputError
from srs.results.export.tables import plain_text
from srs.results.export.write import refuse_existing
from srs.results.pair_table import pair_table
from srs.results.result import Result, load_result

FORMATS = ("csv", "parquet")


def write_pairs(
    run: Result | str | os.PathLike[str],
    to: str,
    path: str | os.PathLike[str] | None,
    *,
    in_place: bool = False,
) -> Path:
    """See `srs.export`; in_place: an AnnData file was named, which cannot take pairs."""
    if to not in FORMATS or in_place:
        raise InputError("pairs can be exported to csv or parquet only: use --to csv.")
    result = run if isinstance(run, Result) else load_result(run)
    rows = result.document["outcome"].get("pairs")
    if rows is None:
        raise InputError("the run did not look at pairs: there is nothing to export.")
    if path is None:
        if isinstance(run, Result):
            raise InputError("a result in memory has no folder: give a path for the export.")
        path = Path(run) / f"pairs.{to}"
    destination = Path(path)
    refuse_existing(destination)
    table = pair_table(rows)
    if to == "csv":
        _write_csv(table, destination)
    else:
        pq.write_table(table, destination)
    return destination


def _write_csv(table: pa.Table, path: Path) -> None:
    """Names that a spreadsheet would run as formulas get an apostrophe."""
    for at, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            texts = [plain_text(text) for text in table[at].to_pylist()]
            table = table.set_column(at, field, pa.array(texts, pa.string()))
    pyarrow.csv.write_csv(table, path)
