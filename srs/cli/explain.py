"""`srs explain`: why the selected features matter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from srs.cli import progress
from srs.cli.failures import reported


def explain(
    store: Annotated[
        Path, typer.Argument(metavar="STORE", help="Folder of a feature store, as wide.zarr.")
    ],
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
    target: Annotated[
        str | None, typer.Option(metavar="NAME", help="Target. Default: the first of the store.")
    ] = None,
    subjects: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Column of the store: samples of one subject belong together."
        ),
    ] = None,
    trees: Annotated[
        int, typer.Option(min=1, help="Trees of the forest that analyses share.")
    ] = 1000,
    seed: Annotated[
        int, typer.Option(help="Whole number; the same seed gives the same answer.")
    ] = 0,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Threads; the answer does not depend on it. Default: all cores."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for tables and report. Default: STORE without .zarr, -explain."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print only JSON on stdout, and no progress.")
    ] = False,
) -> None:
    """Say why features matter: in which context, for which class, against chance, in a network.

    Writes explain.json, explain.html and one Parquet table an analysis into OUT. Analyses: mdi,
    mda, label-permutation, conditional-error-rate, context=NAME, vote-shift[=chi2|ks], one-probe,
    per-class, umfi[=linear|transport], mci[=exact|submodular|sampled], network, connectome,
    context-network=NAME.

    \b
    Examples:
      srs explain wide.zarr --features run1
      srs explain wide.zarr --features run1 --analysis context=sex,per-class,vote-shift,umfi
      srs explain wide.zarr --features G1,G2,G3 --analysis network --out links --json
    """
    with reported(as_json):
        from srs.explanation import DEFAULT, REPORT_NAME
        from srs.explanation import explain as run_explain

        requests = [part for text in analysis or () for part in text.split(",") if part]
        folder = out or Path(store.resolve().name.removesuffix(".zarr") + "-explain")
        with progress.shown("explain", as_json) as show:
            found = run_explain(
                store, target, _features(features), requests or list(DEFAULT), seed,
                n_trees=trees, threads=threads, subjects=subjects, on_progress=show,
            )  # fmt: skip
        found.save(folder)
        if as_json:
            document: dict[str, Any] = {"out": str(folder), **found.to_json()}
            typer.echo(json.dumps(document, indent=1, allow_nan=False))
        else:
            from srs.report import summarise_explanation

            typer.echo(summarise_explanation(found.to_json()), nl=False)
            typer.echo(f"Report written: {folder / REPORT_NAME}")


def _features(text: str | None) -> Any:
    """The folder of a result, or a list of names."""
    if text is None or Path(text).is_dir():
        return text
    return [name.strip() for name in text.split(",") if name.strip()]
