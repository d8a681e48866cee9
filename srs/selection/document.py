"""What a run found as a `Result`: its document, and the table of features in source order."""

from __future__ import annotations

import base64
import platform
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from time import perf_counter
from typing import Any, cast

import numpy as np

import srs
from srs.engine.adjusting.strata import confounder_notices, subject_notices
from srs.engine.adjusting.target import covariate_notices
from srs.engine.context import RunContext
from srs.engine.memory import (
    coordinator_projected_mem,
    projected_mem,
    worker_projected_mem,
)
from srs.engine.state import Outcome
from srs.evidence.arrays import BatchEvidence
from srs.evidence.halves import halves_notices
from srs.evidence.pairs.kind import PAIRS
from srs.executors import Executor
from srs.inference.decide import Verdict
from srs.inference.final import FinalDecision, decide_all
from srs.inference.grounds import null_notices
from srs.memory import peak_mem, release_memory
from srs.results.documents.result import (
    Caution,
    FeatureRow,
    Group,
    PredictionRow,
    ResultData,
    ResultDocument,
    ResultMeasured,
    ResultOutcome,
    ResultShape,
    SetRow,
    TestedSets,
    Workers,
)
from srs.results.feature_table import FOUND_BY, HeldTable
from srs.results.result import FORMAT, SCHEMA_VERSION, Result
from srs.selection.cautions import find_cautions
from srs.selection.effects import find_effects
from srs.selection.effects.clusters import find_clusters
from srs.selection.feature_sets import FeatureSets, decide_sets
from srs.selection.groups import Signals, find_signals
from srs.selection.known import missing_notices
from srs.selection.pairs import with_whom
from srs.store import FeatureStore
from srs.targets.registry import target_kind
from srs.trees import Tree

ROW_COLUMNS = ("p_value", "q_value", "stability", "importance", "effect", "n_drawn", "n_used")


MEASURED_PACKAGES = ("numpy", "numba", "zarr", "scipy", "pyarrow")


def run_notices(context: RunContext) -> list[str]:
    shape, settings = context.shape, context.settings
    return [
        *null_notices(context.kinds, shape.n_features, shape.n_roles - 1),
        *missing_notices(context.store, settings),
        *confounder_notices(context.store, settings),
        *subject_notices(context.store, settings),
        *covariate_notices(context.samples.covariates, context.samples.null),
        *halves_notices(shape.n_features, shape.n_roles),
    ]


def make_result(
    context: RunContext,
    outcome: Outcome,
    executor: Executor,
    projected: int,
    sets: FeatureSets | None = None,
    task: Callable[[Any], tuple[BatchEvidence, list[Tree]]] | None = None,
) -> Result:
    """Put what a run found into the order of the source's columns."""
    found = decide_all(
        outcome.state.evidence,
        context.settings,
        halves=outcome.state.halves,
        kinds=context.kinds,
        feature_classes=context.feature_classes,
        pinned=context.pinned,
        relevant=outcome.state.relevant,
        n_trees=outcome.state.n_trees,
    )
    signals, cautions, seconds = _signals(context, outcome, found)
    tested = None
    if sets is not None and task is not None:
        tested = _test_sets(context, found, sets, executor, task)
    pairs, conditions = with_whom(context, found)
    effects, seconds["effects"] = find_effects(context, found, executor)
    seconds["total"] += seconds["effects"]
    table = make_feature_table(context, found, signals, sets)
    release_memory()
    document: ResultDocument = {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "settings": context.settings.to_json(),
        "data": _data(context),
        "shape": _shape(context),
        "outcome": _outcome(context, outcome, found, signals, table),
        "measured": _measured(context, executor, seconds, projected),
    }
    if tested is not None:
        document["outcome"]["sets"] = tested
    if cautions:
        document["outcome"]["cautions"] = cautions
    if context.left_out:
        document["outcome"]["grounds"]["left_out"] = [
            {"kind": kind, "reason": reason} for kind, reason in context.left_out.items()
        ]
    if PAIRS.name in context.kinds and context.settings.mode != "paper":  # has trees alone
        document["outcome"]["pairs"] = pairs
    if conditions:
        document["outcome"]["conditions"] = conditions
    document["outcome"].update(effects)
    document["outcome"].update(find_clusters(context.store, table, document["outcome"]["relevant"]))
    return Result(document, table)


