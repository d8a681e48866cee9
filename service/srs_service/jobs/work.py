"""What child processes do: jobs, and short questions of requests. Runs in children only.

Calls public names of `srs`. Ends with one message: "done", "interrupted" (a checkpoint is left) or
"failed". What users get to see names no path of the server.
"""

from __future__ import annotations

import logging
import resource
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import srs
from srs.errors import CheckpointError, ClusterError, MemoryBudgetError, RunInterrupted
from srs_service.data.comparing import compare_tables
from srs_service.data.ingest import prepare_ingest
from srs_service.data.layout import folder_size, has_checkpoint
from srs_service.data.store_checks import forget_source
from srs_service.data.tables import read_table
from srs_service.data.wording import hide_paths, name_options
from srs_service.database.documents import (
    DatasetSummary,
    ErrorDocument,
    ExplainSummary,
    IngestSummary,
    ManySummary,
    PairFigures,
    SelectSummary,
    SetFigures,
    TargetSummary,
)
from srs_service.errors import FULL, DiskFull, Invalid, ServiceError
from srs_service.jobs.cluster_watch import watch_cluster
from srs_service.jobs.many import figures_of, open_checked, run_many, without_location
from srs_service.jobs.reporting import Reporter, Room, Stopped, Throttle

log = logging.getLogger("srs_service")

Order = Mapping[str, Any]

MAX_CLASSES = 1_000
SPARE_MEM = 3 << 29  # of the interpreter, its libraries and their threads
INSPECT_MEM = 1 << 30


def run_work(order: Order, reporter: Reporter, room: Room) -> None:
    """Run a order and report its end."""
    try:
        if order["work"] in WRITING:
            found: Mapping[str, Any] = WRITING[order["work"]](order, reporter, room)
        else:
            found = WORK[order["work"]](order, reporter)
    except (RunInterrupted, Stopped):
        reporter.end({"event": "interrupted"})
    except Exception as error:
        reporter.end({"event": "failed", "error": explain_error(error, order)})
    else:
        reporter.end({"event": "done", "found": found})


# -- jobs -------------------------------------------------------------------------------------


def run_select(order: Order, reporter: Reporter, room: Room) -> SelectSummary | ManySummary:
    """A selection, from its checkpoint if there is one, saved into the attempt's folder."""
    if order.get("targets") is not None:
        return run_many(order, reporter, room)
    folder = Path(order["folder"])
    evidence = Throttle()

    def on_progress(now: srs.Progress) -> None:
        reporter.tell(lambda: figures_of(now, evidence))
        if reporter.asked_to_stop:
            raise KeyboardInterrupt

    def run(resume: bool) -> srs.Result:
        return srs.select(
            open_checked(order),
            folder=folder,
            resume=resume,
            on_progress=on_progress,
            finish=reporter.finish,
            threads=order["threads"],
            executor=order["scheduler"],
            tls=order["scheduler_tls"],
            **order["settings"],
        )

    try:
        result = run(resume=has_checkpoint(folder))
    except CheckpointError as error:
        # The answer is the same from the start: a checkpoint saves time only.
        log.warning("checkpoint not used: %s", error)
        result = run(resume=False)
    result = without_location(order, result)
    result.save(folder)
    return _summarise(result)


def _summarise(result: srs.Result) -> SelectSummary:
    """Figures of a selection."""
    outcome = result.document["outcome"]
    of_sets: SetFigures = {}
    if result.sets is not None:
        n_relevant = int((result.sets["verdict"] == "RELEVANT").sum())
        of_sets = {
            "n_sets": len(result.sets),
            "n_relevant_sets": n_relevant,
            "n_unknown_members": outcome["sets"]["unknown_features"],
        }
    of_pairs: PairFigures = {}
    if "pairs" in outcome:
        of_pairs = {"n_pairs": len(outcome["pairs"])}
    return {
        **of_pairs,
        "n_relevant": len(outcome["relevant"]),
        "n_trees": outcome["n_trees"],
        **of_sets,
        "n_passes": outcome["n_passes"],
        "stop_reason": outcome["stop_reason"],
        "verdicts": outcome["verdicts"],
        "seconds": result.document["measured"]["seconds"],
        "peak_mem": result.peak_mem,
    }


def run_explain(order: Order, reporter: Reporter) -> ExplainSummary:
    """An explanation, saved into the attempt's folder."""
    _bound_memory(order["memory_bytes"])

    def on_progress(share: float, doing: str) -> None:
        reporter.tell(lambda: {"share": round(share, 4), "doing": doing})
        reporter.stop_if_asked()

    settings = order["settings"]
    why = srs.explain(
        open_checked(order),
        settings["target"],
        order["features"],
        [_request(entry) for entry in settings["analyses"]],
        settings["seed"],
        n_trees=settings["n_trees"],
        threads=order["threads"],
        subjects=settings.get("subjects"),  # jobs of version 0.1 have none
        on_progress=on_progress,
    )
    why.save(order["folder"])
    return {
        "analyses": list(why.analyses),
        "n_features": why.data["n_features"],
        "seconds": why.measured["seconds"],
    }


