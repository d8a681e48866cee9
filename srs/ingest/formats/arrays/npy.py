"""`.npy` files as sources, read with plain reads.

Never memory-mapped: pages of a map count as resident memory of the process. Files of Python
objects are refused, because reading them would run code from the file.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy_format

from srs.errors import SourceError
from srs.ingest.block import Wanted
from srs.ingest.encode.transpose import PIECE_BYTES, pread_into, pread_lines
from srs.ingest.formats.arrays.in_memory import check_shape
from srs.ingest.formats.format import Format
from srs.ingest.readers.matrix import MatrixSource, rectangle

MIN_RUN_BYTES = 32 << 10  # shorter reads cost more than writing and reading a temporary file


def read_header(path: Path) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, Fortran order, dtype and the offset of the data; SourceError for a damaged file."""
    with path.open("rb") as file:
        try:
            version = npy_format.read_magic(file)
            read = npy_format.read_array_header_1_0
            if version != (1, 0):
                read = npy_format.read_array_header_2_0
            shape, fortran, dtype = read(file)
        except ValueError as error:
            raise SourceError(f"{path} is not a .npy file, or is damaged: {error}.") from None
        offset, size = file.tell(), os.fstat(file.fileno()).st_size
    if dtype.hasobject:
        raise SourceError(f"{path} holds Python objects, which are not read: save numbers.")
    expected = offset + int(np.prod(shape, dtype=object)) * dtype.itemsize
    if size < expected:
        raise SourceError(
            f"{path} is truncated: its header promises {expected} bytes and it has {size}."
        )
    return shape, fortran, dtype, offset


class FileMatrix:
    """A C-ordered matrix in a file."""

    in_memory = False
    fixed_mem = 2 * PIECE_BYTES
    grain = (1, 1)

    def __init__(
        self, path: Path, shape: tuple[int, int], dtype: np.dtype[Any], offset: int
    ) -> None:
        self.shape, self.dtype = shape, dtype
        self.min_run = -(-MIN_RUN_BYTES // dtype.itemsize)
        self.held = dtype.itemsize
        self._path, self._offset = path, offset
        self._fd = os.open(path, os.O_RDONLY)

    def fetch(self, rows: slice, columns: slice, out: np.ndarray | None = None) -> np.ndarray:
        out = rectangle(rows, columns, self.dtype, out)
        self._read(out, rows.start, columns.start)
        return out

    def pick(self, lines: np.ndarray, axis: int) -> np.ndarray:
        n_rows, n_columns = self.shape
        if axis == 0:
            return np.concatenate([self.fetch(slice(i, i + 1), slice(0, n_columns)) for i in lines])
        out = np.empty((len(lines), n_rows), self.dtype)
        # Whole rows are read faster than single values unless they are a page or more each.
        if n_columns * self.dtype.itemsize > 4096 * len(lines):
            for i, line in enumerate(lines.tolist()):
                out[i] = self.fetch(slice(0, n_rows), slice(line, line + 1))[:, 0]
            return out
        step = max(1, PIECE_BYTES // (n_columns * self.dtype.itemsize))
        for start in range(0, n_rows, step):
            rows = slice(start, min(start + step, n_rows))
            out[:, rows] = self.fetch(rows, slice(0, n_columns))[:, lines].T
        return out

    def _read(self, out: np.ndarray, row: int, column: int) -> None:
        """Fill a rectangle that starts there; whole rows stand one behind the other."""
        size = self.dtype.itemsize
        offset = self._offset + (row * self.shape[1] + column) * size
        try:
            if out.shape[1] == self.shape[1]:
                pread_into(self._fd, out, offset)
            else:
                pread_lines(self._fd, out, offset, self.shape[1] * size)
        except EOFError:
            raise SourceError(f"{self._path} became shorter while it was read.") from None
        except OSError as error:
            raise SourceError(f"{self._path} cannot be read: {error.strerror}.") from None

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def find_npy(array: np.memmap[Any, Any]) -> Path | None:
    """The `.npy` file that a map shows whole, or None. Plain reads take less memory than it."""
    base: Any = array.base
    if not (isinstance(base, mmap.mmap) and array.filename is not None):
        return None
    path = Path(array.filename)
    if path.suffix.lower() != ".npy":
        return None
    shape, _, dtype, offset = read_header(path)
    same = (shape, dtype, offset) == (array.shape, array.dtype, array.offset)
    return path if same else None


def open_npy(path: Path, wanted: Wanted) -> MatrixSource:
    shape, fortran, dtype, offset = read_header(path)
    check_shape(shape, str(path))
    stat = path.stat()
    record = {
        "kind": "npy",
        "path": str(path.resolve()),
        "size": stat.st_size,
        "mtime_ns": stat.st_mtime_ns,
        "orientation": wanted.orientation,
    }
    # A Fortran-ordered matrix is the C-ordered matrix of its transpose.
    stored = (shape[1], shape[0]) if fortran else (shape[0], shape[1])
    matrix = FileMatrix(path, stored, dtype, offset)
    features_first = (wanted.orientation == "features") != fortran
    try:
        return MatrixSource(matrix, features_first, wanted, record)
    except SourceError as error:
        matrix.close()
        raise SourceError(f"{path}: {error}") from None


NPY_FORMAT = Format(
    name="npy",
    title="numpy",
    help="a matrix of numbers",
    open=open_npy,
    suffixes=(".npy",),
    options=("orientation",),
    safe=True,
)
