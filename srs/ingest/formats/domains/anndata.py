"""AnnData files (.h5ad and .zarr): samples are observations, features are variables.

Read by their documented layout with h5py and zarr, some features or samples at a time: anndata
itself would read the whole matrix, follows links to other files, and allows no present pandas.
X, a layer or raw is dense, or sparse by samples (CSR) or by features (CSC); targets are columns of
`obs`. How results are written back is `srs.export.anndata`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from srs.errors import SourceError
from srs.ingest.block import Source, Wanted
from srs.ingest.formats.arrays.hdf5 import (
    HdfSource,
    check_hdf5,
    dataset_matrix,
    file_record,
    open_file,
    read_texts,
)
from srs.ingest.formats.arrays.in_memory import check_shape, folder_mark, zarr_matrix
from srs.ingest.formats.folders import FolderSigns
from srs.ingest.formats.format import FILE, FOLDER, Format
from srs.ingest.readers.matrix import MatrixSource
from srs.ingest.readers.sparse import SparseSource
from srs.ingest.readers.zarr_checks import check_array, check_folder, open_group

SPARSE = {"csr_matrix": False, "csc_matrix": True}  # encoding -> compressed by features


class GroupMatrix:
    """A sparse matrix in a group of HDF5 or zarr: data, indices and indptr."""

    def __init__(
        self, group: Any, by_features: bool, where: str, close: Callable[[], None]
    ) -> None:
        shape = group.attrs.get("shape", group.attrs.get("h5sparse_shape"))
        if shape is None or any(name not in group for name in ("data", "indices", "indptr")):
            raise SourceError(f"{where} is not a complete sparse matrix: it is damaged.")
        self.shape = (int(shape[0]), int(shape[1]))
        self.by_features = by_features
        self._data, self._indices = group["data"], group["indices"]
        self.dtype = np.dtype(self._data.dtype)
        self.starts = np.asarray(group["indptr"][:]).astype(np.int64)
        self._close = close

    def read(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        indices = np.asarray(self._indices[start:stop])
        return indices, np.asarray(self._data[start:stop])

    def close(self) -> None:
        self._close()


def open_anndata(path: Path, wanted: Wanted) -> Source:
    """An .h5ad file, or a zarr folder."""
    return (open_zarr_anndata if path.is_dir() else open_h5ad)(path, wanted)


def check_anndata(path: Path) -> None:
    """SourceError if a stranger's file must not be opened."""
    (check_folder if path.is_dir() else check_hdf5)(path)


def open_h5ad(path: Path, wanted: Wanted) -> Source:
    file = open_file(path)
    try:
        source = _open(file, path, wanted, file_record("anndata", path, wanted))
    except BaseException:
        file.close()
        raise
    return source


def open_zarr_anndata(folder: Path, wanted: Wanted) -> Source:
    group = open_group(folder)
    record = {
        "kind": "anndata",
        "path": str(folder.resolve()),
        **folder_mark(folder),
        "orientation": wanted.orientation,
    }
    return _open(group, folder, wanted, record)


def _open(root: Any, path: Path, wanted: Wanted, record: dict[str, Any]) -> Source:
    if "obs" not in root or "var" not in root or hasattr(root["obs"], "dtype"):
        raise SourceError(
            f"{path} is not an AnnData file, or was written by anndata before 0.7: write it "
            "again with a newer anndata."
        )
    dataset = wanted.dataset or "X"
    if dataset not in root:
        raise SourceError(f"{path} has no {dataset!r}; there are {', '.join(_choices(root))}.")
    where = f"{path}: {dataset}"
    record |= {"targets": list(wanted.columns), "dataset": wanted.dataset}

    def targets(name: str) -> Any:
        return read_obs(root, name, path)

    source = _matrix_source(
        root, root[dataset], path=path, where=where, wanted=wanted, record=record, targets=targets
    )
    inside_raw = dataset.strip("/").startswith("raw/")
    source.names = _index(root["raw/var" if inside_raw else "var"])
    source.sample_ids = _index(root["obs"])
    return source


def _matrix_source(
    root: Any,
    node: Any,
    path: Path,
    where: str,
    wanted: Wanted,
    record: dict[str, Any],
    targets: Callable[[str], Any],
) -> Source:
    is_hdf = hasattr(root, "filename")
    encoding = node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", ""))
    if not hasattr(node, "dtype"):
        encoding = f"{encoding}_matrix" if encoding in ("csr", "csc") else encoding
        if encoding not in SPARSE:
            raise SourceError(f"{where} is stored as {encoding or 'a group'}, which is not read.")
        close = root.close if is_hdf else _nothing
        matrix = GroupMatrix(node, SPARSE[encoding], where, close)
        return SparseSource(matrix, wanted, record, where, targets)
    if is_hdf:
        source = HdfSource(dataset_matrix(node, path), False, wanted, record, targets)
        source.file = root
        return source
    check_shape(node.shape, where)
    check_array(node, path)
    return MatrixSource(zarr_matrix(node), False, wanted, record, targets)


def _nothing() -> None:
    """Zarr keeps no file open."""


def _choices(root: Any) -> list[str]:
    layers = [f"layers/{name}" for name in root.get("layers", {})]
    return [name for name in ("X", *layers, "raw/X") if name in root]


def _index(table: Any) -> list[str]:
    return [str(v) for v in read_column(table[table.attrs.get("_index", "_index")])]


def read_obs(root: Any, name: str, path: Path) -> Any:
    """A column of obs by its name, also written obs:NAME."""
    name = name.removeprefix("obs:")
    columns = [str(c) for c in root["obs"].attrs.get("column-order", ())]
    if name not in columns:
        some = ", ".join(columns[:12]) or "none"
        raise SourceError(f"the target {name!r}: obs of {path} has no such column; it has {some}.")
    return pd.Series(read_column(root["obs"][name]), name=name)


def read_column(node: Any) -> Any:
    """Values of a column in any of the encodings that anndata writes."""
    if hasattr(node, "dtype"):
        if hasattr(node, "asstr") and node.dtype.kind == "O":
            return read_texts(node)
        values = np.asarray(node[()])
        return values.astype(object) if values.dtype.kind in "TU" else values
    if "codes" in node:
        codes = np.asarray(node["codes"][()])
        ordered = bool(node.attrs.get("ordered", False))
        return pd.Categorical.from_codes(codes, read_column(node["categories"]), ordered=ordered)
    if "values" in node and "mask" in node:
        known: pd.Series[Any] = pd.Series(read_column(node["values"]), dtype=object)
        return known.mask(np.asarray(node["mask"][()]).astype(bool)).infer_objects()
    encoding = node.attrs.get("encoding-type", "nothing known")
    raise SourceError(f"a column is stored as {encoding}, which is not read.")


ANNDATA_FORMAT = Format(
    name="anndata",
    title="AnnData",
    help="samples are observations; X, or `dataset` layers/counts; `target` obs:NAME",
    open=open_anndata,
    kinds=(FILE, FOLDER),
    suffixes=(".h5ad",),
    signs=FolderSigns(zarr=True, all_of=("obs/", "var/")),
    options=("dataset",),
    extra="formats",
    safe=True,
    check=check_anndata,
)
