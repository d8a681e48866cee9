"""MATLAB files: v7.3 ones are HDF5 (`srs.ingest.formats.arrays.hdf5`), older ones are read by
scipy.

scipy reads a variable whole. Its size is in the file's directory and is compared with the memory
that is allowed before that; variables of these versions have at most 2 GB.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from srs.errors import MemoryBudgetError, SourceError
from srs.ingest.block import Source, Wanted
from srs.ingest.formats.arrays.hdf5 import check_hdf5, file_record, open_hdf5
from srs.ingest.formats.arrays.in_memory import MemoryMatrix, check_shape
from srs.ingest.formats.format import Format
from srs.ingest.readers.matlab_labels import read_labels
from srs.ingest.readers.matrix import MatrixSource
from srs.ingest.readers.sparse import SparseSource
from srs.memory import format_bytes

ITEM_BYTES = {
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "single": 4,
    "int64": 8,
    "uint64": 8,
    "double": 8,
    "logical": 1,
    "sparse": 16,
}
LOAD_COPIES = 2  # of a variable while scipy reads it


class LoadedSparse:
    """A sparse matrix in memory, compressed by features."""

    def __init__(self, matrix: Any, orientation: str) -> None:
        self._matrix = sparse.csc_matrix(matrix)
        if orientation == "features":
            self._matrix = self._matrix.transpose().tocsc()
        self.shape = (int(self._matrix.shape[0]), int(self._matrix.shape[1]))
        self.by_features = True
        self.dtype = np.dtype(self._matrix.dtype)
        self.starts = self._matrix.indptr.astype(np.int64)

    def read(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        return self._matrix.indices[start:stop], self._matrix.data[start:stop]

    def close(self) -> None:
        """Nothing to release."""


def _is_hdf5(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(128).startswith((b"MATLAB 7.3", b"\x89HDF"))


def check_mat(path: Path) -> None:
    """What `check_hdf5` looks at; older files have no links, and sizes are compared when opened."""
    if _is_hdf5(path):
        check_hdf5(path)


def open_mat(path: Path, wanted: Wanted) -> Source:
    if _is_hdf5(path):
        return open_hdf5(path, wanted, matlab=True)
    import scipy.io
    from scipy.io.matlab import MatReadError

    try:
        listed = {name: (shape, kind) for name, shape, kind in scipy.io.whosmat(path)}
    except (ValueError, OSError, TypeError, NotImplementedError, MatReadError) as error:
        raise SourceError(f"{path} cannot be read as a MATLAB file: {error}") from None
    name = _choose(listed, path, wanted)
    shape, kind = listed[name]
    check_shape(shape, f"{path}: {name}")
    n_bytes = LOAD_COPIES * shape[0] * shape[1] * ITEM_BYTES.get(kind, 8)
    if kind == "sparse":
        n_bytes = LOAD_COPIES * max(path.stat().st_size * 4, 16 * shape[1])
    if n_bytes > wanted.mem:
        raise MemoryBudgetError(
            f"{path}: {name} takes {format_bytes(n_bytes)} while it is read and "
            f"{format_bytes(wanted.mem)} are available: allow more memory, or save it with -v7.3.",
            n_bytes,
            wanted.mem,
        )
    loaded = _load(path, name)

    def targets(target: str) -> np.ndarray:
        if target not in listed:
            raise SourceError(f"the target {target!r}: {path} has no such variable, and no file.")
        values = np.asarray(_load(path, target))
        is_label = values.dtype.kind in "OU"
        return read_labels(values, f"{path}: {target}") if is_label else values.squeeze()

    record = file_record("matlab", path, wanted) | {
        "dataset": name,
        "targets": list(wanted.columns),
    }
    source: Source
    if sparse.issparse(loaded):
        matrix = LoadedSparse(loaded, wanted.orientation)
        source = SparseSource(matrix, wanted, record, f"{path}: {name}", targets)
    else:
        features_first = wanted.orientation == "features"
        source = MatrixSource(MemoryMatrix(loaded), features_first, wanted, record, targets)
    source.fixed_mem += n_bytes // LOAD_COPIES
    return source


def _choose(listed: dict[str, Any], path: Path, wanted: Wanted) -> str:
    matrices = [
        name
        for name, (shape, kind) in listed.items()
        if kind in ITEM_BYTES and len(shape) == 2 and min(shape) > 1 and name not in wanted.columns
    ]
    there = ", ".join(matrices[:10]) or "none"
    if wanted.dataset is not None:
        if wanted.dataset.strip("/") not in listed:
            raise SourceError(f"{path} has no variable {wanted.dataset!r}; matrices are {there}.")
        return wanted.dataset.strip("/")
    if len(matrices) != 1:
        raise SourceError(
            f"{path} has {len(matrices)} matrices: say which one is the data (--dataset); there "
            f"are {there}."
        )
    return matrices[0]


def _load(path: Path, name: str) -> Any:
    import scipy.io

    try:
        return scipy.io.loadmat(path, variable_names=[name])[name]
    except (ValueError, OSError, TypeError, KeyError, NotImplementedError) as error:
        raise SourceError(f"{path}: {name} cannot be read: {error}") from None


MATLAB_FORMAT = Format(
    name="matlab",
    title="MATLAB",
    help="a matrix, dense or sparse; `dataset` and `target` name variables",
    open=open_mat,
    suffixes=(".mat",),
    options=("orientation", "dataset"),
    extra="formats",  # for v7.3 files, which are HDF5
    safe=True,
    check=check_mat,
)
