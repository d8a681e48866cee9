"""A table of the samples beside the source: their ids, and columns to be targets or covariates."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from srs.errors import SourceError
from srs.ingest.columns import parse_column
from srs.ingest.fields import parse_texts
from srs.ingest.lines import ID_HEADERS, read_layout, read_lines, split_fields
from srs.store.layout import NUMERIC

ID_COLUMNS = ID_HEADERS | {"iid", "#iid", "barcode", "cell_id", "subject", "subject_id"}


@dataclass(frozen=True)
class SampleTable:
    """Rows by sample id.

    where    what messages call it
    ids      one a row
    columns  values of the other columns
    record   path and mark of the file; empty for a DataFrame
    """

    where: str
    ids: tuple[str, ...]
    columns: Mapping[str, pd.Series[Any]]
    record: Mapping[str, Any]

    def rows_of(self, sample_ids: Sequence[str]) -> np.ndarray:
        """The row of each sample; -1 where it has none."""
        at = {one: row for row, one in enumerate(self.ids)}
        return np.array([at.get(one, -1) for one in sample_ids], np.int64)

    def column(self, name: str) -> pd.Series[Any]:
        if name not in self.columns:
            some = ", ".join(list(self.columns)[:12]) or "none"
            raise SourceError(f"{self.where} has no column {name!r}; it has {some}.")
        return self.columns[name]

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


def read_table(given: Any) -> SampleTable:
    """A table from a DataFrame (its index are the ids) or a .csv, .tsv, .txt or .parquet file."""
    if isinstance(given, pd.DataFrame):
        return _make("the table", [str(i) for i in given.index], given, {})
    path = Path(os.fspath(given))
    if not path.is_file():
        raise SourceError(f"the table {path} does not exist.")
    stat = path.stat()
    record = {"path": str(path.resolve()), "size": stat.st_size, "mtime_ns": stat.st_mtime_ns}
    frame = _read_parquet(path) if path.suffix.lower() == ".parquet" else _read_text(path)
    named = [str(c) for c in frame.columns if str(c).lower() in ID_COLUMNS]
    by = named[0] if named else frame.columns[0]
    ids = [str(one).strip() for one in frame[by]]
    return _make(str(path), ids, frame.drop(columns=[by]), record)


def _make(
    where: str, ids: Sequence[str], frame: pd.DataFrame, record: Mapping[str, Any]
) -> SampleTable:
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            raise SourceError(f"{where} has more than one row for the sample {one!r}.")
        seen.add(one)
    columns = {str(name): frame[name].reset_index(drop=True) for name in frame.columns}
    return SampleTable(where, tuple(ids), columns, record)


def _read_text(path: Path) -> pd.DataFrame:
    layout = read_layout(path)
    if layout.header is None:
        raise SourceError(f"the table {path} has no header: name its columns in the first line.")
    rows = []
    for number, line in read_lines(path, skip=1):
        fields = [f.strip() for f in split_fields(line, layout.delimiter)]
        if len(fields) != layout.n_columns:
            raise SourceError(
                f"{path}, line {number}: {len(fields)} fields instead of {layout.n_columns}."
            )
        rows.append(fields)
    if len(set(layout.header)) != len(layout.header):
        raise SourceError(f"the table {path} has columns of equal names.")
    named = [h for h in layout.header if h.lower() in ID_COLUMNS] or [layout.header[0]]
    columns = {}
    for at, name in enumerate(layout.header):
        texts = [row[at] for row in rows]
        values = texts if name == named[0] else parse_texts(texts, layout.delimiter)
        columns[name] = pd.Series(values)
    return pd.DataFrame(columns)


def _read_parquet(path: Path) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        frame: pd.DataFrame = pq.read_table(path).to_pandas()
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"the table {path} cannot be read: {error}") from None
    counted = isinstance(frame.index, pd.RangeIndex)
    return frame if counted else frame.reset_index(names="id")
