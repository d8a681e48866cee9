"""Names of features and ids of samples in a text file, one a line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from srs.errors import InputError


def read_names(path: Path) -> list[str]:
    """Names from a text file, one a line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text file in UTF-8: write one name per line.") from None
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def given_names(given: Sequence[str] | str | os.PathLike[str] | None) -> list[str] | None:
    """Names that the user gave, in a list or in a file.

    >>> given_names(["a", 2]), given_names(None)
    (['a', '2'], None)
    """
    if isinstance(given, (str, os.PathLike)):
        return read_names(Path(given))
    if given is not None and not isinstance(given, Iterable):
        raise InputError(f"names must be a list or a file with one per line, not {given!r}.")
    return None if given is None else [str(name) for name in given]
