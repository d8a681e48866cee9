"""Looks at a zarr folder of a stranger before zarr does: metadata, links, codecs, claimed sizes.

What zarr or numcodecs would load by name, inflate without end or read through a link is refused
here, from the JSON and the sizes of files alone. Runs in child processes.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from srs_service.errors import Invalid

DTYPES_V3 = frozenset(
    (
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
    )
)
DTYPE_V2 = re.compile(r"[<>|][biuf][1248]")
CODECS_V3 = frozenset(("bytes", "crc32c", "zstd", "gzip", "blosc", "transpose"))
CODECS_V2 = frozenset(("zlib", "gzip", "zstd", "blosc", "lz4"))
MAX_METADATA = 10_000_000  # bytes of one JSON file
MAX_ENTRIES = 5_000_000  # files of a store
MAX_CHUNK = 1 << 30  # bytes of a chunk, inflated
TEXT_BYTES = 4  # of a text, at least: its length
MAX_TEXTS = 1 << 28  # bytes of a chunk of texts, inflated
MAX_RATIO = 2_000  # inflated bytes for one that is stored; zstd of zeros is about this
SLACK = 1 << 20
PART_BYTES = 1 << 20
# Behind a compressed chunk there may be a checksum; another member would be inflated, too.
CRC_BYTES = 4
METADATA_NAMES = ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")


@dataclass(frozen=True)
class _Array:
    """What an array claims.

    n_bytes        of the whole, inflated
    chunk_bytes    of a chunk, inflated
    compressors    names of what inflates chunks
    """

    n_bytes: int
    chunk_bytes: int
    compressors: tuple[str, ...]


def is_zarr(folder: Path) -> bool:
    """Whether a folder says that it is zarr."""
    return any((folder / name).is_file() for name in ("zarr.json", ".zarray", ".zgroup"))


def is_feature_store(folder: Path) -> bool:
    """Whether a folder says that it is a feature store of ours."""
    try:
        raw = json.loads((folder / "zarr.json").read_bytes())
        return "srs" in (raw.get("attributes") or {})
    except (OSError, ValueError, RecursionError, AttributeError, TypeError):
        return False


def forget_source(folder: Path) -> None:
    """Take out of the manifest of a feature store what it says of its source: a stranger could
    name files of the server there, and analyses would read them."""
    file = folder / "zarr.json"
    raw = json.loads(file.read_bytes())
    raw["attributes"]["srs"]["source"] = {}
    file.write_text(json.dumps(raw))


def check_folder(folder: Path, max_features: int) -> None:
    """Invalid, in one sentence, if a folder that is a source must not be opened. Names of samples
    are texts there, which a feature store has none of."""
    if is_zarr(folder):
        check_zarr(folder, max_features, texts=not is_feature_store(folder))
        return
    for n_entries, _ in enumerate(_walk(folder)):
        if n_entries > MAX_ENTRIES:
            raise Invalid(f"the folder has more than {MAX_ENTRIES} files.")


def check_zarr(folder: Path, max_features: int, texts: bool = False) -> None:
    """Invalid, in one sentence, if the folder holds what must not be opened.

    texts  whether arrays of texts are allowed, too
    """
    stored: dict[Path, list[tuple[Path, int]]] = {}
    arrays: dict[Path, _Array] = {}
    for n_entries, (file, size) in enumerate(_walk(folder)):
        if n_entries > MAX_ENTRIES:
            raise Invalid(f"the store has more than {MAX_ENTRIES} files.")
        if file.name in METADATA_NAMES:
            if size > MAX_METADATA:
                raise Invalid(f"{_shown(file, folder)} is too large to be metadata.")
            array = _read_metadata(file, folder, max_features, texts)
            if array is not None:
                arrays[file.parent] = array
        else:
            stored.setdefault(file.parent, []).append((file, size))
    if not arrays:
        raise Invalid("the folder holds no zarr array.")
    for place, array in arrays.items():
        _compare(place, array, stored, folder)


def _walk(folder: Path) -> Iterator[tuple[Path, int]]:
    """All files with their sizes; a link or a device is refused, wherever it leads."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                raise Invalid(
                    f"{_shown(Path(entry.path), folder)} is a link: copy the file itself."
                )
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(Path(entry.path))
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path), entry.stat(follow_symlinks=False).st_size
            else:
                raise Invalid(f"{_shown(Path(entry.path), folder)} is not a file.")


