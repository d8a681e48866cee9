"""`srs plan`: what a run will cost, before it is run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from srs.cli import options
from srs.cli.failures import reported
from srs.cli.ingest import read_names

if TYPE_CHECKING:
    from srs.planning import Plan


def plan(
    store: options.Store,
    memory: Annotated[
        str | None,
        typer.Option(help="Memory that the process may hold, as 512MB or 4GB. Default: 2GB."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Batches at once. Default: all cores.")
    ] = None,
    relevant: Annotated[
        int, typer.Option(min=1, help="How many relevant features you wonder about.")
    ] = 4,
    subspace_size: options.SubspaceSize = None,
    samples: options.Samples = None,
    features: options.Features = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")] = False,
) -> None:
    """Say what `srs select` will cost: memory, time, and trees to find what you wonder about.

    A short calibration grows a few trees on this machine.

    \b
    Examples:
      srs plan wide.zarr --memory 2GB --workers 8
      srs plan wide.zarr --relevant 2 --json
    """
    with reported(as_json):
        from srs.planning import plan as make_plan

        settings: dict[str, Any] = {} if subspace_size is None else {"subspace_size": subspace_size}
        made = make_plan(
            store, memory=memory, workers=workers,
            samples=None if samples is None else read_names(samples),
            features=None if features is None else read_names(features), **settings,
        )  # fmt: skip
        trees = expectations(made, relevant)
        if as_json:
            typer.echo(json.dumps({**made.to_json(), "expected_trees": trees}, indent=1))
        else:
            typer.echo(describe(made, relevant, trees), nl=False)


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
        f"{made.trees_a_pass:,} trees a pass",
        f"reading     {format_bytes(made.bytes_a_pass)} of codes, {reading}",
        f"memory      {format_bytes(made.projected_mem)} of {format_bytes(made.allowed_mem)} "
        f"allowed: {format_bytes(made.batch_mem)} for each of {made.threads} thread(s), "
        f"{format_bytes(made.coordinator_mem)} for the evidence "
        f"({made.coordinator_mem / made.n_features:.0f} bytes a feature)",
        f"workers     {format_bytes(made.worker_mem)} in each worker process of one thread "
        f"(--workers); the evidence stays with the coordinator",
        f"time        {seconds_text(made.seconds_a_pass)} a pass; at least "
        f"{made.least_trees:,} trees, so from {seconds_text(made.seconds)} on",
        "",
        f"Expected trees until {n_relevant} relevant features of {made.n_features:,} have shown:",
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
    lines.append(
        f"  (a pair without effects of their own, in trees of this size: "
        f"{trees_text(made, made.pair_trees)})"
    )
    return "\n".join(lines) + "\n"


def trees_text(made: Plan, trees: float | None) -> str:
    """Trees and the time they take: "about 1,200 (3 minutes)"."""
    if trees is None:
        return "out of reach"
    seconds = trees * made.seconds_a_pass / made.trees_a_pass
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
