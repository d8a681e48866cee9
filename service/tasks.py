"""What child processes do: jobs, and short questions of requests. Runs in children only.

Calls public names of `srs`. Ends with one message: "done", "interrupted" (a checkpoint is left) or
"failed". What users get to see names no path of the server.
"""

from __future__ import annotations

import json
import logging
import resource
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import srs
from service.errors import Invalid, ServiceError
from service.layout import has_checkpoint
from service.sources import prepare_source
from service.store_checks import check_zarr
from service.tables import read_table
from srs.errors import CheckpointError, ClusterError, MemoryBudgetError, RunInterrupted

log = logging.getLogger("service")

Task = Mapping[str, Any]
Report = Callable[[Mapping[str, Any]], None]

SECONDS_BETWEEN_REPORTS = 0.25
SECONDS_BETWEEN_LOOKS = 2.0  # at the evidence
MAX_CLASSES = 1_000
SPARE_MEM = 3 << 29  # of the interpreter, its libraries and their threads
INSPECT_MEM = 1 << 30


class Stopped(Exception):
    """The task was asked to stop, and has nothing to keep."""


def run_task(task: Task, report: Report, stop: threading.Event) -> None:
    """Run a task and report its end."""
    teller = Teller(report, stop)
    try:
        found = TASKS[task["task"]](task, teller)
    except (RunInterrupted, Stopped):
        report({"event": "interrupted"})
    except Exception as error:
        report({"event": "failed", "error": explain_error(error, task)})
    else:
        report({"event": "done", "found": found})


class Teller:
    """Tells progress, at most four times a second, and less often in long jobs."""

    def __init__(self, report: Report, stop: threading.Event) -> None:
        self._report = report
        self._stop = stop
        self._started = time.monotonic()
        self._told = 0.0

    def tell(self, progress: Callable[[], Mapping[str, Any]]) -> None:
        """Tell it if it is time to: only then it is asked for."""
        now = time.monotonic()
        elapsed = now - self._started
        # A day of progress is then some 4,000 events, not 350,000.
        if now - self._told < max(SECONDS_BETWEEN_REPORTS, elapsed / 500):
            return
        self._told = now
        peak_mem = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        told = {"seconds": round(elapsed, 3), "peak_mem": peak_mem, **progress()}
        self._report({"event": "progress", "progress": told})

    @property
    def asked_to_stop(self) -> bool:
        return self._stop.is_set()

    def stop_if_asked(self) -> None:
        if self.asked_to_stop:
            raise Stopped


class Seldom:
    """What is long to tell or takes time: every few seconds, and less often in long jobs."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._next = 0.0

    def ask(self, name: str, make: Callable[[], Any]) -> dict[str, Any]:
        """What is made, under its name; nothing if it is not time yet."""
        now = time.monotonic()
        if now < self._next:
            return {}
        made = make()
        took = time.monotonic() - now
        # A day has then some 400 of these, and making them takes 2 % of the time at most.
        self._next = now + max(SECONDS_BETWEEN_LOOKS, (now - self._started) / 50, 50 * took)
        return {name: made}


# -- jobs -------------------------------------------------------------------------------------


def run_select(task: Task, teller: Teller) -> dict[str, Any]:
    """A selection, from its checkpoint if there is one, saved into the attempt's folder."""
    folder = Path(task["folder"])
    evidence = Seldom()

    def on_progress(now: srs.Progress) -> None:
        left = now.remaining_seconds
        teller.tell(
            lambda: {
                **evidence.ask("evidence", now.histograms),
                "n_rounds": now.n_rounds, "n_trees": now.n_trees,
                "n_passes": round(now.n_passes, 4), "n_relevant": now.n_relevant,
                "remaining_seconds": None if left is None else round(left, 1),
                "share": None if left is None else round(now.seconds / (now.seconds + left), 4)
                if now.seconds + left > 0 else 0.0,
            }
        )  # fmt: skip
        if teller.asked_to_stop:
            raise KeyboardInterrupt

    def run(resume: bool) -> srs.Result:
        return srs.select(
            open_checked(task), folder=folder, resume=resume, on_progress=on_progress,
            threads=task["threads"], executor=task["scheduler"], tls=task["scheduler_tls"],
            **task["settings"],
        )  # fmt: skip

    try:
        result = run(resume=has_checkpoint(folder))
    except CheckpointError as error:
        # The answer is the same from the start: a checkpoint saves time only.
        log.warning("checkpoint not used: %s", error)
        result = run(resume=False)
    # Where the service keeps a store is nobody's business but its own.
    measured = {**result.document["measured"], "store": Path(task["location"]).name}
    result = replace(result, document={**result.document, "measured": measured})
    result.save(folder)
    outcome = result.document["outcome"]
    of_sets = {}
    if result.sets is not None:
        n_relevant = int((result.sets["verdict"] == "RELEVANT").sum())
        of_sets = {
            "n_sets": len(result.sets), "n_relevant_sets": n_relevant,
            "n_unknown_members": outcome["sets"]["unknown_features"],
        }  # fmt: skip
    return {
        "n_relevant": len(outcome["relevant"]), "n_trees": outcome["n_trees"], **of_sets,
        "n_passes": outcome["n_passes"], "stop_reason": outcome["stop_reason"],
        "verdicts": outcome["verdicts"], "seconds": result.document["measured"]["seconds"],
        "peak_mem": result.peak_mem,
    }  # fmt: skip


