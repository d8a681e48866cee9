"""`srs watch` and `srs fetch`: the progress and the result of a job of a service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from srs.cli.failures import reported
from srs.cli.remote import DEFAULT_URL, ApiKey, AsJson, JobArgument, Url, connected, said, watch_job


def watch(
    job: JobArgument,
    events: Annotated[
        bool,
        typer.Option(
            "--events", help="Print all events from the first one, one JSON line per event."
        ),
    ] = False,
    url: Url = DEFAULT_URL,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Show the progress of a job until it has ended.

    Ctrl-C ends the watching only. Exit code 7: the job failed or was cancelled.

    \b
    Examples:
      srs watch JOB
      srs watch JOB --events > events.jsonl
      srs watch JOB && srs fetch JOB --out run1
    """
    with reported(as_json), connected(url, api_key) as client:
        found = client.jobs.get(job)
        if events:
            for event in found.events():
                line = {"number": event.number, "event": event.kind, **event.data}
                print(json.dumps(line), flush=True)
            found.refresh().check()
            return
        watch_job(found, as_json)
        typer.echo(json.dumps(found.document, indent=1) if as_json else said(found))


def fetch(
    job: JobArgument,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the result. Default: the id of the job.")
    ] = None,
    url: Url = DEFAULT_URL,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Write the result of a job to a folder, as `srs select` or `srs explain` would write it.

    \b
    Examples:
      srs fetch JOB --out run1
      srs report run1
      srs fetch JOB --out run1 --json
    """
    with reported(as_json), connected(url, api_key) as client:
        found = client.jobs.get(job)
        folder = found.save(out or Path(found.id))
        written = sorted(path.name for path in folder.iterdir())
        if as_json:
            typer.echo(json.dumps({"out": str(folder), "files": written}, indent=1))
        elif found.kind == "select":
            from srs.report import render_terminal
            from srs.results.result import load_result

            typer.echo(render_terminal(load_result(folder).document, str(folder)), nl=False)
        else:
            typer.echo(f"{folder}: {', '.join(written)}")
