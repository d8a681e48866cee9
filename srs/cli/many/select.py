"""`srs select --targets`: features of many targets, one result each, and an overview."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Any

import typer

from srs.cli import progress
from srs.cli.failures import StopRequest, finish_request, notices_shown
from srs.cli.metrics_file import write_figures
from srs.errors import SettingsError

TABLES = (".csv", ".tsv", ".txt", ".parquet")


def select_targets(targets: str, given: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Select for all targets, save and print what was found.

    targets    "all", names with commas between them, or a table whose columns are added first
    given      options of `srs select`, and as `out` a folder in any case
    arguments  what they are as arguments of `srs.select`
    """
    if given["target"] is not None:
        raise SettingsError("--target is for one target and --targets for many: choose one.")
    folder: Path = given["out"]
    _prepare(folder, given["resume"], given["overwrite"])
    del arguments["target"]
    chosen = _choose(targets, given)
    try:
        results = _run(given, arguments, chosen, folder)
    finally:
        with contextlib.suppress(OSError):  # only an empty folder goes: nothing came of it
            folder.rmdir()
    if given["as_json"]:
        found = {"out": str(folder), "targets": results.summary()}
        typer.echo(json.dumps(found, indent=1))
    else:
        typer.echo(_render(results, folder))


def _choose(targets: str, given: dict[str, Any]) -> Any:
    """What `srs.select_many` takes as targets."""
    path = Path(targets)
    if path.suffix.lower() in TABLES and path.is_file():
        from srs.ingest.more_targets import ensure_targets

        return ensure_targets(given["store"], path)
    if targets == "all":
        return targets
    names = [name.strip() for name in targets.split(",") if name.strip()]
    if not names:
        raise SettingsError("--targets names no target: give names, a table, or all.")
    return names


def _prepare(folder: Path, resume: bool, overwrite: bool) -> None:
    """Make the folder, or refuse one that holds what would be lost."""
    from srs.engine.checkpoint import has_checkpoint, remove_checkpoint
    from srs.results.many import TARGETS_NAME
    from srs.results.result import JSON_NAME

    if resume and overwrite:
        raise SettingsError("--resume continues runs and --overwrite starts new ones: choose one.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"{folder} cannot be made: {error.strerror}.") from None
    inside = [one for one in folder.iterdir() if one.is_dir()]
    begun = [one for one in inside if (one / JSON_NAME).exists() or has_checkpoint(one)]
    if overwrite:
        (folder / TARGETS_NAME).unlink(missing_ok=True)
        for one in begun:
            remove_checkpoint(one)
    elif not resume and (begun or (folder / JSON_NAME).exists()):
        raise SettingsError(
            f"{folder} already contains results: continue with --resume, choose another --out, or "
            "--overwrite."
        )


def _run(given: dict[str, Any], arguments: dict[str, Any], chosen: Any, folder: Path) -> Any:
    from srs.selection.many import ManyProgress, select_many

    as_json, figures = given["as_json"], given["figures"]
    live = sys.stderr.isatty() and not as_json
    with (
        notices_shown(as_json),
        StopRequest(quiet=as_json) as stop,
        finish_request(quiet=as_json) as finish,
        progress.shown("select", as_json) as show,
    ):

        def on_progress(now: ManyProgress) -> None:
            if now.run is None:
                if not live:
                    print(_done_line(now, as_json), file=sys.stderr, flush=True)
                return
            share, text = progress.describe_run(now.run)
            done = (now.n_done + min(1.0, share or 0.0)) / now.n_targets
            show(done, f"{now.target} ({now.n_done + 1} of {now.n_targets}): {text}")
            if now.run.round_ended and figures is not None:
                write_figures(figures, now.run)
            stop.obey(now.run.n_trees, in_steps=now.run.stage is not None)

        arguments["finish"] = finish
        arguments["folder"], arguments["on_progress"] = folder, on_progress
        return select_many(given["store"], chosen, **arguments)


def _done_line(now: Any, as_json: bool) -> str:
    """One line for a log, when a target is done."""
    if as_json:
        line = {
            "event": "target",
            "target": now.target,
            "n_done": now.n_done,
            "n_targets": now.n_targets,
        }
        return json.dumps(line)
    return f"select: {now.target} is done, {now.n_done} of {now.n_targets} targets"


def _render(results: Any, folder: Path) -> str:
    from srs.report.text import clean_name, count
    from srs.results.many import PAGE_NAME

    lines = []
    for row in results.summary():
        if row["error"] is not None:
            lines.append(f"  {clean_name(row['target'])}: no result, {row['error']}")
            continue
        names = ", ".join(clean_name(one) for one in row["relevant"][:5])
        more = ", ..." if len(row["relevant"]) > 5 else ""
        found = count(row["n_relevant"], "relevant feature")
        listed = f" ({names}{more})" if names else ""
        lines.append(f"  {clean_name(row['target'])}: {found}{listed}")
    return "\n".join(
        [f"{count(len(results), 'target')} in {folder}", *lines, f"Overview: {folder / PAGE_NAME}"]
    )
