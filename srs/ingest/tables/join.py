"""Join a source with a table of its samples by sample id, and leave out samples without a target.

With several targets samples stay that have a value of one of them, and a run leaves out what its
target lacks. What did not match is said in notices. A joined source has the samples that are kept,
and the covariates behind its own features.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from srs.errors import SourceError
from srs.ingest.block import ColumnBlock, Source
from srs.ingest.tables.table import SampleTable
from srs.store.layout import Annotation


class JoinedSource:
    """A Source with some of its samples, and covariates as further features.

    keep        samples that stay, ascending; None: all
    covariates  (name, values, kind, labels) of each, values of the samples that stay
    """

    def __init__(
        self,
        source: Source,
        keep: np.ndarray | None,
        covariates: Sequence[tuple[str, np.ndarray, int, tuple[str, ...]]],
        record: Mapping[str, Any],
        notices: Sequence[str],
    ) -> None:
        self._source, self.keep, self._covariates = source, keep, covariates
        self._n_own = source.n_features
        self.n_samples = source.n_samples if keep is None else len(keep)
        self.n_features = source.n_features + len(covariates)
        self.names: Sequence[str] | None = _join_names(source, [c[0] for c in covariates])
        ids = source.sample_ids
        self.sample_ids: Sequence[str] | None = ids
        if ids is not None and keep is not None:
            self.sample_ids = [ids[i] for i in keep]
        self.dtype = source.dtype
        self.held = source.held + (0 if keep is None else source.dtype.itemsize)
        self.fixed_mem = source.fixed_mem
        self.in_memory = source.in_memory
        self.record: Mapping[str, Any] = {**source.record, **record}
        self.notices: Sequence[str] = [*source.notices, *notices]
        self.annotations: Mapping[str, Annotation] = {
            name: _extend(one, len(covariates)) for name, one in source.annotations.items()
        }

    def blocks(self, n_features: int) -> Iterator[ColumnBlock]:
        own = self._source.blocks(n_features)
        try:
            for block in own:
                if self.keep is not None:
                    kept = np.asarray(block.values)[:, self.keep]
                    block = replace(block, values=kept)
                yield block
        finally:
            own.close()  # type: ignore[attr-defined]
        for at, (_, values, kind, labels) in enumerate(self._covariates, self._n_own):
            named = {at: labels} if labels else {}
            yield ColumnBlock(at, values[None].copy(), np.full(1, kind, np.uint8), named)

    def read(self, feature_ids: np.ndarray) -> np.ndarray:
        values = self._source.read(feature_ids)
        return values if self.keep is None else values[:, self.keep]

    def column(self, name: str) -> Any:
        return self._source.column(name)

    def close(self) -> None:
        self._source.close()


def _join_names(source: Source, more: list[str]) -> Sequence[str] | None:
    if not more:
        return source.names
    names = list(source.names or (f"f{i}" for i in range(source.n_features)))
    for name in more:
        if name in set(names):
            raise SourceError(
                f"the covariate {name!r} has the same name as a feature of the source."
            )
    return [*names, *more]


def _extend(annotation: Annotation, n_more: int) -> Annotation:
    """Nothing is known of covariates: an empty label, or -1."""
    if not n_more:
        return annotation
    values, labels = annotation.values, annotation.labels
    fill = len(labels) if labels else -1
    more = np.full(n_more, fill, values.dtype)
    return Annotation(np.concatenate([values, more]), (*labels, "") if labels else ())


def join(
    source: Source,
    columns: Mapping[str, Mapping[str, Any]],
    table: SampleTable | None,
    covariates: Sequence[str],
    n_given: int = 0,
) -> Source:
    """The source with samples that have a row in the table and a value of a target column.

    columns  of each target that is a column of the source or of the table: values by name, of
             which a sample must have all
    n_given  other targets, whose values were given in order
    """
    keep = np.ones(source.n_samples, bool)
    notices: list[str] = []
    rows, by = np.empty(0, np.int64), ""
    if table is not None:
        rows = match(source, table)
        keep &= rows >= 0
        by = table.choose_key(source.sample_ids or ())
        notices += _account(source, table, by, rows)
    lacking = {name: keep & _lacks(source, of_target) for name, of_target in columns.items()}
    lacking = {name: lack for name, lack in lacking.items() if lack.any() and not lack.all()}
    if lacking and len(lacking) == len(columns) and not n_given:
        keep &= ~np.logical_and.reduce(list(lacking.values()))
    for name, missing in lacking.items():
        notices.append(_say_missing(source, name, missing, is_left_out=len(columns) + n_given == 1))
    if keep.all() and table is None:
        return source
    kept = None if keep.all() else np.flatnonzero(keep)
    record: dict[str, Any] = {} if kept is None else {"kept_samples": pack_samples(keep)}
    found = []
    if table is not None:
        inside = rows[keep]
        found = [(name, *table.feature(name, inside)) for name in covariates]
        record |= {"table": {**table.record, "id_column": by}, "covariates": list(covariates)}
    return JoinedSource(source, kept, found, record, notices)


def _lacks(source: Source, columns: Mapping[str, Any]) -> np.ndarray:
    """Which samples have no value of a target, or of a further column of it."""
    found = [_is_missing(source, name, values) for name, values in columns.items()]
    return np.asarray(np.logical_or.reduce(found))


def _is_missing(source: Source, name: str, values: Any) -> np.ndarray:
    """Which samples have no value of a target; SourceError if it is none."""
    if np.shape(values) != (source.n_samples,):
        raise SourceError(
            f"the target {name!r} has shape {np.shape(values)} and the source has "
            f"{source.n_samples} samples: give a target with one value per sample, or say "
            "what a row is (--orientation)."
        )
    return pd.isna(pd.Series(values)).to_numpy(bool)


def _say_missing(source: Source, name: str, missing: np.ndarray, is_left_out: bool) -> str:
    """What becomes of the samples without a target: one of several is left to runs."""
    n_missing, first = int(missing.sum()), _sample(source, int(missing.argmax()))
    if is_left_out:
        which = "1 sample, which was" if n_missing == 1 else f"{n_missing} samples, which were"
        return f"the target {name!r} is missing in {which} left out; the first is {first!r}."
    some = "1 sample" if n_missing == 1 else f"{n_missing} samples"
    which = "that" if n_missing == 1 else "these"
    return (
        f"{name!r} is missing in {some}: runs that use it leave {which} out; the first is "
        f"{first!r}."
    )


def match(source: Source, table: SampleTable) -> np.ndarray:
    """The row of each sample in the table; SourceError if none has one."""
    if source.sample_ids is None:
        raise SourceError(
            f"the source has no sample ids to join {table.where} by: give them (--sample-ids)."
        )
    rows = table.rows_of(source.sample_ids)
    if not (rows >= 0).any():
        name, ids = next(iter(table.keys.items()))
        raise SourceError(
            f"no sample of the source is in {table.where}: the first sample is "
            f"{source.sample_ids[0]!r} and the first row {ids[0] if ids else 'none'!r}, by "
            f"{_say_key(name)}; if another column has the ids, name it with --id-column."
        )
    return rows


def _say_key(name: str) -> str:
    return f"its column {name!r}" if name else "the names of its rows"


def _account(source: Source, table: SampleTable, by: str, rows: np.ndarray) -> list[str]:
    """One sentence for what was joined by, for samples without a row, for rows without a sample."""
    said = [f"{table.where} was joined by {_say_key(by)}."]
    without = np.flatnonzero(rows < 0)
    if len(without):
        said.append(
            f"{len(without)} of {len(rows)} samples have no row in {table.where} and were left "
            f"out; the first is {_sample(source, int(without[0]))!r}."
        )
    ids = table.keys[by]
    used = np.zeros(len(ids), bool)
    used[rows[rows >= 0]] = True
    if not used.all():
        first = ids[int((~used).argmax())]
        said.append(
            f"{int((~used).sum())} of {len(used)} rows of {table.where} belong to no sample; the "
            f"first is {first!r}."
        )
    return said


def _sample(source: Source, row: int) -> str:
    return str(row) if source.sample_ids is None else source.sample_ids[row]


def pack_samples(keep: np.ndarray) -> str:
    """Which samples were kept, as text for the manifest: a bit each, compressed.

    >>> import numpy as np
    >>> unpack_samples(pack_samples(np.array([True, False, True]))).tolist()
    [0, 2]
    """
    raw = len(keep).to_bytes(8, "little") + np.packbits(keep).tobytes()
    return base64.b64encode(zlib.compress(raw)).decode()


def unpack_samples(text: str) -> np.ndarray:
    """The numbers of the samples that were kept."""
    raw = zlib.decompress(base64.b64decode(text))
    n_samples = int.from_bytes(raw[:8], "little")
    bits = np.unpackbits(np.frombuffer(raw[8:], np.uint8), count=n_samples)
    return np.flatnonzero(bits)