def run_explain(task: Task, teller: Teller) -> dict[str, Any]:
    """An explanation, saved into the attempt's folder."""
    _bound_memory(task["memory_bytes"])

    def on_progress(share: float, doing: str) -> None:
        teller.tell(lambda: {"share": round(share, 4), "doing": doing})
        teller.stop_if_asked()

    settings = task["settings"]
    requests = [
        entry["analysis"] + (f"={entry['value']}" if entry["value"] else "")
        for entry in settings["analyses"]
    ]
    why = srs.explain(
        open_checked(task), settings["target"], task["features"], requests, settings["seed"],
        n_trees=settings["n_trees"], threads=task["threads"], on_progress=on_progress,
    )  # fmt: skip
    why.save(task["folder"])
    return {
        "analyses": list(why.analyses), "n_features": why.data["n_features"],
        "seconds": why.measured["seconds"],
    }  # fmt: skip


def run_ingest(task: Task, teller: Teller) -> dict[str, Any]:
    """A feature store from a source; a feature store in an archive is taken as it is."""
    location, folder = Path(task["location"]), Path(task["folder"])
    _bound_memory(task["memory_bytes"])

    def on_progress(done: int, of: int) -> None:
        teller.tell(lambda: {"share": round(done / max(of, 1), 4), "doing": "ingest"})
        teller.stop_if_asked()

    def on_bytes(_n_bytes: int) -> None:
        teller.tell(lambda: {"doing": "fetch"})
        teller.stop_if_asked()

    source = prepare_source(task["source"], folder, task["limits"], on_bytes)
    target = task["target_column"]
    if task["target_file"] is not None:
        target = str(prepare_source(task["target_file"], folder, task["limits"], on_bytes))
    if _is_feature_store(source):
        shutil.copytree(source, location)
        store = srs.open_store(location)
    else:
        store = srs.ingest(
            source, location, target=target, memory=task["memory"],
            orientation=task["orientation"], task=task["target_task"],
            categorical=task["categorical"], id_column=task["id_column"], overwrite=True,
            on_progress=on_progress,
        )  # fmt: skip
    if store.n_features > task["limits"]["max_features"]:
        raise Invalid(f"the source has {store.n_features} features, more than are allowed.")
    files = (f for f in location.rglob("*") if f.is_file())
    return {
        "location": str(location), "about": describe(store),
        "n_bytes": sum(file.stat().st_size for file in files),
    }  # fmt: skip


def _is_feature_store(path: Path) -> bool:
    try:
        raw = json.loads((path / "zarr.json").read_bytes())
    except (OSError, ValueError):
        return False
    return "srs" in (raw.get("attributes") or {})


