"""`srs info`: what a feature store holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from srs.cli.failures import reported

if TYPE_CHECKING:
    from srs.store import FeatureStore

MAX_CLASSES = 10  # classes that are listed one by one


def info(
    store: Annotated[
        str,
        typer.Argument(
            metavar="STORE", help="Feature store: a folder, as wide.zarr, or an s3:// address."
        ),
    ],
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

        about = describe(open_store(store))
        typer.echo(json.dumps(about, indent=1) if as_json else render(about))


def describe(store: FeatureStore) -> dict[str, Any]:
    """What is known of a feature store, as JSON."""
    import numpy as np

    from srs.store.layout import KIND_NAMES, code_bytes

    counts = np.bincount(store.kinds, minlength=len(KIND_NAMES)).tolist()
    manifest = store.manifest
    return {
        "path": store.location,
        "n_features": store.n_features,
        "n_samples": store.n_samples,
        "bytes": code_bytes(store.n_features, store.n_samples, manifest.code_bits),
        "code_bits": manifest.code_bits,
        "kinds": dict(zip(KIND_NAMES, counts, strict=True)),
        "any_missing": manifest.any_missing,
        "targets": [_describe_target(store, name) for name in store.target_names],
        "chunk_features": store.chunk_features,
        "fingerprint": store.fingerprint,
        "source": dict(manifest.source),
        "notices": list(manifest.notices),
        "srs_version": manifest.srs_version,
    }


def _describe_target(store: FeatureStore, name: str) -> dict[str, Any]:
    import numpy as np

    target = store.target(name)
    about: dict[str, Any] = {"name": name, "task": target.task}
    if target.labels:
        counts = np.bincount(target.values, minlength=len(target.labels)).tolist()
        return about | {"classes": dict(zip(target.labels, counts, strict=True))}
    values = target.values
    return about | {
        "min": float(values.min()), "mean": float(values.mean()), "max": float(values.max()),
    }  # fmt: skip


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
        *(f"  target       {_render_target(target)}" for target in about["targets"]),
        f"  fingerprint  {about['fingerprint']}",
        *(f"  notice       {clean_name(notice)}" for notice in about["notices"]),
    ]
    if not about["targets"]:
        lines.insert(2, "  target       none: `srs select` needs one, ingest again with --target")
    return "\n".join(lines)


def _render_target(target: Mapping[str, Any]) -> str:
    from srs.report.text import clean_name, number

    if "classes" not in target:
        span = f"from {number(target['min'])} to {number(target['max'])}"
        return f"{clean_name(target['name'])}, {target['task']}, {span}"
    classes = list(target["classes"].items())
    listed = ", ".join(f"{clean_name(label)}: {n:,}" for label, n in classes[:MAX_CLASSES])
    more = ", ..." if len(classes) > MAX_CLASSES else ""
    said = f"{len(classes)} classes ({listed}{more})"
    return f"{clean_name(target['name'])}, {target['task']}, {said}"
