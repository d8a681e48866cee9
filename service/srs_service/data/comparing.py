"""Two tables of features side by side; runs in child processes only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

RELEVANT = "RELEVANT"


def compare_tables(order: Mapping[str, Any]) -> dict[str, Any]:
    """Overlap of the relevant features of two selections, and the verdicts that differ."""
    a, b = (pq.read_table(order[name], columns=["name", "verdict"]) for name in ("a", "b"))
    relevant = [
        table.filter(pc.equal(table["verdict"], RELEVANT))["name"].to_pylist() for table in (a, b)
    ]
    of_a, of_b = map(dict.fromkeys, relevant)
    both = [name for name in of_a if name in of_b]
    either = len(of_a) + len(of_b) - len(both)
    changed = _changes(a, b)
    limit = order["limit"]
    return {
        "n_shared": changed.num_rows,
        "n_relevant_a": len(of_a),
        "n_relevant_b": len(of_b),
        "n_both": len(both),
        "overlap": len(both) / either if either else None,
        "both": both[:limit],
        "only_a": [name for name in of_a if name not in of_b][:limit],
        "only_b": [name for name in of_b if name not in of_a][:limit],
        **_told(changed, limit),
    }


def _changes(a: pa.Table, b: pa.Table) -> pa.Table:
    """Features of both tables with both verdicts, in the order of the first."""
    numbered = a.append_column("row", pa.array(range(a.num_rows)))
    joined = numbered.join(b, "name", join_type="inner", right_suffix="_b")
    return joined.sort_by("row")


def _told(joined: pa.Table, limit: int) -> dict[str, Any]:
    differing = joined.filter(pc.not_equal(joined["verdict"], joined["verdict_b"]))
    rows = differing.slice(0, limit).to_pylist()
    return {
        "n_changed": differing.num_rows,
        "changed": [
            {"name": row["name"], "a": row["verdict"], "b": row["verdict_b"]} for row in rows
        ],
    }
