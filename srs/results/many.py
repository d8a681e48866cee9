"""Results of many targets of one store: one `Result` each, and an overview of all.

On disk a folder has a folder for each target, as `Result.save` writes it, `targets.json` with their
names, and the overview: every target beside every feature that is relevant for one of them
(`overview.parquet`, `overview.csv`, and the page `overview.html`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from srs.errors import InputError
from srs.report.many.overview import render_many
from srs.results.result import JSON_NAME, REPORT_NAME, Result, load_result, write_text

if TYPE_CHECKING:
    import pandas as pd

FORMAT, VERSION = "srs-targets", 1
TARGETS_NAME = "targets.json"
TABLE_NAME, CSV_NAME, PAGE_NAME = "overview.parquet", "overview.csv", "overview.html"
COLUMNS = ("feature_id", "name", "verdict", "p_value", "q_value", "importance")


class ManyResults(Mapping[str, Result]):
    """What runs on many targets found: a mapping from targets to results, in the order asked for.

    Made by `srs.select_many`, or read from a folder by `srs.load_many`. Results that are in a
    folder are read when they are asked for.

    failed  by target, why it has no result
    folder  where they are saved; None: nowhere yet
    """

    def __init__(
        self,
        found: Mapping[str, Result | Path],
        failed: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        self._found = dict(found)
        self.failed = dict(failed or {})
        self.folder = folder

    def __getitem__(self, target: str) -> Result:
        found = self._found[target]
        return found if isinstance(found, Result) else load_result(found)

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        more = f", {len(self.failed)} without a result" if self.failed else ""
        return f"<ManyResults: {len(self)} targets{more}>"

    @cached_property
    def overview_table(self) -> pa.Table:
        """One row per target and feature that is relevant for any of them: target, feature_id,
        name, verdict, p_value, q_value and importance."""
        relevant = [result.relevant_ids for result in self.values()]
        ids = pa.array(np.unique(np.concatenate([np.empty(0, np.int64), *relevant])))
        parts = [_rows(target, result, ids) for target, result in self.items()]
        return pa.concat_tables(parts) if parts else _empty()

    @property
    def overview(self) -> pd.DataFrame:
        """The overview as a pandas data frame."""
        frame: pd.DataFrame = self.overview_table.to_pandas()
        return frame

    def summary(self) -> list[dict[str, Any]]:
        """One dict per target, in order: target, folder (None if not saved), n_samples,
        n_relevant, relevant (names), n_trees, seconds and error (why there is no result, or
        None)."""
        rows: list[dict[str, Any]] = []
        for target, result in self.items():
            where = self._found[target]
            document = result.document
            rows.append(
                {
                    "target": target,
                    "folder": where.name if isinstance(where, Path) else None,
                    "n_samples": document["data"]["n_samples"],
                    "n_relevant": len(result.relevant_ids),
                    "relevant": result.relevant_names,
                    "n_trees": result.n_trees,
                    "seconds": document["measured"]["seconds"],
                    "error": None,
                }
            )
        for target, why in self.failed.items():
            rows.append(
                {
                    "target": target,
                    "folder": None,
                    "n_samples": None,
                    "n_relevant": None,
                    "relevant": [],
                    "n_trees": None,
                    "seconds": None,
                    "error": why,
                }
            )
        return rows

    def save(
        self,
        folder: str | os.PathLike[str],
        link: Callable[[Mapping[str, Any]], str | None] | None = None,
    ) -> Path:
        """Write all results and the overview; returns the folder.

        link  gives the address of a target's report on the page, from its row of `summary`; None:
              its file
        """
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        places = folders_of([*self._found, *self.failed])
        for target, found in self._found.items():
            here = path / places[target]
            if isinstance(found, Result) or found != here:
                self[target].save(here)
                self._found[target] = here
        self.folder = path
        write_overview(self, path, link or link_to_folder)
        return path


def _rows(target: str, result: Result, ids: pa.Array) -> pa.Table:
    """The rows of some features in a result."""
    parts = []
    for piece in result.all_features.pieces(COLUMNS):
        parts.append(piece.filter(pc.is_in(piece["feature_id"], value_set=ids)))
    rows = pa.concat_tables(parts)
    named = pa.array([target] * len(rows), pa.string())
    return rows.add_column(0, "target", named).select(["target", *COLUMNS])


def _empty() -> pa.Table:
    return pa.table({name: pa.array([], pa.string()) for name in ("target", *COLUMNS)})


def folders_of(targets: Sequence[str]) -> dict[str, str]:
    """A folder for each target: its name, as far as names of files allow.

    >>> folders_of(["ldl", "HbA1c (%)", "overview.csv"])
    {'ldl': 'ldl', 'HbA1c (%)': 'HbA1c-2', 'overview.csv': 'overview-csv-3'}
    """
    places: dict[str, str] = {}
    used: set[str] = set()
    for at, target in enumerate(targets, 1):
        plain = re.sub(r"[^A-Za-z0-9_-]+", "-", target).strip("-") or "target"
        place = plain if plain == target and plain.lower() not in used else f"{plain[:80]}-{at}"
        used.add(place.lower())
        places[target] = place
    return places


def link_to_folder(row: Mapping[str, Any]) -> str | None:
    """The report of a target, from the page beside its folder."""
    return None if row["folder"] is None else f"{quote(row['folder'])}/{REPORT_NAME}"


def write_overview(
    results: ManyResults,
    folder: Path,
    link: Callable[[Mapping[str, Any]], str | None] = link_to_folder,
) -> None:
    """Write the table, the page and the list of targets; the list comes last."""
    table = results.overview_table
    partial = folder / (TABLE_NAME + ".partial")
    pq.write_table(table, partial)
    partial.replace(folder / TABLE_NAME)
    partial = folder / (CSV_NAME + ".partial")
    pyarrow.csv.write_csv(table, partial)
    partial.replace(folder / CSV_NAME)
    summary = results.summary()
    write_text(folder / PAGE_NAME, render_many(summary, table.to_pylist(), link))
    document = {"format": FORMAT, "schema_version": VERSION, "targets": summary}
    write_text(folder / TARGETS_NAME, json.dumps(document, indent=1, allow_nan=False) + "\n")


def load_many(folder: str | os.PathLike[str]) -> ManyResults:
    """Read the results that `ManyResults.save` or `srs select --targets` wrote."""
    path = Path(folder)
    try:
        document = json.loads((path / TARGETS_NAME).read_text(encoding="utf-8"))
        if document["format"] != FORMAT or document["schema_version"] != VERSION:
            raise ValueError("it was written by another version of srs")
        rows = [(row["target"], row["folder"], row["error"]) for row in document["targets"]]
    except FileNotFoundError:
        raise InputError(
            f"{path} has no results of many targets: {path / TARGETS_NAME} is missing."
        ) from None
    except (ValueError, OSError, KeyError, TypeError) as error:
        raise InputError(f"{path / TARGETS_NAME} is damaged: {error}.") from None
    found = {target: path / place for target, place, _ in rows if place is not None}
    for target, place in found.items():
        if path.resolve() not in (place / JSON_NAME).resolve().parents:
            raise InputError(f"{path / TARGETS_NAME} is damaged: the folder of {target!r}.")
    failed = {target: why for target, place, why in rows if place is None}
    return ManyResults(found, failed, path)
