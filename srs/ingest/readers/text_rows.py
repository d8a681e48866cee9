"""Text files whose lines are features: they stream, and nothing is transposed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from srs.errors import SourceError
from srs.ingest.block import ColumnBlock, Wanted, read_from_blocks, small_block
from srs.ingest.readers.fields import MISSING_TEXTS, parse_numbers
from srs.ingest.readers.lines import (
    LineParser,
    TextLayout,
    describe,
    read_data,
    split_fields,
)
from srs.ingest.readers.text_columns import Categories
from srs.store.layout import CATEGORICAL, NUMERIC, Annotation

SAMPLE_LINES = 100  # that tell which columns describe features,
SAMPLE_BYTES = 8 << 20  # or so many bytes of them
_BESIDE = re.compile(r"detection[\s_.-]*p[\s_.-]*val", re.IGNORECASE)  # columns of arrays


class TextRows:
    """A feature a row: its name first if the file has a header, then its samples.

    Columns of text between the names and the samples describe the features and are left out, and so
    are the p-values of detection that arrays have beside each sample.
    """

    def __init__(self, path: Path, layout: TextLayout, wanted: Wanted) -> None:
        self._path, self._layout, self._wanted = path, layout, wanted
        self._named = int(layout.header is not None)
        described = self._count_descriptions()
        self._first = self._named + described  # field of the first sample
        self.record: Mapping[str, Any] = describe(path, wanted)
        self.notices: Sequence[str] = [*layout.notices, *self._say_descriptions(described)]
        self.annotations: Mapping[str, Annotation] = {}
        self.dtype = np.dtype(np.float64)
        self.held, self.fixed_mem, self.in_memory = 8, 0, False
        ids = None if layout.header is None else layout.header[self._first :]
        self._kept = _find_samples(ids or ())
        if self._kept is not None and ids is not None:
            n_left = len(ids) - len(self._kept)
            ids = tuple(ids[i] for i in self._kept.tolist())
            said = f"{n_left} columns of p-values of detection were left out."
            self.notices = [*self.notices, said]
        self.sample_ids: Sequence[str] | None = ids
        self.n_samples = layout.n_columns - self._first if ids is None else len(ids)
        names = [_first_field(line, layout.delimiter) for _, line in self._lines()]
        self.n_features = len(names)
        if not names:
            self.refuse_empty()
        self.names: Sequence[str] | None = names if self._named else None
        self.fixed_mem = 100 * layout.n_columns  # a line, its fields and numbers

    def refuse_empty(self) -> None:
        raise SourceError(f"{self._path} has a header but no features.")

    def _lines(self) -> Iterator[tuple[int, str]]:
        return read_data(self._path, self._layout)

    def _count_descriptions(self) -> int:
        """Columns behind the names that are text in all of the first lines, before a number."""
        if not self._named:
            return 0
        sample, n_bytes = [], 0
        for _, line in itertools.islice(self._lines(), SAMPLE_LINES):
            sample.append(split_fields(line, self._layout.delimiter))
            n_bytes += len(line)
            if n_bytes > SAMPLE_BYTES:
                break
        end = None
        for column, fields in enumerate(itertools.islice(zip(*sample, strict=False), 1, None)):
            known = [field for field in fields if field.strip() not in MISSING_TEXTS]
            delimiter = self._layout.delimiter
            has_number = any(parse_numbers([field], delimiter) is not None for field in known)
            if end is None and (has_number or not known):
                end = column
            if has_number:
                return end or 0
        return 0

    def _say_descriptions(self, number: int) -> list[str]:
        if not number:
            return []
        first = (self._layout.header or ())[1]
        which = "1 column of text was" if number == 1 else f"{number} columns of text were"
        return [f"{which} left out as descriptions of features; the first is {first!r}."]

    def blocks(self, n_features: int) -> Iterator[ColumnBlock]:
        parser = LineParser(self._path, self._layout, self._first, self._layout.n_columns)
        lines = self._lines()
        n_features = small_block(n_features, self.n_samples * self.dtype.itemsize)
        for first in range(0, self.n_features, n_features):
            values = np.empty((min(n_features, self.n_features - first), self.n_samples))
            kinds = np.full(len(values), NUMERIC, np.uint8)
            labels = {}
            for i, (number, line) in enumerate(itertools.islice(lines, len(values))):
                found = self._parse_line(parser, number, line, first + i, values[i])
                if found is not None:
                    kinds[i], labels[first + i] = CATEGORICAL, found
            yield ColumnBlock(first, values, kinds, labels)

    def _parse_line(
        self, parser: LineParser, number: int, line: str, feature_id: int, out: np.ndarray
    ) -> tuple[str, ...] | None:
        """Fill the values of a feature; its labels if it is categorical."""
        _, values = parser.parse(number, line)
        name = f"f{feature_id}" if self.names is None else self.names[feature_id]
        chosen = self._wanted.categorical
        declared = bool(chosen) and (feature_id in chosen or name in chosen)
        if values is not None and not declared:
            out[:] = values if self._kept is None else values[self._kept]
            return None
        texts = split_fields(line, self._layout.delimiter)[self._first :]
        if self._kept is not None:
            texts = [texts[i] for i in self._kept.tolist()]
        numbers = None if declared else parse_numbers(texts, self._layout.delimiter)
        if numbers is not None:
            out[:] = numbers
            return None
        categories = Categories(name)
        out[:] = [categories.number(text, number) for text in texts]
        return categories.sort(out)

    def read(self, feature_ids: np.ndarray) -> np.ndarray:
        return read_from_blocks(self, feature_ids)

    def column(self, name: str) -> Any:
        raise SourceError(
            f"the target {name!r} names a column, but with orientation='features' columns are "
            f"samples: give the target as an array or a file."
        )

    def close(self) -> None:
        """Files are open only while they are read."""


def _find_samples(header: Sequence[str]) -> np.ndarray | None:
    """Which columns are samples; None if all are.

    >>> _find_samples(["a.AVG_Beta", "a.Detection Pval"])
    array([0])
    """
    kept = [i for i, name in enumerate(header) if not _BESIDE.search(name)]
    return None if len(kept) == len(header) or not kept else np.array(kept)


def _first_field(line: str, delimiter: str) -> str:
    """The name of a feature, without splitting the rest of a long line."""
    if line.startswith('"'):
        return split_fields(line, delimiter)[0].strip()
    return line.partition(delimiter)[0].strip()
