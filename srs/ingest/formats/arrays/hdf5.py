"""HDF5 datasets as sources, among them MATLAB's v7.3 files.

Before anything is read every link of the file is looked at: links to other files, datasets stored
in other files and virtual datasets are refused, because they make a file show what its owner may
not read. Contiguous datasets are read with plain reads, others by whole chunks through h5py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from srs.errors import SourceError
from srs.ingest.block import Source, Wanted, value_dtype
from srs.ingest.formats.arrays.in_memory import MemoryMatrix, check_shape
from srs.ingest.formats.arrays.npy import FileMatrix
from srs.ingest.formats.format import Format
from srs.ingest.readers.extras import require
from srs.ingest.readers.matlab_labels import class_of, read_cells, read_chars
from srs.ingest.readers.matrix import Matrix, MatrixSource, pick_lines, rectangle
from srs.ingest.readers.size_guard import refuse_hollow
from srs.ingest.readers.sparse import SparseSource


class HdfMatrix:
    """A chunked dataset; whole chunks are read together.

    held counts the result and the chunks that it is made from.
    """

    in_memory = False
    min_run = 1

    def __init__(self, dataset: Any) -> None:
        self.shape = (int(dataset.shape[0]), int(dataset.shape[1]))
        self.dtype = np.dtype(dataset.dtype)
        self.grain = (min(dataset.chunks[0], self.shape[0]), min(dataset.chunks[1], self.shape[1]))
        self.held = 2 * self.dtype.itemsize
        self.fixed_mem = 2 * int(np.prod(dataset.chunks)) * self.dtype.itemsize
        self._dataset = dataset

    def fetch(self, rows: slice, columns: slice, out: np.ndarray | None = None) -> np.ndarray:
        out = rectangle(rows, columns, self.dtype, out)
        try:
            self._dataset.read_direct(out, (rows, columns))
        except OSError as error:
            raise SourceError(f"{self._dataset.file.filename} cannot be read: {error}") from None
        return out

    def pick(self, lines: np.ndarray, axis: int) -> np.ndarray:
        return pick_lines(self, lines, axis)

    def close(self) -> None:
        """The file is closed by its source."""


class HdfSource(MatrixSource):
    """A MatrixSource that closes its file."""

    file: Any = None

    def close(self) -> None:
        super().close()
        if self.file is not None:
            self.file.close()


class MatlabSparse:
    """A sparse matrix of MATLAB: compressed by its columns, as `ir`, `jc` and `data`."""

    def __init__(self, file: Any, group: Any, orientation: str) -> None:
        self.starts = np.asarray(group["jc"][:]).astype(np.int64)
        n_rows, n_columns = int(group.attrs["MATLAB_sparse"]), len(self.starts) - 1
        self.by_features = orientation == "samples"
        self.shape = (n_rows, n_columns) if self.by_features else (n_columns, n_rows)
        empty = np.empty(0)
        self._rows, self._data = group.get("ir", empty), group.get("data", empty)
        self.dtype = np.dtype(self._data.dtype)
        self._file = file

    def read(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        rows = np.asarray(self._rows[start:stop]).astype(np.int64)
        return rows, np.asarray(self._data[start:stop])

    def close(self) -> None:
        self._file.close()


def open_file(path: Path) -> Any:
    """The h5py file, its links checked."""
    h5py = require("h5py", str(path))
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise SourceError(f"{path} cannot be opened as HDF5: {error}") from None
    try:
        _check_links(h5py, file, path)
    except BaseException:
        file.close()
        raise
    return file


def check_hdf5(path: Path) -> None:
    """SourceError for what leads out of the file, and for datasets that promise far more than they
    store, whether they are asked for or not."""
    file = open_file(path)
    with file:
        file.visititems(lambda name, one: _check_size(one, f"{path}: {name}"))


def _check_size(one: Any, where: str) -> None:
    if hasattr(one, "shape") and one.shape:
        refuse_hollow(one.size * one.dtype.itemsize, one.id.get_storage_size(), where)


def _check_links(h5py: Any, file: Any, path: Path) -> None:
    """Refuse what leads out of the file; each object is looked at once, also in loops."""
    waiting, seen = [file], set()
    while waiting:
        group = waiting.pop()
        for name in group:
            link = group.get(name, getlink=True)
            where = f"{path}: {group.name.rstrip('/')}/{name}"
            if isinstance(link, h5py.ExternalLink):
                raise SourceError(f"{where} is a link to another file, which is not followed.")
            if not isinstance(link, h5py.HardLink):
                continue  # what a soft link shows is reached by its own name, too
            found = group[name]
            if isinstance(found, h5py.Dataset) and (found.external or found.is_virtual):
                raise SourceError(f"{where} has its data in other files, which are not read.")
            address = h5py.h5o.get_info(found.id).addr
            if isinstance(found, h5py.Group) and address not in seen:
                seen.add(address)
                waiting.append(found)


def dataset_matrix(dataset: Any, path: Path) -> Matrix:
    """How a two-dimensional dataset is read."""
    check_shape(dataset.shape, f"{path}: {dataset.name}")
    dtype, where = np.dtype(dataset.dtype), f"{path}: {dataset.name}"
    if class_of(dataset) == "char":
        raise SourceError(f"{where} is text: name a matrix of numbers.")
    value_dtype(dtype, where)  # refuses what is no number
    refuse_hollow(dataset.size * dtype.itemsize, dataset.id.get_storage_size(), where)
    if dataset.chunks is not None:
        return HdfMatrix(dataset)
    offset = dataset.id.get_offset()
    if offset is not None:
        return FileMatrix(path, (dataset.shape[0], dataset.shape[1]), dtype, offset)
    if dataset.id.get_storage_size():  # stored beside its description, in at most 64 KB
        return MemoryMatrix(dataset[()])
    raise SourceError(f"{where} has no data.")


def open_hdf5(path: Path, wanted: Wanted, matlab: bool = False) -> Source:
    """A dataset of an HDF5 file; MATLAB writes matrices transposed."""
    file = open_file(path)

    def targets(name: str) -> Any:
        return read_vector(file, name, path)

    try:
        dataset = _choose(file, path, wanted)
        record = file_record("hdf5", path, wanted) | {"dataset": dataset.name}
        record |= {"targets": list(wanted.columns)}
        if "MATLAB_sparse" in dataset.attrs:
            matrix = MatlabSparse(file, dataset, wanted.orientation)
            return SparseSource(matrix, wanted, record, f"{path}: {dataset.name}", targets)
        if not hasattr(dataset, "shape"):
            raise SourceError(f"{path}: {dataset.name} is a group, not a dataset.")
        features_first = (wanted.orientation == "features") != matlab
        source = HdfSource(dataset_matrix(dataset, path), features_first, wanted, record, targets)
    except SourceError as error:
        file.close()
        text = str(error)
        raise SourceError(text if str(path) in text else f"{path}: {text}") from None
    source.file = file
    return source


def file_record(kind: str, path: Path, wanted: Wanted) -> dict[str, Any]:
    """What is needed to read a file again, and to know it."""
    stat = path.stat()
    return {
        "kind": kind,
        "path": str(path.resolve()),
        "size": stat.st_size,
        "mtime_ns": stat.st_mtime_ns,
        "orientation": wanted.orientation,
    }


def _choose(file: Any, path: Path, wanted: Wanted) -> Any:
    """The dataset that the user named, or the only one that is a matrix."""
    found = dict(_matrices(file))
    if wanted.dataset is not None:
        if wanted.dataset not in file:
            raise SourceError(f"{path} has no dataset {wanted.dataset!r}; {_listing(found)}")
        return file[wanted.dataset]
    targets = {name.strip("/") for name in wanted.columns}
    found = {name: one for name, one in found.items() if name.strip("/") not in targets}
    if len(found) != 1:
        raise SourceError(
            f"{path} has {len(found)} matrices of numbers: say which one is the data "
            f"(--dataset); {_listing(found)}"
        )
    return next(iter(found.values()))


def _listing(found: dict[str, Any]) -> str:
    names = ", ".join(list(found)[:10]) + (", ..." if len(found) > 10 else "")
    return f"there are {names}." if found else "there is none."


def _matrices(file: Any) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []

    def look(name: str, one: Any) -> None:
        if name.startswith("#refs#"):
            return
        sparse = "MATLAB_sparse" in one.attrs
        dense = (
            hasattr(one, "shape")
            and "MATLAB_empty" not in one.attrs
            and one.ndim == 2
            and one.dtype.kind in "iufb"
            and class_of(one) != "char"
        )
        inside = one.parent is not None and "MATLAB_sparse" in one.parent.attrs
        if sparse or (dense and min(one.shape) > 1 and not inside):
            found.append((f"/{name}", one))

    file.visititems(look)
    return found


def read_texts(dataset: Any) -> np.ndarray:
    """Texts of a dataset, decoded in one piece: h5py's `asstr` takes four times as long."""
    raw = dataset[()].reshape(-1).tolist()
    try:
        texts = b"\0".join(raw).decode().split("\0") if raw else []  # none has this byte inside
    except (TypeError, UnicodeDecodeError) as error:
        where = f"{dataset.file.filename}: {dataset.name}"
        raise SourceError(f"{where} holds neither numbers nor texts: {error}.") from None
    return np.array(texts, object)


