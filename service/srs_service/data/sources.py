"""Makes what a user gave into a file or folder that an ingest may read. Runs in child processes.

Fetched, inflated and unpacked bytes are counted as they come; nothing is written outside of the
folder that is given. Files that belong together are laid into one folder.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import stat
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from srs import find_format
from srs_service.data.fetching import fetch
from srs_service.data.store_checks import check_folder, is_zarr
from srs_service.data.uploads import ARCHIVE, FILENAME, check_together
from srs_service.errors import Invalid, TooLarge

PART_BYTES = 1 << 20
MAX_FILES = 1_000_000  # in an archive
MAX_DEPTH = 3  # folders in a folder that an archive may begin with

File = Mapping[str, Any]
OnBytes = Callable[[int], None]


def prepare_files(
    files: Sequence[File], folder: Path, limits: Mapping[str, Any], on_bytes: OnBytes
) -> Path:
    """The path of a source of one file, or of several that belong together."""
    if len(files) == 1:
        return prepare_source(files[0], folder, limits, on_bytes)
    together = folder / files[0]["as"]
    together.mkdir()
    left = int(limits["max_upload"])
    for file in files:
        if not re.fullmatch(FILENAME, file["name"]):
            raise Invalid(f"{file['name'][:200]!r} is not the name of a file in a known format.")
        path = together / file["name"]
        if path.exists():
            raise Invalid(f"two of the files are called {file['name']}: rename one.")
        if file["url"] is None:
            _lay(Path(file["path"]), path, on_bytes)
        else:
            left -= fetch(file["url"], path, left, limits["trusted_networks"], on_bytes)
    check_folder(together, limits["max_features"])
    return _find_source(together)


def prepare_source(file: File, folder: Path, limits: Mapping[str, Any], on_bytes: OnBytes) -> Path:
    """The path of one file or folder: fetched, inflated, unpacked and checked as it needs."""
    path = Path(file["path"]) if file["url"] is None else _fetch(file, folder, limits, on_bytes)
    if path.is_file() and path.suffix.lower() == ".gz":
        path = _inflate(path, folder, limits["max_upload"], on_bytes)
    if path.is_file() and path.suffix.lower() == ARCHIVE:
        path = _find_source(_unpack(path, folder, limits["max_upload"], on_bytes))
    if path.is_dir():
        check_folder(path, limits["max_features"])
    _refuse_linked_companions(path)
    return path


def _lay(given: Path, path: Path, on_bytes: OnBytes) -> None:
    """The same file under another name; a copy where links cannot be made."""
    if not given.is_file():
        raise Invalid(f"{path.name} is not a file: give files that belong together one by one.")
    try:
        os.link(given, path)
    except OSError:
        on_bytes(given.stat().st_size)
        shutil.copyfile(given, path)


def _refuse_linked_companions(path: Path) -> None:
    """The path itself was resolved; what its reader opens beside it was not."""
    found = find_format(path)
    for file in () if found is None or path.is_dir() else found.files_of(path)[1:]:
        if file.is_symlink():
            suffix = found.suffix_of(file.name) if found is not None else ""
            raise Invalid(f"the {suffix} file is a link: send the file itself.")


def _fetch(file: File, folder: Path, limits: Mapping[str, Any], on_bytes: OnBytes) -> Path:
    name = file["name"].lower()
    found = find_format(name)
    suffix = ARCHIVE if name.endswith(ARCHIVE) else "" if found is None else found.suffix_of(name)
    if not suffix:
        raise Invalid("the address must end with the name of a file, e.g. X.npy or table.csv.")
    path = folder / f"{file['as']}{suffix}"
    fetch(file["url"], path, limits["max_upload"], limits["trusted_networks"], on_bytes)
    return path


def _inflate(path: Path, folder: Path, limit: int, on_bytes: OnBytes) -> Path:
    out = folder / path.with_suffix("").name
    n_bytes = 0
    try:
        with gzip.open(path, "rb") as packed, out.open("wb") as plain:
            while part := packed.read(PART_BYTES):
                n_bytes += len(part)
                if n_bytes > limit:
                    raise TooLarge(f"the file inflates to more than the {limit} bytes allowed.")
                on_bytes(len(part))
                plain.write(part)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise Invalid("the .gz file is damaged.") from None
    return out


def _unpack(path: Path, folder: Path, limit: int, on_bytes: OnBytes) -> Path:
    """Unpack an archive; the real bytes are counted, not those that it claims."""
    out = folder / "unpacked"
    out.mkdir()
    left = limit

    def count(n_bytes: int) -> None:
        nonlocal left
        left -= n_bytes
        if left < 0:
            raise TooLarge(f"the archive holds more than the {limit} bytes allowed.")
        on_bytes(n_bytes)

    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > MAX_FILES:
                raise Invalid(f"the archive has more than {MAX_FILES} files.")
            for entry in entries:
                if not entry.is_dir():
                    _unpack_one(archive, entry, out, count)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError):
        raise Invalid("the archive is damaged, encrypted or of an unknown kind.") from None
    return out


def _unpack_one(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, out: Path, count: OnBytes
) -> None:
    name = PurePosixPath(entry.filename)
    outside = name.is_absolute() or ".." in name.parts or "\\" in entry.filename
    if outside or ":" in entry.filename or not entry.filename.isprintable():
        raise Invalid("the archive names a file outside of itself: refused.")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise Invalid("the archive holds a link: refused.")
    target = out.joinpath(*name.parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as packed, target.open("xb") as plain:
        while part := packed.read(PART_BYTES):
            count(len(part))
            plain.write(part)


def _has_companions(file: Path) -> bool:
    """Whether it is the file that is opened, of several that belong together."""
    found = find_format(file)
    several = found is not None and (found.companions or found.beside)
    return found is not None and bool(several) and found.main_file(file) == file


def _find_source(folder: Path) -> Path:
    """What a folder of files is: a file with its companions, a folder of a format, or one file."""
    for _ in range(MAX_DEPTH):
        if is_zarr(folder):
            return folder
        files = sorted(entry for entry in folder.iterdir() if entry.is_file())
        folders = sorted(entry for entry in folder.iterdir() if entry.is_dir())
        mains = [file for file in files if _has_companions(file)]
        check_together(files, beside=False)
        if len(mains) == 1:
            return mains[0]
        if len(files) == 1 and not folders and find_format(files[0]) is not None:
            return files[0]
        if files and find_format(folder) is not None:
            return folder
        if files or len(folders) != 1:
            break
        folder = folders[0]
    raise Invalid(
        "the files do not form a source: send a zarr folder, a .bed file with its .bim and "
        ".fam, or a folder of files of one format."
    )
