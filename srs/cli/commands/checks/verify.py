"""`srs verify`: repeat a run, and compare the bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from srs.cli import options, progress
from srs.cli.failures import NOT_REPEATED, notices_shown, reported


def verify(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a run (the --out of srs select).")
    ],
    store: Annotated[
        str | None,
        typer.Option(metavar="STORE", help="Feature store, if it is not where the run found it."),
    ] = None,
    feature_sets: options.Sets = None,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Repeat a run from its folder, and compare all of its bytes but what was measured.

    \b
    Examples:
      srs verify run1
      srs verify run1 --store moved/wide.zarr
    """
    with reported(as_json), notices_shown(True), progress.shown("verify", as_json) as show:
        from srs.evaluation import verify as repeat

        found = repeat(
            run,
            store=store,
            feature_sets=feature_sets,
            threads=threads,
            on_progress=lambda now: show(*progress.describe_run(now)),
        )
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=1))
    else:
        typer.echo(f"{run}: {found.describe()}.")
        for name, what in found.different.items():
            typer.echo(f"  {name}: {what}")
        for name, (then, now) in found.versions.items():
            typer.echo(f"  {name} was {then}, is {now}")
    if not found.ok:
        raise typer.Exit(NOT_REPEATED)
