"""Files of a user that go to the service together: a folder in an archive, companions of a file."""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from srs.errors import SourceError
from srs.ingest.formats.registry import find_format


def with_companions(file: Path) -> list[Path]:
    """A file, and those beside it that belong to it; a SourceError if one is not there.

    >>> with_companions(Path("X.npy"))
    [PosixPath('X.npy')]
    """
    found = find_format(file)
    if found is None or not (found.companions or found.beside):
        return [file]
    missing = found.say_missing(file, Path.exists)
    if missing:
        raise SourceError(f"{missing}, and must be in one folder.")
    return list(found.files_of(file))


@contextmanager
def packed(folder: Path) -> Iterator[Path]:
    """An archive of the files of a folder, as they are; it is gone afterwards."""
    if find_format(folder) is None:
        raise SourceError(f"the folder {folder} has an unknown format: give the files one by one.")
    with tempfile.TemporaryDirectory(prefix="srs-") as temporary:
        path = Path(temporary) / f"{_plain(folder.name)}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, strict_timestamps=False) as archive:
            for file in sorted(folder.rglob("*")):
                if file.is_file():
                    archive.write(file, f"{_plain(folder.name)}/{file.relative_to(folder)}")
        yield path


def _plain(name: str) -> str:
    """A name that the service takes.

    >>> _plain("images (2)"), _plain("")
    ('images_2_', 'data')
    """
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)
    return kept.strip(".").replace("__", "_").removeprefix("-") or "data"


def plain_name(name: str) -> str:
    """A file's name with the characters that the service takes; the ending stays.

    >>> plain_name("data (1) é.csv"), plain_name(".x.npy")
    ('data _1_ _.csv', '_.x.npy')
    """
    plain = re.sub(r"[^A-Za-z0-9_. -]", "_", name)
    return plain if re.match(r"[A-Za-z0-9_]", plain) else f"_{plain}"
