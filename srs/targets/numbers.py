"""Numbers: what is measured on a scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from srs.errors import SourceError
from srs.targets.kinds import CRITERIA_OF_NUMBERS, TargetKind
from srs.targets.models.linear import fit_linear
from srs.targets.target import Target
from srs.targets.values import as_numbers, is_number, number_text

if TYPE_CHECKING:
    import pandas as pd


def parse(name: str, series: pd.Series[Any]) -> Target:
    return Target(name, NUMBERS.name, as_numbers(name, series), ())


def check(target: Target) -> None:
    """SourceError if all samples are equal."""
    values = target.values
    if values.min() == values.max():
        raise SourceError(
            f"the target {target.name!r} is constant ({number_text(values[0])}): there is nothing "
            f"to learn."
        )


def describe(target: Target) -> dict[str, Any]:
    """Where the numbers lie."""
    values = target.values
    return {
        "min": float(values.min()),
        "mean": float(values.mean()),
        "max": float(values.max()),
    }


def predict(target: Target, sample: int, mean: np.ndarray) -> dict[str, Any]:
    """The number and its prediction."""
    return {"truth": float(target.values[sample]), "prediction": float(mean[0])}


NUMBERS = TargetKind(
    name="numbers",
    title="A number",
    help="measurements on a scale, e.g. blood pressure",
    criteria=CRITERIA_OF_NUMBERS,
    fits=is_number,
    parse=parse,
    check=check,
    learned=lambda target: target.values,
    describe=describe,
    predict=predict,
    stored="regression",
    null_model=lambda target, design: fit_linear(target.values, design),
)
