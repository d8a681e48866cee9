"""Delimited text files as sources, read line by line in bounded memory, whatever their width.

With samples as rows the lines go to a temporary file that turns them into features
(`srs.ingest.encode.transpose`); with features as rows they stream. Fields are split in
`srs.ingest.readers.lines` and read in `srs.ingest.readers.fields`. The type of a column is decided
by the first lines: numeric if all its fields are numbers or missing, else categorical.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np

from srs.errors import SourceError
from srs.ingest.block import ColumnBlock, Source, Wanted, check_features, small_block
from srs.ingest.encode.transpose import FeatureSpill
from srs.ingest.formats.format import Format
from srs.ingest.formats.tables.geo import SeriesMatrix, is_series
from srs.ingest.readers.fields import find_comma_columns, is_number, parse_number, parse_texts
from srs.ingest.readers.lines import (
    LineParser,
    TextLayout,
    describe,
    read_data,
    read_layout,
    split_fields,
)
from srs.ingest.readers.text_columns import Categories, assign_roles, find_index
from srs.ingest.readers.text_rows import TextRows
from srs.ingest.tables.ids import find_ids
from srs.store.layout import CATEGORICAL, NUMERIC, Annotation

SUFFIXES = (".csv", ".tsv", ".txt")
SAMPLE_LINES = 1000  # that decide the types of columns,
SAMPLE_BYTES = 64 << 20  # or so many bytes of them
COLUMN_MEM = 240  # the name of a column, and its field of the present line as text and number


def open_text(path: Path, wanted: Wanted) -> Source:
    if is_series(path):
        return SeriesMatrix(path, wanted)
    layout = read_layout(path)
    if wanted.orientation == "features":
        return TextRows(path, layout, wanted)
    return TextTable(path, layout, wanted)


class TextTable:
    """A sample a row. The whole file is read when it is opened.

    lines        gives the lines of the samples, with their numbers; None: all after the header
    categorical  names of columns that are categories, beside those that the user wants

    If the column of ids turns out to be none, the file is read again.
    """

    def __init__(
        self,
        path: Path,
        layout: TextLayout,
        wanted: Wanted,
        lines: Callable[[], Iterator[tuple[int, str]]] | None = None,
        categorical: Set[str] = frozenset(),
    ) -> None:
        self._lines = lines or (lambda: read_data(path, layout))
        self._path, self._layout, self._wanted = path, layout, wanted
        self._declared = wanted.categorical | categorical
        self.annotations: Mapping[str, Annotation] = {}
        self.dtype = np.dtype(np.float64)
        self.held, self.fixed_mem, self.in_memory = 16, 0, False
        self._mem = max(1, wanted.mem - COLUMN_MEM * layout.n_columns)
        self._spill: FeatureSpill | None = None
        found = find_ids(
            layout.header or (), find_index(layout), layout.counted, wanted, self._read_with
        )
        if found.place is None:
            self._read_with(None)
        self.notices: Sequence[str] = [*layout.notices, *found.notices]
        self.record: Mapping[str, Any] = describe(path, wanted) | self.chosen

    @property
    def chosen(self) -> dict[str, str | None]:
        """The column that holds the ids, for the record."""
        place = self._roles.id_column
        return {"id_column": None if place is None else self._roles.labels[place]}

    def _read_with(self, id_column: int | None) -> Sequence[str]:
        """Read all with the ids in a column; the ids."""
        self.close()
        self._roles = assign_roles(self._path, self._layout, self._wanted, id_column)
        self._features = self._roles.features
        self.names: Sequence[str] | None = self._roles.names
        self.n_features = len(self._features)
        self._spill = FeatureSpill(self._wanted.folder, self.n_features, self.dtype)
        try:
            self._read_all(self._spill)
        except BaseException:
            self.close()
            raise
        self.n_samples = self._spill.n_samples
        return self.sample_ids or ()

    def _decide_types(self, lines: list[tuple[int, str]]) -> LineParser:
        """Which features are categories; the parser of columns that are all numbers."""
        numeric = np.zeros(self._layout.n_columns, bool)
        numeric[self._features] = True
        chosen = self._declared
        for feature_id, column in enumerate(self._features if chosen else ()):
            if feature_id in chosen or self._roles.labels[column] in chosen:
                numeric[column] = False
        undeclared = numeric.copy()
        self._comma = np.zeros(len(numeric), bool)
        parser = self._choose_range(numeric)
        for number, line in lines:
            fields, values = parser.parse(number, line)
            columns = self._others if values is not None else range(len(fields))
            asked = ((c, f) for c, f in zip(columns, fields, strict=True) if numeric[c])
            texts = [column for column, field in asked if not is_number(field)]
            if texts:
                numeric[texts] = False
                parser = self._choose_range(numeric)
        texts = np.flatnonzero(undeclared & ~numeric).tolist()
        if texts and self._layout.delimiter != ",":
            rows = (split_fields(line, self._layout.delimiter) for _, line in lines)
            commas = find_comma_columns(rows, texts, np.flatnonzero(numeric).tolist())
            self._comma[commas] = numeric[commas] = True
            parser = self._choose_range(numeric)
        categorical = [i for i, column in enumerate(self._features) if not numeric[column]]
        self._categories = {i: Categories(self._name(i)) for i in categorical}
        return parser

    def _choose_range(self, numeric: np.ndarray) -> LineParser:
        """The longest run of numeric columns is parsed at once, the others one by one."""
        runs = [_longest_run(numeric & self._comma), _longest_run(numeric & ~self._comma)]
        self._first, self._stop = max(runs, key=lambda run: run[1] - run[0])
        self._others = [*range(self._first), *range(self._stop, len(numeric))]
        comma = bool(self._comma[self._first : self._stop].any())
        return LineParser(self._path, self._layout, self._first, self._stop, comma)

    def _name(self, feature_id: int) -> str:
        return self._roles.labels[int(self._features[feature_id])]

    # -- reading --------------------------------------------------------------------------------

    def _read_all(self, spill: FeatureSpill) -> None:
        lines = self._lines()
        sample, n_bytes = [], 0
        for number, line in lines:
            sample.append((number, line))
            n_bytes += len(line)
            if len(sample) == SAMPLE_LINES or n_bytes > min(SAMPLE_BYTES, self._mem // 8):
                break
        with warnings.catch_warnings():
            # numpy before 2.3 warns where later ones raise.
            warnings.simplefilter("error", DeprecationWarning)
            parser = self._decide_types(sample)
            self._fill(spill, parser, itertools.chain(_drain(sample), lines))
        if spill.n_samples == 0:
            raise SourceError(f"{self._path} has a header but no samples.")

    def _fill(
        self, spill: FeatureSpill, parser: LineParser, lines: Iterator[tuple[int, str]]
    ) -> None:
        n_rows = max(1, self._mem // 4 // (8 * max(1, self.n_features)))
        band = np.empty((min(n_rows, 1 << 16), self.n_features))
        ids: list[str] = []
        self._target_texts: dict[str, list[str]] = {name: [] for name in self._roles.targets}
        filled = 0
        for number, line in lines:
            fields = self._parse_into(parser, number, line, band[filled])
            if self._roles.id_column is not None:
                ids.append(fields[self._roles.id_column].strip())
            for name, column in self._roles.targets.items():
                self._target_texts[name].append(fields[column])
            filled += 1
            if filled == len(band):
                spill.write(spill.add_band(filled), 0, band)
                filled = 0
        if filled:
            spill.write(spill.add_band(filled), 0, band[:filled])
        self.sample_ids: Sequence[str] | None = None if self._roles.id_column is None else ids

    def _parse_into(
        self, parser: LineParser, number: int, line: str, out: np.ndarray
    ) -> Mapping[int, str]:
        """Fill a row of features; the fields that are no plain numbers, by column."""
        texts, values = parser.parse(number, line)
        if values is None:
            fields = dict(enumerate(texts))
            columns = range(len(self._features))
        else:
            fields = dict(zip(self._others, texts, strict=True))
            at, stop = np.searchsorted(self._features, (self._first, self._stop))
            out[at:stop] = values
            columns = itertools.chain(range(at), range(stop, len(self._features)))  # type: ignore[assignment]
        for i in columns:
            text = fields[int(self._features[i])]
            out[i] = self._parse_field(i, text, number)
        return fields

    def _parse_field(self, feature_id: int, text: str, number: int) -> float:
        categories = self._categories.get(feature_id)
        if categories is not None:
            return categories.number(text, number)
        comma = bool(self._comma[self._features[feature_id]])
        if not is_number(text, comma):
            name = self._name(feature_id)
            raise SourceError(
                f"{self._path}, line {number}: {text.strip()!r} in the numeric column {name!r} is "
                f"not a number; correct it, or declare the column with categorical=[{name!r}]."
            )
        return parse_number(text, comma)

    # -- as a Source ------------------------------------------------------------------------------

    def blocks(self, n_features: int) -> Iterator[ColumnBlock]:
        n_features = small_block(n_features, self.n_samples * self.dtype.itemsize)
        for first in range(0, self.n_features, n_features):
            values = np.empty((min(n_features, self.n_features - first), self.n_samples))
            self._read_features(first, values)
            kinds = np.full(len(values), NUMERIC, np.uint8)
            labels = {}
            for i in range(first, first + len(values)):
                if i in self._categories:
                    kinds[i - first] = CATEGORICAL
                    labels[i] = self._categories[i].sort(values[i - first])
            yield ColumnBlock(first, values, kinds, labels)

    def read(self, feature_ids: np.ndarray) -> np.ndarray:
        out = np.empty((len(feature_ids), self.n_samples))
        for i, feature_id in enumerate(feature_ids):
            self._read_features(int(feature_id), out[i : i + 1])
        return out

    def _read_features(self, first: int, out: np.ndarray) -> None:
        assert self._spill is not None
        self._spill.read(first, out)

    def column(self, name: str) -> Any:
        return parse_texts(self._target_texts[name], self._layout.delimiter)

    def close(self) -> None:
        if self._spill is not None:
            self._spill.close()


def _longest_run(chosen: np.ndarray) -> tuple[int, int]:
    """First and stop of the longest run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], chosen.astype(np.int8), [0]))))
    if not len(edges):
        return 0, 0
    longest = int(np.argmax(edges[1::2] - edges[::2]))
    return int(edges[2 * longest]), int(edges[2 * longest + 1])


