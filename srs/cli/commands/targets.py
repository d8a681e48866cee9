"""`srs targets`: the targets of a feature store: list, add, remove."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from srs.cli import options
from srs.cli.failures import reported

app = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="List the targets of a feature store, add columns of a table, or remove some.",
)
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")]
TargetStore = Annotated[Path, typer.Argument(metavar="STORE", help="Folder of a feature store.")]


@app.command("list")
def list_targets(store: options.Store, as_json: AsJson = False) -> None:
    """List the targets of a feature store, the default one first.

    \b
    Example:
      srs targets list wide.zarr
    """
    with reported(as_json):
        from srs.store import open_store

        _show(open_store(store).describe()["targets"], as_json)


@app.command("add")
def add(
    store: TargetStore,
    table: Annotated[
        Path,
        typer.Argument(metavar="TABLE", help="Table of the samples (.csv, .tsv, .txt, .parquet)."),
    ],
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Column to add; repeat for more. Default: all."),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Column of TABLE that holds the sample ids. Default: found by its name.",
        ),
    ] = None,
    target_kind: Annotated[
        str | None, typer.Option(help="Kind of the targets. Default: decided by their values.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace targets of the same name.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add columns of a table to a feature store as targets, joined by sample id.

    Samples without a value are left out of runs on that target, and of no others.

    \b
    Examples:
      srs targets add wide.zarr phenotypes.tsv
      srs targets add wide.zarr phenotypes.tsv --column ldl --column hdl --id-column IID
    """
    with reported(as_json):
        from srs.ingest.more_targets import add_targets

        added = add_targets(
            store,
            table,
            column or None,
            id_column=id_column,
            target_kind=target_kind,
            overwrite=overwrite,
        )
        _show(added.describe()["targets"], as_json)


@app.command("remove")
def remove(
    store: TargetStore,
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Targets to remove.")],
    as_json: AsJson = False,
) -> None:
    """Remove targets from a feature store.

    \b
    Example:
      srs targets remove wide.zarr ldl
    """
    with reported(as_json):
        from srs.ingest.more_targets import remove_targets

        _show(remove_targets(store, names).describe()["targets"], as_json)


def _show(targets: object, as_json: bool) -> None:
    from srs.cli.commands.info import render_target

    assert isinstance(targets, list)
    if as_json:
        typer.echo(json.dumps(targets, indent=1))
        return
    for target in targets or ():
        typer.echo(render_target(target))
    if not targets:
        typer.echo("the store has no targets.")
