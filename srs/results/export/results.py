"""What a run says of its features, as a table for other programs: TSV, CSV, Parquet, and summary
statistics of variants."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from srs.errors import InputError
from srs.results.effect_tables import effect_table
from srs.results.export.summary_statistics import WRITERS
from srs.results.export.tables import plain_text
from srs.results.export.write import refuse_existing
from srs.results.pair_table import pair_table
from srs.results.result import Result, load_result

TABLES = ("features", "effects", "profiles", "pairs", "clusters", "voxels")
SEPARATORS = {"tsv": "\t", "csv": ","}
CRATE = "ro-crate"
FORMATS = (*SEPARATORS, "parquet", *WRITERS, CRATE)


def write_results(
    run: Result | str | os.PathLike[str],
    to: str,
    path: str | os.PathLike[str] | None,
    table: str = "features",
) -> Path:
    """See `srs.export`."""
    if to == CRATE:
        from srs.results.export.crate import write_crate

        return write_crate(run, path)  # type: ignore[arg-type]
    if table not in TABLES:
        raise InputError(f"there is no table {table!r}; there are {', '.join(TABLES)}.")
    if to not in FORMATS:
        raise InputError(f"results are not written as {to!r}, but as {', '.join(FORMATS)}.")
    if to in WRITERS and table != "features":
        raise InputError(f"{to} has a row per feature: leave the table out.")
    result = run if isinstance(run, Result) else load_result(run)
    suffix = "tsv" if to in WRITERS else to
    if path is None:
        if isinstance(run, Result):
            raise InputError("a result in memory has no folder: give a path for the export.")
        path = Path(run) / f"{to if to in WRITERS else table}.{suffix}"
    destination = Path(path)
    refuse_existing(destination)
    if to in WRITERS:
        WRITERS[to](result, destination)
        return destination
    found = _table(result, table)
    partial = destination.with_name(destination.name + ".partial")
    if to == "parquet":
        pq.write_table(found, partial)
    else:
        _write_text(_plain(found), partial, to)
    partial.replace(destination)
    return destination


def _table(result: Result, name: str) -> pa.Table:
    if name == "features":
        return result.table
    outcome = result.document["outcome"]
    if name == "pairs":
        rows = outcome.get("pairs")
        if rows is None:
            raise InputError("the run did not look at pairs: there is nothing to export.")
        return pair_table(rows)
    found = effect_table(outcome, name)
    if found is None and name in ("clusters", "voxels"):
        raise InputError(f"the features of this run are no voxels of images: it has no {name}.")
    if found is None:
        raise InputError(f"the run is of an earlier version and has no {name}: run it again.")
    return found


def _write_text(table: pa.Table, path: Path, to: str) -> None:
    """CSV with quotes around texts; TSV without, as its readers expect."""
    if to == "csv":
        pyarrow.csv.write_csv(table, path)
        return
    for at, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            plain = pc.replace_substring_regex(table[at], r"[\t\r\n]", " ")
            table = table.set_column(at, field.name, pc.replace_substring(plain, '"', "'"))
    options = pyarrow.csv.WriteOptions(
        include_header=False, delimiter=SEPARATORS[to], quoting_style="none"
    )
    with path.open("wb") as file:
        file.write("\t".join(table.column_names).encode() + b"\n")
        pyarrow.csv.write_csv(table, file, options)


def _plain(table: pa.Table) -> pa.Table:
    """Texts that a spreadsheet would run as formulas get an apostrophe; what holds more than one
    value becomes JSON."""
    for at, field in enumerate(table.schema):
        column = table[at]
        if pa.types.is_dictionary(field.type):
            column = column.cast(pa.string())
        if pa.types.is_string(column.type):
            column = pa.array([plain_text(text) for text in column.to_pylist()], pa.string())
        elif pa.types.is_nested(column.type):
            texts = [None if v is None else json.dumps(v) for v in column.to_pylist()]
            column = pa.array(texts, pa.string())
        else:
            continue
        table = table.set_column(at, field.name, column)
    return table
