"""What a source gives to ingest: column blocks, and the few facts that planning needs.

Covers the border between the kinds of sources and the rest, and which dtypes can be features.
How a kind is chosen is `srs.ingest.formats.registry`; how blocks become codes is
`srs.ingest.write`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from srs.errors import SourceError
from srs.store.layout import NUMERIC, Annotation

NO_VALUE = -127  # what is missing where values are int8, as bed-reader writes it
BLOCK_BYTES = 32 << 20
SMALL_DTYPES = ("bool", "int8", "uint8", "int16", "uint16", "float16", "float32")


class Values(Protocol):
    """Values (k, n_samples): an array, or what gives slices of features as arrays."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def itemsize(self) -> int: ...
    def __len__(self) -> int: ...
    def __getitem__(self, features: slice, /) -> np.ndarray: ...
    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> np.ndarray: ...


@dataclass(frozen=True)
class ColumnBlock:
    """Some features of a source, all their samples.

    first   feature id of the first row; the others follow without gaps
    values  float32 or float64 (k, n_samples) in any order; NaN is missing; category numbers
            where a feature is categorical or ordinal. Or int8 for dosages, NO_VALUE is missing
    kinds   uint8 (k,): NUMERIC, ORDINAL or CATEGORICAL
    labels  feature id -> labels of its category numbers
    counts_alleles  whether numbers are dosages from 0 to 2, which may be fractions
    """

    first: int
    values: Values
    kinds: np.ndarray
    labels: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    counts_alleles: bool = False


@dataclass(frozen=True)
class Wanted:
    """What the user said of a source before it is opened.

    orientation  "samples" or "features": what a row of the source is
    columns      columns of a table that are targets and so no features
    categorical  names or ids of features whose numbers are categories
    mem          bytes that buffers may take
    folder       where temporary files go
    dataset      which array of a file with several, e.g. "layers/counts"; None: its own choice
    mask         image whose voxels other than 0 are the features of images; None: all voxels
    id_column    column of a table that holds the sample ids; None: found by its name; "": none
    """

    orientation: str
    columns: tuple[str, ...]
    categorical: frozenset[str | int]
    mem: int
    folder: Path
    dataset: str | None = None
    mask: Path | None = None
    id_column: str | None = None


def numeric_block(first: int, values: Values) -> ColumnBlock:
    """Features that are all numbers."""
    return ColumnBlock(first, values, np.full(len(values), NUMERIC, np.uint8))


class Source(Protocol):
    """A matrix that can be read by blocks of features.

    n_samples, n_features  its shape, targets and ids aside
    names, sample_ids      as the source has them, or None
    dtype                  of the values of blocks: float32, float64 or int8
    held                   bytes that making a block holds for each of its values
    fixed_mem              bytes that it holds whatever the size of the block
    in_memory              whether the values live in the caller's memory
    record                 what `read_values` needs to read it again, for the manifest
    notices                one sentence for each oddity that opening it accepted
    annotations            what is known of features beside their names, for the report
    """

    n_samples: int
    n_features: int
    names: Sequence[str] | None
    sample_ids: Sequence[str] | None
    dtype: np.dtype[Any]
    held: int
    fixed_mem: int
    in_memory: bool
    record: Mapping[str, Any]
    notices: Sequence[str]
    annotations: Mapping[str, Annotation]

    def blocks(self, n_features: int) -> Iterator[ColumnBlock]:
        """All features in the order of ids, at most `n_features` at a time; the values of a block
        are good until the next but one is asked for."""

    def read(self, feature_ids: np.ndarray) -> np.ndarray:
        """Values (k, n_samples) of some numeric features."""

    def column(self, name: str) -> Any:
        """The values of a column that was taken out as a target."""

    def close(self) -> None:
        """Release files."""


def small_block(n_features: int, feature_bytes: int, least: int = 1) -> int:
    """Features of a block when `n_features` may be in one: reading and coding take turns by block,
    so that small ones overlap. `least`: fewer are not worth reading."""
    return min(n_features, max(least, BLOCK_BYTES // feature_bytes, 1))


def value_dtype(dtype: np.dtype[Any], where: str) -> np.dtype[Any]:
    """float32 where it holds every value of `dtype`, else float64; SourceError for no numbers."""
    if dtype.kind not in "biuf":
        raise SourceError(
            f"{where} has dtype {dtype}, which cannot be a feature: convert it to numbers or text."
        )
    small = dtype.newbyteorder("=").name in SMALL_DTYPES
    return np.dtype(np.float32 if small else np.float64)


def check_features(path: Path, n_found: int, n_features: int) -> None:
    """SourceError if a source that is read again has not the features that a store has of it."""
    if n_found != n_features:
        raise SourceError(
            f"{path} has {n_found} features now and had {n_features} when the store was made, by "
            "an earlier version that used other columns as features: ingest again."
        )


def read_from_blocks(source: Source, feature_ids: np.ndarray) -> np.ndarray:
    """Values (k, n_samples) of features, for sources that can only be read from start to end."""
    out = np.empty((len(feature_ids), source.n_samples))
    for block in source.blocks(max(1, (16 << 20) // (source.n_samples * 8))):
        inside = feature_ids - block.first
        at = np.flatnonzero((inside >= 0) & (inside < len(block.values)))
        if len(at):
            out[at] = float_values(block.values)[inside[at]]
    return out


def float_values(given: Values) -> np.ndarray:
    """Values of a block as floats, NaN for missing; arrays of floats as they are."""
    values = np.asarray(given)
    if values.dtype != np.int8:
        return values
    floats = values.astype(np.float32)
    floats[values == NO_VALUE] = np.nan
    return floats
