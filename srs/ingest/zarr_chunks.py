"""Chunks of a zarr array in a folder, decoded by the thread that asks for them.

zarr decodes on an event loop of its own: a chunk took 5 ms of waiting for 2 ms of work. Bytes in
plain chunks of zstd or blosc, which is what zarr and bio2zarr write, are read from their files;
all else (shards, filters, other codecs) by zarr, some whole rows at a time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numcodecs
import numpy as np

from srs.errors import SourceError

CODECS = ("zstd", "blosc")  # a chunk says itself how it is decoded


class ZarrChunks:
    """An array (rows, columns, ...) that is read by chunks of rows and columns.

    rows, columns  of a chunk
    n_threads      that are worth reading at a time
    held           bytes that these threads hold
    """

    def __init__(self, array: Any, folder: Path) -> None:
        self.folder = folder / array.path
        self._array, self._codec = array, _find_codec(array)
        self.rows, self.columns = int(array.chunks[0]), int(array.chunks[1])
        if self._codec is None:
            self.columns = int(array.shape[1])
        inner = int(np.prod(array.shape[2:])) * array.dtype.itemsize
        self.n_threads = 1 if self._codec is None else 2
        copies = 3 if self._codec is None else 2  # stored and decoded; zarr's result besides
        self.held = self.n_threads * copies * self.rows * self.columns * inner

    def read(self, row: int, column: int) -> np.ndarray:
        """The chunk that starts there; it may reach beyond the array."""
        try:
            if self._codec is None:
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
            return np.full(shape, self._array.fill_value or 0, self._array.dtype)
        return np.frombuffer(self._codec.decode(stored), self._array.dtype).reshape(shape)


def _find_codec(array: Any) -> Any:
    """What decodes the chunks of bytes in plain files; None for all else."""
    metadata = array.metadata
    if array.dtype.itemsize != 1 or array.chunks[2:] != array.shape[2:]:
        return None
    if metadata.zarr_format == 2:
        name = getattr(metadata.compressor, "codec_id", None)
        plain = not metadata.filters and metadata.order == "C"
    else:
        first, *others = (codec.to_dict()["name"] for codec in metadata.codecs)
        name = others[0] if len(others) == 1 else None
        plain = first == "bytes"
    return numcodecs.get_codec({"id": name}) if plain and name in CODECS else None
