"""Pairs of features that matter together as a table: pairs.parquet beside the table of features.

The document has the same rows (`srs.results.documents.pairs.PairRow`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

PAIRS_NAME = "pairs.parquet"
_NUMBERS = pa.list_(pa.list_(pa.float64()))
CELLS = pa.struct(  # see `srs.results.documents.pairs.PairCells`
    [
        ("levels", pa.list_(pa.string())),
        ("partner_levels", pa.list_(pa.string())),
        ("group", pa.string()),
        ("counts", pa.list_(pa.list_(pa.int64()))),
        ("values", _NUMBERS),
        ("low", _NUMBERS),
        ("high", _NUMBERS),
    ]
)
SCHEMA = pa.schema(
    [
        ("feature_id", pa.int64()),
        ("name", pa.string()),
        ("partner_id", pa.int64()),
        ("partner", pa.string()),
        ("statistic", pa.float64()),
        ("p_value", pa.float64()),
        ("q_value", pa.float64()),
        ("kind", pa.string()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("mean_low_low", pa.float64()),
        ("mean_high_low", pa.float64()),
        ("mean_low_high", pa.float64()),
        ("mean_high_high", pa.float64()),
        ("cells", CELLS),
    ]
)


def pair_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows of a document as a table; it may have none."""
    return pa.Table.from_pylist(list(rows), schema=SCHEMA)


def write_pairs(rows: Sequence[Mapping[str, Any]] | None, folder: Path) -> None:
    """Write the table into the folder of a run; None: pairs were not looked at, and a table of an
    earlier run there is removed."""
    path = folder / PAIRS_NAME
    if rows is None:
        path.unlink(missing_ok=True)
        return
    partial = path.with_name(path.name + ".partial")
    pq.write_table(pair_table(rows), partial)
    partial.replace(path)
