"""Parse targets: from arrays, lists, files or columns to class codes or numbers.

What the values become is for the kind of target to say; which kind it is where the user does not
say, for `srs.targets.registry`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from srs.errors import SourceError
from srs.targets.ordinal import order_levels
from srs.targets.registry import target_kinds
from srs.targets.target import Target
from srs.targets.values import is_number


def parse_target(
    name: str,
    given: Any,
    n_samples: int,
    target_kind: str | None,
    learned: bool = True,
    *,
    beside: Mapping[str, Any] | None = None,
    levels: Sequence[str] | None = None,
    may_miss: bool = False,
) -> Target:
    """A checked Target; SourceError says what is wrong with it and in which row.

    given     values; a structured array of a truth value and a number, as scikit-survival has it,
              is a time to event
    learned   whether it must be something to learn; else all samples may be equal, or all differ
    beside    further columns of the target by what they are, e.g. event
    levels    of ordered classes, from low to high
    may_miss  whether some samples may have no value
    """
    _check_name(name)
    check_kinds({name: target_kind} if target_kind is not None else None)
    kinds = target_kinds()
    given, further = _split_structured(name, given)
    further |= dict(beside or {})
    target_kind = _kind_of(name, target_kind, further, levels)
    series = _as_series(name, given)
    if levels is not None:
        series = order_levels(name, series, levels)
    if len(series) != n_samples:
        raise SourceError(
            f"the target {name!r} has {len(series)} values and the source has {n_samples} samples."
        )
    columns = {what: _as_series(f"{name} ({what})", one) for what, one in further.items()}
    parts = (series, *columns.values())
    known = np.logical_and.reduce([one.notna().to_numpy(bool) for one in parts])
    if may_miss and known.any() and not known.all():
        some, *others = (one[known].reset_index(drop=True).infer_objects() for one in parts)
        rest = dict(zip(columns, others, strict=True))
        parsed = parse_target(
            name, some, len(some), target_kind, learned, beside=rest, levels=levels
        )
        return _spread(parsed, known)
    _refuse_missing(name, series)
    if target_kind is None:
        target_kind = next(kind.name for kind in kinds.values() if kind.fits(series))
    parsed = kinds[target_kind].parse(name, _with_further(name, series, further))
    if learned:
        kinds[target_kind].check(parsed)
    return parsed


def _spread(target: Target, known: np.ndarray) -> Target:
    """A target of the samples that have a value, for all."""
    values = target.values
    missing = -1 if target.has_classes else np.nan
    whole = np.full((len(known), *values.shape[1:]), missing, values.dtype)
    whole[known] = values
    return replace(target, values=whole)


def _split_structured(name: str, given: Any) -> tuple[Any, dict[str, Any]]:
    """Times and events of a structured array; anything else as it is."""
    dtype: Any = getattr(given, "dtype", None)
    fields = getattr(dtype, "names", None)
    if not fields:
        return given, {}
    kinds = {field: dtype[field].kind for field in fields}
    events = [field for field in fields if kinds[field] == "b"]
    times = [field for field in fields if kinds[field] in "iuf"]
    if len(fields) != 2 or len(events) != 1 or len(times) != 1:
        raise SourceError(
            f"the target {name!r} is a structured array of {', '.join(fields)}: a time to event "
            "has two fields, a truth value (whether the event was seen) and a number (the time)."
        )
    return given[times[0]], {"event": given[events[0]]}


def _kind_of(
    name: str,
    kind: str | None,
    further: Mapping[str, Any],
    levels: Sequence[str] | None,
) -> str | None:
    """The kind that further columns and levels ask for; a SourceError if that is another one."""
    asked = "ordinal" if levels is not None else None
    for column in further:
        asked = next(one.name for one in target_kinds().values() if column in one.beside)
        if kind is not None and column not in target_kinds()[kind].beside:
            raise SourceError(
                f"the target {name!r} is of kind {kind!r}, which has no {column} column: leave one "
                "of the two out."
            )
    if levels is not None and (further or kind not in (None, "ordinal")):
        raise SourceError(
            f"the target {name!r} has levels in an order, so it is of kind 'ordinal': leave out "
            "what says another kind."
        )
    return kind if kind is not None else asked


def _with_further(name: str, series: pd.Series[Any], further: Mapping[str, Any]) -> Any:
    """The values, with further columns as a data frame."""
    if not further:
        return series
    columns = {"values": series}
    for what, given in further.items():
        column = _as_series(f"{name} ({what})", given)
        if len(column) != len(series):
            raise SourceError(
                f"the {what} column of the target {name!r} has {len(column)} values instead of "
                f"{len(series)}."
            )
        _refuse_missing(f"{name} ({what})", column)
        columns[what] = column
    return pd.DataFrame(columns)


def check_kinds(target_kind: str | Mapping[str, str] | None) -> None:
    """SourceError if a kind is named that there is not."""
    kinds = target_kinds()
    named = {"": target_kind} if isinstance(target_kind, str) else dict(target_kind or {})
    for name, kind in named.items():
        if kind not in kinds:
            whose = f"the kind of target {name!r}" if name else "the kind of the target"
            raise SourceError(f"{whose} is {kind!r}; it must be one of {', '.join(kinds)}.")


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
    if not bad.any() and is_number(series):
        bad = np.isinf(series.to_numpy(np.float64))
        what = "infinite"
    if bad.any():
        raise SourceError(
            f"the target {name!r} is {what} in {int(bad.sum())} samples, the first is row "
            f"{int(bad.argmax())} (from 0): remove these samples from source and target."
        )


def split_targets(target: Any) -> Mapping[str | None, Any]:
    """One target or several as a mapping; the name None stands for one that has none yet."""
    if target is None:
        return {}
    if isinstance(target, Mapping):
        return {str(name): given for name, given in target.items()}
    return {None: target}
