"""The commands that read data, compute or serve on this machine.

srs-select-client has none of them, nor this module: `srs.cli.missing` stands in for it.
"""

from __future__ import annotations

import typer

from srs.cli.commands import plan, select
from srs.cli.commands.explain import ExplainCommand, explain
from srs.cli.commands.export import export
from srs.cli.commands.info import info
from srs.cli.commands.ingest import HELP as INGEST_HELP
from srs.cli.commands.ingest import ingest
from srs.cli.commands.keys import app as keys
from srs.cli.commands.predict import predict
from srs.cli.commands.results import results
from srs.cli.commands.serve import ServeCommand, serve
from srs.cli.commands.targets import app as targets
from srs.cli.panels import CommandWithPanels
from srs.cli.source_options import FormatsCommand

EXAMPLES = """\b
Write a feature store, look at it, select, read the report:
  srs ingest X.npy wide.zarr --target y.npy --memory 1GB
  srs info wide.zarr
  srs plan wide.zarr --memory 512MB
  srs select wide.zarr --memory 512MB --fdr 0.1 --seed 0 --out run1
  srs report run1
  srs explain wide.zarr --features run1 --analysis mda,per-class,umfi
  srs results run1 --to tsv
  srs export run1 --to csv
  srs predict run1 others.zarr

\b
A table with its target in a column, for a script that reads JSON:
  srs ingest table.csv table.zarr --target outcome
  srs select table.zarr --out run2 --json

\b
Many phenotypes of the same samples, one list for each:
  srs targets add wide.zarr phenotypes.tsv
  srs select wide.zarr --targets all --out many

\b
Serve all of it over HTTP to a group:
  srs serve --data-dir srs-data --store-root /data/stores
  srs keys create ann --days 90
"""


def add_commands(app: typer.Typer) -> None:
    """Add them to the program."""
    app.command(cls=FormatsCommand, help=INGEST_HELP)(ingest)
    app.command()(info)
    app.command(cls=CommandWithPanels, help=plan.HELP)(plan.plan)
    app.command(cls=CommandWithPanels, help=select.HELP)(select.select)
    app.command(cls=ExplainCommand)(explain)
    app.command()(results)
    app.command()(export)
    app.command()(predict)
    app.command(cls=ServeCommand)(serve)
    app.add_typer(targets, name="targets")
    app.add_typer(keys, name="keys")
