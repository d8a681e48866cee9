"""Objects in memory as sources: sparse matrices of scipy, and AnnData.

An AnnData object is known by what it has, so anndata is never imported here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from srs.errors import SourceError
from srs.ingest.arrays import MemoryMatrix, check_shape
from srs.ingest.block import Source, Wanted
from srs.ingest.matrix import MatrixSource
from srs.ingest.sparse import SparseSource


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


def is_anndata(source: Any) -> bool:
    return all(hasattr(source, name) for name in ("X", "obs", "var", "layers", "obs_names"))


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
    if wanted.orientation != "samples":
        raise SourceError("AnnData says itself what its samples are: leave out the orientation.")
    if getattr(cells, "isbacked", False):
        raise SourceError(f"the AnnData object is in a file: give that, {cells.filename}.")
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
        *(["X"] if cells.X is not None else []), *(f"layers/{name}" for name in cells.layers),
        *(["raw/X"] if cells.raw is not None else []),
    ]  # fmt: skip
    raise SourceError(f"the AnnData object has no {dataset!r}; there are {', '.join(there)}.")
