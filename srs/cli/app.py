"""The program `srs`: its commands, its help, its version."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Annotated

import typer

import srs
from srs.cli.commands.jobs import app as jobs
from srs.cli.commands.report import report
from srs.cli.commands.submit import HELP as SUBMIT_HELP
from srs.cli.commands.submit import submit
from srs.cli.commands.watch import fetch, watch
from srs.cli.failures import EXIT_CODES, Loudness
from srs.cli.panels import CommandWithPanels

try:
    from srs.cli.local import EXAMPLES, add_commands
except ModuleNotFoundError as error:  # srs-select-client is installed alone
    if error.name != "srs.cli.local":
        raise
    from srs.cli.missing import EXAMPLES, add_commands

HELP = f"""Select the relevant features of data larger than memory.

{EXAMPLES}
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
    add_completion=True,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
add_commands(app)
for command in (report, watch, fetch):
    app.command()(command)
app.command(cls=CommandWithPanels, help=SUBMIT_HELP)(submit)
app.add_typer(jobs, name="jobs")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"srs {srs.__version__}")
        if different := _different_versions():
            typer.echo(f"srs: {different}", err=True)
        raise typer.Exit()


def _different_versions() -> str | None:
    """What is wrong if both distributions, which share files, are here in two versions."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in ("srs-select", "srs-select-client"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    if len(set(found.values())) < 2:
        return None
    listed = " and ".join(f"{name} {number}" for name, number in found.items())
    return f"{listed} share files: uninstall both, then install one of them."


@app.callback()
def _program(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but errors.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also say what the library does, step by step.")
    ] = False,
) -> None:
    if quiet and verbose:
        typer.echo("srs: --quiet and --verbose exclude one another: choose one.", err=True)
        raise typer.Exit(2)
    Loudness.quiet, Loudness.verbose = quiet, verbose


def main() -> None:
    """The entry of the program."""
    for stream in (sys.stdout, sys.stderr):
        # Names from data may hold what a terminal's encoding lacks; that must not end a run.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    app(prog_name="srs")
