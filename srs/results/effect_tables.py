"""Effects and profiles of relevant features as tables: effects.parquet, profiles.parquet.

The document has the same rows (`srs.results.documents.effects`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from srs.results.documents.effects import ClusterRow, EffectRow, ProfileRow, VoxelRow

ROWS = {  # by the key of the outcome
    "effects": EffectRow,
    "profiles": ProfileRow,
    "clusters": ClusterRow,
    "voxels": VoxelRow,
}


def _schema(row: Any) -> pa.Schema:
    kinds = {int: pa.int64(), str: pa.string()}
    fields = get_type_hints(row)
    return pa.schema(
        [
            (name, next((kinds[one] for one in kinds if _holds(hint, one)), pa.float64()))
            for name, hint in fields.items()
        ]
    )


def _holds(hint: Any, kind: type) -> bool:
    return hint is kind or kind in getattr(hint, "__args__", ())


def effect_table(outcome: Mapping[str, Any], name: str) -> pa.Table | None:
    """A table of the outcome of a document, see ROWS; None: it has none."""
    rows = outcome.get(name)
    if rows is None:
        return None
    return pa.Table.from_pylist(list(rows), schema=_schema(ROWS[name]))


def write_effects(outcome: Mapping[str, Any], folder: Path) -> None:
    """Write the tables into the folder of a run; those of an earlier run there are removed."""
    for name in ROWS:
        path = folder / f"{name}.parquet"
        table = effect_table(outcome, name)
        if table is None:
            path.unlink(missing_ok=True)
            continue
        partial = path.with_name(path.name + ".partial")
        pq.write_table(table, partial)
        partial.replace(path)
