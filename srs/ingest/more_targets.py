"""Add targets to a feature store that is there: columns of a table, joined by sample id.

Samples without a row or a value have no value of the target; a run on it leaves them out.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from srs.errors import InputError, SourceError
from srs.ingest.tables.table import SampleTable, read_table
from srs.store import FeatureStore, open_store
from srs.store.target_arrays import add_targets as write_targets
from srs.store.target_arrays import remove_targets as drop_targets
from srs.targets.parse import check_kinds, parse_target
from srs.targets.target import Target


def add_targets(
    store: FeatureStore | str | os.PathLike[str],
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    id_column: str | None = None,
    target_kind: str | Mapping[str, str] | None = None,
    overwrite: bool = False,
) -> FeatureStore:
    """Add columns of a table to a feature store as targets; returns the store.

    store        a feature store or its folder; its fingerprint does not change
    table        a DataFrame or a .csv, .tsv, .txt or .parquet file, joined by sample id
    columns      names of the columns; None: all except those with ids
    id_column    column that holds the sample ids; None: found by its name, e.g. "sample_id"
    target_kind  "classes" or "numbers", by target if a mapping; None: decide by values
    overwrite    replace targets of the same name

    >>> import numpy as np, pandas as pd, srs
    >>> store = srs.ingest(np.eye(4), sample_ids=["a", "b", "c", "d"], target=[0, 1, 0, 1])
    >>> table = pd.DataFrame({"id": ["d", "a", "b"], "ldl": [3.5, None, 2.5]})
    >>> srs.add_targets(store, table).target("ldl").values.tolist()
    [nan, 2.5, nan, 3.5]
    """
    opened = store if isinstance(store, FeatureStore) else open_store(store)
    check_kinds(target_kind)
    read = read_table(table, id_column)
    rows = _match(opened, read, id_column)
    targets = [_parse(read, rows, name, target_kind) for name in _columns(read, columns)]
    write_targets(opened, targets, overwrite)
    return opened


def ensure_targets(store: str | os.PathLike[str], table: Any) -> list[str]:
    """Add the columns of a table that a store has not; the names of all of them.

    A target of the same name must have the same values, so that nothing is replaced unasked.
    """
    opened = open_store(store)
    read = read_table(table)
    rows = _match(opened, read, None)
    targets = [_parse(read, rows, name, None) for name in _columns(read, None)]
    for target in targets:
        if target.name in opened.target_names:
            mine = opened.target(target.name)
            if mine.labels != target.labels or not np.array_equal(
                mine.values, target.values, equal_nan=not target.has_classes
            ):
                raise InputError(
                    f"the store has other values of the target {target.name!r} than {read.where}: "
                    "replace them with srs targets add --overwrite, or rename the column."
                )
    new = [target for target in targets if target.name not in opened.target_names]
    if new:
        write_targets(opened, new, overwrite=False)
    return [target.name for target in targets]


def _match(store: FeatureStore, table: SampleTable, id_column: str | None) -> np.ndarray:
    """The row of each sample in the table; SourceError if none has one."""
    if id_column and id_column not in table.keys:
        raise SourceError(f"{table.where} has no column {id_column!r} to join by.")
    rows = table.rows_of(store.sample_ids)
    if not (rows >= 0).any():
        ids = next(iter(table.keys.values()))
        raise SourceError(
            f"no sample of the store is in {table.where}: the first sample is "
            f"{store.sample_ids[0]!r} and the first row {ids[0] if ids else 'none'!r}; if another "
            "column has the ids, name it with --id-column."
        )
    return rows


def _columns(table: SampleTable, columns: Sequence[str] | None) -> list[str]:
    if isinstance(columns, str):
        raise InputError(f"columns must be a list, e.g. [{columns!r}], not {columns!r}.")
    if columns is None:
        columns = [name for name in table.columns if name not in table.keys]
    if not columns:
        raise SourceError(f"{table.where} has no column beside its ids.")
    return list(columns)


def _parse(
    table: SampleTable, rows: Any, name: str, target_kind: str | Mapping[str, str] | None
) -> Target:
    column: pd.Series[Any] = table.column(name).astype(object)
    values = column.reindex(rows).reset_index(drop=True).infer_objects().rename(name)
    chosen = target_kind.get(name) if isinstance(target_kind, Mapping) else target_kind
    if values.isna().all():
        raise SourceError(f"the column {name!r} has no value for any sample of the store.")
    return parse_target(name, values, len(rows), chosen, learned=False, may_miss=True)


def remove_targets(
    store: FeatureStore | str | os.PathLike[str], names: Sequence[str]
) -> FeatureStore:
    """Remove targets from a feature store; returns the store."""
    opened = store if isinstance(store, FeatureStore) else open_store(store)
    drop_targets(opened, [names] if isinstance(names, str) else list(names))
    return opened
