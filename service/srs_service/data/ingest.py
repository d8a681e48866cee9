"""What an ingest is told: its files, brought here and checked, and the options of `srs.ingest`.

Runs in child processes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from srs import find_format
from srs_service.data.sources import prepare_files
from srs_service.data.store_checks import is_feature_store

OPTIONS = (
    "memory",
    "orientation",
    "target_kind",
    "event",
    "exposure",
    "ordinal",
    "categorical",
    "id_column",
    "dataset",
    "covariates",
)


def prepare_ingest(
    order: Mapping[str, Any], on_bytes: Callable[[int], None]
) -> tuple[Path, dict[str, Any] | None]:
    """The source and the arguments of `srs.ingest`; None for a feature store, taken as it is."""
    folder, limits = Path(order["folder"]), order["limits"]
    paths = {
        name: prepare_files(files, folder, limits, on_bytes)
        for name, files in order["files"].items()
        if files
    }
    source = paths.pop("source")
    if is_feature_store(source):
        return source, None
    found = find_format(source)
    if found is not None:  # else `srs.ingest` says what is known
        found.check_stranger(source)
    target = order["target_column"]
    if "target" in paths:
        target = str(paths.pop("target"))
    if order["sample_columns"]:
        name = "target" if order["target_column"] is None else _last(target)
        target = {name: target} | {_last(column): column for column in order["sample_columns"]}
    return source, {"target": target, **paths, **{name: order[name] for name in OPTIONS}}


def _last(column: str) -> str:
    """What a column is called in the store.

    >>> _last("obs:site"), _last("about/site"), _last("site")
    ('site', 'site', 'site')
    """
    return column.removeprefix("obs:").rpartition("/")[2]
