"""Times to event, of which some are censored: the event was not seen up to that time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from srs.errors import SourceError
from srs.targets.concordance import concordance
from srs.targets.kinds import CRITERIA_OF_NUMBERS, TargetKind
from srs.targets.models.cox import fit_cox
from srs.targets.models.null import NullDesign, NullModel
from srs.targets.target import Target
from srs.targets.values import as_numbers, is_number, number_text

if TYPE_CHECKING:
    import pandas as pd

EVENT = "event"
WORDS = {
    "0": False,
    "1": True,
    "false": False,
    "true": True,
    "no": False,
    "yes": True,
    "censored": False,
    "event": True,
    "alive": False,
    "dead": True,
}
LEAST_EVENTS = 5


def parse(name: str, series: pd.Series[Any] | pd.DataFrame) -> Target:
    if series.ndim == 1 or EVENT not in series:
        raise SourceError(
            f"the target {name!r} is a time to event and needs the column that says whether the "
            "event was seen: give it (event=, --event), or a structured array of both."
        )
    time = as_numbers(name, series["values"])
    if (time < 0).any():
        raise SourceError(
            f"the target {name!r} has the time {number_text(time[(time < 0).argmax()])} in row "
            f"{int((time < 0).argmax())} (from 0): times to event are not negative."
        )
    event = _events(name, series[EVENT])
    return Target(name, "survival", np.column_stack([time, event]))


def _events(name: str, series: pd.Series[Any]) -> np.ndarray:
    """Whether the event was seen, as 0 and 1."""
    if is_number(series):
        texts = [number_text(float(value)) for value in series]
    else:
        texts = [str(value).strip().lower() for value in series]
    bad = [at for at, text in enumerate(texts) if text not in WORDS]
    if bad:
        raise SourceError(
            f"the event column of the target {name!r} has {texts[bad[0]]!r} in row {bad[0]} (from "
            "0): it must be 1 where the event was seen and 0 where the time is censored."
        )
    return np.array([WORDS[text] for text in texts], np.float64)


def check(target: Target) -> None:
    """SourceError if there is nothing to learn: too few events, or one time."""
    time, event = target.values.T
    if event.sum() < LEAST_EVENTS:
        raise SourceError(
            f"the target {target.name!r} has {int(event.sum())} events, and at least "
            f"{LEAST_EVENTS} are needed: 1 is where the event was seen, 0 where it was not."
        )
    if time.min() == time.max():
        raise SourceError(
            f"the target {target.name!r} has the same time in all samples: there is nothing to "
            "learn."
        )


def describe(target: Target) -> dict[str, Any]:
    time, event = target.values.T
    return {
        "events": int(event.sum()),
        "censored": int((event == 0).sum()),
        "median_time": float(np.median(time)),
        "max_time": float(time.max()),
    }


def null_model(target: Target, design: NullDesign) -> NullModel:
    return fit_cox(target.values, design)


def predict(target: Target, sample: int, mean: np.ndarray) -> dict[str, Any]:
    """The time, whether the event was seen, and a score that is high where events come early."""
    time, event = target.values[sample]
    return {"truth": float(time), "event": bool(event), "prediction": float(mean[0])}


def measures(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    time, risk = (np.array([float(row[k]) for row in rows]) for k in ("truth", "prediction"))
    event = np.array([bool(row["event"]) for row in rows])
    return {"concordance": concordance(time, -risk, event)}


SURVIVAL = TargetKind(
    name="survival",
    title="Time to event",
    help="times that may be censored, with a column that says whether the event was seen",
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
    beside=(EVENT,),
)
