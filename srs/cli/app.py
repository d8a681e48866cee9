"""The program `srs`: its commands, its help, its version."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from srs.cli.explain import explain
from srs.cli.export import export
from srs.cli.failures import EXIT_CODES
from srs.cli.info import info
from srs.cli.ingest import ingest
from srs.cli.jobs import app as jobs
from srs.cli.keys import app as keys
from srs.cli.plan import plan
from srs.cli.report import report
from srs.cli.select import select
from srs.cli.serve import ServeCommand, serve
from srs.cli.submit import submit
from srs.cli.watch import fetch, watch

HELP = """Select the relevant features of data larger than memory.

\b
Write a feature store, look at it, select, read the report:
  srs ingest X.npy wide.zarr --target y.npy --memory 1GB
  srs info wide.zarr
  srs plan wide.zarr --memory 512MB
  srs select wide.zarr --memory 512MB --fdr 0.1 --seed 0 --out run1
  srs report run1
  srs explain wide.zarr --features run1 --analysis mda,per-class,umfi
  srs export run1 --to csv

\b
A table with its target in a column, for a script that reads JSON:
  srs ingest table.csv table.zarr --target outcome
  srs select table.zarr --out run2 --json

\b
Serve all of it over HTTP to a group:
  srs serve --data-dir srs-data --store-root /data/stores
  srs keys create ann --days 90

\b
Use a service, with SRS_URL and SRS_API_KEY set:
  srs submit X.npy --target y.npy --memory 1GB
  srs jobs
  srs watch JOB
  srs fetch JOB --out run3

`srs COMMAND --help` explains every option.
"""

EPILOG = "\b\nExit codes:\n" + "\n".join(
    f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODES.items()
)
EPILOG += "\n\nSet SRS_DEBUG=1 to see the traceback of an error."

# Plain help instead of rich's: its examples keep their lines, and it starts twice as fast.
app = typer.Typer(
    name="srs",
    help=HELP,
    epilog=EPILOG,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for command in (ingest, info, plan, select, report, explain, export, submit, watch, fetch):
    app.command()(command)
app.command(cls=ServeCommand)(serve)
app.add_typer(keys, name="keys")
app.add_typer(jobs, name="jobs")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"srs {version('srs')}")
        raise typer.Exit()


@app.callback()
def _program(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """The entry of the program."""
    for stream in (sys.stdout, sys.stderr):
        # Names from data may hold what a terminal's encoding lacks; that must not end a run.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    app(prog_name="srs")
