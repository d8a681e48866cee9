"""Classes: text, booleans, categories, and whole numbers of few distinct values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from srs.errors import SourceError
from srs.targets.kinds import CRITERIA_OF_CLASSES, TargetKind
from srs.targets.models.logistic import fit_logistic
from srs.targets.models.multinomial import fit_multinomial
from srs.targets.models.null import NullDesign, NullModel
from srs.targets.target import Target
from srs.targets.values import is_number, is_ordered, number_text

if TYPE_CHECKING:
    import pandas as pd

MAX_NUMBER_CLASSES = 30


def fits(series: pd.Series[Any]) -> bool:
    """What is no number and has no order; and whole numbers of few distinct values."""
    if not is_number(series):
        return not is_ordered(series)
    values = series.to_numpy(np.float64)
    whole = bool((values == np.floor(values)).all())
    return whole and len(np.unique(values)) <= MAX_NUMBER_CLASSES


def parse(name: str, series: pd.Series[Any]) -> Target:
    if is_number(series):
        numbers, codes = np.unique(series.to_numpy(np.float64), return_inverse=True)
        labels = tuple(number_text(v) for v in numbers.tolist())
    else:
        texts, codes = np.unique(
            series.astype(str).to_numpy(object).astype(str), return_inverse=True
        )
        labels = tuple(texts.tolist())
    return Target(name, CLASSES.name, codes.astype(np.int32), labels)


def check(target: Target) -> None:
    """SourceError if all samples are equal, or each is a class of its own."""
    name, labels, values = target.name, target.labels, target.values
    if len(labels) == 1:
        raise SourceError(
            f"the target {name!r} has only one class ({labels[0]!r}): there is nothing to learn."
        )
    if len(labels) == len(values) and len(labels) > 2:
        raise SourceError(
            f"the target {name!r} has {len(labels)} classes for {len(values)} samples, so it looks "
            f"like ids: give another target, or target_kind='numbers' if it is a number."
        )


def describe(target: Target) -> dict[str, Any]:
    """How many samples each class has."""
    counts = np.bincount(target.values, minlength=len(target.labels)).tolist()
    return {"classes": dict(zip(target.labels, counts, strict=True))}


def predict(target: Target, sample: int, mean: np.ndarray) -> dict[str, Any]:
    """The class, the most likely one, and the share of each."""
    labels = target.labels
    return {
        "truth": labels[int(target.values[sample])],
        "prediction": labels[int(mean.argmax())],
        **{f"share_{label}": float(mean[c]) for c, label in enumerate(labels)},
    }


def null_model(target: Target, design: NullDesign) -> NullModel:
    if target.n_classes == 2:
        return fit_logistic(target.values, design)
    return fit_multinomial(target.values, design, target.n_classes)


CLASSES = TargetKind(
    name="classes",
    title="Classes",
    help="categories, e.g. case and control",
    criteria=CRITERIA_OF_CLASSES,
    fits=fits,
    parse=parse,
    check=check,
    learned=lambda target: target.values,
    describe=describe,
    predict=predict,
    stored="classification",
    null_model=null_model,
)