def _read_metadata(file: Path, folder: Path, max_features: int, texts: bool) -> _Array | None:
    shown = _shown(file, folder)
    try:
        raw = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        raise Invalid(f"{shown} is not JSON.") from None
    if not isinstance(raw, dict):
        raise Invalid(f"{shown} is not zarr metadata.")
    _check_claims(raw, shown, max_features)
    try:
        if file.name == ".zarray":
            return _read_texts(raw, shown) if texts and _is_text(raw) else _read_v2(raw, shown)
        if file.name == "zarr.json" and raw.get("node_type") == "array":
            return _read_texts(raw, shown) if texts and _is_text(raw) else _read_v3(raw, shown)
    except (KeyError, TypeError, ValueError):
        raise Invalid(f"{shown} is not zarr metadata.") from None
    return None


def _check_claims(raw: dict[str, Any], shown: str, max_features: int) -> None:
    """What the manifest of a feature store says of its size."""
    attributes = raw.get("attributes")
    manifest = attributes.get("srs") if isinstance(attributes, dict) else None
    if isinstance(manifest, dict):
        n_features = manifest.get("n_features")
        if not isinstance(n_features, int) or not 0 <= n_features <= max_features:
            raise Invalid(f"{shown} claims {n_features} features; {max_features} are allowed.")


def _is_text(raw: dict[str, Any]) -> bool:
    """Texts of any length, in either version of zarr: stored by the one codec that is only text."""
    filters = [one["id"] for one in raw.get("filters") or ()]
    of_v2 = raw.get("dtype") == "|O" and filters == ["vlen-utf8"]
    codecs = [one["name"] for one in raw.get("codecs") or ()]
    return of_v2 or (raw.get("data_type") == "string" and codecs[:1] == ["vlen-utf8"])


def _read_texts(raw: dict[str, Any], shown: str) -> _Array:
    if "codecs" in raw:
        names = tuple(codec["name"] for codec in raw["codecs"][1:])
        _check_codecs(names, CODECS_V3, shown)
        chunks = raw["chunk_grid"]["configuration"]["chunk_shape"]
    else:
        names = () if raw["compressor"] is None else (raw["compressor"]["id"],)
        _check_codecs(names, CODECS_V2, shown)
        chunks = raw["chunks"]
    claimed = _sizes(raw["shape"], chunks, TEXT_BYTES, names, shown)
    return _Array(claimed.n_bytes, MAX_TEXTS, names)


def _read_v3(raw: dict[str, Any], shown: str) -> _Array:
    if raw["data_type"] not in DTYPES_V3:
        raise Invalid(f"{shown} has values of the type {str(raw['data_type'])[:50]!r}: refused.")
    names = tuple(codec["name"] for codec in raw["codecs"])
    _check_codecs(names, CODECS_V3, shown)
    if raw.get("storage_transformers"):
        raise Invalid(f"{shown} names storage transformers: refused.")
    size = int(re.sub(r"\D", "", raw["data_type"]) or 8) // 8
    chunks = raw["chunk_grid"]["configuration"]["chunk_shape"]
    return _sizes(raw["shape"], chunks, size, names, shown)


def _read_v2(raw: dict[str, Any], shown: str) -> _Array:
    if not isinstance(raw["dtype"], str) or not DTYPE_V2.fullmatch(raw["dtype"]):
        raise Invalid(f"{shown} has values of the type {str(raw['dtype'])[:50]!r}: refused.")
    if raw.get("filters"):
        raise Invalid(f"{shown} names filters: refused.")
    names = () if raw["compressor"] is None else (raw["compressor"]["id"],)
    _check_codecs(names, CODECS_V2, shown)
    return _sizes(raw["shape"], raw["chunks"], int(raw["dtype"][2:]), names, shown)


def _check_codecs(names: tuple[Any, ...], allowed: frozenset[str], shown: str) -> None:
    for name in names:
        if name not in allowed:
            raise Invalid(f"{shown} names the codec {str(name)[:50]!r}: refused.")


