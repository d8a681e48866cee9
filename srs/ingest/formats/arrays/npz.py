"""scipy's sparse matrices in .npz files: CSR, CSC and COO, read as a stream of the zip members.

Nothing is unpickled. Members are read in slices, so memory does not depend on what they inflate to.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format
from scipy import sparse

from srs.errors import MemoryBudgetError, SourceError
from srs.ingest.block import Source, Wanted
from srs.ingest.formats.arrays.hdf5 import file_record
from srs.ingest.formats.format import Format
from srs.ingest.readers.size_guard import refuse_hollow
from srs.ingest.readers.sparse import SparseSource
from srs.memory import format_bytes

SLICE = 1 << 18  # zipfile joins what it inflates of one read, time and again
FORMS = {"csr": ("indices", "data"), "csc": ("indices", "data"), "coo": ("row", "col", "data")}


class Archive(zipfile.ZipFile):
    """A zip file that closes its file even while members are open."""

    def __init__(self, path: Path) -> None:
        self._raw = path.open("rb")
        try:
            super().__init__(self._raw)
        except BaseException:
            self._raw.close()
            raise

    def close(self) -> None:
        super().close()
        self._raw.close()


class Member:
    """One array of a zip file, read from its start on; going back starts again."""

    def __init__(self, archive: Archive, name: str, path: Path) -> None:
        self._archive, self._name, self._where = archive, f"{name}.npy", f"{path}: {name}"
        self._stream: IO[bytes] | None = None
        self._at = 0
        self._start()

    def _start(self) -> None:
        if self._stream is not None:
            self._stream.close()
        try:
            self._stream = self._archive.open(self._name)
            version = npy_format.read_magic(self._stream)
            read = npy_format.read_array_header_1_0
            if version != (1, 0):
                read = npy_format.read_array_header_2_0
            shape, _, self.dtype = read(self._stream)
        except KeyError:
            raise SourceError(f"{self._where} is missing: not a sparse matrix of scipy.") from None
        except (ValueError, OSError, zipfile.BadZipFile) as error:
            raise SourceError(f"{self._where} cannot be read: {error}") from None
        if self.dtype.hasobject or len(shape) > 1:
            raise SourceError(f"{self._where} is not a vector of numbers and is not read.")
        self.size = int(np.prod(shape, dtype=np.int64))
        self._at = 0

    def read(self, start: int, stop: int) -> np.ndarray:
        if start < self._at:
            self._start()
        self._skip(start - self._at)
        out = np.empty(stop - start, self.dtype)
        view = out.view(np.uint8).data
        while len(view):
            n_read = self._stream.readinto(view[:SLICE])  # type: ignore[union-attr]
            if not n_read:
                raise SourceError(f"{self._where} is truncated.")
            view = view[n_read:]
        self._at = stop
        return out

    def _skip(self, n_items: int) -> None:
        left = n_items * self.dtype.itemsize
        while left:
            n_read = len(self._stream.read(min(left, 1 << 20)))  # type: ignore[union-attr]
            if not n_read:
                raise SourceError(f"{self._where} is truncated.")
            left -= n_read


class NpzMatrix:
    """CSR or CSC."""

    def __init__(
        self, archive: Archive, path: Path, form: str, shape: tuple[int, int], mem: int
    ) -> None:
        self.shape, self.by_features = shape, form == "csc"
        self._archive = archive
        starts = Member(archive, "indptr", path)
        if 8 * starts.size > mem // 2:
            raise MemoryBudgetError(
                f"{path}: indptr takes {format_bytes(8 * starts.size)}: allow more memory.",
                16 * starts.size,
                mem,
            )
        self.starts = starts.read(0, starts.size).astype(np.int64)
        self._indices, self._data = Member(archive, "indices", path), Member(archive, "data", path)
        self.dtype = self._data.dtype

    def read(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        with ThreadPoolExecutor(1, "srs-inflate") as beside:
            indices = beside.submit(self._indices.read, start, stop)
            data = self._data.read(start, stop)
            return indices.result(), data

    def close(self) -> None:
        self._archive.close()


class CooMatrix:
    """COO: items in any order, as if all belonged to the last sample."""

    by_features = False

    def __init__(self, archive: Archive, path: Path, shape: tuple[int, int]) -> None:
        self.shape = shape
        self._archive = archive
        self.parts = [Member(archive, name, path) for name in FORMS["coo"]]
        self.dtype = self.parts[2].dtype
        self.starts = np.zeros(shape[0] + 1, np.int64)
        self.starts[-1] = self.parts[2].size

    def read(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        return self.parts[1].read(start, stop), self.parts[2].read(start, stop)

    def close(self) -> None:
        self._archive.close()


class CooSource(SparseSource):
    """Bands are slices of the items, each of all samples."""

    def _bands(self) -> Iterator[tuple[int, Any]]:
        matrix = self._matrix
        assert isinstance(matrix, CooMatrix)
        n_items, step = int(matrix.starts[-1]), -(-self.band_items() // 2)  # rows are sorted, too
        for start in range(0, n_items, step):
            stop = min(start + step, n_items)
            columns, values = self._read(start, stop, self.n_features)
            rows = matrix.parts[0].read(start, stop)
            if int(rows.min()) < 0 or int(rows.max()) >= self.n_samples:
                raise SourceError(f"{self._where} has an index outside its shape: it is damaged.")
            yield 0, sparse.coo_matrix((values, (rows, columns)), shape=matrix.shape).tocsr()


def check_npz(path: Path) -> None:
    """SourceError if its arrays claim far more bytes than the file has: reading stops at claims."""
    try:
        with zipfile.ZipFile(path) as archive:
            claimed = sum(entry.file_size for entry in archive.infolist())
    except (OSError, zipfile.BadZipFile) as error:
        raise SourceError(f"{path} cannot be read as .npz: {error}") from None
    refuse_hollow(claimed, path.stat().st_size, str(path))


def open_npz(path: Path, wanted: Wanted) -> Source:
    try:
        archive = Archive(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise SourceError(f"{path} cannot be read as .npz: {error}") from None
    try:
        return _open(archive, path, wanted)
    except BaseException:
        archive.close()
        raise


def _open(archive: Archive, path: Path, wanted: Wanted) -> Source:
    if "format.npy" not in archive.namelist():
        raise SourceError(
            f"{path} does not contain a scipy sparse matrix (save_npz): save dense arrays as .npy."
        )
    text = Member(archive, "format", path)
    form = str(text.read(0, 1)[0].astype(str)) if text.size == 1 else ""
    if form not in FORMS:
        raise SourceError(f"{path} is a {form!r} matrix: save it as csr, csc or coo.")
    size = Member(archive, "shape", path)
    rows, columns = (int(n) for n in size.read(0, 2)) if size.size == 2 else (0, 0)
    record = file_record("npz", path, wanted)
    if form == "coo":
        return CooSource(
            _turned_coo(archive, path, (rows, columns), wanted), wanted, record, str(path)
        )
    if wanted.orientation == "features":  # the transpose of CSR is CSC
        form, rows, columns = {"csr": "csc", "csc": "csr"}[form], columns, rows
    matrix = NpzMatrix(archive, path, form, (rows, columns), wanted.mem)
    return SparseSource(matrix, wanted, record, str(path))


def _turned_coo(archive: Archive, path: Path, shape: tuple[int, int], wanted: Wanted) -> CooMatrix:
    if wanted.orientation == "samples":
        return CooMatrix(archive, path, shape)
    matrix = CooMatrix(archive, path, shape[::-1])
    matrix.parts[:2] = matrix.parts[1::-1]
    return matrix


NPZ_FORMAT = Format(
    name="npz",
    title="sparse matrix of scipy",
    help="what save_npz writes: CSR, CSC or COO",
    open=open_npz,
    suffixes=(".npz",),
    options=("orientation",),
    safe=True,
    check=check_npz,
)
