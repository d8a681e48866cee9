"""What an evaluation says, and its forms on disk: evaluation.json and evaluation.html."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srs.display import card
from srs.errors import InputError
from srs.evaluation.page import render_page
from srs.evaluation.scores import Score
from srs.report.text import number
from srs.results.result import write_text

if TYPE_CHECKING:
    import pandas as pd

FORMAT, VERSION = "srs-evaluation", 1
JSON_NAME, PAGE_NAME = "evaluation.json", "evaluation.html"


@dataclass(frozen=True)
class Evaluation:
    """How well a selection predicts, and how stable it is. Made by `srs.evaluate`.

    document  the content of evaluation.json: settings, data, score, stability, folds,
              predictions, measured
    """

    document: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"<Evaluation: {self.describe()}>"

    def _repr_html_(self) -> str:
        stability = self.document["stability"]
        rows = [(row["name"], f"{row['frequency']:.0%}") for row in stability["features"]]
        facts = {
            "score": self.describe(),
            "stability": _shown(stability["jaccard"]) + " (mean Jaccard index of two lists)",
            "folds": len(self.document["folds"]),
        }
        return card("Evaluation", facts, ("feature", "in lists"), rows)

    def describe(self) -> str:
        """The score in words: "AUC 0.81 (0.75 to 0.87)"."""
        score = self.score
        title = {"auc": "AUC", "r2": "R2"}[score.measure]
        if score.value is None:
            return f"{title} unknown"
        if score.low is None or score.high is None:
            return f"{title} {number(score.value)}"
        return f"{title} {number(score.value)} ({number(score.low)} to {number(score.high)})"

    @property
    def score(self) -> Score:
        """AUC or R2 of samples that were not learned from, with a 95 % interval."""
        return Score(**self.document["score"])

    @property
    def stability(self) -> float | None:
        """Mean Jaccard index of the lists of two folds; None if all lists are empty."""
        value: float | None = self.document["stability"]["jaccard"]
        return value

    @property
    def features(self) -> pd.DataFrame:
        """Features of any list: feature_id, name, frequency (share of the lists), n_lists."""
        return _frame(self.document["stability"]["features"])

    @property
    def folds(self) -> pd.DataFrame:
        """One row per fold: repeat, fold, n_train, n_test, n_relevant, score."""
        rows = [{k: v for k, v in row.items() if k != "relevant"} for row in self.document["folds"]]
        return _frame(rows)

    @property
    def predictions(self) -> pd.DataFrame:
        """One row per sample and repeat: sample, repeat, fold, truth, and predictions."""
        return _frame(self.document["predictions"])

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write evaluation.json and evaluation.html; returns the folder."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        write_text(path / PAGE_NAME, render_page(self.document, self.describe()))
        text = json.dumps(self.document, indent=1, allow_nan=False) + "\n"
        write_text(path / JSON_NAME, text)
        return path


def load_evaluation(folder: str | os.PathLike[str]) -> Evaluation:
    """Read the evaluation that `Evaluation.save` wrote."""
    path = Path(folder) / JSON_NAME
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError(f"{folder} has no evaluation that can be read: {JSON_NAME}.") from None
    if document.get("format") != FORMAT or document.get("schema_version") != VERSION:
        raise InputError(f"{path} is not an evaluation that this version of srs can read.")
    return Evaluation(document)


def _shown(value: float | None) -> str:
    return "unknown" if value is None else number(value)


def _frame(rows: Any) -> pd.DataFrame:
    import pandas

    return pandas.DataFrame(rows)
