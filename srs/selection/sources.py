"""Data in memory where a feature store is expected: they become a store for the time of a call.

The store is kept in memory if its codes are a small share of what is allowed, and in a temporary
folder (TMPDIR) otherwise, or if workers must read it. Results are those of `srs.ingest` and the
store that it makes.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from srs.errors import InputError
from srs.ingest import ingest
from srs.ingest.formats.registry import find_format
from srs.memory import DEFAULT_MEM, parse_bytes
from srs.store import FeatureStore

KEPT_SHARE = 8  # of the memory allowed, for the codes of a store in memory
FRAMES = ("frame", "arrow-table")


def is_frame(data: Any) -> bool:
    """Whether data are a table with names of columns: of pandas, polars or Arrow."""
    found = None if isinstance(data, (str, os.PathLike)) else find_format(data)
    return found is not None and found.name in FRAMES


def column_names(frame: Any) -> list[str]:
    """Names of the columns of a frame."""
    return [str(name) for name in getattr(frame, "column_names", getattr(frame, "columns", ()))]


@contextmanager
def stored(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The arguments of `srs.select`, with a store where there were data and their target y.

    Columns of samples that settings name are taken out of a frame's features, as the target is.
    """
    arguments = dict(given)
    data, y = arguments["store"], arguments.pop("y")
    if isinstance(data, FeatureStore | str | os.PathLike) or find_format(data) is None:
        if y is not None:
            raise InputError(
                "with a feature store, y must be left out: target names one of its targets."
            )
        yield arguments
        return
    if y is None:
        raise InputError("data in memory need a target: give its values, or its column, as y.")
    target = _targets(data, y, arguments)
    with as_store(data, target, arguments["memory"], arguments["executor"]) as store:
        yield {**arguments, "store": store}


@contextmanager
def as_store(
    data: Any,
    target: Any,
    memory: Any,
    executor: Any,
    id_column: str | None = None,
    *,
    target_kind: Any = None,
) -> Iterator[FeatureStore]:
    """A store of data in memory, for as long as the block lasts."""
    allowed_mem = DEFAULT_MEM if memory is None else parse_bytes(memory)
    shape: tuple[Any, ...] = getattr(data, "shape", ())
    n_codes = int(shape[0]) * int(shape[1]) if len(shape) == 2 else 0
    options: dict[str, Any] = {
        "target": target,
        "memory": allowed_mem,
        "id_column": id_column,
        "target_kind": target_kind,
    }
    if executor is None and n_codes <= allowed_mem // KEPT_SHARE:
        yield ingest(data, **options)
        return
    with tempfile.TemporaryDirectory(prefix="srs-") as folder:
        yield ingest(data, Path(folder) / "X.zarr", keep_values=False, **options)


def _targets(data: Any, y: Any, settings: Mapping[str, Any]) -> Any:
    """y, with the columns of a frame that settings name as columns of samples."""
    if not is_frame(data):
        return y
    asked = [
        *_listed(settings["covariates"]),
        *_listed(settings["confounders"]),
        settings["subjects"],
        settings["sample_weight"],
    ]
    there = column_names(data)
    named = dict(y) if isinstance(y, Mapping) else {y if isinstance(y, str) else "target": y}
    more = {name: name for name in asked if name in there and name not in named}
    return {**named, **more} if more or isinstance(y, Mapping) else y


def _listed(given: Any) -> Sequence[Any]:
    """A list that a setting should be; what is none is refused where settings are read."""
    return given if isinstance(given, list | tuple) else ()
