"""The target by levels of two features, for the document and its plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from srs.effects.registry import effects_of
from srs.effects.separation import Interval
from srs.engine.context import RunContext
from srs.results.documents.pairs import PairCells
from srs.selection.effects.values import RANKS, FeatureValues, values_of

MOST_PAIRS = 100
MOST_LEVELS = 3
NAMES = {2: ("lower half", "upper half"), 3: ("lower third", "middle third", "upper third")}
CELL_SAMPLES = 20  # on average, from which on values are cut in three


@dataclass(frozen=True)
class _Levels:
    names: list[str]
    of: np.ndarray  # by training sample; -1: missing


def describe_cells(context: RunContext, pairs: Sequence[tuple[int, int]]) -> list[PairCells]:
    """The first MOST_PAIRS pairs of places. Levels are told as they are if there are few, else
    halves or thirds of the samples."""
    pairs = pairs[:MOST_PAIRS]
    if not pairs:
        return []
    places = np.unique(np.array(pairs, np.int64))
    n_levels = 3 if len(context.train) >= CELL_SAMPLES * MOST_LEVELS**2 else 2
    levels = {
        int(place): _cut(one, context.train, n_levels)
        for place, one in zip(places, values_of(context, places), strict=True)
    }
    return [_cells(context, levels[a], levels[b]) for a, b in pairs]


def _cells(context: RunContext, first: _Levels, second: _Levels) -> PairCells:
    target = context.store.target(context.settings.target)
    kind = effects_of(target)
    group = kind.groups(target)[-1]
    outcome = kind.values(target)[context.train]
    counts: list[list[int]] = []
    found: list[list[Interval]] = []
    for a in range(len(first.names)):
        inside = [(first.of == a) & (second.of == b) for b in range(len(second.names))]
        counts.append([int(one.sum()) for one in inside])
        found.append([kind.summarise(outcome[one], group) for one in inside])
    return {
        "levels": first.names,
        "partner_levels": second.names,
        "group": None if group is None else target.labels[group],
        "counts": counts,
        "values": [[_number(one.value) for one in row] for row in found],
        "low": [[_number(one.low) for one in row] for row in found],
        "high": [[_number(one.high) for one in row] for row in found],
    }


def _cut(values: FeatureValues, train: np.ndarray, n_levels: int) -> _Levels:
    x = values.x[train]
    known = ~np.isnan(x)
    levels, counts = np.unique(x[known], return_counts=True)
    of = np.full(len(x), -1, np.int64)
    if len(levels) <= MOST_LEVELS:
        of[known] = np.searchsorted(levels, x[known])
        if values.labels:
            return _Levels([values.labels[int(level)] for level in levels], of)
        if values.scale == RANKS:
            return _Levels([f"level {at + 1} of {len(levels)}" for at in range(len(levels))], of)
        return _Levels([format(level, ".6g") for level in levels], of)
    if values.per is None:  # without order: the most frequent ones, and all others
        most = np.argsort(-counts, kind="stable")[: MOST_LEVELS - 1]
        number = np.full(len(levels), MOST_LEVELS - 1)
        number[most] = np.arange(len(most))
        of[known] = number[np.searchsorted(levels, x[known])]
        return _Levels([*(values.labels[int(levels[at])] for at in most), "all others"], of)
    middle = (np.cumsum(counts) - counts / 2) / max(counts.sum(), 1)
    parts = np.minimum((middle * n_levels).astype(np.int64), n_levels - 1)
    parts = np.unique(parts, return_inverse=True)[1]
    of[known] = parts[np.searchsorted(levels, x[known])]
    n_found = int(parts.max()) + 1
    return _Levels(list(NAMES.get(n_found, ("all",))), of)


def _number(value: float) -> float | None:
    return float(f"{value:.9g}") if np.isfinite(value) else None
