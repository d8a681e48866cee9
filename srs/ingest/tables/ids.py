"""Which column of a table holds the ids of its samples: one rule for all kinds of tables.

A column is known by its name, and holds ids if all its values differ; names of samples go before
names of subjects. Rows that pandas or R named go before both, rows that are only counted last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from srs.ingest.block import Wanted
from srs.ingest.readers.fields import MISSING_TEXTS, is_number, parse_number
from srs.targets.values import number_text

SAMPLE_NAMES = frozenset(
    (
        "id",
        "sample",
        "sampleid",
        "samplename",
        "index",
        "iid",
        "barcode",
        "cellid",
        "cellbarcode",
        "eid",
    )
)
SUBJECT_NAMES = frozenset(
    (
        "subject",
        "subjectid",
        "patient",
        "patientid",
        "participant",
        "participantid",
        "individual",
        "individualid",
        "donor",
        "donorid",
    )
)
NO_NAMES = ("", "unnamed:0", "indexlevel0")


def _plain(name: str) -> str:
    """
    >>> _plain("Sample ID"), _plain("#IID"), _plain("patient.id")
    ('sampleid', 'iid', 'patientid')
    """
    return re.sub(r"[\s_.#-]", "", name).lower()


def is_unnamed(name: str) -> bool:
    """Whether a column has no name, or the one that pandas gives to such columns."""
    return _plain(name) in NO_NAMES


def find_named(names: Sequence[str]) -> list[int]:
    """Places of the columns that are named like ids, those of samples first."""
    plain = [_plain(name) for name in names]
    return [
        i
        for known in (SAMPLE_NAMES, SUBJECT_NAMES)
        for i, name in enumerate(plain)
        if name in known
    ]


@dataclass(frozen=True)
class FoundIds:
    """The place of the column that holds ids, its ids, and notices of what was found."""

    place: int | None
    values: Sequence[str] | None
    notices: list[str]


def find_ids(
    names: Sequence[str],
    index: int | None,
    counted: bool,
    wanted: Wanted,
    read: Callable[[int], Sequence[str]],
) -> FoundIds:
    """The ids of a table's samples, or None.

    names    of the columns
    index    place of the names that pandas or R gave to rows, or None
    counted  whether those are unnamed whole numbers
    read     reads the column at a place as ids; the last call is for the one that is chosen
    """
    if wanted.id_column in names:
        place = names.index(wanted.id_column)
        return FoundIds(place, read(place), [])
    other = wanted.categorical | set(wanted.columns)
    named = [place for place in find_named(names) if place != index and names[place] not in other]
    tried = named if index is None or counted else [index, *named]
    if wanted.id_column == "":
        tried = []
    notices: list[str] = []
    for at, place in enumerate(tried):
        values = read(place)
        measured = _are_measured(values)
        if len(set(values)) == len(values) and not measured:
            if place != index:
                notices.append(f"the column {names[place]!r} is used as sample ids.")
            notices += [_say_subjects(names[left]) for left in tried[at + 1 :]]
            return FoundIds(place, values, notices)
        if place != index and not measured:
            notices.append(_say_subjects(names[place]))
    return FoundIds(index, None if index is None else read(index), notices)


def _are_measured(values: Sequence[str]) -> bool:
    """Whether values are numbers with decimals, which are no ids."""
    return any(
        parse_number(value) % 1 != 0
        for value in values
        if value.strip() not in MISSING_TEXTS and is_number(value)
    )


def _say_subjects(name: str) -> str:
    return (
        f"the column {name!r} is a feature, although it looks like ids of subjects: if samples "
        f"belong together, give it as --sample-column {name} and select with --subjects {name}; "
        "otherwise name it with --id-column, or leave it out."
    )


class FrameIds:
    """Ids of the rows of a data frame: its index, or one of its columns.

    index    INDEX, or the place of an unnamed first column that was one; None: rows are counted
    counted  whether it has no name and holds whole numbers
    """

    INDEX = -1

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame
        self.index: int | None = None
        rows = frame.index
        if not (isinstance(rows, pd.RangeIndex) and rows.equals(pd.RangeIndex(len(frame)))):
            self.index = self.INDEX
        elif len(frame.columns) and is_unnamed(str(frame.columns[0])):
            self.index, rows = 0, pd.Index(frame.iloc[:, 0]).rename(None)
        self.counted = rows.name is None and (
            types.is_integer_dtype(rows.dtype) or all(str(row).isdecimal() for row in rows)
        )

    def name(self, place: int) -> str:
        """Of a column; "" for an index without a name."""
        if place == self.INDEX:
            return "" if self._frame.index.name is None else str(self._frame.index.name)
        return str(self._frame.columns[place])

    def read(self, place: int) -> list[str]:
        in_index = place == self.INDEX
        return id_texts(self._frame.index.to_series() if in_index else self._frame.iloc[:, place])


def id_texts(values: pd.Series[Any]) -> list[str]:
    """Ids as text: whole numbers without a point, which missing ones would give them."""
    if types.is_float_dtype(values.dtype):
        return [number_text(v) if np.isfinite(v) else str(v) for v in values]
    return [str(value).strip() for value in values]
