"""Objects in memory as sources: numpy arrays of any kind, sparse matrices of scipy, and AnnData."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from srs.errors import SourceError
from srs.ingest.block import Source, Wanted
from srs.ingest.formats.arrays.in_memory import MemoryMatrix, check_shape, open_numpy
from srs.ingest.formats.arrays.npy import find_npy, open_npy
from srs.ingest.formats.format import OBJECT, Format
from srs.ingest.formats.tables.frames import open_frame
from srs.ingest.readers.matrix import MatrixSource
from srs.ingest.readers.sparse import SparseSource


class HeldMatrix:
    """A sparse matrix of scipy, CSR or CSC."""

    def __init__(self, matrix: Any) -> None:
        self.shape = (int(matrix.shape[0]), int(matrix.shape[1]))
        self.by_features = matrix.format == "csc"
        self.dtype = np.dtype(matrix.dtype)
        self.starts = np.asarray(matrix.indptr).astype(np.int64)
        self._places, self._values = np.asarray(matrix.indices), np.asarray(matrix.data)

    def read(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        return self._places[start:stop], self._values[start:stop]

    def close(self) -> None:
        """Nothing to release."""


def open_array(given: Any, wanted: Wanted) -> Source:
    """A numpy array or nested lists; an array that shows a whole .npy file is read as that file."""
    if isinstance(given, np.memmap) and (path := find_npy(given)) is not None:
        return open_npy(path, wanted)
    array = np.asarray(given)
    if array.dtype.kind not in "OUST":
        return open_numpy(array, wanted)
    check_shape(array.shape, "the array")
    frame = pd.DataFrame(array if wanted.orientation == "samples" else array.T)
    return open_frame(frame.infer_objects(), replace(wanted, orientation="samples"))


def open_sparse(matrix: Any, wanted: Wanted) -> SparseSource:
    """A sparse matrix or array of scipy, of any form."""
    if len(matrix.shape) != 2:
        check_shape(matrix.shape, "the sparse array")
    rows = matrix if wanted.orientation == "samples" else matrix.T
    record = {"kind": "sparse", "orientation": wanted.orientation}
    return SparseSource(_hold(rows), wanted, record, "the sparse matrix")


def _hold(matrix: Any) -> HeldMatrix:
    return HeldMatrix(matrix if matrix.format in ("csr", "csc") else matrix.tocsr())


def open_anndata(cells: Any, wanted: Wanted) -> Source:
    """X, a layer or raw/X of an AnnData object; targets are columns of `obs`."""
    if getattr(cells, "isbacked", False):
        raise SourceError(
            f"the AnnData object is backed by a file: give the file, {cells.filename}."
        )
    dataset = wanted.dataset or "X"
    values, var_names = _find(cells, dataset)

    def targets(name: str) -> Any:
        column = name.removeprefix("obs:")
        if column not in cells.obs:
            some = ", ".join(map(str, cells.obs.columns[:12])) or "none"
            raise SourceError(f"the target {column!r}: obs has no such column; it has {some}.")
        return cells.obs[column].reset_index(drop=True)

    record = {"kind": "anndata object", "orientation": "samples", "dataset": wanted.dataset}
    source: Source
    if sparse.issparse(values):
        source = SparseSource(_hold(values), wanted, record, dataset, targets)
    else:
        array = np.asarray(values)
        check_shape(array.shape, dataset)
        source = MatrixSource(MemoryMatrix(array), False, wanted, record, targets)
    source.names = [str(name) for name in var_names]
    source.sample_ids = [str(name) for name in cells.obs_names]
    return source


def _find(cells: Any, dataset: str) -> tuple[Any, Any]:
    """The matrix of a name as in files of AnnData, and the names of its features."""
    if dataset == "X" and cells.X is not None:
        return cells.X, cells.var_names
    if dataset == "raw/X" and cells.raw is not None:
        return cells.raw.X, cells.raw.var_names
    layer = dataset.removeprefix("layers/")
    if layer != dataset and layer in cells.layers:
        return cells.layers[layer], cells.var_names
    there = [
        *(["X"] if cells.X is not None else []),
        *(f"layers/{name}" for name in cells.layers),
        *(["raw/X"] if cells.raw is not None else []),
    ]
    raise SourceError(f"the AnnData object has no {dataset!r}; there are {', '.join(there)}.")


ANNDATA_OBJECT_FORMAT = Format(
    name="anndata-object",
    title="an AnnData object",
    help="samples are observations, features are variables",
    open=open_anndata,
    kinds=(OBJECT,),
    types=("anndata.AnnData",),
    options=("dataset",),
)

NUMPY_FORMAT = Format(
    name="numpy",
    title="a numpy array",
    help="a matrix of numbers, or of texts and numbers",
    open=open_array,
    kinds=(OBJECT,),
    types=("numpy.ndarray", "builtins.list", "builtins.tuple"),
    options=("orientation",),
)

SPARSE_FORMAT = Format(
    name="sparse",
    title="a scipy sparse matrix",
    help="a matrix of numbers; values that are not stored are 0",
    open=open_sparse,
    kinds=(OBJECT,),
    types=("scipy.sparse.spmatrix", "scipy.sparse.sparray"),
    options=("orientation",),
)
