"""Chunks of a zarr array in a folder, decoded by threads of our own.

zarr decodes on an event loop of its own: a chunk took 5 ms of waiting for 2 ms of work. Numbers in
plain chunks of zstd or blosc, which is what zarr, anndata and bio2zarr write, are read from their
files; all else (shards, filters, other codecs) by zarr, some whole rows at a time.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np

from srs.errors import SourceError

CODECS = ("zstd", "blosc")  # a chunk says itself how it is decoded
LARGE_CHUNK = 64 << 20  # of these one is decoded at a time


class ZarrChunks:
    """An array (rows, columns, ...) that is read by chunks of rows and columns.

    rows, columns  of a chunk
    dtype          of its values
    decodes        whether chunks are decoded here, or by zarr
    held           bytes that reading holds
    """

    def __init__(self, array: Any, folder: Path) -> None:
        self.folder = folder
        self._array, self._codec = array, _find_codec(array)
        self.decodes = self._codec is not None
        self.dtype = array.dtype.newbyteorder("=") if self.decodes else array.dtype
        self.rows, self.columns = int(array.chunks[0]), int(array.chunks[1])
        if not self.decodes:
            self.columns = int(array.shape[1])
        n_bytes = self.rows * self.columns * int(np.prod(array.shape[2:])) * array.dtype.itemsize
        self._n_threads = 2 if self.decodes and n_bytes < LARGE_CHUNK else 1
        copies = 2 if self.decodes else 3  # stored and decoded; zarr's result besides
        self.held = self._n_threads * copies * n_bytes

    def hand_out(
        self, rows: slice, columns: slice, take: Callable[[np.ndarray, int, int], None]
    ) -> None:
        """Call `take(part, row, column)` for all chunks that touch a rectangle, from some threads.

        row, column  where a part starts; it may reach beyond the rectangle, and the array
        """
        starts = product(
            range(rows.start - rows.start % self.rows, rows.stop, self.rows),
            range(columns.start - columns.start % self.columns, columns.stop, self.columns),
        )
        with ThreadPoolExecutor(self._n_threads, "srs-decode") as pool:
            deque(pool.map(lambda start: take(self.read(*start), *start), starts), maxlen=0)

    def read(self, row: int, column: int) -> np.ndarray:
        """The chunk that starts there; it may reach beyond the array."""
        try:
            if not self.decodes:
                here = slice(row, row + self.rows), slice(column, column + self.columns)
                return np.asarray(self._array[here])
            return self._decode(row, column)
        except Exception as error:
            raise SourceError(f"{self.folder} cannot be read: {error}") from None

    def _decode(self, row: int, column: int) -> np.ndarray:
        shape = self._array.chunks
        number = (row // self.rows, column // self.columns, *[0] * (len(shape) - 2))
        file = self.folder / self._array.metadata.encode_chunk_key(number)
        try:
            stored = file.read_bytes()
        except FileNotFoundError:  # zarr leaves out chunks that hold nothing else
            return np.full(shape, self._array.fill_value or 0, self.dtype)
        return np.frombuffer(self._codec.decode(stored), self.dtype).reshape(shape)


def _find_codec(array: Any) -> Any:
    """What decodes the chunks of numbers in plain files; None for all else."""
    metadata, dtype = array.metadata, array.dtype
    if dtype.kind not in "biuf" or array.shards or array.chunks[2:] != array.shape[2:]:
        return None
    if metadata.zarr_format == 2:
        name = getattr(metadata.compressor, "codec_id", None)
        plain = not metadata.filters and metadata.order == "C"
        order = getattr(metadata.dtype, "endianness", None)
    else:
        first, *others = (codec.to_dict() for codec in metadata.codecs)
        name = others[0]["name"] if len(others) == 1 else None
        plain = first["name"] == "bytes"
        order = first.get("configuration", {}).get("endian")
    native = dtype.itemsize == 1 or order == sys.byteorder
    return numcodecs.get_codec({"id": name}) if plain and native and name in CODECS else None