def _request(entry: Mapping[str, Any]) -> str | tuple[str, Mapping[str, Any]]:
    """An analysis as `srs.explain` is asked for it; jobs of version 0.1 have no options."""
    named = entry["analysis"] + (f"={entry['value']}" if entry["value"] else "")
    options = entry.get("options")
    return (named, options) if options else named


def run_ingest(order: Order, reporter: Reporter, room: Room) -> IngestSummary:
    """A feature store from a source; a feature store in an archive is taken as it is."""
    location = Path(order["location"])
    _bound_memory(order["memory_bytes"])

    def on_progress(done: int, of: int) -> None:
        room.watch(location, done, of)
        reporter.tell(lambda: {"share": round(done / max(of, 1), 4), "doing": "ingest"})
        reporter.stop_if_asked()

    def on_bytes(n_bytes: int) -> None:
        room.take(n_bytes)
        reporter.tell(lambda: {"doing": "fetch"})
        reporter.stop_if_asked()

    source, options = prepare_ingest(order, on_bytes)
    if options is None:
        room.take(folder_size(source))
        shutil.copytree(source, location)
        forget_source(location)
        store = srs.open_store(location)
    else:
        store = srs.ingest(source, location, overwrite=True, on_progress=on_progress, **options)
    if store.n_features > order["limits"]["max_features"]:
        raise Invalid(f"the source has {store.n_features} features, more than are allowed.")
    return {"about": describe(store), "n_bytes": folder_size(location)}


def _bound_memory(n_bytes: int) -> None:
    """The kernel refuses more than this: what inflates without end fails here and alone."""
    limit = n_bytes + SPARE_MEM
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


# -- questions --------------------------------------------------------------------------------


def inspect_store(order: Order, _reporter: Reporter) -> DatasetSummary:
    """What a store holds."""
    _bound_memory(INSPECT_MEM)
    return describe(open_checked(order))


def describe(store: srs.FeatureStore) -> DatasetSummary:
    """What users may know of a store: not where it is."""
    about = store.describe()
    targets: list[TargetSummary] = []
    for target in about["targets"]:
        classes = target.get("classes")
        told = None if classes is None or len(classes) > MAX_CLASSES else classes
        targets.append({"name": target["name"], "kind": target["kind"], "classes": told})
    return {
        "n_features": about["n_features"],
        "n_samples": about["n_samples"],
        "kinds": about["kinds"],
        "any_missing": about["any_missing"],
        "fingerprint": about["fingerprint"],
        "notices": [name_options(notice) for notice in about["notices"]],
        "targets": targets,
    }


def check_select(order: Order, _reporter: Reporter) -> dict[str, Any]:
    """Whether a selection could start."""
    store = open_checked(order)
    srs.check(store, **order["settings"])
    return {}


def make_plan(order: Order, _reporter: Reporter) -> dict[str, Any]:
    """What a selection would cost."""
    store = open_checked(order)
    planned = srs.plan(store, threads=order["threads"], **order["settings"])
    found = planned.to_json()
    return found | {"pair_trees": found["pair_trees"] if found["pair_trees"] < 1e300 else None}


# Jobs whose files may grow beyond what is reserved at their start.
WRITING: dict[str, Callable[[Order, Reporter, Room], Mapping[str, Any]]] = {
    "ingest": run_ingest,
    "select": run_select,
}
WORK: dict[str, Callable[[Order, Reporter], Mapping[str, Any]]] = {
    "explain": run_explain,
    "inspect": inspect_store,
    "check": check_select,
    "plan": make_plan,
    "table": lambda order, _reporter: read_table(order),
    "compare": lambda order, _reporter: compare_tables(order),
    "cluster": watch_cluster,
}


# -- errors -----------------------------------------------------------------------------------


def explain_error(error: Exception, order: Order) -> ErrorDocument:
    """An error for users: whose it is, in words, without paths of the server."""
    if is_disk_full(error):
        log.error("the disk is full: %s", error)
        return {
            "code": DiskFull.code,
            "yours": False,
            "detail": "the disk of the service is full: tell the administrator, and resume the job "
            "when there is space.",
        }
    if isinstance(error, MemoryBudgetError):
        return {
            "code": "does-not-fit",
            "detail": hide_paths(str(error), order),
            "yours": True,
            "needed_mem": error.needed_mem,
            "allowed_mem": error.allowed_mem,
        }
    if isinstance(error, ClusterError):
        log.error("cluster: %s", error)
        return {
            "code": "cluster",
            "yours": False,
            "detail": "the scheduler or the workers of the service failed: resume the job, "
            "which continues from its checkpoint, and tell the administrator if it "
            "fails again.",
        }
    if isinstance(error, srs.SRSError):
        return {"code": "input", "detail": hide_paths(str(error), order), "yours": True}
    if isinstance(error, ServiceError):
        return {"code": error.code, "detail": hide_paths(error.detail, order), "yours": True}
    if isinstance(error, MemoryError):
        return {
            "code": "memory",
            "detail": "the job needed more memory than allowed.",
            "yours": True,
        }
    log.exception("order %s failed", order["work"])
    return {
        "code": "internal",
        "detail": "an unexpected error; see the service's log.",
        "yours": False,
    }


def is_disk_full(error: BaseException | None) -> bool:
    """Whether an error, or what it comes from, is that the disk has no space left."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in FULL:
            return True
        error = error.__cause__ or error.__context__
    return False
