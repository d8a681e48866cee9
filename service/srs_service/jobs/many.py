"""Selections in child processes: what they tell while they run, and runs on many targets."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import quote

import srs
from srs.errors import CheckpointError
from srs_service.data.store_checks import check_zarr
from srs_service.data.wording import hide_paths
from srs_service.database.documents import Figures, ManySummary
from srs_service.errors import Invalid
from srs_service.jobs.reporting import Reporter, Room, Throttle

log = logging.getLogger("srs_service")

Order = Mapping[str, Any]


def run_many(order: Order, reporter: Reporter, room: Room) -> ManySummary:
    """A selection for each of many targets; those that an earlier attempt has done stay."""
    folder, evidence, started = Path(order["folder"]), Throttle(), monotonic()

    def on_progress(now: srs.ManyProgress) -> None:
        reporter.tell(lambda: _figures_of_many(now, evidence, monotonic() - started))
        if now.run is None:
            _have_room(room, folder, now)
        elif reporter.asked_to_stop:
            raise KeyboardInterrupt

    def run(resume: bool) -> srs.ManyResults:
        settings = {name: value for name, value in order["settings"].items() if name != "target"}
        return srs.select_many(
            open_checked(order),
            order["targets"],
            folder=folder,
            resume=resume,
            on_progress=on_progress,
            on_result=lambda result: without_location(order, result),
            finish=reporter.finish,
            threads=order["threads"],
            executor=order["scheduler"],
            tls=order["scheduler_tls"],
            **settings,
        )

    try:
        results = run(resume=True)
    except CheckpointError as error:
        # The answer is the same from the start: a checkpoint saves time only.
        log.warning("checkpoint not used: %s", error)
        results = run(resume=False)
    results.failed = {name: hide_paths(said, order) for name, said in results.failed.items()}
    results.save(folder, link=lambda row: f"report?target={quote(row['target'], safe='')}")
    rows = results.summary()
    relevant = {int(i) for result in results.values() for i in result.relevant_ids}
    return {
        "n_targets": len(rows),
        "n_failed": len(results.failed),
        "n_relevant": len(relevant),
        "seconds": round(monotonic() - started, 3),
        "peak_mem": max((result.peak_mem for result in results.values()), default=0),
    }


def _have_room(room: Room, folder: Path, now: srs.ManyProgress) -> None:
    """Ask for the bytes of all targets, by those that are done; OverQuota if they may not be."""
    n_there = sum(1 for _ in folder.glob("*/result.json"))  # also of earlier attempts
    n_left = now.n_targets - max(now.n_done, n_there)
    if n_there:
        room.watch(folder, n_there, n_there + n_left)


def without_location(order: Order, result: srs.Result) -> srs.Result:
    """Where the service keeps a store is nobody's business but its own."""
    measured = {**result.document["measured"], "store": Path(order["location"]).name}
    return replace(result, document={**result.document, "measured": measured})


def _figures_of_many(now: srs.ManyProgress, evidence: Throttle, seconds: float) -> Figures:
    """How far a selection for many targets is."""
    figures: Figures = {} if now.run is None else figures_of(now.run, evidence)
    stage = figures.pop("stage", None)
    share = stage["n_done"] / stage["n_steps"] / 2 if stage else figures.get("share") or 0.0
    done = (now.n_done + share) / now.n_targets
    number = min(now.n_done + 1, now.n_targets)
    figures["doing"] = f"target {now.target} ({number} of {now.n_targets})"
    figures["share"] = round(done, 4)
    figures["remaining_seconds"] = round(seconds * (1.0 - done) / done, 1) if now.n_done else None
    return figures


def figures_of(now: srs.Progress, evidence: Throttle) -> Figures:
    """How far a selection is; the evidence now and then."""
    seen, left = evidence.ask(now.histograms), now.remaining_seconds
    figures: Figures = {} if seen is None else {"evidence": seen}
    if now.stage is not None:
        figures["doing"] = srs.evidence_kinds()[now.stage.kind].doing
        figures["stage"] = {
            "kind": now.stage.kind,
            "n_done": now.stage.n_done,
            "n_steps": now.stage.n_steps,
        }
    figures.update(
        {
            "n_rounds": now.n_rounds,
            "n_trees": now.n_trees,
            "n_passes": round(now.n_passes, 4),
            "n_relevant": now.n_relevant,
            "remaining_seconds": None if left is None else round(left, 1),
            "share": None if left is None else _share(now.seconds, left),
        }
    )
    return figures


def _share(done: float, left: float) -> float:
    return round(done / (done + left), 4) if done + left > 0 else 0.0


def open_checked(order: Order) -> srs.FeatureStore:
    """Open the store of a order after looking at it as a stranger's.

    A source that its manifest names is forgotten unless users may read it: analyses would open it.
    """
    location, limits = order["location"], order["limits"]
    if "://" not in location:
        check_zarr(Path(location), limits["max_features"])
    store = srs.open_store(location)
    if store.n_features > limits["max_features"]:
        raise Invalid(f"the store has {store.n_features} features, more than are allowed.")
    source = moved_source(store.manifest.source, limits.get("own", ()))
    named = (source.get("path"), source.get("mask"), dict(source.get("table") or {}).get("path"))
    resolved = [Path(str(name)).resolve() for name in named if name is not None]
    readable = (*limits["readable"], *limits.get("own", ()))
    if not all(any(r.is_relative_to(root) for root in readable) for r in resolved):
        source = {}
    store.manifest = replace(store.manifest, source=source)
    return store


def moved_source(source: Mapping[str, Any], own: Sequence[str]) -> dict[str, Any]:
    """What a manifest says of its source, with the paths that the data folder has now.

    own  folders of the data folder that the ingest has read

    >>> moved_source({"path": "/old/uploads/u_1/X.csv", "n": 3}, ["/new/uploads/u_1"])
    {'path': '/new/uploads/u_1/X.csv', 'n': 3}
    """

    def moved(path: Any) -> Any:
        for folder in map(Path, own):
            inside = f"/{folder.parent.name}/{folder.name}/"
            if isinstance(path, str) and inside in path:
                return str(folder / path.partition(inside)[2])
        return path

    found = {**source, **{n: moved(source[n]) for n in ("path", "mask") if n in source}}
    if isinstance(source.get("table"), Mapping):
        table = dict(source["table"])
        found["table"] = {**table, **({"path": moved(table["path"])} if "path" in table else {})}
    return found
