"""Arrays as sources: numpy arrays in memory, zarr arrays, and dask arrays.

Arrays of text or of Python objects are tables (`srs.ingest.formats.tables.frames`).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from srs.errors import SourceError
from srs.ingest.block import Wanted
from srs.ingest.formats.folders import FolderSigns
from srs.ingest.formats.format import FOLDER, OBJECT, Format
from srs.ingest.readers.matrix import MatrixSource, pick_lines, rectangle
from srs.ingest.readers.zarr_checks import check_folder
from srs.ingest.readers.zarr_chunks import ZarrChunks


def check_shape(shape: tuple[int, ...], where: str) -> None:
    """Refuse what is no matrix, and matrices without samples or features."""
    if len(shape) != 2:
        raise SourceError(
            f"{where} has shape {tuple(shape)}; a source must have two dimensions, "
            f"samples and features."
        )
    if 0 in shape:
        raise SourceError(f"{where} has shape {tuple(shape)}: there is nothing to ingest.")


class MemoryMatrix:
    """A numpy array."""

    in_memory = True
    min_run = 1
    held = 0
    fixed_mem = 0
    grain = (1, 1)

    def __init__(self, array: np.ndarray) -> None:
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = array.dtype
        self._array = array

    def fetch(self, rows: slice, columns: slice, _out: np.ndarray | None = None) -> np.ndarray:
        return self._array[rows, columns]

    def pick(self, lines: np.ndarray, axis: int) -> np.ndarray:
        return self._array[lines] if axis == 0 else self._array[:, lines].T

    def close(self) -> None:
        """Nothing to release."""


class ChunkedMatrix:
    """A zarr or dask array that its library reads, by whole chunks.

    held counts the result and the chunks that it is made from.
    """

    in_memory = False
    min_run = 1
    fixed_mem = 64 << 20  # what the allocator keeps for their threads (measured: 60 MB)

    def __init__(self, array: Any, grain: tuple[int, int]) -> None:
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = np.dtype(array.dtype)
        self.grain = (min(grain[0], self.shape[0]), min(grain[1], self.shape[1]))
        self.held = 3 * self.dtype.itemsize
        self._array = array

    def fetch(self, rows: slice, columns: slice, _out: np.ndarray | None = None) -> np.ndarray:
        part = self._array[rows, columns]
        return np.asarray(part.compute() if hasattr(part, "compute") else part)

    def pick(self, lines: np.ndarray, axis: int) -> np.ndarray:
        return pick_lines(self, lines, axis)

    def close(self) -> None:
        """Nothing to release."""


class ZarrMatrix(ChunkedMatrix):
    """A zarr array in a folder, whose chunks we decode ourselves."""

    def __init__(self, array: Any, chunks: ZarrChunks) -> None:
        super().__init__(array, (chunks.rows, chunks.columns))
        self.dtype, self.held, self.fixed_mem = chunks.dtype, chunks.dtype.itemsize, chunks.held
        self._chunks = chunks

    def fetch(self, rows: slice, columns: slice, out: np.ndarray | None = None) -> np.ndarray:
        values = rectangle(rows, columns, self.dtype, out)

        def take(part: np.ndarray, row: int, column: int) -> None:
            top, left = max(row, rows.start), max(column, columns.start)
            low, right = min(row + len(part), rows.stop), min(column + part.shape[1], columns.stop)
            inside = part[top - row : low - row, left - column : right - column]
            to = slice(top - rows.start, low - rows.start)
            values[to, left - columns.start : right - columns.start] = inside

        self._chunks.hand_out(rows, columns, take)
        return values


def zarr_matrix(array: Any) -> ChunkedMatrix:
    """How a zarr array of two dimensions is read."""
    folder = array_folder(array)
    chunks = None if folder is None else ZarrChunks(array, folder)
    if chunks is not None and chunks.decodes:
        return ZarrMatrix(array, chunks)
    grain = array.shards or array.chunks
    return ChunkedMatrix(array, (int(grain[0]), int(grain[1])))


def open_numpy(array: np.ndarray, wanted: Wanted) -> MatrixSource:
    check_shape(array.shape, "the array")
    record = {"kind": "array", "orientation": wanted.orientation}
    return MatrixSource(MemoryMatrix(array), wanted.orientation == "features", wanted, record)


def open_dask(array: Any, wanted: Wanted) -> MatrixSource:
    if any(np.isnan(n) for n in array.shape):
        raise SourceError("the dask array has chunks of unknown size: call compute_chunk_sizes().")
    check_shape(array.shape, "the dask array")
    grain = (max(array.chunks[0]), max(array.chunks[1]))
    record = {"kind": "dask", "orientation": wanted.orientation}
    matrix = ChunkedMatrix(array, grain)
    return MatrixSource(matrix, wanted.orientation == "features", wanted, record)


def open_zarr(source: zarr.Array[Any] | Path, wanted: Wanted) -> MatrixSource:
    """A zarr array, or the folder of one."""
    array = source if isinstance(source, zarr.Array) else _open_folder(source)
    where = "the zarr array" if isinstance(source, zarr.Array) else str(source)
    check_shape(array.shape, where)
    record = {"kind": "zarr", "orientation": wanted.orientation, **_locate(array)}
    return MatrixSource(zarr_matrix(array), wanted.orientation == "features", wanted, record)


def open_zarr_folder(folder: Path, wanted: Wanted) -> MatrixSource:
    """The array of a zarr folder, or the one of a group that the user named."""
    check_folder(folder)
    if wanted.dataset is None:
        return open_zarr(folder, wanted)
    inside = folder / wanted.dataset.strip("/")
    if not inside.resolve().is_relative_to(folder.resolve()):
        raise SourceError(f"{folder} has no array {wanted.dataset!r}: name one inside of it.")
    return open_zarr(inside, wanted)


def _open_folder(folder: Path) -> zarr.Array[Any]:
    try:
        opened = zarr.open(folder, mode="r")
    except Exception as error:
        raise SourceError(f"{folder} cannot be opened as zarr: {error}") from None
    if isinstance(opened, zarr.Array):
        return opened
    inside = ", ".join(sorted(name for name, _ in opened.arrays())) or "none"
    raise SourceError(
        f"{folder} is a zarr group, not an array: give the folder of one of its arrays ({inside})."
    )


def array_folder(array: zarr.Array[Any]) -> Path | None:
    """Where a zarr array is, if on a local disk."""
    root = getattr(array.store, "root", None)
    return None if root is None else Path(root, array.path)


def _locate(array: zarr.Array[Any]) -> dict[str, Any]:
    """Its folder and a mark of its files, if on a local disk."""
    folder = array_folder(array)
    return {} if folder is None else {"path": str(folder.resolve()), **folder_mark(folder)}


def folder_mark(folder: Path) -> dict[str, int]:
    """Total size and last change of the files in a folder: other content, other mark."""
    size = mtime_ns = 0
    for parent, _, files in os.walk(folder):
        for name in files:
            stat = Path(parent, name).stat()
            size, mtime_ns = size + stat.st_size, max(mtime_ns, stat.st_mtime_ns)
    return {"size": size, "mtime_ns": mtime_ns}


ZARR_ARRAY_FORMAT = Format(
    name="zarr-array",
    title="a zarr array",
    help="a matrix of numbers",
    open=open_zarr,
    kinds=(OBJECT,),
    types=("zarr.Array",),
    options=("orientation",),
)

DASK_FORMAT = Format(
    name="dask",
    title="a dask array",
    help="a matrix of numbers, computed in blocks",
    open=open_dask,
    kinds=(OBJECT,),
    types=("dask.array.Array",),
    options=("orientation",),
)

ZARR_FORMAT = Format(
    name="zarr",
    title="zarr",
    help="a matrix of numbers; `dataset` names an array of a group",
    open=open_zarr_folder,
    kinds=(FOLDER,),
    suffixes=(".zarr",),
    signs=FolderSigns(zarr=True),
    options=("orientation", "dataset"),
    safe=True,
    check=check_folder,
)
