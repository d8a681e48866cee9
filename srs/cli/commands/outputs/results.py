"""`srs results`: what a run says of its features, as a table for other programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from srs.cli.failures import notices_shown, reported


def results(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a run (the --out of srs select).")
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help='"tsv", "csv" or "parquet"; "gwas-ssf" or "regenie": summary statistics of '
            'variants; "ro-crate": all files of the run with what made them.',
        ),
    ] = "tsv",
    table: Annotated[
        str,
        typer.Option(
            metavar="TABLE",
            help='"features": all of them. "effects", "profiles": of relevant features. "pairs": '
            'features that matter together. "clusters", "voxels": of images.',
        ),
    ] = "features",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write. Default: RUN/TABLE.*")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")] = False,
) -> None:
    """Write the results of a run as a table for other programs. Values of features: srs export.

    \b
    Examples:
      srs results run1 --to tsv
      srs results run1 --to csv --table effects
      srs results run1 --to gwas-ssf --out hits.tsv
      srs results run1 --to ro-crate --out run1.crate.zip
    """
    with reported(as_json), notices_shown(as_json):
        from srs.results.export import export as write

        written = write(run, to, out, table=table)
        typer.echo(json.dumps({"out": str(written)}) if as_json else f"Written: {written}")
