"""Parse targets: from arrays, lists, files or columns to class codes or numbers.

What the values become is for the kind of target to say; which kind it is where the user does not
say, for `srs.targets.registry`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from srs.errors import SourceError
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
    may_miss: bool = False,
) -> Target:
    """A checked Target; SourceError says what is wrong with it and in which row.

    learned   whether it must be something to learn; else all samples may be equal, or all differ
    may_miss  whether some samples may have no value
    """
    _check_name(name)
    check_kinds({name: target_kind} if target_kind is not None else None)
    kinds = target_kinds()
    series = _as_series(name, given)
    if len(series) != n_samples:
        raise SourceError(
            f"the target {name!r} has {len(series)} values and the source has {n_samples} samples."
        )
    known = series.notna().to_numpy(bool)
    if may_miss and known.any() and not known.all():
        some = series[known].reset_index(drop=True).infer_objects()
        return _spread(parse_target(name, some, len(some), target_kind, learned=learned), known)
    _refuse_missing(name, series)
    if target_kind is None:
        target_kind = next(kind.name for kind in kinds.values() if kind.fits(series))
    parsed = kinds[target_kind].parse(name, series)
    if learned:
        kinds[target_kind].check(parsed)
    return parsed


def _spread(target: Target, known: np.ndarray) -> Target:
    """A target of the samples that have a value, for all."""
    values = target.values
    whole = np.full(len(known), -1 if target.has_classes else np.nan, values.dtype)
    whole[known] = values
    return replace(target, values=whole)


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
