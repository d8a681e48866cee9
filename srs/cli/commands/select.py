"""`srs select`: find the relevant features of a feature store."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from srs.cli import options, progress, setting_options
from srs.cli.failures import StopRequest, finish_request, notices_shown, reported
from srs.cli.metrics_file import write_figures
from srs.errors import SettingsError
from srs.ingest.tables.names import read_names

if TYPE_CHECKING:
    from srs.engine.state import Progress

ROUNDS_A_LINE = {"paper": 100}  # a round of paper mode is one tree


HELP = """Find the relevant features of a feature store.

Writes result.json, report.html and tables (features, effects, profiles, pairs) into OUT. The run
ends when its list of features is stable, or at a limit. Ctrl-C and SIGTERM leave a checkpoint: the
same command with --resume continues. SIGUSR1 ends the run with the features found so far. Without a
terminal it logs one line per round. With --targets, OUT has a folder for each target and an
overview.

\b
Examples:
  srs select wide.zarr --memory 512MB --fdr 0.1 --seed 0 --threads 2 --out run1
  srs select wide.zarr --out run1 --max-seconds 3600 --pinned age --pinned sex
  srs select wide.zarr --out run1 --confounder batch --subjects patient --sets pathways.gmt
  srs select wide.zarr --out run1 --resume
  srs select wide.zarr --out many --targets ldl,hdl,case
  srs select wide.zarr --out women --samples women.txt --features chr6.txt
  srs select wide.zarr --out run1 --memory 1GB --workers 4
  srs select wide.zarr --out run1 --memory 1GB --scheduler tcp://10.0.0.1:8786
  srs select wide.zarr --out run1 --memory 1GB --cluster slurm --config slurm.toml
  srs select wide.zarr --mode paper --max-trees 10000 --holdout 0.2 --json
  srs select wide.zarr --carry-fraction 0.3 --max-depth 6 --criterion gini
"""


def select(
    store: options.Store,
    # generated: settings
    fdr: setting_options.Fdr = 0.1,
    memory: setting_options.Memory = None,
    seed: setting_options.Seed = 0,
    mode: setting_options.Mode = "default",
    target: setting_options.Target = None,
    pinned: setting_options.Pinned = None,
    subspace_size: setting_options.SubspaceSize = None,
    max_trees: setting_options.MaxTrees = None,
    max_passes: setting_options.MaxPasses = None,
    max_seconds: setting_options.MaxSeconds = None,
    carry_fraction: setting_options.CarryFraction = 0.5,
    max_carried: setting_options.MaxCarried = 40,
    round_size: setting_options.RoundSize = None,
    root_share: setting_options.RootShare = 0.25,
    random_recall: setting_options.RandomRecall = True,
    n_probes: setting_options.NProbes = None,
    evidence: setting_options.Evidence = None,
    rule: setting_options.Rule = "tail",
    pairs: setting_options.Pairs = "auto",
    n_features: setting_options.NFeatures = None,
    guarantee: setting_options.Guarantee = "fdr",
    criterion: setting_options.Criterion = None,
    max_features: setting_options.MaxFeatures = None,
    max_depth: setting_options.MaxDepth = None,
    min_samples_leaf: setting_options.MinSamplesLeaf = 1,
    patience: setting_options.Patience = None,
    paper_rule: setting_options.PaperRule = "probe",
    probe_draws: setting_options.ProbeDraws = 10,
    probe_share: setting_options.ProbeShare = 0.95,
    holdout: setting_options.Holdout = 0.0,
    keep_trees: setting_options.KeepTrees = False,
    sample_weight: setting_options.SampleWeight = None,
    class_weight: setting_options.ClassWeight = None,
    confounders: setting_options.Confounders = None,
    subjects: setting_options.Subjects = None,
    covariates: setting_options.Covariates = None,
    # end generated
    threads: options.ThreadsOfRun = None,
    workers: options.Workers = None,
    scheduler: options.Scheduler = None,
    cluster: options.Cluster = None,
    config: options.ClusterConfig = None,
    tls: options.Tls = None,
    task_timeout: options.TaskTimeout = None,
    samples: options.Samples = None,
    features: options.Features = None,
    feature_sets: options.Sets = None,
    targets: options.Targets = None,
    out: options.Out = None,
    resume: options.Resume = False,
    overwrite: options.Overwrite = False,
    figures: options.Figures = None,
    as_json: options.JsonRounds = False,
) -> None:
    given = locals()
    with reported(as_json):
        if given.pop("targets") is None:
            _select(given)
        else:
            from srs.cli.many.select import select_targets

            given["out"] = out or default_folder(store, "targets")
            select_targets(targets or "", given, arguments_of(given))


# Options that are not arguments of `srs.select`: what they become is.
NOT_ARGUMENTS = (
    "store",
    "workers",
    "scheduler",
    "cluster",
    "config",
    "out",
    "overwrite",
    "figures",
    "as_json",
)


def arguments_of(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `srs.select` that options make."""
    arguments = {name: value for name, value in given.items() if name not in NOT_ARGUMENTS}
    for name in ("samples", "features"):
        if given[name] is not None:
            arguments[name] = read_names(given[name])
    where = (given["workers"], given["scheduler"], given["cluster"], given["config"])
    arguments["executor"] = choose_executor(*where)
    return arguments


def _select(given: dict[str, Any]) -> None:
    arguments = arguments_of(given)
    folder = given["out"] or default_folder(given["store"])
    prepare_folder(folder, given["resume"], given["overwrite"])
    arguments["folder"] = folder
    try:
        _run(given["store"], arguments, given["as_json"], given["figures"])
    finally:
        with contextlib.suppress(OSError):  # only an empty folder goes: nothing came of it
            folder.rmdir()


def _run(store: str, arguments: dict[str, Any], as_json: bool, figures: Path | None) -> None:
    """Run `srs.select`, show its progress, save and print its result."""
    from srs.cli.commands.report import summary
    from srs.report import render_terminal
    from srs.selection.select import select as run_selection

    live = sys.stderr.isatty() and not as_json
    folder: Path = arguments["folder"]
    every = ROUNDS_A_LINE.get(arguments["mode"], 1)
    with (
        notices_shown(as_json),
        StopRequest(quiet=as_json) as stop,
        finish_request(quiet=as_json) as finish,
        progress.shown("select", as_json) as show,
    ):

        def on_progress(now: Progress) -> None:
            if live:
                show(*progress.describe_run(now))
            elif now.stage is not None:
                show(*progress.describe_run(now))  # a line now and then
            elif now.round_ended and now.n_rounds % every == 0:
                print(progress.round_line(now, as_json), file=sys.stderr, flush=True)
            if now.round_ended and figures is not None:
                write_figures(figures, now)
            stop.obey(now.n_trees, in_steps=now.stage is not None)

        result = run_selection(store, on_progress=on_progress, finish=finish, **arguments)
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
        raise SettingsError("--workers, --scheduler and --cluster exclude one another: choose one.")
    if (cluster is None) != (config is None):
        raise SettingsError("--cluster and --config belong together: give both.")
    if cluster is not None and config is not None:
        from srs.executors.batch_systems import JobCluster

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
    from srs.engine.checkpoint import has_checkpoint, remove_checkpoint
    from srs.results.result import JSON_NAME

    if resume and overwrite:
        raise SettingsError(
            "--resume continues a run and --overwrite starts a new one: choose one."
        )
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
                f"{folder} already contains a result: choose another --out, or --overwrite."
            )
        if has_checkpoint(folder):
            raise SettingsError(
                f"{folder} contains an interrupted run: continue it with --resume, or start "
                "again with --overwrite."
            )
