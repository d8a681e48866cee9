"""`srs info`: what a feature store holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from srs.cli import options
from srs.cli.failures import reported

MAX_CLASSES = 10  # classes that are listed one by one


def info(
    store: options.Store,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")] = False,
) -> None:
    """Show what a feature store holds: sizes, kinds, targets, notices.

    \b
    Examples:
      srs info wide.zarr
      srs info wide.zarr --json
    """
    with reported(as_json):
        from srs.store import open_store

        about = open_store(store).describe()
        typer.echo(json.dumps(about, indent=1) if as_json else render(about))


def render(about: Mapping[str, Any]) -> str:
    """The description of a feature store for people."""
    from srs.memory import format_bytes
    from srs.report.text import clean_name, count

    kinds = ", ".join(f"{n:,} {kind}" for kind, n in about["kinds"].items() if n)
    lines = [
        f"{about['path']}: {count(about['n_features'], 'feature')} x "
        f"{count(about['n_samples'], 'sample')}, {format_bytes(about['bytes'])} of codes "
        f"({about['code_bits']} bits each)",
        f"  kinds        {kinds}; {'some' if about['any_missing'] else 'no'} values missing",
        *(f"  target       {render_target(target)}" for target in about["targets"]),
        f"  fingerprint  {about['fingerprint']}",
        *(f"  notice       {clean_name(notice)}" for notice in about["notices"]),
    ]
    if not about["targets"]:
        lines.insert(2, "  target       none (`srs select` needs one: ingest again with --target)")
    return "\n".join(lines)


def render_target(target: Mapping[str, Any]) -> str:
    """One target of a feature store for people."""
    from srs.report.text import clean_name, number

    about = {key: value for key, value in target.items() if key not in ("name", "kind", "missing")}
    if "classes" in about or "levels" in about:
        what = "classes" if "classes" in about else "levels"
        classes = list(about[what].items())
        listed = ", ".join(f"{clean_name(label)}: {n:,}" for label, n in classes[:MAX_CLASSES])
        more = ", ..." if len(classes) > MAX_CLASSES else ""
        said = f"{len(classes)} {what} ({listed}{more})"
    elif "min" in about:
        said = f"from {number(about['min'])} to {number(about['max'])}"
    else:
        said = ", ".join(
            f"{key.replace('_', ' ')} {number(value) if isinstance(value, (int, float)) else value}"
            for key, value in about.items()
        )
    if "missing" in target:
        said += f", missing in {target['missing']:,} samples"
    return f"{clean_name(target['name'])}, {target['kind']}, {said}"
