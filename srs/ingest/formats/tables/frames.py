"""pandas DataFrames as sources.

Frames of one numeric dtype are matrices and are cut in blocks; others go column by column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from srs.errors import SourceError, listed, near
from srs.ingest.block import SMALL_DTYPES, ColumnBlock, Source, Wanted, small_block
from srs.ingest.formats.arrays.in_memory import check_shape
from srs.ingest.formats.format import OBJECT, Format
from srs.ingest.readers.columns import Column, parse_column
from srs.ingest.readers.matrix import MatrixSource
from srs.ingest.tables.ids import FrameIds, find_ids
from srs.store.layout import Annotation


class FrameMatrix:
    """The feature columns of a frame of one numpy dtype; blocks are copied, never the whole."""

    in_memory = True
    min_run = 1
    held = 0
    fixed_mem = 0
    grain = (1, 1)

    def __init__(self, frame: pd.DataFrame, columns: np.ndarray) -> None:
        self.shape = (len(frame), len(columns))
        self.dtype = np.dtype(frame.dtypes.iloc[columns[0]])
        self._frame, self._columns = frame, columns

    def fetch(self, rows: slice, columns: slice, _out: np.ndarray | None = None) -> np.ndarray:
        return np.asarray(self._frame.iloc[rows, self._columns[columns]])

    def pick(self, lines: np.ndarray, axis: int) -> np.ndarray:
        if axis == 0:
            return np.asarray(self._frame.iloc[lines, self._columns])
        return np.asarray(self._frame.iloc[:, self._columns[lines]]).T

    def close(self) -> None:
        """Nothing to release."""


class TableSource:
    """A Source whose columns have types of their own, given parsed by `fetch(ids)`."""

    def __init__(
        self,
        shape: tuple[int, int],
        names: Sequence[str] | None,
        fetch: Callable[[np.ndarray], Iterator[Column]],
        targets: Callable[[str], Any],
        dtype: np.dtype[Any],
        record: Mapping[str, Any],
    ) -> None:
        self.n_samples, self.n_features = shape
        self.names = names
        self.sample_ids: Sequence[str] | None = None
        self.notices: Sequence[str] = ()
        self.annotations: Mapping[str, Annotation] = {}
        self.dtype = dtype
        self.held = dtype.itemsize
        self.fixed_mem = 64 * shape[0]  # one column as objects while it is parsed
        self.in_memory = True
        self.record = record
        self._fetch, self._targets = fetch, targets

    def blocks(self, n_features: int) -> Iterator[ColumnBlock]:
        n_features = small_block(n_features, self.n_samples * self.dtype.itemsize)
        for first in range(0, self.n_features, n_features):
            ids = np.arange(first, min(first + n_features, self.n_features))
            yield self._block(first, ids)

    def _block(self, first: int, ids: np.ndarray) -> ColumnBlock:
        values = np.empty((len(ids), self.n_samples), self.dtype)
        kinds = np.zeros(len(ids), np.uint8)
        labels = {}
        for i, column in enumerate(self._fetch(ids)):
            values[i], kinds[i] = column.values, column.kind
            if column.labels:
                labels[first + i] = column.labels
        return ColumnBlock(first, values, kinds, labels)

    def read(self, feature_ids: np.ndarray) -> np.ndarray:
        return np.stack([column.values for column in self._fetch(feature_ids)])

    def column(self, name: str) -> Any:
        return self._targets(name)

    def close(self) -> None:
        """Nothing to release."""


def open_frame(frame: pd.DataFrame, wanted: Wanted) -> Source:
    check_shape(frame.shape, "the DataFrame")
    if wanted.orientation == "features":
        _refuse_descriptions(frame)
        frame, wanted = frame.T.infer_objects(), replace(wanted, id_column="")
    labels = [str(label) for label in frame.columns]
    ids = FrameIds(frame)
    found = find_ids(labels, ids.index, ids.counted, wanted, ids.read)
    other = [i for i, label in enumerate(labels) if label in wanted.columns]
    left = {found.place, ids.index, *other}
    columns = np.array([i for i in range(len(labels)) if i not in left], np.int64)
    names = _names(frame.columns[columns])
    id_column = None if found.place is None else ids.name(found.place)
    record = {"kind": "frame", "orientation": wanted.orientation, "id_column": id_column}
    dtypes = frame.dtypes.iloc[columns]

    def targets(name: str) -> pd.Series[Any]:
        return _target(frame, labels, name)

    source: Source
    if len(columns) and dtypes.nunique() == 1 and _is_plain(dtypes.iloc[0]):
        source = MatrixSource(FrameMatrix(frame, columns), False, wanted, record, targets)
    else:
        source = TableSource(
            shape=(len(frame), len(columns)),
            names=names,
            fetch=lambda ids: (
                parse_column(
                    frame.iloc[:, columns[i]], labels[columns[i]] if names is not None else f"f{i}"
                )
                for i in ids
            ),
            targets=targets,
            dtype=_common_dtype(dtypes),
            record=record,
        )
    source.names, source.sample_ids, source.notices = names, found.values, found.notices
    return source


def _refuse_descriptions(frame: pd.DataFrame) -> None:
    """SourceError if a column is text beside columns of numbers, where each should be a sample."""
    is_number = [types.is_numeric_dtype(dtype) for dtype in frame.dtypes]
    for at in range(len(is_number)) if any(is_number) else ():
        if types.infer_dtype(frame.iloc[:, at], skipna=True) in ("string", "categorical"):
            raise SourceError(
                f"the column {frame.columns[at]!r} is text and others are numbers; with "
                f"orientation='features' every column is a sample: leave it out, or make it the "
                f"index if it holds names."
            )


def _is_plain(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf"


def _common_dtype(dtypes: pd.Series[Any]) -> np.dtype[Any]:
    """float32 where it holds every value: small numbers and category numbers do."""
    small = all(
        isinstance(dtype, pd.CategoricalDtype) or str(dtype) in SMALL_DTYPES
        for dtype in dtypes.unique()
    )
    return np.dtype(np.float32 if small else np.float64)


def _names(columns: pd.Index[Any]) -> list[str] | None:
    """Names of the feature columns; None where they are only counted."""
    counted = all(isinstance(label, (int, np.integer)) for label in columns) and list(
        columns
    ) == list(range(len(columns)))
    return None if counted else [str(label) for label in columns]


def _target(frame: pd.DataFrame, labels: list[str], name: str) -> pd.Series[Any]:
    places = [i for i, label in enumerate(labels) if label == name]
    if len(places) != 1:
        many = "no column has" if not places else f"{len(places)} columns have"
        raise SourceError(
            f"the target {name!r}: {many} this name, and no file has it{near(name, labels)}"
            f"{listed(labels)}"
        )
    return frame.iloc[:, places[0]]


FRAME_FORMAT = Format(
    name="frame",
    title="a DataFrame",
    help="a table with column names; text becomes categories",
    open=open_frame,
    kinds=(OBJECT,),
    types=("pandas.DataFrame",),
    options=("orientation",),
)