def _data(context: RunContext) -> ResultData:
    """The data that features were selected from."""
    store, shape = context.store, context.shape
    target = store.target(context.settings.target)
    data: ResultData = {
        "fingerprint": store.fingerprint,
        "n_features": shape.n_features,
        "n_samples": shape.n_samples,
        "target": target.name,
        "target_kind": target.kind,
        "labels": list(target.labels) if target.has_classes else [],
        "notices": [*store.manifest.notices, *run_notices(context)],
    }
    if target.labels and not target.has_classes:
        data["levels"] = list(target.labels)
    if names := list(store.annotations()):
        data["annotations"] = names
    if store.selection is not None:
        data["view"] = {
            "samples": _packed(store.selection.samples),
            "features": _packed(store.selection.features),
        }
    return data


def _packed(bits: bytes | None) -> str | None:
    """Bits of what is used of a store, as text."""
    return None if bits is None else base64.b64encode(bits).decode()


def _shape(context: RunContext) -> ResultShape:
    shape = context.shape
    return {
        "subspace_size": shape.subspace_size,
        "slab_features": shape.slab_chunks * shape.chunk_features,
        "n_probes": shape.n_roles - 1,
        "n_held_out": len(context.held_out),
    }


def _outcome(
    context: RunContext,
    outcome: Outcome,
    found: FinalDecision,
    signals: Signals,
    table: HeldTable,
) -> ResultOutcome:
    """What was found; the numbers by place are in the table by now."""
    verdicts = table.numbers["verdict"]
    counts = np.bincount(verdicts, minlength=len(Verdict))
    return {
        "stop_reason": outcome.stop_reason,
        "n_trees": outcome.state.n_trees,
        "n_passes": round(outcome.n_passes, 6),
        "relevant": _rows(table, np.flatnonzero(verdicts == Verdict.RELEVANT)),
        "pinned": _rows(table, table.pinned),
        "groups": _groups(table),
        "ungrouped": signals.left_out,
        "minimal": np.sort(_ids(context.store, signals.minimal)).tolist(),
        "verdicts": {v.name: int(counts[v]) for v in Verdict},
        "grounds": found.grounds,
        "history": [{"n_trees": t, "n_relevant": r} for t, r in outcome.state.history],
        "evidence": found.histograms,
        "prediction": _prediction(context, outcome),
    }


def _measured(
    context: RunContext, executor: Executor, seconds: dict[str, float], projected: int
) -> ResultMeasured:
    """What differs between equal runs."""
    return {
        "seconds": round(seconds["total"], 3),
        "seconds_by_part": {k: round(v, 3) for k, v in seconds.items()},
        "peak_mem": peak_mem(),
        "projected_mem": projected,
        "threads": executor.n_parallel,
        "workers": _workers(context, executor),
        "store": context.store.location,
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"srs": srs.__version__}
        | {p: version(p) for p in MEASURED_PACKAGES}
        | {"python": platform.python_version()},
    }


def run_projected_mem(context: RunContext, executor: Executor) -> int:
    """Bytes that this process was predicted to hold."""
    if executor.remote:
        return coordinator_projected_mem(context.shape)
    resident = context.resident is not None
    return projected_mem(context.shape, executor.n_parallel, resident) + context.kept_mem


def _workers(context: RunContext, executor: Executor) -> Workers | None:
    """What is known of the workers, and the bytes that one of them was predicted to hold."""
    if not executor.remote:
        return None
    projected = worker_projected_mem(
        context.shape, executor.n_parallel, context.settings.allowed_mem
    )
    return cast(Workers, {**executor.figures(), "projected_mem": projected})


def make_feature_table(
    context: RunContext, found: FinalDecision, signals: Signals, sets: FeatureSets | None
) -> HeldTable:
    """The numbers in the order of the source's columns; those by place are used up."""
    store = context.store
    by_id: dict[str, np.ndarray] = {}
    for name in tuple(found.numbers):
        by_place = found.numbers.pop(name)
        by_id[name] = np.empty_like(by_place)
        by_id[name][store.feature_ids] = by_place
        del by_place  # before the next is made
    return HeldTable(
        numbers=by_id,
        verdicts=tuple(v.name for v in Verdict),
        names=store.packed_names() if store.has_names else None,
        pinned=np.sort(store.feature_ids[context.pinned]).astype(np.int64),
        groups=[store.feature_ids[places].astype(np.int64) for places in signals.groups],
        source_ids=None if store.selection is None else store.source_ids,
        annotations={name: (one.values, one.labels) for name, one in store.annotations().items()}
        | ({} if sets is None else {"sets": _sets_of_features(store, sets)}),
        kinds=found.kinds,
    )


