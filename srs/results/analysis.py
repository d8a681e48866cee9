"""The shape that every analysis returns: one table, the settings it was made with, what to know."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from srs.errors import SettingsError
from srs.results.documents.explanation import AnalysisDocument

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("feature", "part", "value", "error", "null", "p_value", "q_value", "label")


@dataclass(frozen=True)
class AnalysisResult:
    """The result of one analysis. Its table has these columns first, then its own:

    feature  name of the feature
    part     what else the row is about: a context, a class, a target, a method; null if nothing
    value    the importance
    error    standard error of the value, null where there is none
    null     mean of the value under the null hypothesis; null if it is not known
    p_value  never 0; null if the analysis makes no test
    q_value  p_value corrected for all rows of the same part (Benjamini-Hochberg)
    label    a word for the row, such as "context-redundant"; null if none

    name      name of the analysis
    table     the table
    settings  settings that the analysis was made with
    notes     sentences that a reader should know
    """

    name: str
    table: pa.Table
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<AnalysisResult {self.name}: {self.table.num_rows} rows>"

    @property
    def frame(self) -> pd.DataFrame:
        """The table as a pandas data frame."""
        frame: pd.DataFrame = self.table.to_pandas()
        return frame

    def column(self, name: str, part: str | None = None) -> np.ndarray:
        """A column as an array; only the rows of one part if it is given."""
        values = self.table[name].to_numpy(zero_copy_only=False)
        if part is None:
            return np.asarray(values)
        return np.asarray(values[self.table["part"].to_numpy(zero_copy_only=False) == part])

    def to_json(self) -> AnalysisDocument:
        """The analysis as JSON values; the table by rows."""
        rows: Any = [{k: _plain(v) for k, v in row.items()} for row in self.table.to_pylist()]
        return {
            "name": self.name,
            "settings": dict(self.settings),
            "notes": list(self.notes),
            "rows": rows,
        }


def make_table(
    names: Sequence[str],
    value: np.ndarray,
    *,
    part: Sequence[str] | None = None,
    error: np.ndarray | None = None,
    null: np.ndarray | None = None,
    p_value: np.ndarray | None = None,
    q_value: np.ndarray | None = None,
    label: Sequence[str | None] | None = None,
    **own: Any,
) -> pa.Table:
    """A table of the common columns and an analysis' own; numbers that are not finite are null."""

    def numbers(values: np.ndarray | None) -> pa.Array:
        if values is None:
            return pa.nulls(len(names), pa.float64())
        array = np.asarray(values, np.float64)
        return pa.array(array, mask=~np.isfinite(array))

    columns: dict[str, Any] = {
        "feature": pa.array(list(names), pa.string()),
        "part": pa.array([None] * len(names) if part is None else list(part), pa.string()),
        "value": numbers(value),
        "error": numbers(error),
        "null": numbers(null),
        "p_value": numbers(p_value),
        "q_value": numbers(q_value),
        "label": pa.array([None] * len(names) if label is None else list(label), pa.string()),
    }
    for name, values in own.items():
        array = np.asarray(values)
        columns[name] = numbers(array) if array.dtype.kind == "f" else pa.array(array)
    return pa.table(columns)


def check_counts(*, seed: Any = 0, **counts: Any) -> None:
    """Refuse counts that are not whole numbers from 1 on, and seeds below 0; None is no count."""
    for name, value in {"seed": seed, **counts}.items():
        least = 0 if name == "seed" else 1
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise SettingsError(f"{name} must be a whole number, not {value!r}.")
        if value < least:
            raise SettingsError(f"{name} must be at least {least}, not {value}.")


def correct(p_values: np.ndarray) -> np.ndarray:
    """Benjamini-Hochberg q-values.

    >>> import numpy as np
    >>> correct(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    p = np.asarray(p_values, np.float64)
    order = np.argsort(-p, kind="stable")
    ranks = np.arange(len(p), 0, -1)
    corrected = np.empty(len(p))
    corrected[order] = np.minimum.accumulate(np.minimum(p[order] * len(p) / ranks, 1.0))
    return corrected


def rank_p_values(observed: np.ndarray, null: np.ndarray) -> np.ndarray:
    """(1 + how many of the null are at least the observed) / (1 + size of the null), by column.

    observed  (...); null  (n_null, ...): drawn under the null hypothesis
    """
    reached = (null >= observed[None] - 1e-12 * np.abs(observed[None])).sum(axis=0)
    return np.asarray((reached + 1.0) / (len(null) + 1.0))


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
