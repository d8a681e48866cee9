"""`srs export`: what a run selected, in the user's own format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from srs.cli.failures import notices_shown, reported


def export(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a run (the --out of srs select).")
    ],
    to: Annotated[
        str, typer.Option("--to", help='"csv", "parquet", "h5ad", "bed" or "nifti" (a map).')
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write. Default: RUN/selected.*")
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(metavar="STORE", help="Feature store. Default: the store that the run read."),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="AnnData file; the results of all features are added to its var. With --out "
            "they are added to a copy.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")] = False,
) -> None:
    """Write the relevant features of a run with their original values. Results: srs results.

    \b
    Examples:
      srs export run1 --to csv
      srs export run1 --to bed --out hits.bed
      srs export run1 --to h5ad --into cells.h5ad
    """
    with reported(as_json), notices_shown(as_json):
        from srs.results.export import export as write

        written = write(run, to, out, store=store, into=into)
        typer.echo(json.dumps({"out": str(written)}) if as_json else f"Written: {written}")
