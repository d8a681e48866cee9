"""The part of the page that says what the relevant features come down to: groups of stand-ins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srs.report.markup import Cell, Column, data_table, glossary, name, paragraph, prose, section
from srs.report.text import grouped, number

Document = Mapping[str, Any]
MAX_ROWS = 200
MAX_NAMES = 20

_COLUMNS = (
    Column("representative", "the most important feature of the group", numeric=False),
    Column(
        "stand-ins",
        "features that carry nearly the same information, the most important first",
        numeric=False,
    ),
    Column("features", "how many features the group has"),
    Column("importance", "of the representative: mean impurity decrease over all trees"),
    Column("enough", "whether it is among the few that predict nearly as well as all", False),
)


def signals(document: Document) -> str:
    outcome = document["outcome"]
    groups = outcome.get("groups", ())
    if not groups:
        return ""
    importance = {row["feature_id"]: row["importance"] for row in outcome["relevant"]}
    enough = set(outcome["minimal"])
    caption = "Groups of relevant features, the most important first"
    if len(groups) > MAX_ROWS:
        caption = f"The {MAX_ROWS} most important of {len(groups):,} groups"
    rows = [
        [
            Cell(f"<strong>{name(group['names'][0])}</strong>"),
            Cell(_names(group["names"][1:])),
            Cell(number(len(group["names"])), len(group["names"])),
            _importance(importance.get(group["representative"])),
            Cell("yes" if group["representative"] in enough else "–"),
        ]
        for group in groups[:MAX_ROWS]
    ]
    return section(
        "signals",
        "Signals",
        *[
            paragraph(f"{grouped(document)}."),
            paragraph(
                "Features of a group carry nearly the same information: each is closely "
                "associated with the representative, and their difference does not carry more "
                "information about the target than they do. These data cannot show which one is "
                "the cause, if any. Features that matter only together are in different groups. "
                "Those marked as enough keep 95 % of what the best set of representatives "
                "explains, on samples that the trees had not seen; the others are also "
                "relevant, but add little to them."
            ),
            _left_out(outcome.get("ungrouped", 0)),
            data_table(caption, _COLUMNS, rows, interactive=False),
            glossary(_COLUMNS),
        ],
    )


def _importance(value: float | None) -> Cell:
    return Cell("–") if value is None else Cell(number(value), value)


def _names(names: list[str]) -> str:
    shown = ", ".join(name(n) for n in names[:MAX_NAMES]) or "–"
    return shown + (f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else "")


def _left_out(n: int) -> str:
    if not n:
        return ""
    return f"<p>{prose(f'The {n:,} least important relevant features were not grouped.')}</p>"