def _drain(items: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The items in order, each forgotten once it has been given."""
    items.reverse()
    while items:
        yield items.pop()


def reread_text(
    path: Path, wanted: Wanted, feature_ids: np.ndarray, n_features: int
) -> np.ndarray | None:
    """Values (k, n_samples) of numeric features of a table, in one pass and without its rest; None
    if a row is a feature.

    wanted      with the id column that the table was read with
    n_features  that the table had then
    """
    if wanted.orientation != "samples" or is_series(path):
        return None
    layout = read_layout(path)
    header = layout.header or ()
    id_column = header.index(wanted.id_column) if wanted.id_column in header else None
    roles = assign_roles(path, layout, wanted, id_column)
    check_features(path, len(roles.features), n_features)
    columns = roles.features[feature_ids]
    comma = layout.delimiter != ","  # in columns of numbers every comma is a decimal one
    rows = []
    for _, line in read_data(path, layout):
        fields = split_fields(line, layout.delimiter)
        rows.append([parse_number(fields[column], comma) for column in columns])
    return np.array(rows, np.float64).T


TEXT_FORMAT = Format(
    name="text",
    title="text table",
    help="fields between commas, tabs, semicolons, spaces; text is categories; GEO series matrices",
    open=open_text,
    suffixes=(*SUFFIXES, *(f"{suffix}.gz" for suffix in SUFFIXES)),
    options=("orientation",),
    safe=True,
    reread=reread_text,
)
