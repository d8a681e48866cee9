"""The part of the page that says which feature sets tell of the target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srs.report.markup import Cell, Column, data_table, glossary, name, paragraph, section, text
from srs.report.text import count, number, probability

Document = Mapping[str, Any]
MAX_ROWS = 200

_COLUMNS = (
    Column("set", "as given", numeric=False),
    Column("verdict", "of the set as a whole", numeric=False),
    Column("p", "probability of such evidence if no member is associated with the target"),
    Column("q", "smallest false discovery rate at which the set is relevant"),
    Column("features", "members of the set"),
    Column("relevant", "members that are relevant by themselves"),
)


def sets(document: Document) -> str:
    tested = document["outcome"].get("sets")
    if tested is None:
        return ""
    rows = sorted(tested["rows"], key=lambda row: (row["q_value"], row["p_value"]))
    caption = count(len(rows), "feature set") + ", the most certain first"
    if len(rows) > MAX_ROWS:
        caption = f"The {MAX_ROWS} most certain of {len(rows):,} feature sets"
    unknown = tested["unknown_features"]
    return section(
        "sets",
        "Feature sets",
        *[
            paragraph(
                f"{sets_found(document)}. A set is relevant if its members together carry more "
                "information about the target than their probes do, whether one member carries "
                "much or many carry a little. The test does not compare the set with features "
                "outside it."
            ),
            paragraph(f"{count(unknown, 'member')} of the sets are not features of the data.")
            if unknown
            else "",
            data_table(
                caption, _COLUMNS, [_cells(row) for row in rows[:MAX_ROWS]], interactive=False
            ),
            glossary(_COLUMNS),
        ],
    )


def sets_found(document: Document) -> str:
    """How many of the tested sets are relevant."""
    rows = document["outcome"]["sets"]["rows"]
    found = sum(row["verdict"] == "RELEVANT" for row in rows)
    return (
        f"{found:,} of {count(len(rows), 'feature set')} {'is' if found == 1 else 'are'} relevant"
    )


def _cells(row: Mapping[str, Any]) -> list[Cell]:
    return [
        Cell(f"<strong>{name(row['set'])}</strong>"),
        Cell(row["verdict"].lower()),
        Cell(text(probability(row["p_value"])), row["p_value"]),
        Cell(text(probability(row["q_value"])), row["q_value"]),
        Cell(number(row["n_features"]), row["n_features"]),
        Cell(number(row["n_relevant"]), row["n_relevant"]),
    ]
