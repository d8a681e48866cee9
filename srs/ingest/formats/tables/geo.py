"""Series matrices of GEO: text files whose table of values stands below lines that begin with `!`.

A row is a feature (a probe or a CpG site), a column a sample. What the lines above say of the
samples, such as `!Sample_characteristics_ch1 "age: 67"`, can be a target: its name is `age`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from srs.errors import SourceError, near
from srs.ingest.block import Wanted
from srs.ingest.readers.fields import parse_texts
from srs.ingest.readers.lines import TextLayout, open_text_file
from srs.ingest.readers.text_rows import TextRows

MARK = "!"
BEGIN, END = "!series_matrix_table_begin", "!series_matrix_table_end"
SAMPLE = "!Sample_"
CHARACTERISTICS = "characteristics"
TAB = "\t"


def is_series(path: Path) -> bool:
    """Whether a text file begins as series matrices do."""
    try:
        with open_text_file(path) as file:
            return next((line for line in file if line.strip()), "").startswith(MARK)
    except (OSError, EOFError, UnicodeDecodeError):
        return False  # the reader of tables says what is wrong


class SeriesMatrix(TextRows):
    """The table of a series matrix, and what is said of its samples."""

    def __init__(self, path: Path, wanted: Wanted) -> None:
        self._path = path
        self._said, header = _read_head(path)
        layout = TextLayout(TAB, tuple(header), len(header))
        super().__init__(path, layout, wanted)

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Lines of the table, without quotes: those stand around names alone."""
        inside = False
        header_next = False
        for number, line in _read(self._path):
            if line.startswith(MARK):
                if line == END:
                    return
                inside = header_next = line == BEGIN
            elif header_next:
                header_next = False
            elif inside and line:
                yield number, line.replace('"', "")
        raise SourceError(f"{self._path} ends before {END}: it was not copied whole.")

    def refuse_empty(self) -> None:
        raise SourceError(
            f"{self._path} has no row in its table: GEO keeps the values of such a series in "
            "supplementary files."
        )

    def column(self, name: str) -> Any:
        if name not in self._said:
            some = ", ".join(list(self._said)[:12]) or "nothing"
            raise SourceError(
                f"the target {name!r}: {self._path} says {some} of its samples; give others in a "
                f"table (--table){near(name, list(self._said))}"
            )
        return parse_texts(self._said[name], TAB)


def _read(path: Path) -> Iterator[tuple[int, str]]:
    """(line number from 1, line without its end)."""
    number = 0
    try:
        with open_text_file(path) as file:
            for number, line in enumerate(file, 1):
                yield number, line.rstrip("\r\n")
    except (UnicodeDecodeError, EOFError, OSError) as error:
        raise SourceError(f"{path} cannot be read after line {number}: {error}.") from None


def _read_head(path: Path) -> tuple[dict[str, list[str]], list[str]]:
    """Texts by sample of what the lines above the table say, and the header of the table."""
    lines: list[tuple[str, list[str]]] = []
    begun = False
    for _, line in _read(path):
        fields = [field.strip().strip('"').strip() for field in line.split(TAB)]
        if begun:
            return _columns(lines, len(fields) - 1), fields
        begun = line == BEGIN
        if line.startswith(SAMPLE):
            lines.append((fields[0].removeprefix(SAMPLE), fields[1:]))
    raise SourceError(f"{path} has no table: there is no line {BEGIN}.")


def _columns(lines: list[tuple[str, list[str]]], n_samples: int) -> dict[str, list[str]]:
    """Characteristics by their own names: those of one line may differ from sample to sample."""
    found: dict[str, list[str]] = {}
    for key, texts in lines:
        if len(texts) != n_samples:
            continue
        for at, text in enumerate(texts):
            name, value = key, text
            if key.startswith(CHARACTERISTICS):
                name, colon, value = (part.strip() for part in text.partition(":"))
                if not colon:
                    name, value = key, text
            if name:
                found.setdefault(name, [""] * n_samples)[at] = value
    return found