def read_vector(file: Any, name: str, path: Path) -> pd.Series[Any]:
    """A target: a dataset of the file that is a vector, called by the last part of its name."""
    if name not in file or not hasattr(file[name], "shape"):
        raise SourceError(f"the target {name!r}: {path} has no dataset of this name, and no file.")
    dataset = file[name]
    values = _read_values(dataset)
    if values.ndim > 1 and 1 not in values.shape:
        raise SourceError(
            f"the target {name!r} of {path} has shape {values.shape}: it must be one vector."
        )
    vector: pd.Series[Any] = pd.Series(values.reshape(-1), name=name.strip("/").rpartition("/")[2])
    return vector.infer_objects()


def _read_values(dataset: Any) -> np.ndarray:
    where = f"{dataset.file.filename}: {dataset.name}"
    if class_of(dataset) == "char":
        return read_chars(dataset)
    if class_of(dataset) == "cell":
        return read_cells(dataset, where)
    if dataset.dtype.kind == "O":
        return read_texts(dataset)
    values = np.asarray(dataset[()])
    return np.char.decode(values, "utf-8") if values.dtype.kind == "S" else values


HDF5_FORMAT = Format(
    name="hdf5",
    title="HDF5",
    help="a matrix of numbers; `dataset` and `target` name datasets, e.g. /counts",
    open=open_hdf5,
    suffixes=(".h5", ".hdf5", ".hdf"),
    options=("orientation", "dataset"),
    extra="formats",
    safe=True,
    check=check_hdf5,
)
