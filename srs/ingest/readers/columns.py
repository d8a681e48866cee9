"""One column of a table: its values as numbers, and whether the numbers are categories.

Serves DataFrames and Parquet files. Text files have their own rules
(`srs.ingest.formats.tables.text`), because there the type of a column must be guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from srs.errors import SourceError
from srs.ingest.encode.recategorise import refuse_many
from srs.store.layout import CATEGORICAL, NUMERIC, ORDINAL
from srs.targets.values import number_text

NUMBER_OBJECTS = ("boolean", "integer", "floating", "mixed-integer-float", "decimal", "empty")
TEXT_OBJECTS = ("string", "mixed-integer", "mixed")
SCALARS = (str, int, float, np.generic)


@dataclass(frozen=True)
class Column:
    """Values float64 (n_samples,) with NaN for missing, the kind, and the labels of categories."""

    values: np.ndarray
    kind: int
    labels: tuple[str, ...] = ()


def parse_column(series: pd.Series[Any], name: str) -> Column:
    """The feature that a column is; SourceError if it cannot be one."""
    dtype: Any = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _parse_categories(series, dtype.ordered is True, name)
    if types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype):
        return Column(series.to_numpy(np.float64, na_value=np.nan), NUMERIC)
    if types.is_object_dtype(dtype):
        inferred = types.infer_dtype(series, skipna=True)
        if inferred in NUMBER_OBJECTS:
            return _parse_objects(series)
        if inferred in TEXT_OBJECTS and all(isinstance(v, SCALARS) for v in series.dropna()):
            return _parse_text(series, name)
        dtype = inferred
    elif types.is_string_dtype(dtype):
        return _parse_text(series, name)
    raise SourceError(
        f"the column {name!r} has dtype {dtype}, which cannot be a feature: convert it to numbers "
        f"or text, or leave it out."
    )


def _parse_objects(series: pd.Series[Any]) -> Column:
    known = series.notna().to_numpy(bool)
    values = np.full(len(series), np.nan)
    values[known] = [float(value) for value in series[known]]
    return Column(values, NUMERIC)


def _parse_text(series: pd.Series[Any], name: str) -> Column:
    known = series.notna().to_numpy(bool)
    texts = [str(value) for value in series[known]]
    labels = sorted(set(texts))
    refuse_many(name, labels)
    number = {label: i for i, label in enumerate(labels)}
    values = np.full(len(series), np.nan)
    values[known] = [number[text] for text in texts]
    return Column(values, CATEGORICAL, tuple(labels))


def _parse_categories(series: pd.Series[Any], ordered: bool, name: str) -> Column:
    """Categories that occur: in their own order if they have one, else sorted."""
    used = series.cat.remove_unused_categories().cat
    numeric = types.is_numeric_dtype(used.categories.dtype)
    labels = [number_text(c) if numeric else str(c) for c in used.categories]
    refuse_many(name, labels)
    by = list(used.categories) if numeric else labels
    order = range(len(labels)) if ordered else sorted(range(len(labels)), key=by.__getitem__)
    number = np.full(len(labels) + 1, np.nan)  # the last is where -1, missing, looks
    number[list(order)] = np.arange(len(labels))
    kind = ORDINAL if ordered else CATEGORICAL
    return Column(number[used.codes.to_numpy()], kind, tuple(labels[i] for i in order))
