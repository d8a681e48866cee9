"""Look at the metadata of a foreign zarr folder before anything of it is opened.

A codec may run code (pickle), and a linked chunk shows another file: codecs come from a list, links
must stay inside the folder, and arrays may not promise far more than they store.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zarr

from srs.errors import SourceError
from srs.ingest.readers.size_guard import refuse_hollow

CODECS = frozenset(
    (
        "blosc",
        "zstd",
        "gzip",
        "zlib",
        "lz4",
        "bz2",
        "lzma",
        "shuffle",
        "delta",
        "packbits",
        "fixedscaleoffset",
        "bitround",
        "crc32c",
        "crc32",
        "adler32",
        "fletcher32",
        "bytes",
        "transpose",
        "sharding_indexed",
        "vlen-utf8",
        "vlen-bytes",
        "quantize",
        "astype",
    )
)


def check_folder(folder: Path) -> None:
    """SourceError for links that lead out, and for codecs that are not on the list."""
    root = folder.resolve()
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            if path.is_symlink() and not path.resolve().is_relative_to(root):
                raise SourceError(
                    f"{path} is a link that leaves the folder, which is not followed."
                )
            if name in (".zarray", "zarr.json"):
                _check_metadata(path)


def _check_metadata(path: Path) -> None:
    try:
        metadata = json.loads(path.read_text(encoding="utf-8"))
        found = list(_codecs(metadata))
    except (ValueError, TypeError, AttributeError, OSError) as error:
        raise SourceError(f"{path} is not the metadata of an array: {error}") from None
    for codec in found:
        if codec.removeprefix("numcodecs.") not in CODECS:
            raise SourceError(f"{path} uses the codec {codec!r}, which is not read.")


def _codecs(metadata: Any) -> Iterator[str]:
    """Names of all codecs, of version 2 and 3, inside shards too."""
    for codec in (metadata.get("compressor"), *(metadata.get("filters") or ())):
        if codec is not None:
            yield str(codec["id"])
    for codec in metadata.get("codecs") or ():
        yield str(codec["name"])
        yield from _codecs(codec.get("configuration") or {})
    for codec in metadata.get("index_codecs") or ():
        yield str(codec["name"])


def open_group(folder: Path) -> zarr.Group:
    """The zarr group of a folder, read only and checked."""
    check_folder(folder)
    try:
        return zarr.open_group(folder, mode="r")
    except Exception as error:
        raise SourceError(f"{folder} cannot be opened as zarr: {error}") from None


def check_array(array: Any, folder: Path) -> None:
    """SourceError if an array of a group promises far more than its files hold."""
    stored = sum(p.stat().st_size for p in Path(folder, array.path).rglob("*") if p.is_file())
    refuse_hollow(array.size * array.dtype.itemsize, stored, f"{folder}/{array.path}")
