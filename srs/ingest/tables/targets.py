"""What the user gave as targets: values, files, columns of the source or of a table of samples.

Gathered here, parsed in `srs.targets.parse`; samples whose column has no value are left out by
`srs.ingest.tables.join`, while a single target given in order must be complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
from srs.targets.registry import target_kinds
from srs.targets.target import Target


@dataclass(frozen=True)
class Given:
    """One target before it is parsed.

    name       as it will be called
    values     one for each sample of the source
    is_column  whether it was looked up by name, so that samples may lack it
    beside     further columns of the target, by what they are
    """

    name: str
    values: Any
    is_column: bool
    beside: Mapping[str, Given] = field(default_factory=dict)

    def columns(self) -> dict[str, Any]:
        """Columns that were looked up by name: their values by name."""
        found = {self.name: self.values} if self.is_column else {}
        for what, one in self.beside.items():
            if one.is_column:
                found[f"{self.name} ({what})"] = one.values
        return found


@dataclass(frozen=True)
class TargetOptions:
    """What is said of targets besides where they are; of the first one but for `kind`.

    kind    their kind, by target if a mapping; None: decide by values
    beside  further columns by what they are, e.g. event: values, or where they are
    levels  of ordered classes, from low to high; None: none were given
    """

    kind: str | Mapping[str, str] | None = None
    beside: Mapping[str, Any] = field(default_factory=dict)
    levels: Sequence[str] | None = None

    def columns(self) -> list[str]:
        """Names of columns beside the first target."""
        return [name for one in self.beside.values() for name in column_names(one)]


def column_names(target: Any) -> list[str]:
    """Names of columns that are targets: texts that are no files."""
    given = split_targets(target).values()
    return [value for value in given if isinstance(value, str) and not is_target_file(value)]


def gather(
    target: Any, source: Source, table: SampleTable | None, beside: Mapping[str, Any] | None = None
) -> list[Given]:
    """All targets, in the order of the source's samples; beside: columns of the first one."""
    found: list[Given] = []
    for name, given in split_targets(target).items():
        values, is_column = _values_of(given, source, table)
        if name is None:
            label = getattr(values, "name", None) or (given if is_column else None)
            name = label if isinstance(label, str) else "target"
        further = {}
        for what, one in (beside or {}).items() if not found else ():
            further[what] = Given(what, *_values_of(one, source, table))
        found.append(Given(name, values, is_column, further))
    return found


def _values_of(given: Any, source: Source, table: SampleTable | None) -> tuple[Any, bool]:
    """Values that were given or are read, and whether they are a column."""
    if isinstance(given, str) and not is_target_file(given):
        return _column(given, source, table), True
    if isinstance(given, (str, Path)):
        return read_target_file(Path(given), source.n_samples), False
    return given, False


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
    column: pd.Series[Any] = table.column(name)
    if getattr(column.dtype, "ordered", False):
        return column.reindex(rows).reset_index(drop=True).rename(name)
    column = column.astype(object)
    return column.reindex(rows).reset_index(drop=True).infer_objects().rename(name)


def join_targets(
    source: Source,
    target: Any,
    table: SampleTable | None,
    covariates: Sequence[str],
    options: TargetOptions,
) -> tuple[Source, list[Target]]:
    """The source with the samples that are kept and its covariates, and its targets."""
    if covariates and table is None:
        raise SourceError("covariates are columns of a table of the samples: give it (--table).")
    notices: list[str] = []
    found = find_format(source.record["path"]) if "path" in source.record else None
    if table is not None and found is not None:
        table, notices = table.with_missing(
            found, [*column_names(target), *options.columns(), *covariates]
        )
    given = gather(target, source, table, options.beside)
    columns = {one.name: own for one in given if (own := one.columns())}
    joined = join(source, columns, table, covariates, n_given=len(given) - len(columns))
    joined.notices = [*joined.notices, *notices]
    keep = joined.keep if isinstance(joined, JoinedSource) else None
    targets = []
    for at, one in enumerate(given):
        kind = options.kind
        if isinstance(kind, Mapping):
            kind = kind.get(one.name)
        elif at and kind is not None and target_kinds()[kind].by_model:
            kind = None  # said of the target, not of the columns after it
        parsed = parse_target(
            one.name,
            _kept(one.values, keep, source.n_samples),
            joined.n_samples,
            kind,
            learned=at == 0,
            beside={
                what: _kept(further.values, keep, source.n_samples)
                for what, further in one.beside.items()
            },
            levels=None if at else options.levels,
            may_miss=len(given) > 1,
        )
        targets.append(parsed)
    return joined, targets


def _kept(values: Any, keep: np.ndarray | None, n_samples: int) -> Any:
    """Values of the samples that stay."""
    if keep is None or len(values) != n_samples:
        return values
    return values.iloc[keep] if hasattr(values, "iloc") else np.asarray(values)[keep]
