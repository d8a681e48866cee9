"""`srs predict`: what the trees of a run say of samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from srs.cli.failures import notices_shown, reported


def predict(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="Folder of a run that kept its trees (srs select --keep-trees)."
        ),
    ],
    data: Annotated[
        str, typer.Argument(metavar="STORE", help="Feature store with the samples to predict.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write. Default: RUN/predicted.csv")
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(metavar="STORE", help="Store of the run. Default: where the run found it."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")] = False,
) -> None:
    """Predict samples with the trees of a run; one line per sample.

    Samples that the trees have seen are predicted too well.

    \b
    Examples:
      srs select wide.zarr --out run1 --keep-trees
      srs predict run1 others.zarr --out others.csv
    """
    with reported(as_json), notices_shown(as_json):
        import srs

        table = srs.load_result(run).predict(data, store=store)
        path = run / "predicted.csv" if out is None else out
        table.to_csv(path, index=False)
        said = {"out": str(path), "n_samples": len(table)}
        typer.echo(json.dumps(said) if as_json else f"Written: {path}")
