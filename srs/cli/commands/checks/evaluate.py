"""`srs evaluate`: how well a selection predicts, by cross-validation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from srs.cli import options, progress, setting_options
from srs.cli.commands.select import default_folder
from srs.cli.failures import notices_shown, reported

NOT_SETTINGS = ("store", "out", "as_json", "config")


def evaluate(
    store: options.Store,
    folds: Annotated[int, typer.Option(min=2, help="Number of parts of the samples.")] = 5,
    repeats: Annotated[
        int, typer.Option(min=1, help="How often samples are divided into folds.")
    ] = 1,
    fdr: setting_options.Fdr = 0.1,
    memory: setting_options.Memory = None,
    seed: setting_options.Seed = 0,
    target: setting_options.Target = None,
    n_features: setting_options.NFeatures = None,
    max_trees: setting_options.MaxTrees = None,
    max_seconds: setting_options.MaxSeconds = None,
    pairs: setting_options.Pairs = "auto",
    sample_weight: setting_options.SampleWeight = None,
    class_weight: setting_options.ClassWeight = None,
    confounders: setting_options.Confounders = None,
    subjects: setting_options.Subjects = None,
    pinned: setting_options.Pinned = None,
    threads: options.ThreadsOfRun = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for evaluation.json and evaluation.html. Default: STORE-evaluation."
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Estimate how well selected features predict samples that took no part in the selection.

    Features are selected again in each fold, from the samples outside of it. Samples of a subject
    stay together; with confounders, samples are compared within strata. Prints AUC or R2 with a
    95 % interval, and how stable the list is.

    \b
    Examples:
      srs evaluate wide.zarr --folds 5 --memory 512MB
      srs evaluate wide.zarr --subjects patient --confounder site --out evaluation
    """
    given = locals()
    with reported(as_json):
        _evaluate(given)


def _evaluate(given: dict[str, Any]) -> None:
    as_json = given["as_json"]
    with notices_shown(True), progress.shown("evaluate", as_json) as show:
        from srs.evaluation import evaluate as run

        settings = {k: v for k, v in given.items() if k not in NOT_SETTINGS}
        found = run(given["store"], on_progress=show, **settings)
        folder = found.save(given["out"] or default_folder(given["store"], "evaluation"))
    if as_json:
        short = {k: found.document[k] for k in ("score", "stability", "folds")}
        typer.echo(json.dumps({"out": str(folder), **short}, indent=1))
        return
    shared = found.stability
    typer.echo(f"{found.describe()} for samples that took no part in the selection.")
    if shared is None:
        typer.echo("No fold selected a feature.")
    else:
        typer.echo(f"Two lists have {shared:.0%} of their features in common (Jaccard index).")
        for row in found.document["stability"]["features"][:20]:
            typer.echo(f"  {row['frequency']:>4.0%}  {row['name']}")
    typer.echo(f"Report written: {folder / 'evaluation.html'}")
