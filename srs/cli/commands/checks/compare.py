"""`srs compare`: what two runs have in common."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from srs.cli.failures import reported


def compare(
    first: Annotated[Path, typer.Argument(metavar="RUN1", help="Folder of a run.")],
    second: Annotated[Path, typer.Argument(metavar="RUN2", help="Folder of another run.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")] = False,
) -> None:
    """Compare two runs: features in both, Jaccard index, changed verdicts, differing settings.

    \b
    Examples:
      srs compare run1 run2
      srs compare run1 run2 --json
    """
    with reported(as_json):
        from srs.evaluation import compare as compare_runs

        found = compare_runs(first, second)
        text = json.dumps(found.to_json(), indent=1) + "\n" if as_json else found.describe()
        typer.echo(text, nl=False)
