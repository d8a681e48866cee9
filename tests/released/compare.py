"""Whether what this version makes or reads is what the released version wrote."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

# Names in documents and tables that a later version changed: released name -> present name.
RENAMED = {
    "task": "target_kind",
    "kind": "target_kind",  # of a target, in what is said of a store
    "basis": "grounds",
    "n_strata": "n_feature_classes",
}
# Values of these that have other names since.
RENAMED_VALUES = {"target_kind": {"classification": "classes", "regression": "numbers"}}

# Keys that later versions added.
ADDED = {"guarantee", "pairs", "n_features", "stability", "finish_asked"}
ADDED |= {"stage", "direction", "found_by", "labels", "priority", "team", "targets"}
ADDED |= {"beta", "standard_error", "univariate_p", "frequency", "n_known"}
ADDED |= {"effects", "measure", "profiles", "scan"}
ADDED |= {"ratio", "p_mixed", "p_equivalent", "difference", "p_difference"}  # of context
ADDED |= {"points", "empty", "margin", "separate", "context_p_value"}
ADDED |= {"activity", "components", "exponent", "recipe", "scaled"}  # of connectome
ADDED |= {"remaining"}  # of umfi
ADDED |= {"effect"}  # of vote-shift
ADDED |= {"criterion", "n_selected", "mean", "deviation", "rank", "selected"}  # of per-class
ADDED |= {"target"}  # whose features a job explains
# What differs between equal runs, and numbers of versions.
LEFT_OUT = {"measured", "schema_version", "seconds", "peak_mem", "srs_version"}
# For people: later versions may say the same in other words, but not leave it out.
SENTENCES = {"notices", "notes", "stop_reason"}


def same_outcome(new: Any, old: Any) -> None:
    """Assert that two documents say the same; the message names every place that differs."""
    found = list(_differences(present_names(new), present_names(old), ""))
    assert not found, "\n".join(found[:20])


def same_table(new: pa.Table, path: Path) -> None:
    """Assert that a table has the columns and rows of a Parquet file."""
    same_outcome(new.to_pydict(), pq.read_table(path).to_pydict())


def present_names(value: Any) -> Any:
    """The same with present names: a version may hold what it read by either."""
    if isinstance(value, Mapping):
        present = {
            RENAMED.get(key, key): present_names(inner)
            for key, inner in value.items()
            if key not in LEFT_OUT
        }
        for key, names in RENAMED_VALUES.items():
            if isinstance(present.get(key), str):
                present[key] = names.get(present[key], present[key])
        return present
    if isinstance(value, (list, tuple)):
        return [present_names(inner) for inner in value]
    return value


def _differences(new: Any, old: Any, where: str) -> Iterator[str]:
    name = where.rpartition("/")[2]
    if name in SENTENCES:
        if isinstance(old, list) and len(new) < len(old):
            yield f"{where}: {len(new)} sentences, {len(old)} released"
        elif bool(new) != bool(old):
            yield f"{where}: {new!r}, released {old!r}"
    elif isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            if key in ADDED and key not in old:
                continue
            if key not in new or key not in old:
                yield f"{where}/{key}: only {'released' if key in old else 'now'}"
            else:
                yield from _differences(new[key], old[key], f"{where}/{key}")
    elif isinstance(old, list) and isinstance(new, list):
        if len(new) != len(old):
            yield f"{where}: {len(new)} entries, {len(old)} released"
        for at, (a, b) in enumerate(zip(new, old, strict=False)):
            yield from _differences(a, b, f"{where}/{at}")
    elif not _equal(new, old):
        yield f"{where}: {new!r}, released {old!r}"


def _equal(new: Any, old: Any) -> bool:
    """Numbers may differ by what another processor rounds."""
    if isinstance(old, float) and isinstance(new, float):
        both_nan = math.isnan(old) and math.isnan(new)
        return both_nan or math.isclose(new, old, rel_tol=1e-9, abs_tol=1e-12)
    return type(new) is type(old) and bool(new == old)
