"""`srs submit`: start a job on a service."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from srs.catalogue import USUAL, Option
from srs.catalogue.requests import Request, add_options
from srs.cli import options, setting_options, source_options
from srs.cli.failures import reported
from srs.cli.remote import (
    DEFAULT_URL,
    ApiKey,
    AsJson,
    Url,
    connected,
    find_dataset,
    said,
    watch_job,
)
from srs.errors import SettingsError

if TYPE_CHECKING:
    from srs.client import Client, Dataset, Job


HELP = """Start a selection, or an explanation, on a service; prints the id of the job.

Set SRS_URL and SRS_API_KEY to the service and your key. The job continues after this command
has ended. Exit code 7 means that a watched job failed or was cancelled.

\b
Examples:
  export SRS_URL=https://srs.example.org SRS_API_KEY=srs_...
  srs submit X.npy --target y.npy --memory 1GB --watch
  srs submit cohort.bed --table pheno.tsv --target case --covariate age
  srs submit cohort7 --store cohort7/wide.zarr --plan
  srs submit cohort7 --fdr 0.05 --max-seconds 600 --name "first look"
  srs submit cohort7 --explain JOB --analysis mda,context=sex --option context.n_trees=500
"""
DatasetOrFile = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="Name or id of a dataset of the service, or a local file or folder in any format "
        "of `srs ingest`, which is sent first.",
    ),
]
TargetOrFile = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Target. If a file is sent: a column of it, or another file."
    ),
]
StoreThere = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="Path of a store on the service: register it first, with the name DATASET.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any setting of the job as NAME=VALUE, e.g. n_trees=500; repeat for more.",
    ),
]
Targets = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Select for many targets of the dataset: names with commas between them, or all.",
    ),
]
Explained = Annotated[
    str | None,
    typer.Option(metavar="JOB", help="Explain what this selection found, instead of selecting."),
]
Analysis = Annotated[
    str, typer.Option(metavar="NAME,...", help="Analyses of --explain, e.g. mda,umfi.")
]
USUAL_ANALYSES = ",".join(USUAL)
AnalysisOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ANALYSIS.OPTION=VALUE",
        help="Set an option of an analysis of --explain, e.g. umfi.n_repeats=5; repeat for more. "
        "`srs explain --help` lists them.",
    ),
]
Name = Annotated[str | None, typer.Option(help="Name of the job.")]
IdempotencyKey = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Repeating the command with the same key and options gives the same job.",
    ),
]
OnlyPlan = Annotated[
    bool, typer.Option("--plan", help="Only print the predicted cost of the selection.")
]
Watch = Annotated[bool, typer.Option("--watch", help="Show the progress until the job ends.")]
# Options of data that are sent, and what the client calls them.
OF_SOURCE = {
    "sample_column": "sample_columns",
    "orientation": "orientation",
    "categorical": "categorical",
    "target_kind": "target_kind",
    "event": "event",
    "exposure": "exposure",
    "ordinal": "ordinal",
    "names": "names",
    "sample_ids": "sample_ids",
    "table": "table",
    "covariate": "covariates",
    "array": "dataset",
    "mask": "mask",
    "id_column": "id_column",
}
# Options that are no settings of the job.
NOT_SETTINGS = (
    *OF_SOURCE,
    "ctx",
    "dataset",
    "target",
    "store",
    "setting",
    "feature_sets",
    "targets",
    "explain",
    "analysis",
    "option",
    "name",
    "idempotency_key",
    "plan",
    "watch",
    "url",
    "api_key",
    "as_json",
)


def submit(
    ctx: typer.Context,
    dataset: DatasetOrFile,
    target: TargetOrFile = None,
    store: StoreThere = None,
    # generated: settings
    fdr: setting_options.Fdr = 0.1,
    memory: setting_options.Memory = None,
    seed: setting_options.Seed = 0,
    mode: setting_options.Mode = "default",
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
    sample_weight: setting_options.SampleWeight = None,
    class_weight: setting_options.ClassWeight = None,
    confounders: setting_options.Confounders = None,
    subjects: setting_options.Subjects = None,
    covariates: setting_options.Covariates = None,
    # end generated
    feature_sets: options.Sets = None,
    targets: Targets = None,
    setting: Set = None,
    explain: Explained = None,
    analysis: Analysis = USUAL_ANALYSES,
    option: AnalysisOption = None,
    sample_column: source_options.SampleColumn = None,
    orientation: source_options.Orientation = "samples",
    categorical: source_options.Categorical = None,
    target_kind: source_options.TargetKind = None,
    event: source_options.Event = None,
    exposure: source_options.Exposure = None,
    ordinal: source_options.Ordinal = None,
    names: source_options.Names = None,
    sample_ids: source_options.SampleIds = None,
    table: source_options.Table = None,
    covariate: source_options.Covariate = None,
    array: source_options.Array = None,
    mask: source_options.Mask = None,
    id_column: source_options.IdColumn = None,
    name: Name = None,
    idempotency_key: IdempotencyKey = None,
    plan: OnlyPlan = False,
    watch: Watch = False,
    url: Url = DEFAULT_URL,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    given = locals()
    with reported(as_json), connected(url, api_key) as client:
        _submit(client, given)


def _submit(client: Client, given: dict[str, Any]) -> None:
    if given["explain"] is None and (given["option"] or given["analysis"] != USUAL_ANALYSES):
        raise SettingsError("--analysis and --option belong to --explain JOB: name the selection.")
    found, is_file = _dataset(client, given)
    settings = _settings(given)
    if given["target"] is not None and not is_file:
        settings["target"] = given["target"]
    called = {"name": given["name"], "idempotency_key": given["idempotency_key"]}
    if given["explain"] is not None:
        settings["analyses"] = _requests(client, given["analysis"], given["option"] or ())
        job = client.jobs.submit(found, "explain", features=given["explain"], **called, **settings)
    elif given["plan"]:
        _show_plan(client.jobs.plan(found, **settings), given["as_json"])
        return
    else:
        named = given["targets"]
        several = named if named in (None, "all") else [n for n in named.split(",") if n]
        job = client.jobs.submit(found, targets=several, **called, **settings)
    _show(job, given["watch"], given["as_json"])


def _requests(client: Client, analysis: str, texts: Sequence[str]) -> list[Request]:
    """The analyses to ask for; the service says what options there are."""
    named = [part for part in analysis.split(",") if part]
    if not texts:
        return list(named)
    offered = client.jobs.analyses()

    def find(name: str, option: str) -> Option:
        if name not in offered:
            raise SettingsError(f"the service has no analysis {name!r}.")
        return offered[name].option(option)

    return add_options(named, texts, find)


def _dataset(client: Client, given: dict[str, Any]) -> tuple[Dataset, bool]:
    """The dataset of the job, and whether it is a file that was sent for it."""
    dataset, store, key = given["dataset"], given["store"], given["idempotency_key"]
    how = _how_to_read(given)
    is_data = store is None and _is_data(Path(dataset))
    if how and not is_data:
        raise SettingsError(
            f"{', '.join(how)} are options for reading files, and {dataset} is not a local file "
            "or folder: leave them out."
        )
    if store is not None:
        key = None if key is None else f"{key}:dataset"
        return client.datasets.register(store, dataset, idempotency_key=key), False
    if not is_data:
        return find_dataset(client, dataset), False
    if key is not None:
        raise SettingsError(
            f"--idempotency-key cannot be used with a file, and {dataset} is one: it would be "
            "sent as a new dataset each time. Send it once, then give the dataset's name or id."
        )
    return _send(client, given, how), True


def _how_to_read(given: dict[str, Any]) -> dict[str, Any]:
    """What was said of the data that are sent, as the client takes it."""
    said = {key: given[option] for option, key in OF_SOURCE.items() if given[option] is not None}
    if "ordinal" in said:
        said["ordinal"] = [level.strip() for level in said["ordinal"].split(",")]
    if said["orientation"] == "samples":
        del said["orientation"]
    return said


def _is_data(path: Path) -> bool:
    """Whether it is a file, or a folder of a known format."""
    from srs.ingest.formats.registry import find_format

    return path.is_file() or (path.is_dir() and find_format(path) is not None)


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """What was said on the command line, and no more: the service knows the defaults."""
    from srs.client.settings import unknown_setting

    ctx: typer.Context = given["ctx"]
    said = {}
    for name in given.keys() - set(NOT_SETTINGS):
        source = ctx.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            said[name] = given[name]
    if given["feature_sets"] is not None:
        said["feature_sets"] = given["feature_sets"]
    said |= parse_settings(given["setting"] or [])
    if given["explain"] is None and (unknown := unknown_setting(said)) is not None:
        raise SettingsError(unknown)
    return said


def _send(client: Client, given: dict[str, Any], how: dict[str, Any]) -> Dataset:
    """Send data and wait until they are a dataset."""
    sent = client.datasets.upload(given["dataset"], given["target"], **how)
    if sent.document["job_id"] is not None:
        watch_job(client.jobs.get(sent.document["job_id"]), given["as_json"])
    return sent.refresh()


def _show(job: Job, watch: bool, as_json: bool) -> None:
    if not watch:
        if as_json:
            typer.echo(json.dumps(job.document, indent=1))
        else:
            typer.echo(job.id)
            typer.echo(f"`srs watch {job.id}` shows its progress", err=True)
        return
    if not as_json:
        typer.echo(job.id)
    watch_job(job, as_json)
    if as_json:
        typer.echo(json.dumps(job.document, indent=1))
    else:
        typer.echo(f"{said(job)}; `srs fetch {job.id}` gets the result", err=True)


def _show_plan(made: dict[str, Any], as_json: bool) -> None:
    from srs.memory import format_bytes
    from srs.report.text import duration

    if as_json:
        typer.echo(json.dumps(made, indent=1))
        return
    typer.echo(
        f"time    from {duration(made['seconds'])} on, "
        f"{duration(made['seconds_per_pass'])} per pass\n"
        f"memory  {format_bytes(made['projected_mem'])} of "
        f"{format_bytes(made['allowed_mem'])} allowed\n"
        f"trees   {made['trees_per_pass']:,} per pass, at least {made['least_trees']:,}, of "
        f"{made['subspace_size']:,} features each"
    )


def parse_settings(texts: list[str]) -> dict[str, Any]:
    """Settings from NAME=VALUE; values are JSON where they can be, else text.

    >>> parse_settings(["max_trees=500", "mode=paper", "random_recall=false"])
    {'max_trees': 500, 'mode': 'paper', 'random_recall': False}
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise SettingsError(f"--set takes NAME=VALUE, e.g. max_trees=5000, not {text!r}.")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found
