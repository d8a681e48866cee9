"""`srs jobs`: jobs of a service: list, show, finish, cancel, resume, delete."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from srs.cli.failures import reported
from srs.cli.remote import DEFAULT_URL, ApiKey, AsJson, JobArgument, Url, connected, describe_job

if TYPE_CHECKING:
    from srs.client import Job

app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def jobs(
    context: typer.Context,
    status: Annotated[
        str | None, typer.Option(help="Only jobs with this status, e.g. RUNNING or FAILED.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(help="Only jobs of this kind: select, explain or ingest.")
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, help="Number of jobs to show, the newest first.")
    ] = 20,
    url: Url = DEFAULT_URL,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """List your jobs on a service, the newest first, or change one.

    \b
    Examples:
      srs jobs
      srs jobs --status RUNNING --json
      srs jobs finish JOB
      srs jobs cancel JOB
      srs jobs resume JOB
    """
    if context.invoked_subcommand is not None:
        return
    with reported(as_json), connected(url, api_key) as client:
        found = client.jobs.list(status=status, kind=kind, limit=limit)
        if as_json:
            typer.echo(json.dumps([job.document for job in found], indent=1))
            return
        for job in found:
            typer.echo(describe_job(job))
        if not found:
            typer.echo("no jobs; see `srs submit --help` to start one", err=True)


def _show(job: Job, as_json: bool) -> None:
    typer.echo(json.dumps(job.document, indent=1) if as_json else describe_job(job))


@app.command()
def show(
    job: JobArgument, url: Url = DEFAULT_URL, api_key: ApiKey = None, as_json: AsJson = False
) -> None:
    """Show one job; with --json its whole document."""
    with reported(as_json), connected(url, api_key) as client:
        _show(client.jobs.get(job), as_json)


@app.command()
def cancel(
    job: JobArgument, url: Url = DEFAULT_URL, api_key: ApiKey = None, as_json: AsJson = False
) -> None:
    """Stop a job; the work so far is kept, and `srs jobs resume` continues from there."""
    with reported(as_json), connected(url, api_key) as client:
        _show(client.jobs.get(job).cancel(), as_json)


@app.command()
def finish(
    job: JobArgument, url: Url = DEFAULT_URL, api_key: ApiKey = None, as_json: AsJson = False
) -> None:
    """End a running selection now, with the features that it has found so far."""
    with reported(as_json), connected(url, api_key) as client:
        _show(client.jobs.get(job).finish(), as_json)


@app.command()
def resume(
    job: JobArgument, url: Url = DEFAULT_URL, api_key: ApiKey = None, as_json: AsJson = False
) -> None:
    """Continue a cancelled or failed job, to the same result as without the break."""
    with reported(as_json), connected(url, api_key) as client:
        _show(client.jobs.get(job).resume(), as_json)


@app.command()
def delete(
    job: JobArgument, url: Url = DEFAULT_URL, api_key: ApiKey = None, as_json: AsJson = False
) -> None:
    """Remove a job that has ended, and its result."""
    with reported(as_json), connected(url, api_key) as client:
        found = client.jobs.get(job)
        found.delete()
        typer.echo(json.dumps({"deleted": found.id}) if as_json else f"{found.id} is deleted")
