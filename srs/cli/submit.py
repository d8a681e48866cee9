"""`srs submit`: start a job on a service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from srs.cli import options
from srs.cli.failures import reported
from srs.cli.remote import (
    DEFAULT_URL,
    ApiKey,
    AsJson,
    Url,
    connected,
    find_dataset,
    said,
    watch_job,
)
from srs.errors import SettingsError

if TYPE_CHECKING:
    from srs.client import Client, Dataset, Job


def submit(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help="Name or id of a dataset of the service, or a file here, which is sent first.",
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Target; of a file: its column, or a file of its own."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="Register this store of the service first, and call it DATASET."
        ),
    ] = None,
    memory: Annotated[
        str, typer.Option(help="Memory that the job may hold there, as 512MB.")
    ] = "2GB",
    fdr: options.Fdr = 0.1,
    seed: options.Seed = 0,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE",
            help="Any other setting of `srs.select`, as max_trees=5000; repeat for more.",
        ),
    ] = None,
    sets: options.Sets = None,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="JOB", help="Explain what this selection found, instead of selecting."
        ),
    ] = None,
    analysis: Annotated[
        str, typer.Option(metavar="NAME,...", help="Analyses of --explain, as mda,umfi.")
    ] = "mdi,mda,label-permutation",
    name: Annotated[str | None, typer.Option(help="What to call the job.")] = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="The same text and options give the same job, however often."
        ),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only say what the selection would cost.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show its progress until it has ended.")
    ] = False,
    url: Url = DEFAULT_URL,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Start a selection, or an explanation, on a service; prints the id of the job.

    SRS_URL and SRS_API_KEY say which service and who asks. The job goes on when this command has
    ended; exit code 7 says that a job that was watched failed or was cancelled.

    \b
    Examples:
      export SRS_URL=https://srs.example.org SRS_API_KEY=srs_...
      srs submit X.npy --target y.npy --memory 1GB --watch
      srs submit cohort7 --store cohort7/wide.zarr --plan
      srs submit cohort7 --fdr 0.05 --set max_seconds=600 --name "first look"
      srs submit cohort7 --explain JOB --analysis mda,context=sex
    """
    with reported(as_json), connected(url, api_key) as client:
        is_file = store is None and Path(dataset).is_file()
        if is_file and idempotency_key is not None:
            raise SettingsError(
                f"--idempotency-key cannot go with a file, and {dataset} is one: it would be sent "
                "as a new dataset each time. Send it once, then give the dataset's name or id."
            )
        if store is not None:
            key = None if idempotency_key is None else f"{idempotency_key}:dataset"
            found = client.datasets.register(store, dataset, idempotency_key=key)
        elif is_file:
            found = _send(client, dataset, target, as_json)
        else:
            found = find_dataset(client, dataset)
        settings: dict[str, Any] = {"seed": seed, **parse_settings(setting or [])}
        if target is not None and not is_file:
            settings["target"] = target
        if explain is not None:
            settings["analyses"] = [part for part in analysis.split(",") if part]
            job = client.jobs.submit(
                found, "explain", features=explain, name=name, idempotency_key=idempotency_key,
                **settings,
            )  # fmt: skip
        else:
            settings |= {"memory": memory, "fdr": fdr}
            if sets is not None:
                settings["feature_sets"] = sets
            if plan:
                _show_plan(client.jobs.plan(found, **settings), as_json)
                return
            job = client.jobs.submit(found, name=name, idempotency_key=idempotency_key, **settings)
        _show(job, watch, as_json)


def _send(client: Client, file: str, target: str | None, quiet: bool) -> Dataset:
    """Send a file and wait until it is a dataset."""
    sent = client.datasets.upload(file, target)
    if sent.document["job_id"] is not None:
        watch_job(client.jobs.get(sent.document["job_id"]), quiet)
    return sent.refresh()


def _show(job: Job, watch: bool, as_json: bool) -> None:
    if not watch:
        if as_json:
            typer.echo(json.dumps(job.document, indent=1))
        else:
            typer.echo(job.id)
            typer.echo(f"`srs watch {job.id}` shows its progress", err=True)
        return
    if not as_json:
        typer.echo(job.id)
    watch_job(job, as_json)
    if as_json:
        typer.echo(json.dumps(job.document, indent=1))
    else:
        typer.echo(f"{said(job)}; `srs fetch {job.id}` gets the result", err=True)


def _show_plan(made: dict[str, Any], as_json: bool) -> None:
    from srs.memory import format_bytes
    from srs.report.text import duration

    if as_json:
        typer.echo(json.dumps(made, indent=1))
        return
    typer.echo(
        f"time    from {duration(made['seconds'])} on, {duration(made['seconds_a_pass'])} a pass\n"
        f"memory  {format_bytes(made['projected_mem'])} of "
        f"{format_bytes(made['allowed_mem'])} allowed\n"
        f"trees   {made['trees_a_pass']:,} a pass, at least {made['least_trees']:,}, of "
        f"{made['subspace_size']:,} features each"
    )


def parse_settings(texts: list[str]) -> dict[str, Any]:
    """Settings from NAME=VALUE; values are JSON where they can be, else text.

    >>> parse_settings(["max_trees=500", "mode=paper", "random_recall=false"])
    {'max_trees': 500, 'mode': 'paper', 'random_recall': False}
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise SettingsError(f"--set takes NAME=VALUE, as max_trees=5000, and not {text!r}.")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found
