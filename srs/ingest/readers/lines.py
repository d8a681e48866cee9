"""Lines of a delimited text file: opening, delimiter, header, and one line to fields.

What columns mean and how lines become blocks is `srs.ingest.formats.tables.text`.
"""

from __future__ import annotations

import csv
import gzip
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from srs.errors import SourceError
from srs.ingest.block import Wanted
from srs.ingest.readers.fields import MARKED_TEXTS, parse_numbers


@dataclass(frozen=True)
class TextLayout:
    """What the first lines of a text file tell.

    delimiter   between fields
    header      fields of the header; None if the first line is data
    n_columns   fields of each line
    counted     whether the first field after the header is a whole number
    skip        lines before the data: comments and the header
    notices     one sentence for each oddity
    """

    delimiter: str
    header: tuple[str, ...] | None
    n_columns: int
    counted: bool = False
    skip: int = 0
    notices: tuple[str, ...] = ()


def open_text_file(path: Path) -> IO[str]:
    is_packed = path.suffix.lower() == ".gz"
    with gzip.open(path) if is_packed else path.open("rb") as file:
        start = file.read(2)
    # Spreadsheets write UTF-16 with a mark; all else is UTF-8.
    encoding = "utf-16" if start in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig"
    if is_packed:
        return gzip.open(path, "rt", encoding=encoding, newline="")
    return path.open(encoding=encoding, newline="", buffering=1 << 20)


def read_lines(path: Path, skip: int = 0) -> Iterator[tuple[int, str]]:
    """(line number from 1, line without its end), blank lines and the first `skip` left out.

    A line whose quotes are still open goes on in the next one.
    """
    number = 0
    try:
        with open_text_file(path) as file:
            for line in file:
                number += 1
                start = number
                while line.count('"') % 2:
                    more = next(file, None)
                    if more is None:
                        raise SourceError(f"{path}, line {start}: a quote is never closed.")
                    line += more
                    number += 1
                line = line.rstrip("\r\n")
                if line and skip:
                    skip -= 1
                elif line:
                    yield start, line
    except UnicodeDecodeError:
        raise SourceError(
            f"{path} cannot be read{_after(number)}: it is not in UTF-8, perhaps in "
            f"Latin-1; save it as UTF-8, e.g. iconv -f latin1 -t utf-8 {path.name} > new.csv"
        ) from None
    except (EOFError, OSError) as error:
        raise SourceError(f"{path} cannot be read{_after(number)}: {error}.") from None


def _after(number: int) -> str:
    return f" after line {number}" if number else ""


def read_data(path: Path, layout: TextLayout) -> Iterator[tuple[int, str]]:
    """(line number from 1, line) of the data; runs of blanks are one where blanks part fields."""
    lines = read_lines(path, layout.skip)
    if layout.delimiter != " ":
        return lines
    return ((number, _tidy(line)) for number, line in lines if not line.isspace())


def _tidy(line: str) -> str:
    return line.strip() if '"' in line else " ".join(line.split())


def split_fields(line: str, delimiter: str) -> list[str]:
    if '"' in line:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=delimiter == " "))
    return line.split(delimiter)


def read_layout(path: Path) -> TextLayout:
    """Look at the first two lines that are no comments."""
    comments, first, second = _read_first(path)
    delimiter = _find_delimiter(path, first)
    if delimiter == " ":
        first, second = _tidy(first), _tidy(second)
    fields = [field.strip() for field in split_fields(first, delimiter)]
    after = split_fields(second, delimiter) if second else []
    # An empty first field is how pandas writes the header of an index.
    numbers = fields[0] != "" and parse_numbers(fields, delimiter) is not None
    named = _find_names(comments, fields, numbers, delimiter)
    if named:
        after, fields = fields, named
    elif numbers and not _counts(fields):
        notice = f"the first line of {path.name} is all numbers and was read as data."
        return TextLayout(delimiter, None, len(fields), skip=len(comments), notices=(notice,))
    if len(after) == len(fields) + 1:
        fields = ["", *fields]  # R leaves out the name of the column of row names
    counted = bool(after) and after[0].strip().isdecimal()
    skip = len(comments) + (0 if named else 1)
    return TextLayout(delimiter, tuple(fields), len(fields), counted, skip)


