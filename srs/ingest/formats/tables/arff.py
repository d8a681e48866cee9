"""ARFF files: the header says what the columns are, the rest is a text table
(`srs.ingest.formats.tables.text`).

Nominal and string attributes are categories, also where their labels are numbers or `None`; only
`?` is missing in them. The others are numbers.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from srs.errors import SourceError
from srs.ingest.block import Source, Wanted
from srs.ingest.formats.arrays.hdf5 import file_record
from srs.ingest.formats.format import Format
from srs.ingest.formats.tables.text import TextTable
from srs.ingest.readers.lines import TextLayout, open_text_file

_ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\S+)\s+(.+)", re.I)
NUMBERS = ("numeric", "real", "integer")
MISSING = ("?", "")


class ArffTable(TextTable):
    """A text table whose header says which columns are categories.

    nominal  names of those columns
    """

    nominal: frozenset[str] = frozenset()

    def _parse_field(self, feature_id: int, text: str, number: int) -> float:
        text = text.strip()
        if feature_id in self._categories and text not in MISSING:
            return self._categories[feature_id].number_known(text, number)
        return super()._parse_field(feature_id, text, number)

    def column(self, name: str) -> Any:
        if name not in self.nominal:
            return super().column(name)
        texts = (text.strip() for text in self._target_texts[name])
        return pd.Series(pd.Categorical([None if t in MISSING else t for t in texts]), name=name)


def open_arff(path: Path, wanted: Wanted) -> Source:
    names, categorical = _read_header(path, _lines(path))
    layout = TextLayout(",", tuple(names), len(names))

    def read_samples() -> Iterator[tuple[int, str]]:
        lines = _lines(path)
        _read_header(path, lines)
        return _plain(path, lines)

    table = ArffTable(path, layout, wanted, read_samples, categorical)
    table.nominal = frozenset(categorical)
    table.record = file_record("arff", path, wanted) | {"targets": list(wanted.columns)}
    table.record |= {"id_column": table.chosen["id_column"] or ""}  # "": none, also when read again
    return table


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines that are neither blank nor comments."""
    number = 0
    try:
        with open_text_file(path) as file:
            for number, line in enumerate(file, 1):
                text = line.strip()
                if text and not text.startswith("%"):
                    yield number, text
    except (UnicodeDecodeError, OSError) as error:
        raise SourceError(f"{path} cannot be read after line {number}: {error}.") from None


def _read_header(path: Path, lines: Iterator[tuple[int, str]]) -> tuple[list[str], set[str]]:
    """Names of the attributes, and those that are categories."""
    names: list[str] = []
    categorical = set()
    for number, line in lines:
        if line.lower().startswith("@relation"):
            continue
        if line.lower().startswith("@data"):
            break
        found = _ATTRIBUTE.fullmatch(line)
        if found is None:
            raise SourceError(f"{path}, line {number}: {line[:60]!r} is not an attribute.")
        name = re.sub(r"\\(.)", r"\1", found[1].strip("'\"")) if found[1][0] in "'\"" else found[1]
        kind = found[2] if found[2].startswith("{") else found[2].partition("%")[0].strip()
        if kind.startswith("{") or kind.lower() == "string":
            categorical.add(name)
        elif kind.lower() not in NUMBERS:
            raise SourceError(f"{path}, line {number}: attributes of type {kind!r} are not read.")
        names.append(name)
    else:
        raise SourceError(f"{path} has no @data.")
    if not names:
        raise SourceError(f"{path} has no attribute.")
    return names, categorical


def _plain(path: Path, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines with single quotes as a CSV file has them."""
    for number, line in lines:
        if line.startswith("{"):
            raise SourceError(f"{path}, line {number}: sparse ARFF is not read; save it as libsvm.")
        if "'" in line or "\\" in line:
            fields = next(csv.reader([line], quotechar="'", escapechar="\\", skipinitialspace=True))
            line = ",".join(
                '"' + f.replace('"', '""') + '"' if set(f) & set(',"') else f for f in fields
            )
        yield number, line


ARFF_FORMAT = Format(
    name="arff",
    title="ARFF",
    help="one sample per line; nominal attributes are categories",
    open=open_arff,
    suffixes=(".arff",),
    safe=True,
)
