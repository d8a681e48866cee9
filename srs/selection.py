"""Select the relevant features of a store: settings in, `Result` out."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from srs.basis import describe_basis
from srs.checkpoint import remove_checkpoint
from srs.config import Settings
from srs.context import Context, make_context, require_samples, with_resident_codes
from srs.decision import Verdict
from srs.errors import SettingsError
from srs.executors import Executor, LocalExecutor, open_executor
from srs.groups import Signals, find_signals
from srs.kernels import ensure_compiled
from srs.memory import (
    DEFAULT_MEM,
    coordinator_projected_mem,
    parse_bytes,
    peak_mem,
    projected_mem,
    threads_that_fit,
    worker_projected_mem,
)
from srs.result import FORMAT, SCHEMA_VERSION, Result
from srs.run import Outcome, Progress, Run
from srs.sets import FeatureSets, SetDecision, decide_sets, find_sets
from srs.store import FeatureStore, open_store
from srs.worker import make_task

HISTOGRAM_BINS = 60
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
    executor: Any = None,
    on_progress: Callable[[Progress], None] | None = None,
    threads: int | None = None,
    tls: str | os.PathLike[str] | None = None,
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
    executor     where batches run. None: threads of this process; a `distributed.Client`; the
                 address of a Dask scheduler, as "tcp://10.0.0.1:8786"; or a number of worker
                 processes, which are started here and ended with the run
    on_progress  called with a `Progress` as trees are grown
    threads      threads of this process, None: all cores; or of each worker process that is
                 started, None: 1
    tls          folder of ca.pem, cert.pem and key.pem: workers and scheduler talk by TLS
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
    remote = not (executor is None or isinstance(executor, LocalExecutor))
    context = make_context(store, chosen, remote)
    ensure_compiled()
    require_samples(context)
    sets = None if feature_sets is None else find_sets(feature_sets, store)
    if sets is not None and mode == "paper":
        raise SettingsError("paper mode does not test feature sets; use the default mode.")
    path = None if folder is None else Path(folder)
    secured = None if tls is None else Path(tls)
    with open_executor(executor, threads, allowed_mem, secured) as opened:
        run = _make_run(context, opened, path, on_progress)
        if resume:
            run.restore()
        outcome = run.run()
        tested = None if sets is None else (sets, _decide_sets(run, outcome, sets))
        projected = _projected_mem(run.context, opened)
        del run  # and the codes that it keeps: their memory is needed for the table
        result = make_result(context, outcome, opened, projected, tested)
    if path is not None:
        remove_checkpoint(path)
    return result


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


def _decide_sets(run: Run, outcome: Outcome, sets: FeatureSets) -> SetDecision:
    """Test the sets; the most important relevant features may be carried by their trees."""
    relevant = outcome.decision.relevant
    importance = outcome.state.evidence.importance[relevant]
    most = np.argsort(-importance, kind="stable")[: run.settings.max_carried]
    carried = np.sort(relevant[most])
    return decide_sets(sets, outcome.decision, carried, run.settings, run.executor, run.task)


def make_result(
    context: Context,
    outcome: Outcome,
    executor: Executor,
    projected: int,
    tested: tuple[FeatureSets, SetDecision] | None = None,
) -> Result:
    """Put what a run found into the order of the source's columns."""
    signals, seconds = _signals(context, outcome)
    table = _feature_table(context, outcome)
    groups, group_of = _groups(context, signals, table)
    table = table.append_column("group", group_of)
    of_sets = {}
    if tested is not None:
        table = table.append_column("sets", _sets_of_features(context.store, tested[0]))
        of_sets = {"sets": _set_rows(context.store, *tested, outcome)}
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
            "notices": list(context.store.manifest.notices),
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
            "relevant": _rows(table, table["verdict"], "RELEVANT"),
            "pinned": _rows(table, table["pinned"], True),
            "groups": groups,
            "ungrouped": signals.left_out,
            "minimal": np.sort(context.store.feature_ids[signals.minimal]).tolist(),
            "verdicts": _verdict_counts(table),
            "basis": describe_basis(
                outcome.state.evidence, outcome.decision, context.settings, context.strata
            ),
            "history": [{"n_trees": t, "n_relevant": r} for t, r in outcome.state.history],
            "evidence": _histograms(context, outcome),
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


def _feature_table(context: Context, outcome: Outcome) -> pa.Table:
    store, evidence, decided = context.store, outcome.state.evidence, outcome.decision
    n_features = store.n_features

    def by_id(by_place: np.ndarray) -> np.ndarray:
        ordered = np.empty_like(by_place)
        ordered[store.feature_ids] = by_place
        return ordered

    used = evidence.statistic("used")
    probes = used[1:].mean() if len(used) > 1 else 0.0
    pinned = np.zeros(n_features, np.bool_)
    pinned[context.pinned] = True
    names = pa.array([v.name for v in Verdict])
    verdict = pa.DictionaryArray.from_arrays(by_id(decided.verdict).astype(np.int8), names)
    ids = pa.array(np.arange(n_features))
    return pa.table(
        {
            "feature_id": ids,
            "name": _names(store, ids),
            "verdict": verdict.cast(pa.string()),
            "p_value": by_id(decided.p_value),
            "q_value": by_id(decided.q_value),
            "importance": by_id(evidence.importance) / np.float32(max(outcome.state.n_trees, 1)),
            "effect": by_id(used[0] - probes),
            "n_drawn": by_id(evidence.n_drawn),
            "n_used": by_id(evidence.n_used),
            "pinned": by_id(pinned),
        }
    )


