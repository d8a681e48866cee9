"""A table of the samples beside the source: their ids, and columns to be targets or covariates."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from srs.errors import SourceError
from srs.ingest.formats.format import Format
from srs.ingest.readers.columns import parse_column
from srs.ingest.readers.fields import parse_texts
from srs.ingest.readers.lines import read_data, read_layout, split_fields
from srs.ingest.tables.ids import FrameIds, find_named
from srs.store.layout import NUMERIC


@dataclass(frozen=True)
class SampleTable:
    """Rows by sample id.

    where    what messages call it
    keys     ids by the column that holds them, "" for an index: the columns that may be joined by
    columns  values of all columns
    record   path and mark of the file; empty for a DataFrame
    missing  texts of values that stand for missing ones
    """

    where: str
    keys: Mapping[str, Sequence[str]]
    columns: Mapping[str, pd.Series[Any]]
    record: Mapping[str, Any]
    missing: tuple[str, ...] = ()

    def choose_key(self, sample_ids: Sequence[str]) -> str:
        """The column that has most of the samples."""
        wanted = set(sample_ids)
        return max(self.keys, key=lambda name: len(wanted.intersection(self.keys[name])))

    def rows_of(self, sample_ids: Sequence[str]) -> np.ndarray:
        """The row of each sample; -1 where it has none."""
        at: dict[str, int] = {}
        for row, one in enumerate(self.keys[self.choose_key(sample_ids)]):
            if one in at:
                raise SourceError(f"{self.where} has more than one row for the sample {one!r}.")
            at[one] = row
        return np.array([at.get(one, -1) for one in sample_ids], np.int64)

    def column(self, name: str) -> pd.Series[Any]:
        if name not in self.columns:
            some = ", ".join(list(self.columns)[:12]) or "none"
            raise SourceError(f"{self.where} has no column {name!r}; it has {some}.")
        return (
            self.columns[name].mask(self._is_marked(name)) if self.missing else self.columns[name]
        )

    def _is_marked(self, name: str) -> pd.Series[bool]:
        return self.columns[name].astype(str).isin(self.missing)

    def with_missing(self, source: Format, used: Sequence[str]) -> tuple[SampleTable, list[str]]:
        """The same table with what programs of the source's format write for missing values, e.g.
        -9 of PLINK, and notices of columns used."""
        if not source.missing:
            return self, []
        table = replace(self, missing=source.missing)
        marked = [name for name in used if name in self.columns and table._is_marked(name).any()]
        program = source.title.split()[0]
        notices = [
            f"{source.missing[0]} in the column {name!r} of {self.where} is read as missing, as "
            f"{program} does."
            for name in marked
        ]
        return table, notices

    def feature(self, name: str, rows: np.ndarray) -> tuple[np.ndarray, int, tuple[str, ...]]:
        """Values, kind and labels of a covariate for samples with these rows."""
        parsed = parse_column(self.column(name), name)
        values = parsed.values[rows]
        values[rows < 0] = np.nan
        if parsed.kind == NUMERIC:
            return values, parsed.kind, ()
        used = np.unique(values[~np.isnan(values)]).astype(np.int64)
        number = np.full(len(parsed.labels), np.nan)
        number[used] = np.arange(len(used))
        known = ~np.isnan(values)
        values[known] = number[values[known].astype(np.int64)]
        return values, parsed.kind, tuple(parsed.labels[i] for i in used)


def read_table(given: Any, id_column: str | None = None) -> SampleTable:
    """A table from a DataFrame or a .csv, .tsv, .txt or .parquet file.

    id_column  the column that holds the ids, if the table has it; else it is found by its name
    """
    if isinstance(given, pd.DataFrame):
        return _make("the table", given, given, {}, id_column)
    path = Path(os.fspath(given))
    if not path.is_file():
        raise SourceError(f"the table {path} does not exist.")
    stat = path.stat()
    record = {"path": str(path.resolve()), "size": stat.st_size, "mtime_ns": stat.st_mtime_ns}
    if path.suffix.lower() == ".parquet":
        frame = _read_parquet(path)
        return _make(str(path), frame, frame, record, id_column)
    return _make(str(path), *_read_text(path), record, id_column)


def _make(
    where: str,
    texts: pd.DataFrame,
    frame: pd.DataFrame,
    record: Mapping[str, Any],
    id_column: str | None,
) -> SampleTable:
    """A table of a frame; ids are taken from its twin `texts`, where they are as written."""
    columns = {str(name): frame[name].reset_index(drop=True) for name in frame.columns}
    return SampleTable(where, _find_keys(texts, bool(record), id_column), columns, record)


def _find_keys(frame: pd.DataFrame, is_file: bool, id_column: str | None) -> dict[str, list[str]]:
    """Columns that may hold the ids: named ones that differ in all rows, else what there is."""
    ids = FrameIds(frame)
    names = [str(name) for name in frame.columns]
    rows = ids.index if ids.index is not None or is_file else FrameIds.INDEX
    places = {name: place for place, name in enumerate(names)}
    named = [place for place in find_named(names) if place != rows]
    likely = named
    if rows is not None:
        places.setdefault(ids.name(rows), rows)
        likely = named if ids.counted else [rows, *named]
    if id_column in places:
        chosen = [places[id_column]]
    else:
        chosen = [place for place in likely if len(set(ids.read(place))) == len(frame)]
        chosen = chosen or [*named, 0 if rows is None else rows]
    return {ids.name(place): ids.read(place) for place in chosen}


def _read_text(path: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The fields as text, and as what they are."""
    layout = read_layout(path)
    if layout.header is None:
        raise SourceError(f"the table {path} has no header: name its columns in the first line.")
    rows = []
    for number, line in read_data(path, layout):
        fields = [f.strip() for f in split_fields(line, layout.delimiter)]
        if len(fields) != layout.n_columns:
            raise SourceError(
                f"{path}, line {number}: {len(fields)} fields instead of {layout.n_columns}."
            )
        rows.append(fields)
    if len(set(layout.header)) != len(layout.header):
        raise SourceError(f"the table {path} has several columns with the same name.")
    texts = {name: [row[at] for row in rows] for at, name in enumerate(layout.header)}
    parsed = {name: parse_texts(column, layout.delimiter) for name, column in texts.items()}
    return pd.DataFrame(texts, dtype=object), pd.DataFrame(parsed)


def _read_parquet(path: Path) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        frame: pd.DataFrame = pq.read_table(path).to_pandas()
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"the table {path} cannot be read: {error}") from None
    return frame
