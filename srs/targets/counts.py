"""Counts of events; their exposure is the time or the amount that they were counted in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from srs.errors import SourceError
from srs.targets.concordance import concordance
from srs.targets.kinds import CRITERIA_OF_NUMBERS, TargetKind
from srs.targets.models.counts import fit_counts
from srs.targets.models.null import NullDesign, NullModel
from srs.targets.target import Target
from srs.targets.values import as_numbers, number_text

EXPOSURE = "exposure"


def parse(name: str, series: Any) -> Target:
    values, exposure = (series, None) if series.ndim == 1 else _columns(series)
    counts = as_numbers(name, values)
    bad = (counts < 0) | (counts != np.floor(counts))
    if bad.any():
        raise SourceError(
            f"the target {name!r} has the value {number_text(counts[bad.argmax()])} in row "
            f"{int(bad.argmax())} (from 0): counts are whole numbers from 0 on; use "
            "target_kind='numbers' for others."
        )
    if exposure is None:
        return Target(name, "count", counts)
    amount = as_numbers(f"the exposure of {name}", exposure)
    if (amount <= 0).any():
        raise SourceError(
            f"the exposure of the target {name!r} is not above 0 in row "
            f"{int((amount <= 0).argmax())} (from 0): leave such samples out."
        )
    return Target(name, "count", np.column_stack([counts, amount]))


def _columns(frame: Any) -> tuple[Any, Any]:
    return frame["values"], frame[EXPOSURE]


def counts_of(target: Target) -> np.ndarray:
    found: np.ndarray = target.values if target.values.ndim == 1 else target.values[:, 0]
    return found


def log_exposure(values: np.ndarray) -> np.ndarray:
    return np.zeros(len(values)) if values.ndim == 1 else np.log(values[:, 1])


def check(target: Target) -> None:
    """SourceError if all samples are equal."""
    counts = counts_of(target)
    if counts.min() == counts.max():
        raise SourceError(
            f"the target {target.name!r} is constant ({number_text(counts[0])}): there is nothing "
            "to learn."
        )


def describe(target: Target) -> dict[str, Any]:
    counts = counts_of(target)
    about = {
        "total": int(counts.sum()),
        "mean": float(counts.mean()),
        "max": int(counts.max()),
        "zeros": int((counts == 0).sum()),
    }
    return (
        about if target.values.ndim == 1 else about | {EXPOSURE: float(target.values[:, 1].sum())}
    )


def null_model(target: Target, design: NullDesign) -> NullModel:
    return fit_counts(counts_of(target), design, log_exposure(target.values))


def predict(target: Target, sample: int, mean: np.ndarray) -> dict[str, Any]:
    """The count, the rate where there is an exposure, and a score that is high for high rates."""
    count = float(counts_of(target)[sample])
    told = {"truth": count, "prediction": float(mean[0])}
    if target.values.ndim == 2:
        told["rate"] = count / float(target.values[sample, 1])
    return told


def measures(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    truth = np.array([float(row.get("rate", row["truth"])) for row in rows])
    score = np.array([float(row["prediction"]) for row in rows])
    return {"concordance": concordance(truth, score)}


COUNT = TargetKind(
    name="count",
    title="A count",
    help="numbers of events, e.g. of lesions; an exposure column says in what time or amount",
    criteria=CRITERIA_OF_NUMBERS,
    fits=lambda _: False,
    parse=parse,
    check=check,
    learned=lambda target: null_model(target, NullDesign.plain(len(target.values))).residuals,
    describe=describe,
    predict=predict,
    measures=measures,
    null_model=null_model,
    by_model=True,
    beside=(EXPOSURE,),
)
