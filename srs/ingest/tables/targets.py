"""What the user gave as targets: values, files, columns of the source or of a table of samples.

Gathered here, parsed in `srs.targets.parse`; samples whose column has no value are left out by
`srs.ingest.tables.join`, while values that the user gave in order must be complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from srs.errors import SourceError
from srs.ingest.block import Source
from srs.ingest.formats.registry import find_format
from srs.ingest.tables.join import JoinedSource, join, match
from srs.ingest.tables.table import SampleTable
from srs.ingest.tables.target_files import is_target_file, read_target_file
from srs.targets.parse import parse_target, split_targets
from srs.targets.target import Target


@dataclass(frozen=True)
class Given:
    """One target before it is parsed.

    name       as it will be called
    values     one for each sample of the source
    is_column  whether it was looked up by name, so that samples may lack it
    """

    name: str
    values: Any
    is_column: bool


def column_names(target: Any) -> list[str]:
    """Names of columns that are targets: texts that are no files."""
    given = split_targets(target).values()
    return [value for value in given if isinstance(value, str) and not is_target_file(value)]


def gather(target: Any, source: Source, table: SampleTable | None) -> list[Given]:
    """All targets, in the order of the source's samples."""
    found = []
    for name, given in split_targets(target).items():
        is_column = isinstance(given, str) and not is_target_file(given)
        if is_column:
            values = _column(given, source, table)
        elif isinstance(given, (str, Path)):
            values = read_target_file(Path(given), source.n_samples)
        else:
            values = given
        if name is None:
            label = getattr(values, "name", None) or (given if is_column else None)
            name = label if isinstance(label, str) else "target"
        found.append(Given(name, values, is_column))
    return found


def _column(name: str, source: Source, table: SampleTable | None) -> Any:
    """A column of the table if it has it, else of the source; as a feature it would tell itself."""
    if table is None or name not in table.columns:
        try:
            return source.column(name)
        except SourceError:
            if table is None:
                raise
    assert table is not None
    if source.names is not None and name in source.names:
        raise SourceError(
            f"the target {name!r} is a column of {table.where} and also a feature of the source: "
            "remove it from one of them."
        )
    rows = match(source, table)
    column: pd.Series[Any] = table.column(name).astype(object)
    return column.reindex(rows).reset_index(drop=True).infer_objects().rename(name)


def _hint_at_orientation(name: str, values: Any, source: Source, n_samples: int) -> None:
    """Values that fit the other side of the matrix are refused with the option that turns it."""
    n = len(values) if hasattr(values, "__len__") else 0
    if n != n_samples and n - source.n_features in (0, 1):  # perhaps with a header
        raise SourceError(
            f"the target {name!r} has {n} values and the source has {n_samples} samples and "
            f"{source.n_features} features: if its rows are features, ingest with --orientation "
            "features."
        )


def join_targets(
    source: Source,
    target: Any,
    table: SampleTable | None,
    covariates: Sequence[str],
    target_kind: str | Mapping[str, str] | None,
) -> tuple[Source, list[Target]]:
    """The source with the samples that are kept and its covariates, and its targets."""
    if covariates and table is None:
        raise SourceError("covariates are columns of a table of the samples: give it (--table).")
    notices: list[str] = []
    found = find_format(source.record["path"]) if "path" in source.record else None
    if table is not None and found is not None:
        table, notices = table.with_missing(found, [*column_names(target), *covariates])
    given = gather(target, source, table)
    joined = join(source, {g.name: g.values for g in given if g.is_column}, table, covariates)
    joined.notices = [*joined.notices, *notices]
    keep = joined.keep if isinstance(joined, JoinedSource) else None
    targets = []
    for at, one in enumerate(given):
        values = one.values
        if keep is not None and len(values) == source.n_samples:
            values = values.iloc[keep] if hasattr(values, "iloc") else np.asarray(values)[keep]
        _hint_at_orientation(one.name, values, source, joined.n_samples)
        chosen = target_kind.get(one.name) if isinstance(target_kind, Mapping) else target_kind
        parsed = parse_target(one.name, values, joined.n_samples, chosen, learned=at == 0)
        targets.append(parsed)
    return joined, targets
