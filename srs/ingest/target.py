"""Parse targets: from arrays, lists, files or columns to class codes or numbers.

The rule where the user does not say: text, booleans and categories are classes; whole numbers
with at most 30 distinct values are classes; other numbers are regression.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from srs.errors import SourceError
from srs.ingest.fields import parse_texts
from srs.store.layout import Target

MAX_NUMBER_CLASSES = 30
TASKS = ("classification", "regression")
FILE_SUFFIXES = (".npy", ".csv", ".tsv", ".txt")


def number_text(value: float) -> str:
    """The label of a number that is a category: whole numbers without a point.

    >>> number_text(2.0), number_text(0.5)
    ('2', '0.5')
    """
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def is_target_file(target: str) -> bool:
    """Whether a text names a file that a target can be read from."""
    return Path(target).suffix.lower() in FILE_SUFFIXES and Path(target).is_file()


def read_target_file(path: Path, n_samples: int) -> np.ndarray:
    """A `.npy` vector, or a text file of one column with or without a header."""
    if path.suffix.lower() == ".npy":
        try:
            return np.asarray(np.load(path, allow_pickle=False))
        except (ValueError, OSError) as error:
            raise SourceError(f"the target {path} cannot be read: {error}") from None
    delimiter = "\t" if path.suffix == ".tsv" else ","
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.reader(file, delimiter=delimiter))
    except UnicodeDecodeError:
        raise SourceError(f"the target {path} is not text in UTF-8: save it as UTF-8.") from None
    while rows and not "".join(rows[-1]).strip():
        rows.pop()
    for number, row in enumerate(rows, 1):
        if len(row) > 1:
            raise SourceError(
                f"the target {path} must have one column; line {number} has {len(row)}."
            )
    texts = [row[0] if row else "" for row in rows]
    return parse_texts(texts[1:] if len(texts) == n_samples + 1 else texts, delimiter)


def parse_target(
    name: str, given: Any, n_samples: int, task: str | None, learned: bool = True
) -> Target:
    """A checked Target; SourceError says what is wrong with it and in which row.

    learned  whether it must be something to learn; else all samples may be equal, or all differ
    """
    _check_name(name)
    if task is not None and task not in TASKS:
        raise SourceError(f"the task of target {name!r} is {task!r}; it must be one of {TASKS}.")
    series = _as_series(name, given)
    if len(series) != n_samples:
        raise SourceError(
            f"the target {name!r} has {len(series)} values and the source has {n_samples} samples."
        )
    _refuse_missing(name, series)
    if task is None:
        task = _choose_task(series)
    parsed = _classes(name, series) if task == "classification" else _numbers(name, series)
    if learned:
        _refuse_useless(parsed)
    return parsed


def _check_name(name: str) -> None:
    if not name or name in (".", "..") or name.startswith("__") or set(name) & set("/\\"):
        raise SourceError(
            f"{name!r} cannot name a target: give it another name with target={{'name': ...}}."
        )


def _as_series(name: str, given: Any) -> pd.Series[Any]:
    if isinstance(given, pd.Series):
        return _as_numbers(given.reset_index(drop=True))
    array = given if isinstance(given, pd.Categorical) else np.asarray(given)
    if array.ndim == 2 and 1 in array.shape:
        array = array.reshape(-1)
    if array.ndim != 1:
        raise SourceError(f"the target {name!r} has shape {array.shape}; it must be one vector.")
    if isinstance(array, np.ndarray) and array.dtype.kind not in "biufOUST":
        raise SourceError(f"the target {name!r} has dtype {array.dtype}: give numbers or text.")
    return _as_numbers(pd.Series(array).infer_objects())


def _as_numbers(series: pd.Series[Any]) -> pd.Series[Any]:
    """The same values, decimal numbers as floats."""
    if pd.api.types.infer_dtype(series, skipna=True) != "decimal":
        return series
    return series.map(float, na_action="ignore").astype(np.float64)


def _refuse_missing(name: str, series: pd.Series[Any]) -> None:
    bad = series.isna().to_numpy(bool)
    what = "missing"
    if not bad.any() and _is_number(series):
        bad = np.isinf(series.to_numpy(np.float64))
        what = "infinite"
    if bad.any():
        raise SourceError(
            f"the target {name!r} is {what} in {int(bad.sum())} samples, the first is row "
            f"{int(bad.argmax())} (from 0): remove these samples from source and target."
        )


def _is_number(series: pd.Series[Any]) -> bool:
    dtype = series.dtype
    return pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)


def _choose_task(series: pd.Series[Any]) -> str:
    if not _is_number(series):
        return "classification"
    values = series.to_numpy(np.float64)
    whole = bool((values == np.floor(values)).all())
    few = len(np.unique(values)) <= MAX_NUMBER_CLASSES
    return "classification" if whole and few else "regression"


def _classes(name: str, series: pd.Series[Any]) -> Target:
    if _is_number(series):
        numbers, codes = np.unique(series.to_numpy(np.float64), return_inverse=True)
        labels = tuple(number_text(v) for v in numbers.tolist())
    else:
        texts, codes = np.unique(series.astype(str).to_numpy(object).astype(str),
                                 return_inverse=True)  # fmt: skip
        labels = tuple(texts.tolist())
    return Target(name, "classification", codes.astype(np.int32), labels)


def _numbers(name: str, series: pd.Series[Any]) -> Target:
    try:
        values = series.to_numpy(np.float64)
    except (ValueError, TypeError):
        raise SourceError(
            f"the target {name!r} is not numeric and cannot be regressed: use "
            f"task='classification'."
        ) from None
    return Target(name, "regression", np.ascontiguousarray(values), ())


def _refuse_useless(target: Target) -> None:
    """SourceError if all samples are equal, or each is a class of its own."""
    name, labels, values = target.name, target.labels, target.values
    if len(labels) == 1:
        raise SourceError(
            f"the target {name!r} has one class only ({labels[0]!r}): there is nothing to learn."
        )
    if len(labels) == len(values) and len(labels) > 2:
        raise SourceError(
            f"the target {name!r} has {len(labels)} classes for {len(values)} samples, so it looks "
            f"like ids: give another target, or task='regression' if it is a number."
        )
    if not labels and values.min() == values.max():
        raise SourceError(
            f"the target {name!r} is constant ({number_text(values[0])}): there is nothing to "
            f"learn."
        )


def split_targets(target: Any) -> Mapping[str | None, Any]:
    """One target or several as a mapping; the name None stands for one that has none yet."""
    if target is None:
        return {}
    if isinstance(target, Mapping):
        return {str(name): given for name, given in target.items()}
    return {None: target}