def _signals(context: Context, outcome: Outcome) -> tuple[Signals, dict[str, float]]:
    """What the relevant features come down to, and the times of the run with that of this."""
    started = perf_counter()
    context.scratch.clear()  # the run is over: make room
    relevant = np.flatnonzero(outcome.decision.verdict == Verdict.RELEVANT)
    signals = find_signals(
        context.store.read_places, relevant, outcome.state.evidence.importance[relevant],
        context.splits_by_subset, context.target, context.train, context.tree.criterion,
        context.settings.seed, context.samples.subjects,
    )  # fmt: skip
    spent = perf_counter() - started
    total = outcome.seconds["total"] + spent
    return signals, outcome.seconds | {"group": spent, "total": total}


def _groups(
    context: Context, signals: Signals, table: pa.Table
) -> tuple[list[dict[str, Any]], pa.Array]:
    """Groups for the document, and the number of the group of each feature, null outside of all."""
    groups = []
    number = np.zeros(context.store.n_features, np.int32)
    for at, places in enumerate(signals.groups, 1):
        ids = context.store.feature_ids[places]
        number[ids] = at
        names = table["name"].take(pa.array(ids)).to_pylist()
        groups.append(
            {"group": at, "feature_ids": ids.tolist(), "names": names,
             "representative": int(ids[0])}
        )  # fmt: skip
    return groups, pa.array(number, mask=number == 0)


def _sets_of_features(store: FeatureStore, sets: FeatureSets) -> pa.Array:
    """For each feature the names of the sets that it is in."""
    lists: list[list[str]] = [[] for _ in range(store.n_features)]
    for name, places in zip(sets.names, sets.places, strict=True):
        for feature_id in store.feature_ids[places].tolist():
            lists[feature_id].append(name)
    return pa.array(lists, pa.list_(pa.string()))


def _set_rows(
    store: FeatureStore, sets: FeatureSets, decided: SetDecision, outcome: Outcome
) -> dict[str, Any]:
    """The table of tested sets, in their order."""
    is_relevant = outcome.decision.verdict == Verdict.RELEVANT
    rows = [
        {"set": name, "verdict": Verdict(verdict).name, "p_value": float(p), "q_value": float(q),
         "n_features": len(places), "n_relevant": int(is_relevant[places].sum()),
         "relevant": np.sort(store.feature_ids[places[is_relevant[places]]]).tolist()}
        for name, places, verdict, p, q in zip(
            sets.names, sets.places, decided.verdict, decided.p_value, decided.q_value,
            strict=True)
    ]  # fmt: skip
    return {"rows": rows, "unknown_features": sets.unknown}


def _names(store: FeatureStore, ids: pa.Array) -> pa.Array:
    if not store.has_names:
        return pc.binary_join_element_wise("f", ids.cast(pa.string()), "")
    data, offsets = store.packed_names()
    names = pa.LargeStringArray.from_buffers(
        store.n_features, pa.py_buffer(offsets), pa.py_buffer(data)
    )
    return names.cast(pa.string())


def _rows(table: pa.Table, column: pa.ChunkedArray, value: object) -> list[dict[str, Any]]:
    wanted = [
        "feature_id",
        "name",
        "p_value",
        "q_value",
        "importance",
        "effect",
        "n_drawn",
        "n_used",
    ]
    rows: list[dict[str, Any]] = table.select(wanted).filter(pc.equal(column, value)).to_pylist()
    return rows


def _verdict_counts(table: pa.Table) -> dict[str, int]:
    counts = {v.name: 0 for v in Verdict}
    for row in pc.value_counts(table["verdict"]).to_pylist():
        counts[row["values"]] = row["counts"]
    return counts


def _histograms(context: Context, outcome: Outcome) -> dict[str, Any]:
    """For each kind of evidence, how many features and probes have how much of it."""
    evidence = outcome.state.evidence
    histograms = {}
    for kind in context.settings.evidence if context.shape.n_roles > 1 else ("used",):
        statistic = evidence.statistic(kind)
        top = float(statistic.max()) or 1.0
        edges = np.linspace(0.0, top, HISTOGRAM_BINS + 1)
        histograms[kind] = {
            "edges": [float(f"{e:.6g}") for e in edges],
            "features": np.histogram(statistic[0], edges)[0].tolist(),
            "probes": np.histogram(statistic[1:], edges)[0].tolist(),
            "n_probes": context.shape.n_roles - 1,
        }
    return histograms


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
