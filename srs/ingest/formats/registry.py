"""Which formats there are, and which of them a source is.

Formats of this distribution are in formats.json, which `catalogue` writes; other distributions
register theirs as entry points of the group `srs.formats`, each a `Format`. Nothing that reads data
is imported here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srs.errors import SourceError
from srs.ingest.formats.format import FOLDER, OBJECT, Format
from srs.plugins import with_plugins

if TYPE_CHECKING:
    from srs.ingest.block import Source, Wanted

GROUP = "srs.formats"
ORIENTATIONS = ("samples", "features")
INDEX = Path(__file__).with_name("formats.json")


@cache
def formats() -> tuple[Format, ...]:
    """All formats: those of srs, then those that other distributions register.

    >>> [one.name for one in formats() if ".bed" in one.suffixes]
    ['plink']
    """
    return with_plugins(GROUP, read_index(), _without_taken)


def _without_taken(one: Format, others: Sequence[Format]) -> tuple[Format, list[str]]:
    """A format without the suffixes of formats before it, which are read as those."""
    owners = {end: o.name for o in reversed(others) for end in o.all_suffixes}
    taken = [end for end in one.all_suffixes if end in owners]
    if not taken:
        return one, []
    left = tuple(end for end in one.suffixes if end not in owners)
    said = f"{', '.join(taken)} of the format {one.name!r} is read as {owners[taken[0]]!r} already"
    if one.companions or one.beside or not left:
        raise ValueError(said)
    return replace(one, suffixes=left), [f"{said}, and is ignored."]


def read_index() -> list[Format]:
    """The formats of `srs`."""
    return [Format.from_json(document) for document in json.loads(INDEX.read_text())]


def index_text(own: Sequence[Format]) -> str:
    """The text of formats.json."""
    return json.dumps([one.to_json() for one in own], indent=1) + "\n"


def stored_formats() -> tuple[Format, ...]:
    """Those that are files or folders."""
    return tuple(one for one in formats() if one.is_stored)


def find_format(source: Any) -> Format | None:
    """The format of a path or of an object in memory; None if it has none that is known.

    A folder is known by what it holds, then by its name; a file by its name alone, the longest
    suffix first, whether it exists or not.
    """
    if not isinstance(source, (str, os.PathLike)):
        return next((one for one in formats() if OBJECT in one.kinds and one.is_of(source)), None)
    path = Path(source)
    known: Sequence[Format] = stored_formats()
    if path.is_dir():
        known = [one for one in known if FOLDER in one.kinds]
        inside = next((one for one in known if one.is_of(path)), None)
        if inside is not None:
            return inside
    best = max(known, key=lambda one: len(one.suffix_of(path.name)), default=None)
    return best if best is not None and best.suffix_of(path.name) else None


def open_source(source: Any, wanted: Wanted) -> Source:
    """The Source of whatever the user gave; SourceError if it is of no known kind."""
    if wanted.orientation not in ORIENTATIONS:
        raise SourceError(
            f"orientation is {wanted.orientation!r}; it must be 'samples' or 'features', the "
            "meaning of a row."
        )
    is_path = isinstance(source, (str, os.PathLike))
    if is_path:
        source = Path(source)
        if not source.exists():
            raise SourceError(f"{source} does not exist.")
    found = find_format(source)
    if found is None:
        what = f"the format of {source} is unknown" if is_path else _refusal(source)
        raise SourceError(f"{what}: give {describe_sources()}.")
    return found.open_source(source, wanted)


def _refusal(source: Any) -> str:
    return f"a {type(source).__name__} cannot be a source"


def describe_sources() -> str:
    """What a source may be, in one list."""
    objects = (one.title for one in formats() if OBJECT in one.kinds)
    files = (one.describe_suffixes() for one in stored_formats())
    return f"{', '.join(objects)}, or a path to {', '.join(text for text in files if text)}"
