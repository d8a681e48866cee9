"""What child processes do: jobs, and short questions of requests. Runs in children only.

Calls public names of `srs`. Ends with one message: "done", "interrupted" (a checkpoint is left) or
"failed". What users get to see names no path of the server.
"""

from __future__ import annotations

import logging
import resource
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import srs
from service.layout import has_checkpoint
from service.tables import read_table
from srs.errors import CheckpointError, ClusterError, MemoryBudgetError, RunInterrupted

log = logging.getLogger("service")

Task = Mapping[str, Any]
Report = Callable[[Mapping[str, Any]], None]

# Imported by the template process, so that children start with them.
PRELOADED = (srs.select, srs.explain, srs.plan, srs.check, srs.open_store, srs.load_result)
SECONDS_BETWEEN_REPORTS = 0.25
MAX_CLASSES = 1_000


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

    def tell(self, progress: Mapping[str, Any]) -> None:
        now = time.monotonic()
        elapsed = now - self._started
        # A day of progress is then some 4,000 events, not 350,000.
        if now - self._told < max(SECONDS_BETWEEN_REPORTS, elapsed / 500):
            return
        self._told = now
        peak_mem = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        told = {"seconds": round(elapsed, 3), "peak_mem": peak_mem, **progress}
        self._report({"event": "progress", "progress": told})

    @property
    def asked_to_stop(self) -> bool:
        return self._stop.is_set()


# -- jobs -------------------------------------------------------------------------------------


def run_select(task: Task, teller: Teller) -> dict[str, Any]:
    """A selection, from its checkpoint if there is one, saved into the attempt's folder."""
    folder = Path(task["folder"])

    def on_progress(now: srs.Progress) -> None:
        left = now.remaining_seconds
        teller.tell(
            {
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
            task["location"], folder=folder, resume=resume, on_progress=on_progress,
            threads=task["threads"], executor=task["scheduler"], tls=task["scheduler_tls"],
            **task["settings"],
        )  # fmt: skip

    try:
        result = run(resume=has_checkpoint(folder))
    except CheckpointError as error:
        # The answer is the same from the start: a checkpoint saves time only.
        log.warning("checkpoint not used: %s", error)
        result = run(resume=False)
    result.save(folder)
    outcome = result.document["outcome"]
    return {
        "n_relevant": len(outcome["relevant"]), "n_trees": outcome["n_trees"],
        "n_passes": outcome["n_passes"], "stop_reason": outcome["stop_reason"],
        "verdicts": outcome["verdicts"], "seconds": result.document["measured"]["seconds"],
        "peak_mem": result.peak_mem,
    }  # fmt: skip


def run_explain(task: Task, teller: Teller) -> dict[str, Any]:
    """An explanation, saved into the attempt's folder."""

    def on_progress(share: float, doing: str) -> None:
        teller.tell({"share": round(share, 4), "doing": doing})
        if teller.asked_to_stop:
            raise Stopped

    settings = task["settings"]
    requests = [
        entry["analysis"] + (f"={entry['value']}" if entry["value"] else "")
        for entry in settings["analyses"]
    ]
    why = srs.explain(
        task["location"], settings["target"], task["features"], requests, settings["seed"],
        n_trees=settings["n_trees"], threads=task["threads"], on_progress=on_progress,
    )  # fmt: skip
    why.save(task["folder"])
    return {
        "analyses": list(why.analyses), "n_features": why.data["n_features"],
        "seconds": why.measured["seconds"],
    }  # fmt: skip


def run_ingest(task: Task, teller: Teller) -> dict[str, Any]:
    """A feature store from a source."""

    def on_progress(done: int, of: int) -> None:
        teller.tell({"share": round(done / max(of, 1), 4), "doing": "ingest"})
        if teller.asked_to_stop:
            raise Stopped

    store = srs.ingest(
        task["source"], task["location"], target=task["target"], memory=task["memory"],
        orientation=task["orientation"], task=task["target_task"],
        categorical=task["categorical"], overwrite=True, on_progress=on_progress,
    )  # fmt: skip
    return {
        "location": task["location"], "about": describe(store),
        "n_bytes": sum(f.stat().st_size for f in Path(task["location"]).rglob("*") if f.is_file()),
    }  # fmt: skip


# -- questions --------------------------------------------------------------------------------


def inspect_store(task: Task, _teller: Teller) -> dict[str, Any]:
    """What a store holds."""
    return describe(srs.open_store(task["location"]))


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
    srs.check(task["location"], remote=task["scheduler"] is not None, **task["settings"])
    return {}


def make_plan(task: Task, _teller: Teller) -> dict[str, Any]:
    """What a selection would cost."""
    planned = srs.plan(task["location"], workers=task["threads"], **task["settings"])
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
        return {"code": "cluster", "detail": "the workers failed: try again.", "yours": False}
    if isinstance(error, srs.SRSError):
        return {"code": "input", "detail": hide_paths(str(error), task), "yours": True}
    if isinstance(error, MemoryError):
        return {"code": "memory", "detail": "the job held more memory than it may.", "yours": True}
    log.exception("task %s failed", task["task"])
    return {"code": "internal", "detail": "an unexpected error; see the service's log.",
            "yours": False}  # fmt: skip


def hide_paths(text: str, task: Task) -> str:
    """The text with names in the place of the server's paths."""
    hidden = {"location": "the dataset", "folder": "the job", "source": "the source"}
    for name, shown in hidden.items():
        path = task.get(name)
        if isinstance(path, str) and path:
            text = text.replace(path, shown)
    if isinstance(target := task.get("target"), str) and "/" in target:
        text = text.replace(target, "the target")
    return text
