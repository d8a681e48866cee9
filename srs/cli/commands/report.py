"""`srs report`: show the result of a run again, and write its page anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from srs.cli.failures import reported

if TYPE_CHECKING:
    from srs.results.result import Result


def report(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a run (the --out of srs select).")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")] = False,
) -> None:
    """Print the summary of a run, and write its report.html again, with the results of srs explain.

    \b
    Examples:
      srs report run1
      srs report run1 --json
    """
    with reported(as_json):
        from srs.report import render_terminal
        from srs.results.result import load_result, write_report

        result = load_result(run)
        page = write_report(run, result)
        if as_json:
            typer.echo(json.dumps(summary(result, run), indent=1))
        else:
            typer.echo(render_terminal(result.document))
            typer.echo(f"Report written: {page}")


class RunSummary(TypedDict):
    """What `srs select --json` and `srs report --json` print of a run.

    out          folder of the run
    report       path of its page
    n_features   number of features
    n_relevant   number of relevant features
    relevant     names of the relevant features, in the order of the source's columns
    stop_reason  why the run ended, one sentence
    n_trees      trees that were grown
    n_passes     how often all features were explored
    seconds      wall time
    peak_mem     most bytes that the process held
    """

    out: str
    report: str
    n_features: int
    n_relevant: int
    relevant: list[str]
    stop_reason: str
    n_trees: int
    n_passes: float
    seconds: float
    peak_mem: int


def summary(result: Result, folder: Path) -> RunSummary:
    """What --json prints of a run; the rest is in result.json and features.parquet."""
    from srs.results.result import REPORT_NAME

    return {
        "out": str(folder),
        "report": str(folder / REPORT_NAME),
        "n_features": result.document["data"]["n_features"],
        "n_relevant": len(result.relevant_ids),
        "relevant": result.relevant_names,
        "stop_reason": result.stop_reason,
        "n_trees": result.n_trees,
        "n_passes": result.n_passes,
        "seconds": result.document["measured"]["seconds"],
        "peak_mem": result.peak_mem,
    }
