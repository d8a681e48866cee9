"""The part of the page on predictions for held-out samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from srs.report.figures import plots
from srs.report.markup import Cell, Column, data_table, paragraph, section, text
from srs.report.text import count, number, percent
from srs.targets.registry import BUILT_IN, target_kinds

MAX_CLASSES = 12  # most classes that get a confusion table
MAX_POINTS = 400
SCORED = tuple(kind.name for kind in BUILT_IN if kind.by_model)  # predictions are scores


def prediction(document: Mapping[str, Any]) -> str:
    """How well the ensemble predicts samples that no tree has seen; empty if none were kept."""
    rows = document["outcome"]["prediction"]
    if not rows:
        return ""
    labels = document["data"]["labels"]
    body = []
    if document["data"]["target_kind"] not in SCORED:
        body = _classes(rows, labels) if labels else _numbers(rows)
    body += _measures(rows, document["data"]["target_kind"])
    note = paragraph(
        "Predictions are the mean over all trees of the run, and most features in those trees "
        "are not relevant. A model of the relevant features alone will often do better: read "
        "this as a check that there is something to learn, not as the best possible accuracy.",
        "note",
    )
    return section("prediction", "Prediction of held-out samples", *body, note)


def accuracy(rows: Sequence[Mapping[str, Any]]) -> float:
    return sum(bool(row["truth"] == row["prediction"]) for row in rows) / len(rows)


def r_squared(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """Share of the variance explained; None where the truth does not vary."""
    truths = [float(row["truth"]) for row in rows]
    mean = sum(truths) / len(truths)
    total = sum((truth - mean) ** 2 for truth in truths)
    if total == 0:
        return None
    left = sum((float(row["prediction"]) - float(row["truth"])) ** 2 for row in rows)
    return 1.0 - left / total


def _measures(rows: Sequence[Mapping[str, Any]], kind: str) -> list[str]:
    """Figures that the kind of the target adds, if it is installed here."""
    figures = [f"{name} {value:.3g}" for name, value in measures_of(rows, kind).items()]
    if not figures:
        return []
    said = f"Of these samples: {', '.join(figures)}."
    if kind in SCORED:
        said = (
            f"{', '.join(figures).capitalize()} on {count(len(rows), 'held-out sample')}: of two "
            "samples that can be compared, how often the one with the higher score has more (of "
            "times to event: the event earlier); 0.5 is chance."
        )
    return [paragraph(said)]


def measures_of(rows: Sequence[Mapping[str, Any]], kind: str) -> dict[str, float]:
    """Figures that the kind of the target has for predictions."""
    known = target_kinds().get(kind)
    return {} if known is None or known.measures is None else known.measures(rows)


def _classes(rows: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> list[str]:
    pairs = Counter((row["truth"], row["prediction"]) for row in rows)
    truths = Counter(row["truth"] for row in rows)
    guess = max(truths.values()) / len(rows)
    said = paragraph(
        f"Accuracy {percent(accuracy(rows))} on {count(len(rows), 'held-out sample')}; always "
        f"predicting the most frequent class would reach {percent(guess)}."
    )
    if len(labels) > MAX_CLASSES:
        return [said]
    columns = [Column("truth", numeric=False), *(Column(f"as {label}") for label in labels)]
    body = [
        [Cell(text(truth)), *(Cell(number(pairs[truth, label])) for label in labels)]
        for truth in labels
    ]
    caption = "Held-out samples by true class (rows) and predicted class (columns)"
    return [said, data_table(caption, columns, body, interactive=False)]


def _numbers(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    explained = r_squared(rows)
    if explained is None:
        said = "R² is not defined: the target has one value in all held-out samples."
    else:
        said = (
            f"R² = {explained:.3g} on {count(len(rows), 'held-out sample')}: the share of the "
            f"target's variance that predictions explain (0 for always predicting the mean)."
        )
    step = -(-len(rows) // MAX_POINTS)
    pairs = [(float(row["truth"]), float(row["prediction"])) for row in rows[::step]]
    plot = plots.points(
        pairs, "truth", "prediction", "Predictions of held-out samples against the truth"
    )
    return [paragraph(said), f'<figure><div class="plot">{plot}</div></figure>']
