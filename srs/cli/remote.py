"""What commands that speak to a service share: where it is, who asks, how jobs are shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from srs.cli import progress
from srs.errors import InputError

if TYPE_CHECKING:
    from srs.client import Client, Dataset, Job

URL_VARIABLE, KEY_VARIABLE = "SRS_URL", "SRS_API_KEY"
DEFAULT_URL = "http://127.0.0.1:8000"

Url = Annotated[
    str,
    typer.Option(envvar=URL_VARIABLE, metavar="URL", help="Address of the service."),
]
ApiKey = Annotated[
    str | None,
    typer.Option(
        envvar=KEY_VARIABLE,
        metavar="KEY",
        help="API key. Prefer the environment variable: other users may see the options of a "
        "command.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout, and no progress.")]
JobArgument = Annotated[str, typer.Argument(metavar="JOB", help="Id of a job, from `srs jobs`.")]


@contextmanager
def connected(url: str, api_key: str | None) -> Iterator[Client]:
    """A client of the service."""
    try:
        from srs.client import Client
    except ImportError as error:
        how = "pip install 'srs-select[client]'"
        raise InputError(f"the client needs {error.name}: {how}.") from None
    with Client(url, api_key) as client:
        yield client


def watch_job(job: Job, quiet: bool) -> Job:
    """Show a job until it has ended; JobError if it failed or was cancelled."""
    with progress.shown(job.kind, quiet, compiles=False) as show:

        def on_progress(now: Job) -> None:
            if now.status == "RUNNING" and now.progress is not None:
                show(now.progress.share, now.progress.describe())
            else:
                show(None, now.describe())

        return job.wait(progress=on_progress)


def find_dataset(client: Client, text: str) -> Dataset:
    """A dataset by its id, or the newest of that name."""
    from srs.errors import MissingError

    if len(text) == 34 and text.startswith("d_"):
        return client.datasets.get(text)
    for dataset in client.datasets.list():
        if dataset.name == text:
            return dataset
    raise MissingError(f"there is no dataset {text!r}; `srs submit FILE` sends one.")


def describe_job(job: Job) -> str:
    """A job in a line."""
    from srs.report.text import clean_name

    name = clean_name(job.name or "")
    return f"{job.id}  {job.kind:<8}{said(job):<42} {name}".rstrip()


def said(job: Job) -> str:
    from srs.report.text import count, duration

    if job.status == "SUCCEEDED" and job.kind == "select" and job.summary is not None:
        found = count(job.summary["n_relevant"], "feature")
        return f"{found} found in {duration(job.summary['seconds'])}"
    return job.describe()
