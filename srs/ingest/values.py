"""Read original values of features back: from the store, else from the source it came from.

Categories are read from codes, which are their numbers; only numbers need the source.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from srs.errors import SourceError
from srs.ingest.block import Wanted, check_features
from srs.ingest.formats.arrays.in_memory import folder_mark
from srs.ingest.formats.format import resolve
from srs.ingest.formats.registry import find_format, open_source
from srs.ingest.tables.join import unpack_samples
from srs.ingest.tables.table import read_table
from srs.store.layout import CATEGORICAL, MISSING, NUMERIC
from srs.store.reader import FeatureStore
from srs.store.view import StoreView
from srs.store.writing_plan import renew_source

READ_MEM = 64 << 20


def read_values(store: FeatureStore, feature_ids: Sequence[int] | np.ndarray) -> np.ndarray:
    """Values (n_samples, k) float64 of features; NaN is missing, categories are their numbers.

    SourceError if the store keeps no values and its source is gone, or not the same any more.
    """
    ids = np.asarray(feature_ids, np.int64)
    if isinstance(store, StoreView):
        store.places_of(ids)  # refuses unknown ids
        whole = read_values(store.base, store.source_ids[ids])
        return np.asarray(whole[store.samples])
    if not len(ids):
        return np.empty((store.n_samples, 0))
    store.places_of(ids)  # refuses unknown ids
    kept = store.kept_values(ids)
    if kept is not None:
        return kept.astype(np.float64)
    values = np.empty((store.n_samples, len(ids)))
    numeric = store.kinds[ids] == NUMERIC
    if not numeric.all():
        codes = store.read_codes(ids[~numeric])
        values[:, ~numeric] = np.where(codes == MISSING, np.nan, codes)
    if numeric.any():
        values[:, numeric] = _read_source(store, ids[numeric])
    return values


def _read_source(store: FeatureStore, ids: np.ndarray) -> np.ndarray:
    """Values (n_samples, k): own features from the source, covariates from their table."""
    record = store.manifest.source
    n_own = store.n_features - len(record.get("covariates", ()))
    own = ids < n_own
    values = np.empty((store.n_samples, len(ids)))
    if own.any():
        read = _read_own(store, record, ids[own], n_own)
        kept = record.get("kept_samples")
        values[:, own] = read if kept is None else read[unpack_samples(kept)]
    if not own.all():
        path = _check_file(store, record["table"], "table")
        table = read_table(path, record["table"].get("id_column"))
        source = find_format(record["path"]) if "path" in record else None
        table = table if source is None else table.with_missing(source, ())[0]
        rows = table.rows_of(store.sample_ids)
        for at in np.flatnonzero(~own):
            name = record["covariates"][ids[at] - n_own]
            values[:, at] = table.feature(name, rows)[0]
    return values


def _read_own(store: FeatureStore, record: Any, ids: np.ndarray, n_own: int) -> np.ndarray:
    path = _check_file(store, record, "source")
    wanted = Wanted(
        orientation=record["orientation"],
        columns=tuple(record.get("targets", ())),
        categorical=frozenset(np.flatnonzero(store.kinds == CATEGORICAL).tolist()),
        mem=READ_MEM,
        folder=Path(tempfile.gettempdir()),
        dataset=record.get("dataset"),
        mask=None if record.get("mask") is None else Path(record["mask"]),
        id_column=record.get("id_column"),
    )
    found = find_format(path)
    if found is not None and found.reread is not None:
        values = resolve(found.reread)(path, wanted, ids, n_own)
        if values is not None:
            return np.asarray(values.T)
    with contextlib.closing(open_source(path, wanted)) as source:
        check_features(path, source.n_features, n_own)
        return source.read(ids).T


def _check_file(store: FeatureStore, record: Any, what: str) -> Path:
    """The path of the source or table, if it is what the store was made from."""
    if "path" not in record:
        raise SourceError(
            f"{store!r} keeps no values and its {what} was in memory: ingest again with "
            f"keep_values=True."
        )
    path = Path(record["path"])
    if not path.exists():
        raise SourceError(
            f"{store!r} keeps no values and its {what} {path} is missing: put it back, or ingest "
            "again with keep_values=True."
        )
    if not _is_marked(path, record):
        raise SourceError(
            f"{store!r} keeps no values and its {what} {path} has changed since: ingest again."
        )
    return path


def _mark(path: Path) -> dict[str, int]:
    if path.is_dir():
        return folder_mark(path)
    stat = path.stat()
    return {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns}


def _is_marked(path: Path, record: Mapping[str, Any]) -> bool:
    """Whether a file or folder is as it was when the record was made."""
    return path.exists() and all(record.get(key) == value for key, value in _mark(path).items())


@contextlib.contextmanager
def values_unchanged(store: FeatureStore, path: Path) -> Iterator[None]:
    """Around a change of a file that leaves its values as they are: if it is the source of the
    store, and was unchanged before, the store goes on to read values from it."""
    record = store.manifest.source
    is_source = record.get("path") == str(path.resolve()) and _is_marked(path, record)
    yield
    if is_source and store.path is not None:
        renew_source(store.path, _mark(path))