def _sizes(
    shape: list[int], chunks: list[int], size: int, names: tuple[str, ...], shown: str
) -> _Array:
    numbers = [*shape, *chunks]
    whole = all(isinstance(n, int) and not isinstance(n, bool) for n in numbers)
    if not whole or len(shape) != len(chunks) or min(numbers, default=1) < 0 or 0 in chunks:
        raise Invalid(f"{shown} has no sensible shape.")
    chunk_bytes = prod(chunks) * size
    if chunk_bytes > MAX_CHUNK:
        raise Invalid(f"{shown} has chunks of {chunk_bytes} bytes; {MAX_CHUNK} are allowed.")
    return _Array(prod(shape) * size, chunk_bytes, names)


def _compare(
    place: Path, array: _Array, stored: dict[Path, list[tuple[Path, int]]], folder: Path
) -> None:
    """Claimed against stored bytes: of the whole, and of each compressed chunk."""
    files = [f for where, found in stored.items() if where.is_relative_to(place) for f in found]
    n_stored = sum(size for _, size in files)
    if array.n_bytes > n_stored * MAX_RATIO + SLACK:
        raise Invalid(
            f"{_shown(place, folder)} claims {array.n_bytes} bytes and stores {n_stored}: refused."
        )
    for name in set(array.compressors) & set(INFLATED_SIZES):
        for file, _ in files:
            inflated = INFLATED_SIZES[name](file, array.chunk_bytes)
            if inflated is None or inflated > array.chunk_bytes:
                raise Invalid(
                    f"{_shown(file, folder)} may inflate to more than the {array.chunk_bytes} "
                    f"bytes of a chunk: refused."
                )


def _head(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(18)


def _size_of_zstd(file: Path, _limit: int) -> int | None:
    """What the header of the only frame says; None if it does not say, or if there are more."""
    head = _head(file)
    if head[:4] != b"\x28\xb5\x2f\xfd" or len(head) < 6:
        return None
    flag = head[4] >> 6
    single = bool(head[4] & 0x20)
    dictionary = (0, 1, 2, 4)[head[4] & 3]
    at = 5 + (0 if single else 1) + dictionary
    width = (1 if single else 0, 2, 4, 8)[flag]
    if not width or len(head) < at + width:
        return None
    content = int.from_bytes(head[at : at + width], "little")
    end = _end_of_zstd(file, at + width, checksum=bool(head[4] & 4))
    if end is None or file.stat().st_size - end > CRC_BYTES:
        return None
    return content + 256 if width == 2 else content


def _end_of_zstd(file: Path, at: int, checksum: bool) -> int | None:
    """Where the frame ends whose blocks begin at `at`; None if they do not end."""
    with file.open("rb") as opened:
        while True:
            opened.seek(at)
            head = opened.read(3)
            if len(head) < 3:
                return None
            number = int.from_bytes(head, "little")
            repeated = (number >> 1) & 3 == 1  # a block of one byte, so many times
            at += 3 + (1 if repeated else number >> 3)
            if number & 1:
                return at + (4 if checksum else 0)


def _size_of_blosc(file: Path, _limit: int) -> int | None:
    head = _head(file)
    return int.from_bytes(head[4:8], "little") if len(head) >= 16 else None


def _size_of_lz4(file: Path, _limit: int) -> int | None:
    head = _head(file)
    return int.from_bytes(head[:4], "little") if len(head) >= 4 else None


def _size_of_deflate(file: Path, limit: int) -> int | None:
    """Deflate does not say: inflate, and stop counting above the limit; None if more follows."""
    inflater = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # zlib or gzip
    n_bytes = 0
    with file.open("rb") as opened:
        data = opened.read(PART_BYTES)
        while data and n_bytes <= limit and not inflater.eof:
            try:
                n_bytes += len(inflater.decompress(data, PART_BYTES))
            except zlib.error:
                return None
            data = inflater.unconsumed_tail or inflater.unused_data or opened.read(PART_BYTES)
        n_behind = len(data) + len(opened.read(CRC_BYTES + 1)) if inflater.eof else 0
    return None if n_behind > CRC_BYTES else n_bytes


INFLATED_SIZES: dict[str, Callable[[Path, int], int | None]] = {
    "zstd": _size_of_zstd,
    "blosc": _size_of_blosc,
    "lz4": _size_of_lz4,
    "gzip": _size_of_deflate,
    "zlib": _size_of_deflate,
}


def _shown(file: Path, folder: Path) -> str:
    try:
        return "/".join(file.relative_to(folder).parts) or "the store"
    except ValueError:
        return file.name