def _read_first(path: Path) -> tuple[list[str], str, str]:
    """The comments that a file starts with, and the two lines after them ("" for none)."""
    lines = (line for _, line in read_lines(path))
    comments: list[str] = []
    first = next(lines, "")
    while first.startswith("#"):
        comments.append(first)
        first = next(lines, "")
    if not first and not comments:
        raise SourceError(f"{path} is empty: there is nothing to ingest.")
    second = next(lines, "")
    lines.close()
    return (comments, first, second) if first else (comments[:-1], comments[-1], "")


def _find_names(
    comments: list[str], fields: list[str], numbers: bool, delimiter: str
) -> list[str] | None:
    """The header, if it is the last comment: "#CHROM", or "# a" before lines of numbers.

    fields   of the line after the comments
    numbers  whether they are numbers
    """
    last = comments[-1] if comments else ""
    spaced = last[1:2] in ("", " ")
    text = last.lstrip("# ") if spaced else last
    found = [field.strip() for field in split_fields(text, delimiter)]
    if last.startswith("##") or not len(found) == len(fields) > 1:
        return None
    return found if numbers or not spaced else None


def _find_delimiter(path: Path, line: str) -> str:
    for delimiter in "\t;":  # before commas that may be decimal ones
        if delimiter in line and parse_numbers(line.split(delimiter), delimiter) is not None:
            return delimiter
    suffixes = [suffix.lower() for suffix in path.suffixes]
    preferred = "\t" if ".tsv" in suffixes else ","
    for delimiter in (preferred, "\t", ",", ";", " "):
        if delimiter in line:
            return delimiter
    return preferred


def _counts(fields: list[str]) -> bool:
    """Whether fields are 0, 1, 2, ... : a header that only counts."""
    return len(fields) > 1 and fields == [str(i) for i in range(len(fields))]


def mark_missing(fields: str, delimiter: str) -> str:
    """The same fields with "nan" for every missing marker.

    Whole-line replacements: 20 times faster than a look at each field of a wide line.
    """
    fields = f"{delimiter}{fields}{delimiter}"
    for text in MARKED_TEXTS:
        marker = f"{delimiter}{text}{delimiter}"
        while marker in fields:  # twice: neighbours share a delimiter
            fields = fields.replace(marker, f"{delimiter}nan{delimiter}")
    return fields[len(delimiter) : -len(delimiter)]


class LineParser:
    """Lines to numbers: at once where a range of columns is all numbers, else field by field.

    first, stop  the range
    comma        whether its numbers have decimal commas
    """

    def __init__(
        self, path: Path, layout: TextLayout, first: int, stop: int, comma: bool = False
    ) -> None:
        self._path, self._layout = path, layout
        self._first, self._stop, self._comma = first, stop, comma

    def parse(self, number: int, line: str) -> tuple[list[str], np.ndarray | None]:
        """(fields outside the range, numbers of the range), or (all fields, None)."""
        delimiter, n_columns = self._layout.delimiter, self._layout.n_columns
        plain = '"' not in line
        fields = [] if plain else split_fields(line, delimiter)
        n_found = line.count(delimiter) + 1 if plain else len(fields)
        if n_found != n_columns:
            raise SourceError(
                f"{self._path}, line {number}: {n_found} fields instead of {n_columns}."
            )
        if self._first < self._stop:
            if plain:
                *head, rest = line.split(delimiter, self._first)
                rest, *tail = rest.rsplit(delimiter, n_columns - self._stop)
            else:
                head, tail = fields[: self._first], fields[self._stop :]
                rest = delimiter.join(fields[self._first : self._stop])
            values = self._parse_range(rest)
            if values is not None:
                return head + tail, values
        return line.split(delimiter) if plain else fields, None

    def _parse_range(self, text: str) -> np.ndarray | None:
        """Numbers of the range; None if one is text."""
        delimiter = self._layout.delimiter
        if self._comma:
            if "." in text:
                return None
            text = text.replace(",", ".")
        for mark in (False, True):
            try:
                values = np.fromstring(
                    mark_missing(text, delimiter) if mark else text, sep=delimiter
                )
            except (ValueError, DeprecationWarning):
                continue
            if len(values) == self._stop - self._first:
                return values
        return None


def describe(path: Path, wanted: Wanted) -> dict[str, Any]:
    stat = path.stat()
    return {
        "kind": "text",
        "path": str(path.resolve()),
        "size": stat.st_size,
        "mtime_ns": stat.st_mtime_ns,
        "orientation": wanted.orientation,
        "targets": list(wanted.columns),
    }