def _signals(
    context: RunContext, outcome: Outcome, found: FinalDecision
) -> tuple[Signals, list[Caution], dict[str, float]]:
    """What the relevant features come down to, what to know before trusting them, and the times
    of the run with that of this."""
    started = perf_counter()
    context.scratch.clear()  # the run is over: make room
    relevant = found.relevant
    signals = find_signals(
        context.store.read_places,
        relevant,
        importance=found.numbers["importance"][relevant],
        is_categorical=context.splits_by_subset,
        target=context.target,
        samples=context.train,
        criterion=context.tree.criterion,
        seed=context.settings.seed,
        subjects=context.samples.subjects,
    )
    grouped = perf_counter() - started
    cautions = find_cautions(context, signals)
    spent = perf_counter() - started
    total = outcome.seconds["total"] + spent
    parts = {"group": grouped, "caution": spent - grouped, "total": total}
    return signals, cautions, outcome.seconds | parts


def _groups(table: HeldTable) -> list[Group]:
    """Groups for the document."""
    groups: list[Group] = []
    for at, rows in enumerate(table.groups, 1):
        ids = [table.feature_id(row) for row in rows]
        names = [table.name(row) for row in rows]
        groups.append({"group": at, "feature_ids": ids, "names": names, "representative": ids[0]})
    return groups


def _test_sets(
    context: RunContext,
    found: FinalDecision,
    sets: FeatureSets,
    executor: Executor,
    task: Callable[[Any], tuple[BatchEvidence, list[Tree]]],
) -> TestedSets:
    """The table of tested sets, in their order, for the document.

    Their trees may carry the most important of the relevant features.
    """
    relevant = found.relevant
    importance = found.numbers["importance"][relevant]
    most = np.argsort(-importance, kind="stable")[: context.settings.max_carried]
    carried = np.sort(relevant[most])
    p_value = found.numbers["p_value"]
    decided = decide_sets(
        sets, p_value, carried=carried, settings=context.settings, executor=executor, task=task
    )
    rows: list[SetRow] = []
    for at, places in enumerate(sets.places):
        listed = places[np.isin(places, relevant)]
        rows.append(
            {
                "set": sets.names[at],
                "verdict": Verdict(decided.verdict[at]).name,
                "p_value": float(decided.p_value[at]),
                "q_value": float(decided.q_value[at]),
                "n_features": len(places),
                "n_relevant": len(listed),
                "relevant": np.sort(_ids(context.store, listed)).tolist(),
            }
        )
    return {"rows": rows, "unknown_features": sets.unknown}


def _sets_of_features(store: FeatureStore, sets: FeatureSets) -> tuple[np.ndarray, tuple[str, ...]]:
    """For each feature the names of the sets that it is in, as numbers of texts and these."""
    named: list[list[str]] = [[] for _ in range(store.n_features)]
    for name, places in zip(sets.names, sets.places, strict=True):
        for feature_id in store.feature_ids[places].tolist():
            named[feature_id].append(name)
    labels, numbers = np.unique(["; ".join(names) for names in named], return_inverse=True)
    return numbers.astype(np.int64), tuple(labels.tolist())


def _ids(store: FeatureStore, places: np.ndarray) -> np.ndarray:
    """Feature ids of the whole store, of places of the part that is used."""
    ids: np.ndarray = store.feature_ids[places]
    return ids if store.selection is None else store.source_ids[ids]


def _rows(table: HeldTable, rows: np.ndarray) -> list[FeatureRow]:
    """Some features for the document."""
    found = [
        {"feature_id": table.feature_id(row), "name": table.name(row)}
        | {name: table.annotation(name, row) for name in table.annotations}
        | {name: table.number(name, row) for name in ROW_COLUMNS}
        | ({FOUND_BY: table.found_by(row)} if FOUND_BY in table.numbers else {})
        | {name: table.told(name, row) for name in table.more}
        for row in rows
    ]
    return cast(list[FeatureRow], found)  # and keys of annotations, which no type knows


def _prediction(context: RunContext, outcome: Outcome) -> list[PredictionRow] | None:
    """One row a held-out sample: the mean prediction of all trees beside the truth."""
    if not len(context.held_out):
        return None
    store = context.store
    target = store.target(context.settings.target)
    mean = outcome.state.votes / max(outcome.state.n_trees, 1)
    if context.samples.offsets is not None:
        mean = mean + context.samples.offsets[context.held_out, None]
    if target.n_classes == 2 and mean.shape[1] == 1:  # trees learned residuals of the second
        assert context.samples.null is not None
        second = context.samples.null.expected[context.held_out, 1:] + mean
        mean = np.clip(np.concatenate([1.0 - second, second], axis=1), 0.0, 1.0)
    sample_ids, kind = store.sample_ids, target_kind(target.kind)
    rows = []
    for row, sample in enumerate(context.held_out):
        told = kind.predict(target, int(sample), mean[row])
        rows.append(cast(PredictionRow, {"sample": sample_ids[sample], **told}))
    return rows
