"""Codes of features by bucket, in the order in which they came: in files, or, if one bucket takes
all of them, in memory.

Codes are packed (two bits each) for as long as all features have few levels; the first feature that
has more turns what was spilled into bytes.
"""

from __future__ import annotations

import io
import mmap
import tempfile
from pathlib import Path
from typing import IO

import numpy as np

from srs.store.packing import pack_rows, unpack_rows

PIECE_BYTES = 8 << 20  # rows that are unpacked at a time
BUFFER = 1 << 16


class CodeSpill:
    """Files without names, one a bucket; a single one stays in memory.

    packed  whether rows are packed now
    """

    def __init__(self, folder: Path | None, n_buckets: int, n_samples: int) -> None:
        self.packed = True
        self.n_samples = n_samples
        self._folder = folder
        self._n_buckets = n_buckets
        self._files: list[IO[bytes]] = []
        self._fours: list[list[np.ndarray]] = [[] for _ in range(n_buckets)]

    @property
    def row_bytes(self) -> int:
        return -(-self.n_samples // 4) if self.packed else self.n_samples

    def pack(self, codes: np.ndarray, few: bool) -> np.ndarray:
        """Rows as they are stored; not few: from here on everything is in bytes."""
        if self.packed and not few:
            self._unpack_all()
        if not self.packed:
            return codes
        rows = np.empty((len(codes), self.row_bytes), np.uint8)
        pack_rows(codes, rows)
        return rows

    def write(self, bucket: int, rows: np.ndarray, four: np.ndarray) -> None:
        """Append rows of `pack`; `four`: those of four levels."""
        if not self._files:
            self._files = [self._new() for _ in range(self._n_buckets)]
        self._files[bucket].write(np.ascontiguousarray(rows).data)
        if self.packed:
            self._fours[bucket].append(four)

    def _new(self) -> IO[bytes]:
        if self._n_buckets == 1:
            return io.BytesIO()
        return tempfile.TemporaryFile(dir=self._folder, buffering=BUFFER)

    def _unpack_all(self) -> None:
        width, step = self.row_bytes, max(1, PIECE_BYTES // self.n_samples)
        for bucket, old in enumerate(self._files):
            four = np.concatenate([*self._fours[bucket], np.zeros(0, bool)])
            new = self._new()
            old.seek(0)
            for first in range(0, len(four), step):
                here = four[first : first + step]
                rows = np.frombuffer(old.read(len(here) * width), np.uint8)
                new.write(unpack_rows(rows.reshape(len(here), width), self.n_samples, here).data)
            old.close()
            self._files[bucket] = new
        self._fours = [[] for _ in range(self._n_buckets)]
        self.packed = False

    def read(self, bucket: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        """All rows of a bucket, and which have four levels (packed ones); the file is then gone.

        Rows are mapped, not copied: new memory costs more than reading what the system holds.
        """
        file = self._files[bucket]
        if isinstance(file, io.BytesIO):
            rows = np.frombuffer(file.getbuffer(), np.uint8).reshape(n_rows, self.row_bytes)
            self._files[bucket] = io.BytesIO()  # what is left of it goes with the rows
        else:
            file.flush()
            mapped = mmap.mmap(file.fileno(), n_rows * self.row_bytes, access=mmap.ACCESS_READ)
            rows = np.frombuffer(mapped, np.uint8).reshape(n_rows, self.row_bytes)
            file.close()
        if not self.packed:
            return rows, np.zeros(n_rows, bool)
        return rows, np.concatenate(self._fours[bucket])

    def close(self) -> None:
        for file in self._files:
            file.close()
