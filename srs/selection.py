"""Select the relevant features of a store: settings in, `Result` out."""

from __future__ import annotations

import base64
import logging
import os
import platform
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from srs.basis import null_notices
from srs.checkpoint import remove_checkpoint
from srs.conclusion import Conclusion, conclude
from srs.config import Settings
from srs.context import Context, make_context, require_samples, with_resident_codes
from srs.decision import Verdict
from srs.errors import SettingsError
from srs.evidence import BatchEvidence
from srs.executors import Executor, open_executor
from srs.feature_table import HeldTable
from srs.groups import Signals, find_signals
from srs.kernels import ensure_compiled
from srs.memory import (
    DEFAULT_MEM,
    coordinator_projected_mem,
    hand_back,
    parse_bytes,
    peak_mem,
    projected_mem,
    threads_that_fit,
    worker_projected_mem,
)
from srs.result import FORMAT, SCHEMA_VERSION, Result
from srs.run import Outcome, Progress, Run
from srs.samples import confounder_notices
from srs.sets import FeatureSets, choose_sets, decide_sets
from srs.store import Chosen, FeatureStore, open_store
from srs.tree import Tree
from srs.worker import make_task

log = logging.getLogger("srs")
ROW_COLUMNS = ("p_value", "q_value", "importance", "effect", "n_drawn", "n_used")
# Weights undo unequal sampling in large nodes; in small ones what was sampled decides. So *used*,
# which is made in nodes of all sizes, counts with `sample_weight` only if it is asked for.
WEIGHTED_EVIDENCE = ("screened", "peak")
MEASURED_PACKAGES = ("srs", "numpy", "numba", "zarr", "scipy", "pyarrow")


def select(
    store: FeatureStore | str | os.PathLike[str],
    *,
    fdr: float = 0.1,
    memory: str | int | None = None,
    seed: int = 0,
    mode: str = "default",
    pinned: Sequence[str | int] | None = None,
    samples: Chosen | None = None,
    features: Chosen | None = None,
    executor: Any = None,
    on_progress: Callable[[Progress], None] | None = None,
    threads: int | None = None,
    tls: str | os.PathLike[str] | None = None,
    task_timeout: float | None = None,
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    feature_sets: Any = None,
    **settings: Any,
) -> Result:
    """Find the relevant features of a feature store.

    store        an open feature store, or its path
    fdr          false discovery rate of the list
    memory       what the process, or with workers each of them, may hold, such as "512MB";
                 None: 2GB
    seed         the same seed gives the same answer
    mode         "default", or "paper" for Algorithm 7.1 of the thesis to the letter
    pinned       names or ids of covariates: in every subspace, reported apart
    samples      ids or numbers of the samples to use; None: all
    features     names or ids of the features to use, beside the pinned ones; None: all
    executor     where batches run. None: threads of this process; a `distributed.Client`; the
                 address of a Dask scheduler, as "tcp://10.0.0.1:8786"; or a number of worker
                 processes, which are started here and ended with the run
    on_progress  called with a `Progress` as trees are grown
    threads      threads of this process, None: all cores; or of each worker process that is
                 started, None: 1
    tls          folder of ca.pem, cert.pem and key.pem: workers and scheduler talk by TLS
    task_timeout seconds of a task, some of a round's batches, after which its worker is called
                 hung and others take over; None: ten times the slowest so far, at least a minute
    folder       where checkpoints (and kept trees) go; None: no checkpoints
    resume       continue from the checkpoint in `folder`
    feature_sets features that belong together and are tested together, too: a mapping from the
                 names of sets to features, or a file (two columns, feature and set; or .gmt)
    settings     any further field of `srs.config.Settings`

    >>> import numpy as np, srs
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(300, 40))
    >>> store = srs.ingest(X, target=(X[:, 3] + X[:, 7] > 0).astype(int))
    >>> srs.select(store, seed=1).relevant_names
    ['f3', 'f7']
    """
    store = store if isinstance(store, FeatureStore) else open_store(store)
    if samples is not None or features is not None:
        wished = None if features is None else [*features, *(pinned or ())]
        store = store.view(samples, wished)
    unknown = sorted(set(settings) - set(Settings.__dataclass_fields__))
    if unknown:
        raise SettingsError(f"there is no setting {unknown[0]!r}; see srs.config.Settings.")
    if resume and folder is None:
        raise SettingsError("resume needs the folder of the run.")
    if settings.get("sample_weight") is not None:
        settings.setdefault("evidence", WEIGHTED_EVIDENCE)
    allowed_mem = DEFAULT_MEM if memory is None else parse_bytes(memory)
    chosen = Settings(
        fdr=fdr, allowed_mem=allowed_mem, seed=seed, mode=mode, pinned=tuple(pinned or ()),
        **settings,
    )  # fmt: skip
    context = make_context(store, chosen)
    hand_back()  # what ids and strata were made from
    ensure_compiled()
    require_samples(context)
    for notice in _notices(context):
        log.warning("%s", notice)
    sets = None if feature_sets is None else choose_sets(feature_sets, store, chosen)
    path = None if folder is None else Path(folder)
    secured = None if tls is None else Path(tls)
    with open_executor(executor, threads, allowed_mem, secured, task_timeout) as opened:
        run = _make_run(context, opened, path, on_progress)
        if resume:
            run.restore()
        outcome = run.run()
        projected = _projected_mem(run.context, opened)
        task = None if sets is None else run.task
        del run  # and the codes that it keeps: their memory is needed for the last look
        hand_back()
        result = make_result(context, outcome, opened, projected, sets, task)
    if path is not None:
        remove_checkpoint(path)
    return result


