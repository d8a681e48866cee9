"""CSV and Parquet: a row a sample, its id, the targets, then the selected features."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from srs.errors import InputError
from srs.results.export.selected import Selected
from srs.targets.columns import target_columns

FORMULA_STARTS = tuple("=+-@\t\r")


def write_parquet(selected: Selected, path: Path) -> None:
    table = _table(selected)
    if len(set(table.column_names)) != len(table.column_names):
        raise InputError("some names occur twice, which Parquet does not allow: export to csv.")
    pq.write_table(table, path)


def write_csv(selected: Selected, path: Path) -> None:
    """Texts that a spreadsheet would run as formulas get an apostrophe."""
    table = _table(selected)
    columns = []
    for column in table.columns:
        if pa.types.is_dictionary(column.type):
            column = column.cast(pa.string())
        if pa.types.is_string(column.type):
            column = pa.array([plain_text(text) for text in column.to_pylist()])
        columns.append(column)
    names = [plain_text(name) for name in table.column_names]
    pyarrow.csv.write_csv(pa.Table.from_arrays(columns, names), path)


def plain_text(text: str | None) -> str | None:
    """The same text, which no spreadsheet takes for a formula.

    >>> plain_text("=2+3"), plain_text("rs1")
    ("'=2+3", 'rs1')
    """
    if text is None or not text.startswith(FORMULA_STARTS):
        return text
    return f"'{text}"


def _table(selected: Selected) -> pa.Table:
    store = selected.store
    arrays, names = [pa.array(store.sample_ids)], ["sample_id"]
    for name in store.target_names:
        target = store.target(name)
        for column_name, values in target_columns(target).items():
            labels = target.labels
            arrays.append(_categories(values, labels) if labels else pa.array(values))
            names.append(column_name)
    for column, name in enumerate(selected.names):
        values = selected.values[:, column]
        labels = selected.labels(column)
        arrays.append(_categories(values, labels) if labels else _numbers(values))
        names.append(name)
    return pa.Table.from_arrays(arrays, names)


def _categories(values: np.ndarray, labels: Sequence[str]) -> pa.Array:
    missing = np.isnan(values) if values.dtype.kind == "f" else values < 0
    codes = np.where(missing, 0, values).astype(np.int32)
    return pa.DictionaryArray.from_arrays(
        pa.array(codes, mask=missing), pa.array(labels, pa.string())
    )


def _numbers(values: np.ndarray) -> pa.Array:
    """As narrow as holds them exactly, so that text does not show digits that were never there."""
    missing = np.isnan(values)
    known = values[~missing]
    for dtype in (np.int8, np.int32, np.float32):
        with np.errstate(all="ignore"):
            narrow = known.astype(dtype)
        if (narrow == known).all():
            filled = np.where(missing, 0, values).astype(dtype)
            return pa.array(filled, mask=missing)
    return pa.array(values, mask=missing)
