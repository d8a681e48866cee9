"""What kinds of target ask of values that a user gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from srs.errors import SourceError

if TYPE_CHECKING:
    import pandas as pd


def number_text(value: float) -> str:
    """The label of a number that is a category: whole numbers without a point.

    >>> number_text(2.0), number_text(0.5)
    ('2', '0.5')
    """
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def is_number(series: pd.Series[Any]) -> bool:
    """Whether values are numbers; booleans are none."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return is_numeric_dtype(series.dtype) and not is_bool_dtype(series.dtype)


def is_ordered(series: pd.Series[Any]) -> bool:
    """Whether values are an ordered categorical; one of two levels is two classes."""
    levels = getattr(series.dtype, "categories", None)
    ordered = bool(getattr(series.dtype, "ordered", False))
    return ordered and levels is not None and len(levels) > 2


def as_numbers(name: str, series: pd.Series[Any]) -> np.ndarray:
    """Values as numbers; a SourceError if they are text."""
    try:
        return np.ascontiguousarray(series.to_numpy(np.float64))
    except (ValueError, TypeError):
        raise SourceError(f"the target {name!r} is not numeric: use target_kind='classes'.") from (
            None
        )
