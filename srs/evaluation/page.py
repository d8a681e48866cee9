"""The page of an evaluation: its score, the stability of the list, and the folds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srs.report.markup import Cell, Column, data_table, facts, name, page, paragraph, prose, section
from srs.report.style import CSS, SCRIPT
from srs.report.text import count, number

MOST_ROWS = 200


def render_page(document: Mapping[str, Any], score: str) -> str:
    """The whole page as HTML, readable without a network."""
    data, settings = document["data"], document["settings"]
    header = f'<p class="eyebrow">Evaluation of a selection</p><h1>{prose(score)}</h1>' + paragraph(
        f"Of samples that took no part in the selection: {settings['folds']} folds, "
        f"{count(settings['repeats'], 'repeat')}. In each fold features were selected from the "
        "other samples, a forest learned from these features alone, and the samples of the "
        "fold were predicted. The interval has 95 % confidence for the lists of these folds.",
        "about",
    )
    body = (
        _stability(document)
        + _folds(document)
        + section(
            "data",
            "Data and settings",
            facts("What was evaluated", _facts(data, settings)),
        )
    )
    return page("Evaluation", CSS, header, body, SCRIPT)


def _stability(document: Mapping[str, Any]) -> str:
    told = document["stability"]
    rows = told["features"][:MOST_ROWS]
    if told["jaccard"] is None:
        return section("stability", "Stability", paragraph("No fold selected a feature."))
    columns = [Column("feature", numeric=False), Column("lists"), Column("share of lists")]
    cells = [
        [
            Cell(name(row["name"])),
            Cell(str(row["n_lists"]), float(row["n_lists"])),
            Cell(f"{row['frequency']:.0%}", row["frequency"]),
        ]
        for row in rows
    ]
    caption = f"{count(len(told['features']), 'feature')} in at least one list"
    return section(
        "stability",
        "Stability",
        paragraph(
            f"Two lists have {told['jaccard']:.0%} of their features in common (mean Jaccard "
            "index). Features that can replace one another take turns in lists."
        ),
        data_table(caption, columns, cells, interactive=len(rows) > 10),
    )


def _folds(document: Mapping[str, Any]) -> str:
    measure = {"auc": "AUC", "r2": "R2"}[document["score"]["measure"]]
    columns = [Column(key) for key in ("repeat", "fold", "train", "test", "selected", measure)]
    cells = [
        [
            *(
                Cell(str(row[key]), float(row[key]))
                for key in ("repeat", "fold", "n_train", "n_test", "n_relevant")
            ),
            Cell("–" if row["score"] is None else number(row["score"]), row["score"] or 0.0),
        ]
        for row in document["folds"]
    ]
    return section(
        "folds", "Folds", data_table("One row per fold", columns, cells, interactive=False)
    )


def _facts(data: Mapping[str, Any], settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = [
        ("target", prose(str(data["target"]))),
        ("features", f"{data['n_features']:,}"),
        ("samples", f"{data['n_samples']:,}"),
        ("false discovery rate", f"{settings['fdr']:g}"),
        ("seed", str(settings["seed"])),
    ]
    if settings.get("subjects"):
        rows.append(("subjects", f"whole, by {prose(str(settings['subjects']))}"))
    if settings.get("confounders"):
        named = ", ".join(settings["confounders"])
        rows.append(("confounders", f"{prose(named)}; samples are compared within strata"))
    return rows
