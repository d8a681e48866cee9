"""AnnData: the selected features as a new .h5ad file, or results added to `var` of a given one.

Written by the documented layout with h5py and zarr, as `srs.ingest.formats.domains.anndata` reads
it.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from srs.errors import InputError, SourceError
from srs.ingest.formats.arrays.hdf5 import open_file
from srs.ingest.formats.domains.anndata import read_column
from srs.ingest.readers.extras import require
from srs.ingest.readers.zarr_checks import open_group
from srs.ingest.tables.join import unpack_samples
from srs.results.export.selected import Selected
from srs.results.result import Result
from srs.targets.columns import target_columns

COLUMNS = ("p_value", "q_value", "importance")


def write_h5ad(selected: Selected, path: Path) -> None:
    """X holds the values, obs the targets (and the source's own obs), var what the run says."""
    h5py = require("h5py", str(path))
    store = selected.store
    obs: dict[str, Any] = _source_obs(selected)
    for name in store.target_names:
        target = store.target(name)
        if target.labels:
            labels = pd.Index(target.labels, dtype=object)
            obs[name] = pd.Categorical.from_codes(target.values.astype(np.int64), labels)
        else:
            obs |= target_columns(target)
    rows = selected.rows
    known = [name for name in rows[0] if name not in ("feature_id", "name")]
    var = {name: np.array([row[name] for row in rows]) for name in known}
    values = _narrow(selected.values)  # before there is a file: they may be gone
    with h5py.File(path, "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        _write_array(file, "X", values)
        _write_frame(file, "obs", store.sample_ids, obs)
        _write_frame(file, "var", selected.names, var)


def _narrow(values: np.ndarray) -> np.ndarray:
    small = values.astype(np.float32)
    return small if np.array_equal(small, values, equal_nan=True) else values


def _source_obs(selected: Selected) -> dict[str, Any]:
    """Columns of the source's obs, if it was an AnnData file and is still there."""
    source = selected.source
    path = Path(source.get("path", ""))
    if source.get("kind") != "anndata" or not path.exists():
        return {}
    kept = source.get("kept_samples")
    root: Any = open_group(path) if path.is_dir() else open_file(path)
    found = {}
    try:
        table: Any = root["obs"]
        for name in table.attrs.get("column-order", ()):
            column = read_column(table[str(name)])
            column = column.array if isinstance(column, pd.Series) else column
            column = column if kept is None else column[unpack_samples(kept)]
            found[str(name)] = column[selected.samples]
    except SourceError:
        return {}
    finally:
        if not path.is_dir():
            root.close()
    return found


def _write_frame(file: Any, name: str, index: list[str], columns: Mapping[str, Any]) -> None:
    group = file.create_group(name)
    group.attrs.update({"encoding-type": "dataframe", "encoding-version": "0.2.0"})
    group.attrs["_index"] = "_index"
    group.attrs.create("column-order", list(columns), dtype=_text_dtype())
    _write_texts(group, "_index", index)
    for column, values in columns.items():
        if isinstance(values, pd.Categorical):
            _write_categories(group, column, values)
        elif np.asarray(values).dtype.kind in "OUT":
            _write_texts(group, column, ["" if pd.isna(v) else str(v) for v in values])
        else:
            _write_array(group, column, np.asarray(values))


def _text_dtype() -> Any:
    return require("h5py", "an AnnData file").string_dtype()


def _write_texts(group: Any, name: str, texts: list[str]) -> None:
    array = group.create_dataset(name, data=np.array(texts, object), dtype=_text_dtype())
    array.attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})


def _write_array(group: Any, name: str, values: np.ndarray) -> None:
    array = group.create_dataset(name, data=values)
    array.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})


def _write_categories(group: Any, name: str, values: pd.Categorical[Any]) -> None:
    inside = group.create_group(name)
    inside.attrs.update({"encoding-type": "categorical", "encoding-version": "0.2.0"})
    inside.attrs["ordered"] = bool(values.ordered)
    _write_array(inside, "codes", np.asarray(values.codes))
    _write_texts(inside, "categories", [str(c) for c in values.categories])


def add_to_var(path: Path, result: Result) -> Path:
    """Add srs_relevant and numbers of all features to `var` of an AnnData file, by name; by place
    where names are repeated and both have the same list of them."""
    if not path.exists():
        raise InputError(f"{path} does not exist.")
    is_zarr = path.is_dir()
    (open_group if is_zarr else _check_file)(path)
    root = _open_to_write(path, is_zarr)
    try:
        if "var" not in root or "column-order" not in root["var"].attrs:
            raise InputError(f"{path} is not an AnnData file: it has no var.")
        var = root["var"]
        index = [str(v) for v in read_column(var[var.attrs.get("_index", "_index")])]
        for name, values in _by_name(result, index, path).items():
            if name in var:
                del var[name]
            array = (
                var.create_array(name, data=values)
                if is_zarr
                else var.create_dataset(name, data=values)
            )
            array.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
            order = [str(c) for c in var.attrs["column-order"] if str(c) != name]
            _set_order(var, [*order, name], is_zarr)
    finally:
        if not is_zarr:
            root.close()
    if is_zarr:
        import zarr

        group = zarr.open_group(path, mode="r")
        if group.metadata.consolidated_metadata is not None:  # a copy, which is read instead
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that version 3 does not describe it
                zarr.consolidate_metadata(path)
    return path


def _check_file(path: Path) -> None:
    open_file(path).close()


def _open_to_write(path: Path, is_zarr: bool) -> Any:
    if is_zarr:
        import zarr

        return zarr.open_group(path, mode="r+", use_consolidated=False)
    try:
        return require("h5py", str(path)).File(path, "r+")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error}") from None


def _set_order(var: Any, order: list[str], is_zarr: bool) -> None:
    if is_zarr:
        var.attrs["column-order"] = order
    else:
        del var.attrs["column-order"]
        var.attrs.create("column-order", order, dtype=_text_dtype())


def _by_name(result: Result, index: list[str], path: Path) -> dict[str, np.ndarray]:
    """Columns in the order of the file; NaN and False where the run knows nothing."""
    table = result.table
    names = table["name"].to_pylist()
    repeated = [n for n, times in (Counter(names) | Counter(index)).items() if times > 1]
    if names[: len(index)] == index and set(index).isdisjoint(names[len(index) :]):
        rows = np.arange(len(index))  # the same list; covariates may follow
    elif repeated:
        raise InputError(
            f"the name {repeated[0]!r} occurs more than once, and {path} does not have the "
            "features of the run in the same order: make names unique (var_names_make_unique) "
            "and ingest again."
        )
    else:
        row_of = {name: i for i, name in enumerate(names)}
        rows = np.array([row_of.get(name, -1) for name in index])
    if (rows < 0).all():
        raise InputError(f"{path} has none of the run's features: the first is {index[0]!r}.")
    relevant = np.array([v == "RELEVANT" for v in table["verdict"].to_pylist()])
    columns: dict[str, np.ndarray] = {"srs_relevant": relevant[rows] & (rows >= 0)}
    for name in COLUMNS:
        values = table[name].to_numpy().astype(np.float64)
        columns[f"srs_{name}"] = np.where(rows < 0, np.nan, values[rows])
    return columns
