"""`srs explain`: why the selected features matter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from srs.cli import options, progress
from srs.cli.failures import reported
from srs.cli.select import choose_executor, default_folder


def explain(
    store: options.Store,
    features: Annotated[
        str | None,
        typer.Option(
            metavar="RESULT",
            help="Folder of a run, whose relevant features are explained, or names of features "
            "with commas between them. Default: all features.",
        ),
    ] = None,
    analysis: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=VALUE],...",
            help="Analyses to run; repeat or use commas. Default: mdi,mda,label-permutation.",
        ),
    ] = None,
    target: options.Target = None,
    subjects: options.Subjects = None,
    trees: Annotated[
        int, typer.Option(min=1, help="Trees of the forest that analyses share.")
    ] = 1000,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Learn the targets of a network in so many processes (Dask)."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="The same on the workers of a Dask scheduler."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for tables and report. Default: that of the run (--features), whose "
            "report.html gains the sections; else STORE without .zarr, -explain."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print only JSON on stdout, and no progress.")
    ] = False,
) -> None:
    """Say why features matter: in which context, for which class, against chance, in a network.

    Writes explain.json and one Parquet table an analysis into OUT, and adds a section an analysis
    to the report.html of the run, or makes a page of its own, explain.html. Analyses: mdi, mda,
    label-permutation, conditional-error-rate, context=NAME, vote-shift[=chi2|ks], one-probe,
    per-class, umfi[=linear|transport], mci[=exact|submodular|sampled], network, connectome,
    context-network=NAME.

    \b
    Examples:
      srs explain wide.zarr --features run1
      srs explain wide.zarr --features run1 --analysis context=sex,per-class,vote-shift,umfi
      srs explain wide.zarr --features G1,G2,G3 --analysis network --out links --json
      srs explain wide.zarr --analysis network --workers 4
    """
    with reported(as_json):
        from srs.analyses import USUAL
        from srs.explanation import explain as run_explain

        requests = [part for text in analysis or () for part in text.split(",") if part]
        folder = out or _default_folder(store, features)
        with progress.shown("explain", as_json) as show:
            found = run_explain(
                store, target, _features(features), requests or list(USUAL), seed,
                n_trees=trees, threads=threads, subjects=subjects, on_progress=show,
                executor=choose_executor(workers, scheduler, None, None),
            )  # fmt: skip
        page = found.save(folder)
        if as_json:
            document: dict[str, Any] = {"out": str(folder), "report": str(page), **found.to_json()}
            typer.echo(json.dumps(document, indent=1, allow_nan=False))
        else:
            from srs.report import summarise_explanation

            typer.echo(summarise_explanation(found.to_json()), nl=False)
            typer.echo(f"Report written: {page}")


def _default_folder(store: str, features: str | None) -> Path:
    """The run whose features are explained; without one a folder named after the store."""
    if features is not None and Path(features).is_dir():
        return Path(features)
    return default_folder(store, "explain")


def _features(text: str | None) -> Any:
    """The folder of a result, or a list of names."""
    if text is None or Path(text).is_dir():
        return text
    return [name.strip() for name in text.split(",") if name.strip()]