def _notices(context: Context) -> list[str]:
    shape, settings = context.shape, context.settings
    return [
        *null_notices(settings, shape.n_features, shape.n_roles - 1),
        *confounder_notices(context.store, settings),
    ]


def _make_run(
    context: Context,
    executor: Executor,
    folder: Path | None,
    on_progress: Callable[[Progress], None] | None,
) -> Run:
    if executor.remote:
        task = make_task(context, executor.n_parallel)
        return Run(context, executor, folder, on_progress, task)
    executor.n_parallel = threads_that_fit(
        context.shape, executor.n_parallel, context.settings.allowed_mem
    )
    context = with_resident_codes(context, executor.n_parallel)
    return Run(context, executor, folder, on_progress)


def make_result(
    context: Context,
    outcome: Outcome,
    executor: Executor,
    projected: int,
    sets: FeatureSets | None = None,
    task: Callable[[Any], tuple[BatchEvidence, list[Tree]]] | None = None,
) -> Result:
    """Put what a run found into the order of the source's columns."""
    found = conclude(context, outcome.state.evidence, outcome.state.relevant, outcome.state.n_trees)
    signals, seconds = _signals(context, outcome, found)
    counts = np.bincount(found.numbers["verdict"], minlength=len(Verdict))
    relevant = np.sort(context.store.feature_ids[found.relevant])
    of_sets = {}
    if sets is not None and task is not None:
        of_sets = {"sets": _test_sets(context, found, sets, executor, task)}
    table = _feature_table(context, found, signals, sets)
    hand_back()
    settings = context.settings.to_json()
    target = context.store.target(context.settings.target)
    shape = context.shape
    document = {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "settings": settings,
        "data": {
            "fingerprint": context.store.fingerprint,
            "n_features": shape.n_features,
            "n_samples": shape.n_samples,
            "target": target.name,
            "task": target.task,
            "labels": list(target.labels),
            "notices": [*context.store.manifest.notices, *_notices(context)],
            **_annotation_names(context.store),
            **_view(context.store),
        },
        "shape": {
            "subspace_size": shape.subspace_size,
            "slab_features": shape.slab_chunks * shape.chunk_features,
            "n_probes": shape.n_roles - 1,
            "n_held_out": len(context.held_out),
        },
        "outcome": {
            "stop_reason": outcome.stop_reason,
            "n_trees": outcome.state.n_trees,
            "n_passes": round(outcome.n_passes, 6),
            "relevant": _rows(table, relevant),
            "pinned": _rows(table, table.pinned),
            "groups": _groups(table),
            "ungrouped": signals.left_out,
            "minimal": np.sort(_ids(context.store, signals.minimal)).tolist(),
            "verdicts": {v.name: int(counts[v]) for v in Verdict},
            "basis": found.basis,
            "history": [{"n_trees": t, "n_relevant": r} for t, r in outcome.state.history],
            "evidence": found.histograms,
            "prediction": _prediction(context, outcome, target.labels),
            **of_sets,
        },
        "measured": {
            "seconds": round(seconds["total"], 3),
            "seconds_by_part": {k: round(v, 3) for k, v in seconds.items()},
            "peak_mem": peak_mem(),
            "projected_mem": projected,
            "threads": executor.n_parallel,
            "workers": _workers(context, executor),
            "store": context.store.location,
            "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": {p: version(p) for p in MEASURED_PACKAGES}
            | {"python": platform.python_version()},
        },
    }
    return Result(document, table)


def _projected_mem(context: Context, executor: Executor) -> int:
    """Bytes that this process was predicted to hold."""
    if executor.remote:
        return coordinator_projected_mem(context.shape)
    return projected_mem(context.shape, executor.n_parallel, context.resident is not None)


def _workers(context: Context, executor: Executor) -> dict[str, int] | None:
    """What is known of the workers, and the bytes that one of them was predicted to hold."""
    if not executor.remote:
        return None
    projected = worker_projected_mem(
        context.shape, executor.n_parallel, context.settings.allowed_mem
    )
    return {**executor.figures(), "projected_mem": projected}


