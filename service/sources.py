"""Makes what a user gave into a file or folder that an ingest may read. Runs in child processes.

Fetched, inflated and unpacked bytes are counted as they come; nothing is written outside of the
folder that is given.
"""

from __future__ import annotations

import gzip
import stat
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from service.errors import Invalid, TooLarge
from service.fetching import fetch
from service.store_checks import check_zarr

SUFFIXES = (".npy", ".csv", ".tsv", ".txt", ".parquet", ".zip", ".gz")
PART_BYTES = 1 << 20
MAX_FILES = 1_000_000  # in an archive


def prepare_source(
    file: Mapping[str, Any], folder: Path, limits: Mapping[str, Any],
    on_bytes: Callable[[int], None],
) -> Path:  # fmt: skip
    """The path of a source or target: fetched, inflated, unpacked and checked as it needs."""
    path = Path(file["path"]) if file["url"] is None else _fetch(file, folder, limits, on_bytes)
    if path.suffix.lower() == ".gz":
        path = _inflate(path, folder, limits["max_upload"])
    if path.suffix.lower() == ".zip":
        path = _unpack(path, folder, limits["max_upload"])
    if path.is_dir():
        check_zarr(path, limits["max_features"])
    return path


def _fetch(
    file: Mapping[str, Any], folder: Path, limits: Mapping[str, Any],
    on_bytes: Callable[[int], None],
) -> Path:  # fmt: skip
    name = PurePosixPath(urlsplit(file["url"]).path).name.lower()
    suffixes = "".join(s for s in PurePosixPath(name).suffixes if s in SUFFIXES)
    if not suffixes:
        raise Invalid("the address must end with the name of a file, as X.npy or table.csv.")
    path = folder / f"{file['as']}{suffixes}"
    fetch(file["url"], path, limits["max_upload"], limits["trusted_networks"], on_bytes)
    return path


def _inflate(path: Path, folder: Path, limit: int) -> Path:
    out = folder / path.with_suffix("").name
    n_bytes = 0
    try:
        with gzip.open(path, "rb") as packed, out.open("wb") as plain:
            while part := packed.read(PART_BYTES):
                n_bytes += len(part)
                if n_bytes > limit:
                    raise TooLarge(f"the file inflates to more than the {limit} bytes allowed.")
                plain.write(part)
    except (OSError, EOFError, zlib.error):
        raise Invalid("the .gz file is damaged.") from None
    return out


def _unpack(path: Path, folder: Path, limit: int) -> Path:
    """Unpack a zipped zarr folder; the real bytes are counted, not those that it claims."""
    out = folder / "unpacked"
    out.mkdir()
    left = limit
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > MAX_FILES:
                raise Invalid(f"the archive has more than {MAX_FILES} files.")
            for entry in entries:
                if not entry.is_dir():
                    left -= _unpack_one(archive, entry, out, left, limit)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError):
        raise Invalid("the archive is damaged, encrypted or of an unknown kind.") from None
    return _find_zarr(out)


def _unpack_one(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, out: Path, left: int, limit: int
) -> int:
    name = PurePosixPath(entry.filename)
    outside = name.is_absolute() or ".." in name.parts or "\\" in entry.filename
    if outside or ":" in entry.filename or not entry.filename.isprintable():
        raise Invalid("the archive names a file outside of itself: refused.")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise Invalid("the archive holds a link: refused.")
    target = out.joinpath(*name.parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    n_bytes = 0
    with archive.open(entry) as packed, target.open("xb") as plain:
        while part := packed.read(PART_BYTES):
            n_bytes += len(part)
            if n_bytes > left:
                raise TooLarge(f"the archive holds more than the {limit} bytes allowed.")
            plain.write(part)
    return n_bytes


def _find_zarr(folder: Path) -> Path:
    """The zarr folder of an archive: its top, or the only folder in it."""
    for _ in range(2):
        if (folder / "zarr.json").is_file() or (folder / ".zarray").is_file():
            return folder
        inside = list(folder.iterdir())
        if len(inside) != 1 or not inside[0].is_dir():
            break
        folder = inside[0]
    raise Invalid("the archive holds no zarr store: zip the folder of one.")
