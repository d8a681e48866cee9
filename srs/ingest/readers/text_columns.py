"""Columns of a text table: which are ids, targets and features, and categories of one.

Categories are numbered as they appear and sorted at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from srs.errors import SourceError, listed, near
from srs.ingest.block import Wanted
from srs.ingest.encode.recategorise import say_what_to_do
from srs.ingest.readers.fields import MISSING_TEXTS, is_number
from srs.ingest.readers.lines import TextLayout
from srs.ingest.tables.ids import is_unnamed
from srs.store.layout import MAX_LEVELS
from srs.targets.values import number_text


class Categories:
    """The categories of one feature of a text file."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._numbers: dict[str, int] = {}

    def number(self, text: str, line: int) -> float:
        """The number of a field's category, NaN if it is missing."""
        text = text.strip()
        return np.nan if text in MISSING_TEXTS else self.number_known(text, line)

    def number_known(self, text: str, line: int) -> float:
        """The number of a category, whatever its text is."""
        known = self._numbers.get(text)
        if known is not None:
            return known
        if len(self._numbers) == MAX_LEVELS:
            raise SourceError(
                f"the feature {self._name!r} has more than {MAX_LEVELS} categories (number "
                f"{MAX_LEVELS + 1} is {text!r} in line {line}) and at most {MAX_LEVELS} can be "
                f"stored: {say_what_to_do(self._name, [*self._numbers, text])}."
            )
        return self._numbers.setdefault(text, len(self._numbers))

    def sort(self, values: np.ndarray) -> tuple[str, ...]:
        """Renumber values, in place, in the order of labels; the labels.

        Numbers are sorted as numbers, and "1" and "1.0" are one category.
        """
        texts = list(self._numbers)
        if all(is_number(text) and text not in MISSING_TEXTS for text in texts):
            found = sorted({float(text) for text in texts})
            labels = [number_text(v) if np.isfinite(v) else str(v) for v in found]
            new = [found.index(float(text)) for text in texts]
        else:
            labels = sorted(texts)
            new = [labels.index(text) for text in texts]
        known = ~np.isnan(values)
        values[known] = np.array(new, np.float64)[values[known].astype(np.int64)]
        return tuple(labels)


@dataclass(frozen=True)
class Roles:
    """What each column of a table is.

    labels     header of each column ("f0", "f1", ... without a header)
    id_column  column of the sample ids, or None
    targets    name -> column
    features   columns of the features, in the order of feature ids; names of rows are none
    names      names of the features; None where the header only counts, or is not there
    """

    labels: tuple[str, ...]
    id_column: int | None
    targets: Mapping[str, int]
    features: np.ndarray
    names: list[str] | None


def find_index(layout: TextLayout) -> int | None:
    """The first column if it has no name, as where pandas and R write names of rows."""
    return 0 if layout.header and is_unnamed(layout.header[0]) else None


def assign_roles(path: Path, layout: TextLayout, wanted: Wanted, id_column: int | None) -> Roles:
    """Roles by the header; SourceError if a target is not there, or more than once."""
    header = layout.header or ()
    targets = {}
    for name in wanted.columns:
        times = header.count(name)
        if times != 1:
            many = f"no column of {path} has" if times == 0 else f"{times} columns of {path} have"
            raise SourceError(
                f"the target {name!r}: {many} this name, and no file has it"
                f"{near(name, header)}{listed(header)}"
            )
        targets[name] = header.index(name)
    skipped = {id_column, find_index(layout), *targets.values()}
    features = np.array([i for i in range(layout.n_columns) if i not in skipped], np.int64)
    names = [header[i] for i in features] if header else None
    if names == [str(i) for i in range(len(features))]:
        names = None
    labels = header or tuple(f"f{i}" for i in range(layout.n_columns))
    return Roles(labels, id_column, targets, features, names)
