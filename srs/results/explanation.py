"""What analyses said, and its forms on disk: explain.json, a Parquet table an analysis, a page."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from srs.display import card
from srs.errors import InputError
from srs.report import render_explanation
from srs.results.analysis import AnalysisResult
from srs.results.documents.explanation import (
    ExplanationData,
    ExplanationDocument,
    ExplanationMeasured,
    ExplanationSettings,
)
from srs.results.result import (
    EXPLANATION_NAME,
    EXPLANATION_VERSION,
    JSON_NAME,
    TABLE_NAME,
    Result,
    load_result,
    read_explanation,
    write_report,
    write_text,
)
from srs.results.upgrade import EXPLANATION_STEPS, upgrade

if TYPE_CHECKING:
    from srs.plots import ExplanationPlots

FORMAT = "srs-explanation"


PAGE_NAME = "explain.html"


@dataclass(frozen=True)
class Explanation:
    """Results of analyses. Made by `srs.explain`.

    analyses  name -> AnalysisResult, in the order of the request
    data      n_samples, n_features, names, target, target_kind, labels and notices
    settings  seed and requests
    measured  seconds, versions: what differs between equal runs
    run       digest of the result whose features are explained; None if they are of none
    """

    analyses: Mapping[str, AnalysisResult]
    data: ExplanationData
    settings: ExplanationSettings
    measured: ExplanationMeasured
    run: str | None = None

    def __repr__(self) -> str:
        return f"<Explanation of {self.data['n_features']} features: {', '.join(self.analyses)}>"

    def _repr_html_(self) -> str:
        data = self.data
        facts = {
            "target": data["target"],
            "data": f"{data['n_features']:,} features x {data['n_samples']:,} samples",
        }
        rows = [
            (name, one.table.num_rows, "; ".join(one.notes)) for name, one in self.analyses.items()
        ]
        return card("Explanation", facts, ("analysis", "rows", "notes"), rows)

    @property
    def plot(self) -> ExplanationPlots:
        """Plots with matplotlib: `plot("mda")`, or `plot()` for all. They need the extra `plot`."""
        from srs.plots import ExplanationPlots

        return ExplanationPlots(self)

    def __getitem__(self, name: str) -> AnalysisResult:
        return self.analyses[name]

    def to_json(self) -> ExplanationDocument:
        """All of it as JSON values; equal data, settings and seed differ in "measured" only."""
        return {
            "format": FORMAT,
            "schema_version": EXPLANATION_VERSION,
            "run": self.run,
            "settings": self.settings.copy(),
            "data": self.data.copy(),
            "analyses": [analysis.to_json() for analysis in self.analyses.values()],
            "measured": self.measured.copy(),
        }

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write explain.json, one Parquet table per analysis, and a page; returns its path.

        In the folder of the run whose features are explained, the page is its report.html, which
        gets one section per analysis; earlier analyses of that run are kept. In other folders
        the page is explain.html. Files of an earlier explanation that is replaced are removed.
        """
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        before = _files_of_explanation(path)
        for name, analysis in self.analyses.items():
            pq.write_table(analysis.table, path / _table_name(name))
        document = self.to_json()
        result = self._run_in(path)
        if result is not None:
            there = read_explanation(path, result) or {"analyses": []}
            kept = [a for a in there["analyses"] if a["name"] not in self.analyses]
            document["analyses"] = [*kept, *document["analyses"]]
        text = json.dumps(document, indent=1, allow_nan=False) + "\n"
        write_text(path / EXPLANATION_NAME, text)
        if result is None:
            page = path / PAGE_NAME
            write_text(page, render_explanation(document))
        else:
            page = write_report(path, result)
        now = {page.name, *(_table_name(analysis["name"]) for analysis in document["analyses"])}
        for name in before - now:
            (path / name).unlink(missing_ok=True)
        return page

    def _run_in(self, folder: Path) -> Result | None:
        """The result in a folder, if it is the one whose features are explained."""
        if self.run is None or not (folder / JSON_NAME).is_file():
            return None
        result = load_result(folder)
        return result if result.digest == self.run else None


def _table_name(analysis: str) -> str:
    return f"{analysis}.parquet"


def _files_of_explanation(folder: Path) -> set[str]:
    """Names of the tables and of the page of the explanation in a folder; what else is there is
    not ours to remove."""
    try:
        analyses = read_document(folder)["analyses"]
        tables = {_table_name(analysis["name"]) for analysis in analyses}
    except (InputError, KeyError, TypeError):
        return set()
    plain = {name for name in tables if Path(name).name == name}
    return (plain | {PAGE_NAME}) - {TABLE_NAME}


def read_document(folder: str | os.PathLike[str]) -> Mapping[str, Any]:
    """What explain.json in a folder holds, in the present version."""
    path = Path(folder) / EXPLANATION_NAME
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{folder} has no explanation: {EXPLANATION_NAME} is missing.") from None
    except (ValueError, OSError) as error:
        raise InputError(f"the explanation in {folder} is damaged: {error}") from None
    is_ours = isinstance(document, Mapping) and document.get("format") == FORMAT
    present = upgrade(document, EXPLANATION_STEPS, EXPLANATION_VERSION) if is_ours else None
    if present is None:
        raise InputError(f"{path} is not an explanation that this version of srs can read.")
    return present