def _bound_memory(n_bytes: int) -> None:
    """The kernel refuses more than this: what inflates without end fails here and alone."""
    limit = n_bytes + SPARE_MEM
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def open_checked(task: Task) -> srs.FeatureStore:
    """Open the store of a task after looking at it as a stranger's.

    A source that its manifest names is forgotten unless users may read it: analyses would open it.
    """
    location, limits = task["location"], task["limits"]
    if "://" not in location:
        check_zarr(Path(location), limits["max_features"])
    store = srs.open_store(location)
    if store.n_features > limits["max_features"]:
        raise Invalid(f"the store has {store.n_features} features, more than are allowed.")
    named = store.manifest.source.get("path")
    if named is not None:
        resolved = Path(named).resolve()
        if not any(resolved.is_relative_to(root) for root in limits["readable"]):
            store.manifest = replace(store.manifest, source={})
    return store


# -- questions --------------------------------------------------------------------------------


def inspect_store(task: Task, _teller: Teller) -> dict[str, Any]:
    """What a store holds."""
    _bound_memory(INSPECT_MEM)
    return describe(open_checked(task))


def describe(store: srs.FeatureStore) -> dict[str, Any]:
    """What users may know of a store: not where it is."""
    about = store.describe()
    for target in about["targets"]:
        if len(target.get("classes", ())) > MAX_CLASSES:
            target["classes"] = None
    targets = [{k: t.get(k) for k in ("name", "task", "classes")} for t in about["targets"]]
    wanted = ("n_features", "n_samples", "kinds", "any_missing", "fingerprint", "notices")
    return {name: about[name] for name in wanted} | {"targets": targets}


def check_select(task: Task, _teller: Teller) -> dict[str, Any]:
    """Whether a selection could start."""
    store = open_checked(task)
    srs.check(store, **task["settings"])
    return {}


def make_plan(task: Task, _teller: Teller) -> dict[str, Any]:
    """What a selection would cost."""
    store = open_checked(task)
    # Sets are tested after the loop, which a plan is of.
    settings = {k: v for k, v in task["settings"].items() if k != "feature_sets"}
    planned = srs.plan(store, workers=task["threads"], **settings)
    found = planned.to_json()
    return found | {"pair_trees": found["pair_trees"] if found["pair_trees"] < 1e300 else None}


TASKS: dict[str, Callable[[Task, Teller], dict[str, Any]]] = {
    "select": run_select,
    "explain": run_explain,
    "ingest": run_ingest,
    "inspect": inspect_store,
    "check": check_select,
    "plan": make_plan,
    "table": lambda task, _teller: read_table(task),
}


# -- errors -----------------------------------------------------------------------------------


def explain_error(error: Exception, task: Task) -> dict[str, Any]:
    """An error for users: whose it is, in words, without paths of the server."""
    if isinstance(error, MemoryBudgetError):
        return {
            "code": "does-not-fit", "detail": hide_paths(str(error), task), "yours": True,
            "needed_mem": error.needed_mem, "allowed_mem": error.allowed_mem,
        }  # fmt: skip
    if isinstance(error, ClusterError):
        log.error("cluster: %s", error)
        return {
            "code": "cluster", "yours": False,
            "detail": "the scheduler or the workers of the service failed: resume the job, which "
            "goes on from its checkpoint, and tell the administrator if it fails again.",
        }  # fmt: skip
    if isinstance(error, srs.SRSError):
        return {"code": "input", "detail": hide_paths(str(error), task), "yours": True}
    if isinstance(error, ServiceError):
        return {"code": error.code, "detail": hide_paths(error.detail, task), "yours": True}
    if isinstance(error, MemoryError):
        return {"code": "memory", "detail": "the job held more memory than it may.", "yours": True}
    log.exception("task %s failed", task["task"])
    return {"code": "internal", "detail": "an unexpected error; see the service's log.",
            "yours": False}  # fmt: skip


def hide_paths(text: str, task: Task) -> str:
    """The text with names in the place of the server's paths."""
    hidden = {
        str(task.get("location") or ""): "the dataset",
        str(task.get("folder") or ""): "the job",
    }
    for name in ("source", "target_file"):
        if (file := task.get(name)) is not None and file["path"] is not None:
            hidden[file["path"]] = f"the {file['as']}"
    for path, shown in sorted(hidden.items(), key=lambda entry: -len(entry[0])):
        text = text.replace(path, shown) if path else text
    return text
