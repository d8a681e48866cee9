"""Arrays of a feature store in zarr: how they are created, and their bytes for the digest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import zarr
from zarr.codecs import BytesCodec, Crc32cCodec

from srs.store import layout
from srs.store.layout import MISSING

Buffer = bytes | memoryview


def create_codes(
    group: zarr.Group, n_features: int, n_samples: int, width: int, depth: int
) -> zarr.Array[Any]:
    return group.create_array(
        "codes",
        shape=(layout.count_tiles(n_features), n_samples, depth),
        chunks=(width // layout.TILE, n_samples, depth),
        dtype="uint8",
        fill_value=MISSING,
        serializer=BytesCodec(),
        compressors=[Crc32cCodec()],
    )


def write_array(group: zarr.Group, name: str, data: np.ndarray) -> zarr.Array[Any]:
    chunks = tuple(max(1, min(n, 1 << 20)) for n in data.shape)
    array = group.create_array(name, shape=data.shape, chunks=chunks, dtype=data.dtype)
    array[...] = data
    return array


def write_strings(group: zarr.Group, name: str, strings: Sequence[str]) -> list[Buffer]:
    """Write strings; what the digest takes of them."""
    data, offsets = layout.pack_strings(strings)
    write_array(group, f"{name}/data", data)
    write_array(group, f"{name}/offsets", offsets)
    return [name.encode(), as_buffer(offsets), as_buffer(data)]


def as_buffer(values: np.ndarray) -> memoryview:
    """The bytes of an array, without a copy."""
    return np.ascontiguousarray(values).view(np.uint8).data
