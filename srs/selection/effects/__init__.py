"""Effects of a run's features: of all of them (`scan`; the pass is `srs.engine.run.sweeping`, which
workers load), and of the relevant ones on the scale of their values (`found`). The models are in
`srs.effects`."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from srs.effects.classes import told_class
from srs.effects.registry import effects_of
from srs.engine.run.adjusting import adjustment_of
from srs.engine.run.sweeping import sweep_features
from srs.evidence.told import DIRECTION
from srs.selection.effects.found import describe_effects
from srs.selection.effects.names import FeatureNames
from srs.selection.effects.scan import describe_scan

if TYPE_CHECKING:
    from srs.engine.context import RunContext
    from srs.executors import Executor
    from srs.inference.final import FinalDecision
    from srs.results.documents.effects import EffectAbout, ScanDocument
    from srs.results.documents.result import ResultOutcome


def find_effects(
    context: RunContext, found: FinalDecision, executor: Executor
) -> tuple[ResultOutcome, float]:
    """Parts of the document on effects, and the seconds that they took; columns of all features
    are added to the numbers of `found`."""
    started = perf_counter()
    relevant = found.relevant
    ordered = relevant[np.argsort(-found.numbers["importance"][relevant], kind="stable")]
    effects, profiles = describe_effects(context, ordered)
    parts: ResultOutcome = {  # type: ignore[typeddict-item]
        "measure": _measure(context),
        "effects": effects,
        "profiles": profiles,
    }
    swept = sweep_features(context, executor)
    if swept:
        found.numbers.update(swept)
        parts["scan"] = _scan(context, found)
        target = context.store.target(context.settings.target)
        if target.has_classes and told_class(target.labels) == 0 and DIRECTION in found.numbers:
            np.negative(found.numbers[DIRECTION], out=found.numbers[DIRECTION])
    return parts, perf_counter() - started


def _measure(context: RunContext) -> EffectAbout:
    kind = effects_of(context.store.target(context.settings.target))
    return {
        "measure": kind.measure,
        "is_ratio": kind.is_ratio,
        "meaning": kind.meaning,
        "outcome": kind.outcome,
        "is_share": kind.is_share,
        "adjusted": list(adjustment_of(context).names),
    }


def _scan(context: RunContext, found: FinalDecision) -> ScanDocument:
    """Of features by id, as annotations are."""
    store = context.store
    ids = store.feature_ids
    by_id: dict[str, np.ndarray] = {}
    for name in ("beta", "score_z", "frequency"):
        if name in found.numbers:
            by_id[name] = np.empty_like(found.numbers[name])
            by_id[name][ids] = found.numbers[name]
    name_of = FeatureNames(context)
    target = store.target(context.settings.target)
    return describe_scan(
        by_id,
        {int(ids[place]): name_of.of(place) for place in found.relevant.tolist()},
        store.annotations(),
        measure=effects_of(target).linear_measure,
        group=target.labels[told_class(target.labels)] if target.has_classes else None,
        adjusted=adjustment_of(context).names,
        excluded=np.asarray(ids[context.pinned], np.int64),
    )
