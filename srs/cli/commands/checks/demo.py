"""`srs demo`: the main job end to end, on data made for it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from srs.cli.failures import reported


def demo(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder for data, store and report.")
    ] = Path("demo-output"),
    features: Annotated[
        int, typer.Option(min=1_000, help="Number of features to make; 7 of them matter.")
    ] = 120_000,
) -> None:
    """Make data whose truth is known, ingest them, select, and compare with the truth.

    \b
    Examples:
      srs demo
      srs demo small --features 10000
    """
    with reported(as_json=False):
        from srs.cli.demo import main

        if main(str(folder), features):
            raise typer.Exit(1)
