"""Ordered classes: grades, stages, answers on a scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from srs.errors import SourceError
from srs.targets.concordance import concordance
from srs.targets.kinds import CRITERIA_OF_NUMBERS, TargetKind
from srs.targets.models.null import NullDesign, NullModel
from srs.targets.models.ordered import fit_ordered
from srs.targets.target import Target
from srs.targets.values import is_number, is_ordered, number_text

if TYPE_CHECKING:
    import pandas as pd

MOST_LEVELS = 30


def order_levels(name: str, series: pd.Series[Any], levels: Sequence[str]) -> pd.Series[Any]:
    """Values as an ordered categorical, in the order that the user gave."""
    import pandas as pd

    texts = series.astype(object)
    known = ~series.isna()
    if is_number(series):
        texts[known] = [number_text(float(value)) for value in series[known]]
    else:
        texts[known] = texts[known].map(str)
    strange = sorted(set(texts[known]) - set(levels))
    if strange:
        raise SourceError(
            f"the target {name!r} has the value {strange[0]!r}, which is not among its levels "
            f"{', '.join(levels)}: name all of them, from low to high."
        )
    if len(set(levels)) < len(levels):
        raise SourceError(f"the levels of the target {name!r} must differ: {', '.join(levels)}.")
    return pd.Series(pd.Categorical(texts, categories=list(levels), ordered=True))


def parse(name: str, series: pd.Series[Any]) -> Target:
    """Levels that no sample has are left out."""
    if getattr(series.dtype, "ordered", False):
        given: Any = series.cat
        levels = [str(level) for level in given.categories]
        codes = given.codes.to_numpy(np.int64)
    elif is_number(series):
        numbers, codes = np.unique(series.to_numpy(np.float64), return_inverse=True)
        levels = [number_text(value) for value in numbers.tolist()]
    else:
        raise SourceError(
            f"the target {name!r} is text, whose order is not known: give its levels from low to "
            "high (ordinal=, --ordinal low,mid,high)."
        )
    used, codes = np.unique(codes, return_inverse=True)
    labels = tuple(levels[int(at)] for at in used)
    return Target(name, "ordinal", codes.astype(np.float64).reshape(-1), labels)


def check(target: Target) -> None:
    """SourceError if there are too few or too many levels."""
    n_levels = len(target.labels)
    if n_levels < 2:
        raise SourceError(
            f"the target {target.name!r} has only one level ({target.labels[0]!r}): there is "
            "nothing to learn."
        )
    if n_levels > MOST_LEVELS:
        raise SourceError(
            f"the target {target.name!r} has {n_levels} levels: from {MOST_LEVELS} on, use "
            "target_kind='numbers'."
        )


def describe(target: Target) -> dict[str, Any]:
    """How many samples each level has, from low to high."""
    counts = np.bincount(target.values.astype(np.int64), minlength=len(target.labels)).tolist()
    return {"levels": dict(zip(target.labels, counts, strict=True))}


def null_model(target: Target, design: NullDesign) -> NullModel:
    """Levels that no training sample has are joined with the next below."""
    codes = target.values.astype(np.int64)
    seen = np.unique(codes[design.train])
    joined = np.maximum(np.searchsorted(seen, codes, side="right") - 1, 0)
    return fit_ordered(joined, design, len(seen))


def predict(target: Target, sample: int, mean: np.ndarray) -> dict[str, Any]:
    """The level, its number, and a score that is high for high levels."""
    level = int(target.values[sample])
    return {"truth": target.labels[level], "level": level, "prediction": float(mean[0])}


def measures(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    level, score = (np.array([float(row[k]) for row in rows]) for k in ("level", "prediction"))
    return {"concordance": concordance(level, score)}


ORDINAL = TargetKind(
    name="ordinal",
    title="Ordered classes",
    help="levels with an order, e.g. grades of a tumour; text needs its levels from low to high",
    criteria=CRITERIA_OF_NUMBERS,
    fits=is_ordered,
    parse=parse,
    check=check,
    learned=lambda target: null_model(target, NullDesign.plain(len(target.values))).residuals,
    describe=describe,
    predict=predict,
    measures=measures,
    null_model=null_model,
    by_model=True,
)
