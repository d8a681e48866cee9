"""The table of all features, in the order of the source's columns, a piece at a time.

With names and words it takes 70 bytes a row and more, too many to be made at once of millions of
features. It is held as numbers (37 bytes a row, and names if features have some) or read from its
file; rows are made of a piece when somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

PIECE_ROWS = 1 << 17
SCHEMA = pa.schema(
    [
        ("feature_id", pa.int64()),
        ("name", pa.string()),
        ("verdict", pa.string()),
        ("p_value", pa.float64()),
        ("q_value", pa.float64()),
        ("stability", pa.float32()),
        ("importance", pa.float32()),
        ("effect", pa.float32()),
        ("n_drawn", pa.uint32()),
        ("n_used", pa.uint32()),
        ("pinned", pa.bool_()),
        ("group", pa.int32()),
    ]
)

# Few values again and again. A dictionary of others (p-values) takes time, memory and disk: with
# it 3 million rows were written in 2.5 s, 99 MB and to 134 MB, without in 0.9 s, 64 MB, 102 MB.
REPEATED = ["verdict", "stability", "n_drawn", "n_used", "group", "found_by"]
# Columns that results of earlier versions, or of some runs, do not have.
FOUND_BY = "found_by"
MAYBE = {
    "direction": pa.float32(),
    "beta": pa.float32(),
    "standard_error": pa.float32(),
    "univariate_p": pa.float64(),
    "frequency": pa.float32(),
    "n_known": pa.uint32(),
}
HELD_AS = {"univariate_p": "score_z"}  # numbers that others are made of, a piece at a time


class FeatureTable(Protocol):
    """A table with the columns of SCHEMA, and what the source says of features behind the name."""

    @property
    def schema(self) -> pa.Schema: ...

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Rows, PIECE_ROWS at a time; columns: only these, or all."""
        ...


def whole(table: FeatureTable, columns: Sequence[str] | None = None) -> pa.Table:
    """All rows at once."""
    return pa.concat_tables(table.pieces(columns))


def write_table(table: FeatureTable, path: Path) -> None:
    """Write the file, piece after piece; readers see the whole of it or what was there before."""
    partial = path.with_name(path.name + ".partial")
    repeated = [name for name in REPEATED if name in table.schema.names]
    with pq.ParquetWriter(partial, table.schema, use_dictionary=repeated) as writer:
        for piece in table.pieces():
            writer.write_table(piece)
    partial.replace(path)


@dataclass(frozen=True)
class SavedTable:
    """The table in its file.

    path  features.parquet
    """

    path: Path

    @property
    def schema(self) -> pa.Schema:
        return pq.read_schema(self.path)

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """See `FeatureTable`."""
        with pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(PIECE_ROWS, columns=columns):
                yield pa.Table.from_batches([batch])


@dataclass(frozen=True)
class WholeTable:
    """The table as Arrow has it, such as one that came over a network."""

    rows: pa.Table

    @property
    def schema(self) -> pa.Schema:
        return self.rows.schema

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """See `FeatureTable`."""
        rows = self.rows if columns is None else self.rows.select(columns)
        for start in range(0, max(len(rows), 1), PIECE_ROWS):
            yield rows.slice(start, PIECE_ROWS)