def _feature_table(
    context: Context, found: Conclusion, signals: Signals, sets: FeatureSets | None
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
        by_id, tuple(v.name for v in Verdict), store.packed_names() if store.has_names else None,
        np.sort(store.feature_ids[context.pinned]).astype(np.int64),
        [store.feature_ids[places].astype(np.int64) for places in signals.groups],
        None if store.selection is None else store.source_ids,
        {name: (one.values, one.labels) for name, one in store.annotations().items()}
        | ({} if sets is None else {"sets": _sets_of_features(store, sets)}),
    )  # fmt: skip


def _signals(
    context: Context, outcome: Outcome, found: Conclusion
) -> tuple[Signals, dict[str, float]]:
    """What the relevant features come down to, and the times of the run with that of this."""
    started = perf_counter()
    context.scratch.clear()  # the run is over: make room
    relevant = found.relevant
    signals = find_signals(
        context.store.read_places, relevant, found.numbers["importance"][relevant],
        context.splits_by_subset, context.target, context.train, context.tree.criterion,
        context.settings.seed, context.samples.subjects,
    )  # fmt: skip
    spent = perf_counter() - started
    total = outcome.seconds["total"] + spent
    return signals, outcome.seconds | {"group": spent, "total": total}


def _groups(table: HeldTable) -> list[dict[str, Any]]:
    """Groups for the document."""
    groups = []
    for at, rows in enumerate(table.groups, 1):
        ids = [table.feature_id(row) for row in rows]
        names = [table.name(row) for row in rows]
        groups.append({"group": at, "feature_ids": ids, "names": names, "representative": ids[0]})
    return groups


def _test_sets(
    context: Context, found: Conclusion, sets: FeatureSets, executor: Executor,
    task: Callable[[Any], tuple[BatchEvidence, list[Tree]]],
) -> dict[str, Any]:  # fmt: skip
    """The table of tested sets, in their order, for the document.

    Their trees may carry the most important of the relevant features.
    """
    relevant = found.relevant
    importance = found.numbers["importance"][relevant]
    most = np.argsort(-importance, kind="stable")[: context.settings.max_carried]
    carried = np.sort(relevant[most])
    p_value = found.numbers["p_value"]
    decided = decide_sets(sets, p_value, carried, context.settings, executor, task)
    rows = []
    for at, places in enumerate(sets.places):
        listed = places[np.isin(places, relevant)]
        rows.append(
            {"set": sets.names[at], "verdict": Verdict(decided.verdict[at]).name,
             "p_value": float(decided.p_value[at]), "q_value": float(decided.q_value[at]),
             "n_features": len(places), "n_relevant": len(listed),
             "relevant": np.sort(_ids(context.store, listed)).tolist()}
        )  # fmt: skip
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


def _view(store: FeatureStore) -> dict[str, Any]:
    """Which part of a store was used, for the document; nothing if all of it."""
    if store.selection is None:
        return {}
    parts = {"samples": store.selection.samples, "features": store.selection.features}
    return {"view": {name: None if bits is None else base64.b64encode(bits).decode()
                     for name, bits in parts.items()}}  # fmt: skip


def _annotation_names(store: FeatureStore) -> dict[str, list[str]]:
    """Which columns of the table the source brought; nothing if none."""
    names = list(store.annotations())
    return {"annotations": names} if names else {}


def _rows(table: HeldTable, rows: np.ndarray) -> list[dict[str, Any]]:
    """Some features for the document."""
    return [
        {"feature_id": table.feature_id(row), "name": table.name(row)}
        | {name: table.annotation(name, row) for name in table.annotations}
        | {name: table.numbers[name][row].item() for name in ROW_COLUMNS}
        for row in rows
    ]


def _prediction(
    context: Context, outcome: Outcome, labels: tuple[str, ...]
) -> list[dict[str, Any]] | None:
    """One row a held-out sample: the mean prediction of all trees beside the truth."""
    if not len(context.held_out):
        return None
    store = context.store
    target = store.target(context.settings.target)
    mean = outcome.state.votes / max(outcome.state.n_trees, 1)
    if context.samples.offsets is not None:
        mean = mean + context.samples.offsets[context.held_out, None]
    sample_ids = store.sample_ids
    rows = []
    for row, sample in enumerate(context.held_out):
        entry: dict[str, Any] = {"sample": sample_ids[sample]}
        if labels:
            entry["truth"] = labels[int(target.values[sample])]
            entry["prediction"] = labels[int(mean[row].argmax())]
            entry |= {f"share_{label}": float(mean[row, c]) for c, label in enumerate(labels)}
        else:
            entry["truth"] = float(target.values[sample])
            entry["prediction"] = float(mean[row, 0])
        rows.append(entry)
    return rows
