"""`srs select`: find the relevant features of a feature store."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from srs.cli import options, progress
from srs.cli.failures import StopRequest, notices_shown, reported
from srs.cli.figures import write_figures
from srs.cli.ingest import read_names
from srs.errors import SettingsError

if TYPE_CHECKING:
    from srs.run import Progress

ROUNDS_A_LINE = {"paper": 100}  # a round of paper mode is one tree


def select(
    store: options.Store,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Memory that the process, or each worker, may hold, as 4GB. Default: 2GB."
        ),
    ] = None,
    fdr: options.Fdr = 0.1,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Worker processes to start here, of --threads each (default 1)."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Dask scheduler to use, as tcp://10.0.0.1:8786."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="Start workers by slurm, pbs, sge or kubernetes."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML file for --cluster: workers, queue, wall time."),
    ] = None,
    tls: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Talk to workers by TLS: folder of ca.pem, cert.pem, key.pem."
        ),
    ] = None,
    task_timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Call a worker hung whose task takes longer, and let others take over. Default: "
            "ten times the slowest so far, at least a minute.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for result and checkpoint. Default: STORE without .zarr, -run."),
    ] = None,
    mode: Annotated[
        str, typer.Option(help='"default", or "paper": Algorithm 7.1 of the thesis to the letter.')
    ] = "default",
    target: options.Target = None,
    pinned: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Covariate that is in every subspace and reported apart; repeat for more.",
        ),
    ] = None,
    samples: options.Samples = None,
    features: options.Features = None,
    sample_weight: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column of the store: how much each sample counts."),
    ] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(metavar="balanced", help='"balanced": all classes count alike.'),
    ] = None,
    confounder: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Column of the store (batch, sex) that must not make features relevant; repeat "
            "for more.",
        ),
    ] = None,
    subjects: options.Subjects = None,
    sets: options.Sets = None,
    subspace_size: options.SubspaceSize = None,
    round_size: Annotated[
        int | None,
        typer.Option(
            help="Trees between two looks at the evidence; more keep more workers busy. Default: "
            "a pass over all features."
        ),
    ] = None,
    max_trees: Annotated[
        int | None, typer.Option(help="Most trees. Default: no limit (paper mode: 1000).")
    ] = None,
    max_passes: Annotated[
        int | None, typer.Option(help="Most passes over all features. Default: no limit.")
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(help="Most wall time, in seconds. Default: no limit.")
    ] = None,
    holdout: Annotated[
        float, typer.Option(help="Share of samples kept aside and predicted, as 0.2.")
    ] = 0.0,
    keep_trees: Annotated[
        bool, typer.Option("--keep-trees", help="Write all trees to OUT/trees.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from the checkpoint in OUT.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Start anew where OUT holds a result or checkpoint.")
    ] = False,
    figures: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File for figures in Prometheus' text format, written each round."
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print only JSON: the result on stdout, a line a round on stderr."
        ),
    ] = False,
) -> None:
    """Find the relevant features of a feature store.

    Writes result.json, features.parquet and report.html into OUT. The run ends when its list of
    features no longer changes, or at a limit. Ctrl-C and SIGTERM keep what was done: the same
    command with --resume continues. Without a terminal it logs one line a round.

    \b
    Examples:
      srs select wide.zarr --memory 512MB --fdr 0.1 --seed 0 --threads 2 --out run1
      srs select wide.zarr --out run1 --max-seconds 3600 --pinned age --pinned sex
      srs select wide.zarr --out run1 --confounder batch --subjects patient --sets pathways.gmt
      srs select wide.zarr --out run1 --resume
      srs select wide.zarr --out women --samples women.txt --features chr6.txt
      srs select wide.zarr --out run1 --memory 1GB --workers 4
      srs select wide.zarr --out run1 --memory 1GB --scheduler tcp://10.0.0.1:8786
      srs select wide.zarr --out run1 --memory 1GB --cluster slurm --config slurm.toml
      srs select wide.zarr --mode paper --max-trees 10000 --holdout 0.2 --json
    """
    with reported(as_json):
        settings: dict[str, Any] = {
            "fdr": fdr, "memory": memory, "seed": seed, "threads": threads, "mode": mode,
            "target": target, "pinned": pinned, "sample_weight": sample_weight,
            "class_weight": class_weight, "confounders": tuple(confounder or ()),
            "subjects": subjects, "feature_sets": sets, "subspace_size": subspace_size,
            "samples": None if samples is None else read_names(samples),
            "features": None if features is None else read_names(features),
            "round_size": round_size, "max_trees": max_trees, "max_passes": max_passes,
            "max_seconds": max_seconds,
            "holdout": holdout, "keep_trees": keep_trees, "resume": resume,
            "executor": choose_executor(workers, scheduler, cluster, config), "tls": tls,
            "task_timeout": task_timeout,
        }  # fmt: skip
        folder = out or default_folder(store)
        prepare_folder(folder, resume, overwrite)
        try:
            _select(store, folder, settings, as_json, figures)
        finally:
            with contextlib.suppress(OSError):  # only an empty folder goes: nothing came of it
                folder.rmdir()


def _select(
    store: str, folder: Path, settings: dict[str, Any], as_json: bool, figures: Path | None
) -> None:
    from srs.cli.report import summary
    from srs.report import render_terminal
    from srs.selection import select as run_selection

    live = sys.stderr.isatty() and not as_json
    every = ROUNDS_A_LINE.get(settings["mode"], 1)
    with (
        notices_shown(as_json),
        StopRequest(quiet=as_json) as stop,
        progress.shown("select", as_json) as show,
    ):

        def on_progress(now: Progress) -> None:
            if live:
                show(*progress.describe_run(now))
            elif now.round_ended and now.n_rounds % every == 0:
                print(progress.round_line(now, as_json), file=sys.stderr, flush=True)
            if now.round_ended and figures is not None:
                write_figures(figures, now)
            stop.obey(now.n_trees)

        result = run_selection(store, folder=folder, on_progress=on_progress, **settings)
        result.save(folder)
    if as_json:
        typer.echo(json.dumps(summary(result, folder), indent=1))
    else:
        typer.echo(render_terminal(result.document, str(folder)), nl=False)


def choose_executor(
    workers: int | None, scheduler: str | None, cluster: str | None, config: Path | None
) -> Any:
    """What `srs.select` takes as its executor."""
    if sum(given is not None for given in (workers, scheduler, cluster)) > 1:
        raise SettingsError("--workers, --scheduler and --cluster are three ways: choose one.")
    if (cluster is None) != (config is None):
        raise SettingsError("--cluster and --config belong together: give both.")
    if cluster is not None and config is not None:
        from srs.executors.jobs import JobCluster

        return JobCluster.read(cluster, config)
    return workers if scheduler is None else scheduler


def default_folder(store: str, stage: str = "run") -> Path:
    """Where what comes of a store goes if nothing is said: wide.zarr -> wide-run.

    >>> str(default_folder("data/wide.zarr")), str(default_folder("s3://bucket/wide.zarr/"))
    ('wide-run', 'wide-run')
    """
    return Path(Path(store).resolve().name.removesuffix(".zarr") + f"-{stage}")


def prepare_folder(folder: Path, resume: bool, overwrite: bool) -> None:
    """Make the folder of a run, or refuse one that holds what would be lost.

    This comes before the run: an hour later is no time to learn that nothing can be written.
    """
    from srs.checkpoint import has_checkpoint, remove_checkpoint
    from srs.result import JSON_NAME

    if resume and overwrite:
        raise SettingsError("--resume continues a run and --overwrite starts anew: choose one.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"{folder} cannot be made: {error.strerror}.") from None
    if overwrite:
        remove_checkpoint(folder)
        shutil.rmtree(folder / "trees", ignore_errors=True)
    elif not resume:
        if (folder / JSON_NAME).exists():
            raise SettingsError(
                f"{folder} holds a result already: choose another --out, or --overwrite."
            )
        if has_checkpoint(folder):
            raise SettingsError(
                f"{folder} holds an interrupted run: continue it with --resume, or start anew "
                f"with --overwrite."
            )
