"""`srs explain`: why the selected features matter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from srs.catalogue import USUAL, Analysis, Option, find_analyses
from srs.catalogue.requests import add_options, find_option
from srs.cli import options, progress
from srs.cli.commands.select import choose_executor, default_folder
from srs.cli.failures import reported

AnalysisOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="ANALYSIS.OPTION=VALUE",
        help="Set an option of an analysis, e.g. umfi.n_repeats=5; repeat for more.",
    ),
]


class ExplainCommand(TyperCommand):
    """Its help ends with all analyses; they are looked for only when the help is shown."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        super().format_epilog(ctx, formatter)
        formatter.write("\nAnalyses (--analysis), and their options (--option):\n")
        formatter.write_dl(
            [line for analysis in find_analyses().values() for line in help_lines(analysis)]
        )


def help_lines(analysis: Analysis) -> list[tuple[str, str]]:
    """How an analysis and its options are written, and what they are."""
    options = [
        (f"    {analysis.name}.{option.name}", f"{option.help} [{_range(option)}]")
        for option in analysis.options
    ]
    return [(f"  {analysis.usage}", f"{analysis.question}."), *options]


def _range(option: Option) -> str:
    """The default of an option, then what it may be."""
    none = f"none: {option.none}"
    told = ["required"] if option.required else []
    if option.default is not None:
        told.append(str(option.default).lower())
    if option.none:
        told.append(none)
    if option.low is not None:
        told.append(f"{option.low:,} " + ("on" if option.high is None else f"to {option.high:,}"))
    return "; ".join([*told, *(["|".join(option.choices)] if option.choices else [])])


Explained = Annotated[
    str | None,
    typer.Option(
        metavar="RESULT",
        help="Folder of a run, to explain its relevant features, or names of features, "
        "separated by commas. Default: all features.",
    ),
]
Analyses = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[=VALUE],...",
        help="Analyses to run, see below; repeat or use commas. Default: "
        "mdi,mda,label-permutation.",
    ),
]
Trees = Annotated[
    int, typer.Option(min=1, help="Number of trees of the forest that analyses share.")
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Number of processes (Dask) that learn the targets of a network."),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Learn the targets of a network on the workers of a Dask scheduler."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Folder for tables and report. Default: the folder of the run (--features), where "
        "the sections are added to report.html; otherwise STORE-explain (STORE without "
        ".zarr)."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout, and no progress.")]


def explain(
    store: options.Store,
    features: Explained = None,
    analysis: Analyses = None,
    option: AnalysisOption = None,
    target: options.Target = None,
    subjects: options.Subjects = None,
    trees: Trees = 1000,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Say why features matter: in which context, for which class, against chance, in a network.

    Writes explain.json and one Parquet table an analysis into OUT, and adds a section an analysis
    to the report.html of the run, or makes a page of its own, explain.html. What analyses there
    are, and their options, is at the end.

    \b
    Examples:
      srs explain wide.zarr --features run1
      srs explain wide.zarr --features run1 --analysis context=sex,per-class,vote-shift,umfi
      srs explain wide.zarr --analysis mda,umfi --option umfi.n_repeats=5 --option umfi.n_trees=50
      srs explain wide.zarr --features G1,G2,G3 --analysis network --out links --json
      srs explain wide.zarr --analysis network --workers 4
    """
    with reported(as_json):
        from srs.explain import explain as run_explain

        named = [part for text in analysis or () for part in text.split(",") if part]
        requests = add_options(named or USUAL, option or (), find_option)
        folder = out or _default_folder(store, features)
        with progress.shown("explain", as_json) as show:
            found = run_explain(
                store,
                target,
                _features(features),
                requests,
                seed,
                n_trees=trees,
                threads=threads,
                subjects=subjects,
                on_progress=show,
                executor=choose_executor(workers, scheduler, None, None),
            )
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
