"""Codes of features by bucket, in the order in which they came: in files, or, if one bucket takes
all of them, in memory.

Codes are packed (two bits each) for as long as nearly all features have few levels. Some that have
more, as covariates beside genotypes, are put aside; too many of them turn what was spilled into
bytes.
"""

from __future__ import annotations

import mmap
import tempfile
from pathlib import Path
from typing import IO, Protocol

import numpy as np

from srs.store.layout import CHUNK_BYTES, MISSING
from srs.store.packing import pack_rows, unpack_rows

WIDE_SHARE = 16  # one feature in so many may have more levels than two bits hold,
MAX_WIDE = 256  # and so many at most, which together take no more than a chunk
PIECE_BYTES = 8 << 20  # rows that are unpacked at a time
BUFFER = 1 << 16


class _Bucket(Protocol):
    """Rows of one length; read once, when all are written."""

    def write(self, rows: np.ndarray) -> None: ...
    def read(self, n_rows: int) -> np.ndarray: ...
    def close(self) -> None: ...


class _File:
    """A file without a name. Its rows are mapped, not copied: new memory costs more than reading
    what the system holds."""

    def __init__(self, folder: Path | None, row_bytes: int) -> None:
        self._row_bytes = row_bytes
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder, buffering=BUFFER)  # noqa: SIM115

    def write(self, rows: np.ndarray) -> None:
        self._file.write(np.ascontiguousarray(rows).data)

    def read(self, n_rows: int) -> np.ndarray:
        self._file.flush()
        n_bytes = n_rows * self._row_bytes
        mapped = mmap.mmap(self._file.fileno(), n_bytes, access=mmap.ACCESS_READ)
        self._file.close()
        return np.frombuffer(mapped, np.uint8).reshape(n_rows, self._row_bytes)

    def close(self) -> None:
        self._file.close()


class _Memory:
    """The same in memory, where it is known how many rows will come."""

    def __init__(self, n_rows: int, row_bytes: int) -> None:
        self._rows = np.empty((n_rows, row_bytes), np.uint8)
        self._n_written = 0

    def write(self, rows: np.ndarray) -> None:
        self._rows[self._n_written : self._n_written + len(rows)] = rows
        self._n_written += len(rows)

    def read(self, n_rows: int) -> np.ndarray:
        rows, self._rows = self._rows, self._rows[:0]
        return rows[:n_rows]

    def close(self) -> None:
        self._rows = self._rows[:0]


class CodeSpill:
    """Rows of codes by bucket.

    packed  whether rows are packed now
    wide    feature id -> codes, of those that two bits do not hold; their rows are MISSING
    """

    def __init__(
        self, folder: Path | None, n_buckets: int, n_samples: int, n_features: int
    ) -> None:
        self.packed = True
        self.wide: dict[int, np.ndarray] = {}
        self.n_samples = n_samples
        self._folder, self._n_buckets, self._n_features = folder, n_buckets, n_features
        self._max_wide = min(MAX_WIDE, n_features // WIDE_SHARE, CHUNK_BYTES // n_samples)
        self._buckets: list[_Bucket] = []
        self._ids: list[list[np.ndarray]] = [[] for _ in range(n_buckets)]
        self._fours: list[list[np.ndarray]] = [[] for _ in range(n_buckets)]

    @property
    def row_bytes(self) -> int:
        return -(-self.n_samples // 4) if self.packed else self.n_samples

    def pack(self, ids: np.ndarray, codes: np.ndarray, few: np.ndarray) -> np.ndarray:
        """Rows of features as they are stored; `few`: those that two bits hold."""
        aside = np.flatnonzero(~few)
        if self.packed and len(self.wide) + len(aside) > self._max_wide:
            self._unpack_all()
        if not self.packed:
            return codes
        rows = np.empty((len(codes), self.row_bytes), np.uint8)
        pack_rows(codes, rows)
        for row in aside.tolist():
            self.wide[int(ids[row])] = codes[row].copy()
        rows[aside] = MISSING
        return rows

    def write(self, bucket: int, ids: np.ndarray, rows: np.ndarray, four: np.ndarray) -> None:
        """Append rows of `pack`; `four`: those of four levels."""
        self._ids[bucket].append(ids)
        self._fours[bucket].append(four)
        self._append(bucket, rows)

    def _append(self, bucket: int, rows: np.ndarray) -> None:
        if not self._buckets:
            self._buckets = [self._new() for _ in range(self._n_buckets)]
        self._buckets[bucket].write(rows)

    def _new(self) -> _Bucket:
        if self._n_buckets == 1:
            return _Memory(self._n_features, self.row_bytes)
        return _File(self._folder, self.row_bytes)

    def _unpack_all(self) -> None:
        old, self._buckets = self._buckets, []
        self.packed = False
        step = max(1, PIECE_BYTES // self.n_samples)
        for b, bucket in enumerate(old):
            ids = self.ids(b)
            four = np.concatenate([*self._fours[b], np.zeros(0, bool)])
            rows = bucket.read(len(ids)) if len(ids) else np.zeros((0, 1), np.uint8)
            for first in range(0, len(ids), step):
                here = slice(first, first + step)
                unpacked = unpack_rows(rows[here], self.n_samples, four[here])
                for row, feature_id in enumerate(ids[here].tolist()):
                    if feature_id in self.wide:
                        unpacked[row] = self.wide[feature_id]
                self._append(b, unpacked)
            bucket.close()
        self.wide = {}

    def ids(self, bucket: int) -> np.ndarray:
        """Feature ids of the rows of a bucket."""
        return np.concatenate([np.zeros(0, np.int64), *self._ids[bucket]])

    def read(self, bucket: int) -> tuple[np.ndarray, np.ndarray]:
        """All rows of a bucket, and which have four levels (packed ones); it is then empty."""
        four = np.concatenate(self._fours[bucket])
        rows = self._buckets[bucket].read(len(four))
        return rows, four & self.packed

    def close(self) -> None:
        for bucket in self._buckets:
            bucket.close()
