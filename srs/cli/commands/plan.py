"""`srs plan`: what a run will cost, before it is run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from srs.cli import options, setting_options
from srs.cli.failures import reported
from srs.ingest.tables.names import read_names

if TYPE_CHECKING:
    from srs.selection.plan import Plan


HELP = """Predict the cost of `srs select`: memory, time, and trees to find relevant features.

A short calibration grows a few trees on threads of this machine.

\b
Examples:
  srs plan wide.zarr --memory 2GB --threads 8
  srs plan wide.zarr --relevant 2 --json
"""
Relevant = Annotated[int, typer.Option(min=1, help="Number of relevant features to assume.")]


def plan(
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
    samples: options.Samples = None,
    features: options.Features = None,
    feature_sets: options.Sets = None,
    relevant: Relevant = 4,
    as_json: options.AsJson = False,
) -> None:
    given = locals()
    with reported(as_json):
        _plan(given)


def _plan(given: dict[str, Any]) -> None:
    from srs.selection.plan import plan as make_plan

    arguments = {k: v for k, v in given.items() if k not in ("relevant", "as_json")}
    for name in ("samples", "features"):
        if given[name] is not None:
            arguments[name] = read_names(given[name])
    made = make_plan(**arguments)
    trees = expectations(made, given["relevant"])
    if given["as_json"]:
        typer.echo(json.dumps({**made.to_json(), "expected_trees": trees}, indent=1))
    else:
        typer.echo(describe(made, given["relevant"], trees), nl=False)


def expectations(made: Plan, n_relevant: int) -> dict[str, dict[str, float | None]]:
    """Expected trees for each scenario, with features carried (SRS) and without (RS)."""
    found: dict[str, dict[str, float | None]] = {}
    for scenario in ("marginal", "chain", "clique"):
        found[scenario] = {}
        for name, sequential in (("carried", True), ("not carried", False)):
            trees: float | None = None
            if n_relevant <= made.subspace_size:
                trees = made.expected_trees(scenario, n_relevant, sequential)
            found[scenario][name] = trees if trees is not None and trees < 1e300 else None
    return found


def describe(made: Plan, n_relevant: int, trees: dict[str, dict[str, float | None]]) -> str:
    """The plan for people."""
    from srs.memory import format_bytes

    reading = "read once and kept" if made.resident else "read in each pass"
    lines = [
        f"subspaces   {made.subspace_size:,} features and {made.n_probes} probe(s) of each; "
        f"{made.trees_per_pass:,} trees per pass",
        f"reading     {format_bytes(made.bytes_per_pass)} of codes, {reading}",
        f"memory      {format_bytes(made.projected_mem)} of {format_bytes(made.allowed_mem)} "
        f"allowed: {format_bytes(made.batch_mem)} for each of {made.threads} thread(s), "
        f"{format_bytes(made.coordinator_mem)} for the evidence "
        f"({made.coordinator_mem / made.n_features:.0f} bytes per feature)",
        f"workers     {format_bytes(made.worker_mem)} in each worker process of one thread "
        "(--workers); the evidence stays in the coordinator",
        f"time        {seconds_text(made.seconds_per_pass)} per pass; at least "
        f"{made.least_trees:,} trees, so from {seconds_text(made.seconds)} on{steps_text(made)}",
        f"end         {end_text(made)}",
        f"pairs       {pairs_text(made)}",
        "",
        f"Expected trees until {n_relevant} relevant features among {made.n_features:,} are found:",
    ]
    kinds = {
        "marginal": "each by itself",
        "chain": "a chain, each given the ones before",
        "clique": "only all of them together",
    }
    for scenario, text in kinds.items():
        carried, plain = trees[scenario]["carried"], trees[scenario]["not carried"]
        with_, without = trees_text(made, carried), trees_text(made, plain)
        lines.append(f"  {text:<38} {with_:<34} without carrying {without}")
    if made.pairs_left_out is not None:
        lines.append(
            "  (a pair with no effects of their own, in trees of this size: "
            f"{trees_text(made, made.pair_trees)})"
        )
    return "\n".join(lines) + "\n"


def steps_text(made: Plan) -> str:
    """What of the time comes before the first tree, if it is worth telling."""
    if made.seconds_of_steps < 0.05 * made.seconds:
        return ""
    return f", {seconds_text(made.seconds_of_steps)} of it for pairs and tests of single features"


def end_text(made: Plan) -> str:
    """When a run ends at the latest."""
    ends = []
    if made.most_trees is not None:
        more = made.seconds_per_tree * (made.most_trees - made.least_trees)
        ends.append(f"after {made.most_trees:,} trees ({seconds_text(made.seconds + more)})")
    if made.max_seconds is not None:
        ends.append(f"after {seconds_text(made.max_seconds)} (--max-seconds)")
    latest = ", or ".join(ends)
    return "when the list is stable" + (f"; at the latest {latest}" if ends else "")


def pairs_text(made: Plan) -> str:
    """Whether all pairs are looked at, and what that takes, or would take."""
    took = "" if made.pair_seconds is None else f"about {seconds_text(made.pair_seconds)}"
    if made.pairs_left_out is None:
        return f"all {made.n_pairs:,} pairs of features are looked at first, {took}"
    said = f"not all are looked at: {made.pairs_left_out}"
    return f"{said} All would take {took} (--pairs all)" if took else said


def trees_text(made: Plan, trees: float | None) -> str:
    """Trees and the time they take: "about 1,200 (3 minutes)"."""
    if trees is None:
        return "out of reach"
    seconds = trees * made.seconds_per_pass / made.trees_per_pass
    if seconds > 3e9:
        return f"about {trees:.2g} (out of reach)"
    return f"about {trees:,.0f} ({seconds_text(seconds)})"


def seconds_text(seconds: float) -> str:
    """Seconds for people.

    >>> [seconds_text(s) for s in (0.123, 42, 600, 90_000, 4e8)]
    ['0.12 s', '42 s', '10 minutes', '25 hours', '13 years']
    """
    for unit, size in (("years", 31_557_600), ("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds:.0f} s"