@dataclass(frozen=True)
class HeldTable:
    """The table in memory, as numbers.

    numbers      columns: p_value, q_value, stability (not a number where it is not known),
                 importance, effect, n_drawn, n_used, and verdict as a position in `verdicts`; maybe
                 found_by, of relevant features as a position in `kinds`, direction, beta,
                 standard_error, score_z (which univariate_p is made of), frequency and n_known
    verdicts     their names
    names        UTF-8 bytes and offsets of the names; None: features have none
    pinned       int64: rows of pinned features
    groups       rows of each group; the first group has number 1
    source_ids   feature ids of the rows, if some features of a store were used; None: their numbers
    annotations  what the source says of features: whole numbers, or numbers of labels, and these
    kinds        names of the kinds of evidence
    """

    numbers: Mapping[str, np.ndarray]
    verdicts: tuple[str, ...]
    names: tuple[np.ndarray, np.ndarray] | None
    pinned: np.ndarray
    groups: Sequence[np.ndarray]
    source_ids: np.ndarray | None = None
    annotations: Mapping[str, tuple[np.ndarray, tuple[str, ...]]] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()

    @cached_property
    def schema(self) -> pa.Schema:
        columns = list(SCHEMA)
        own = [pa.field(name, _kind(*one)) for name, one in self.annotations.items()]
        found = [pa.field(FOUND_BY, pa.string())] if FOUND_BY in self.numbers else []
        found += [pa.field(name, MAYBE[name]) for name in self.more]
        return pa.schema([*columns[:2], *own, *columns[2:], *found])

    @property
    def more(self) -> list[str]:
        """Columns of MAYBE that this table has."""
        return [name for name in MAYBE if HELD_AS.get(name, name) in self.numbers]

    def told(self, name: str, row: int) -> float | int | None:
        """A number of a column of `more`; None where it is not known."""
        found: float | int | None = self._column(name, int(row), int(row) + 1)[0].as_py()
        return found

    def feature_id(self, row: int) -> int:
        return int(row if self.source_ids is None else self.source_ids[row])

    def name(self, row: int) -> str:
        name: str = self._column("name", int(row), int(row) + 1)[0].as_py()
        return name

    def number(self, name: str, row: int) -> float | int | None:
        """A number of a row; None where it is not known."""
        found: float | int = self.numbers[name][row].item()
        return None if found != found else found

    def annotation(self, name: str, row: int) -> int | str:
        values, labels = self.annotations[name]
        return labels[values[row]] if labels else int(values[row])

    def found_by(self, row: int) -> str | None:
        found: str | None = self._column(FOUND_BY, int(row), int(row) + 1)[0].as_py()
        return found

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """See `FeatureTable`."""
        wanted = self.schema.names if columns is None else columns
        schema = pa.schema([self.schema.field(name) for name in wanted])
        n_features = len(self.numbers["verdict"])
        for start in range(0, n_features, PIECE_ROWS):
            end = min(start + PIECE_ROWS, n_features)
            yield pa.table([self._column(name, start, end) for name in wanted], schema=schema)

    def _column(self, name: str, start: int, end: int) -> Any:
        if name in ("feature_id", "name"):
            ids = np.arange(start, end)
            ids = ids if self.source_ids is None else self.source_ids[start:end]
            return pa.array(ids) if name == "feature_id" else names_of(self.names, ids, start)
        if name in self.annotations:
            values, labels = self.annotations[name]
            own = pa.array(values[start:end])
            return pa.DictionaryArray.from_arrays(own, pa.array(labels)) if labels else own
        if name == "verdict":
            numbers = pa.array(self.numbers[name][start:end].astype(np.int8))
            words = pa.DictionaryArray.from_arrays(numbers, pa.array(self.verdicts))
            return words.cast(pa.string())
        if name == FOUND_BY:
            is_relevant = self.numbers["verdict"][start:end] == self.verdicts.index("RELEVANT")
            numbers = pa.array(self.numbers[name][start:end].astype(np.int8), mask=~is_relevant)
            return pa.DictionaryArray.from_arrays(numbers, pa.array(self.kinds)).cast(pa.string())
        if name == "stability":
            return pa.array(self.numbers[name][start:end], from_pandas=True)  # null: not known
        if name in MAYBE:
            return self._maybe(name, start, end)
        if name in self.numbers:
            return pa.array(self.numbers[name][start:end])
        found = np.zeros(end - start, np.int32)
        for number, ids in enumerate([self.pinned] if name == "pinned" else self.groups, 1):
            found[ids[(ids >= start) & (ids < end)] - start] = number
        return pa.array(found == 1) if name == "pinned" else pa.array(found, mask=found == 0)

    def _maybe(self, name: str, start: int, end: int) -> Any:
        values = self.numbers[HELD_AS.get(name, name)][start:end]
        if name == "univariate_p":
            from scipy import special  # which readers of saved tables do without

            values = 2.0 * special.ndtr(-np.abs(values, dtype=np.float64))
            values = np.maximum(values, np.finfo(np.float64).tiny)
        if name == "n_known":
            values = np.nan_to_num(values)
        return pa.array(values, from_pandas=True).cast(MAYBE[name])


def _kind(values: np.ndarray, labels: tuple[str, ...]) -> pa.DataType:
    numbers = pa.from_numpy_dtype(values.dtype)
    return pa.dictionary(numbers, pa.string()) if labels else numbers


def names_of(names: tuple[np.ndarray, np.ndarray] | None, ids: np.ndarray, start: int) -> pa.Array:
    """Names of the features from row `start` on; those without a name are called by their ids.

    >>> import numpy as np
    >>> names_of(None, np.array([3, 4]), 0).to_pylist()
    ['f3', 'f4']
    """
    if names is None:
        return pc.binary_join_element_wise("f", pa.array(ids).cast(pa.string()), "")
    end = start + len(ids)
    data, offsets = names
    first, last = int(offsets[start]), int(offsets[end])
    own = (offsets[start : end + 1] - offsets[start]).astype(np.int32)
    return pa.StringArray.from_buffers(
        end - start, pa.py_buffer(own), pa.py_buffer(np.ascontiguousarray(data[first:last]))
    )
