"""Effects and profiles of the relevant features, for the document."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from srs.effects.estimate import Design, Estimate
from srs.effects.kinds import EffectKind
from srs.effects.profile import cut
from srs.effects.registry import effects_of
from srs.effects.separation import Interval, area_under_curve, difference_of_means
from srs.engine.context import RunContext
from srs.engine.run.adjusting import Adjustment, adjustment_of
from srs.results.documents.effects import EffectRow, ProfileRow
from srs.selection.effects.names import FeatureNames
from srs.selection.effects.values import RANKS, FeatureValues, values_of
from srs.targets.target import Target

MOST_FEATURES = 500  # whose effects are told, the most important ones
DIGITS = 9
UNORDERED = "its levels have no order: see its profile."


def describe_effects(
    context: RunContext, places: np.ndarray
) -> tuple[list[EffectRow], list[ProfileRow]]:
    """Effects and profiles of features at these places, the first MOST_FEATURES of them."""
    places = places[:MOST_FEATURES]
    if not len(places):
        return [], []
    target = context.store.target(context.settings.target)
    kind, adjusted = effects_of(target), adjustment_of(context)
    name = FeatureNames(context)
    alleles = {
        key: one
        for key, one in context.store.annotations().items()
        if key in ("effect_allele", "other_allele")
    }
    effects: list[EffectRow] = []
    profiles: list[ProfileRow] = []
    for place, values in zip(places.tolist(), values_of(context, places), strict=True):
        row = int(context.store.feature_ids[place])
        own = {key: one.labels[one.values[row]] for key, one in alleles.items()}
        told = _Told(name.id_of(place), name.of(place), own if values.is_dosage else {})
        effects += told.effects(kind, target, adjusted, values)
        profiles += told.profile(kind, target, adjusted.train, values)
    return effects, profiles


class _Told:
    """One feature, by the id and the name that users know."""

    def __init__(self, feature_id: int, name: str, alleles: dict[str, str]) -> None:
        self._id, self._name, self._alleles = feature_id, name, alleles

    def effects(
        self, kind: EffectKind, target: Target, adjusted: Adjustment, values: FeatureValues
    ) -> list[EffectRow]:
        """One row per class that is told of."""
        x = values.x[adjusted.train]
        known = ~np.isnan(x)
        outcome = kind.values(target)[adjusted.train][known]
        design = Design(
            x=x[known] / values.step if values.step > 0 else x[known],
            others=_independent(adjusted.others[known]),
            weights=None if adjusted.weights is None else adjusted.weights[known],
            clusters=None if adjusted.clusters is None else adjusted.clusters[known],
        )
        rows = []
        for group in kind.groups(target):
            estimate = Estimate.none(UNORDERED)
            difference = deviations = auc = Interval.none()
            if values.per is not None:
                estimate = kind.estimate(design, outcome, group)
                if kind.group_of is not None and adjusted.weights is None:
                    inside = kind.group_of(outcome, group)
                    difference, deviations = difference_of_means(x[known], inside)
                    auc = area_under_curve(x[known], inside)
            row: EffectRow = {
                "feature_id": self._id,
                "name": self._name,
                "group": None if group is None else target.labels[group],
                "measure": kind.measure,
                "per": values.per,
                "step": None if values.scale == RANKS else _number(values.step),
                "scale": values.scale,
                "estimate": _number(kind.scaled(estimate.beta)),
                "low": _number(kind.scaled(estimate.low)),
                "high": _number(kind.scaled(estimate.high)),
                "beta": _number(estimate.beta),
                "standard_error": _number(estimate.standard_error),
                "p_value": _number(estimate.p_value),
                "difference": _number(difference.value),
                "difference_low": _number(difference.low),
                "difference_high": _number(difference.high),
                "deviations": _number(deviations.value),
                "deviations_low": _number(deviations.low),
                "deviations_high": _number(deviations.high),
                "auc": _number(auc.value),
                "auc_low": _number(auc.low),
                "auc_high": _number(auc.high),
                "n": int(known.sum()),
                "note": estimate.note or None,
            }
            if values.is_dosage:
                row["frequency"] = _number(float(x[known].mean()) / 2 if known.any() else math.nan)
            row.update(self._alleles)  # type: ignore[typeddict-item]
            rows.append(row)
        return rows

    def profile(
        self, kind: EffectKind, target: Target, train: np.ndarray, values: FeatureValues
    ) -> list[ProfileRow]:
        """One row per level and class."""
        x, outcome = values.x[train], kind.values(target)[train]
        rows: list[ProfileRow] = []
        bins = cut(x, values.labels)
        if values.scale == RANKS and len(bins) > 0:
            bins = [replace(one, name=_part(at, len(bins))) for at, one in enumerate(bins)]
        for group in kind.groups(target):
            for one in bins:
                found = kind.summarise(outcome[one.samples], group)
                rows.append(
                    {
                        "feature_id": self._id,
                        "name": self._name,
                        "level": one.name,
                        "n": one.n,
                        "group": None if group is None else target.labels[group],
                        "value": _number(found.value),
                        "low": _number(found.low),
                        "high": _number(found.high),
                    }
                )
        return rows


def _part(at: int, n: int) -> str:
    """Ranks have no units: which of the parts it is, from the lowest on."""
    ends = {0: " (lowest)", n - 1: " (highest)"}
    return f"{at + 1} of {n}{ends.get(at, '')}"


def _independent(others: np.ndarray) -> np.ndarray:
    """Columns that differ among the samples that are left, the first always."""
    kept = [0] + [at for at in range(1, others.shape[1]) if np.ptp(others[:, at]) > 0]
    return others[:, kept]


def _number(value: float) -> float | None:
    """A number for the document, which has none that are infinite or missing."""
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
