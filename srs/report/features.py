"""The parts of the page that list features: relevant ones, the nearest if none, pinned ones.

The table of all features is read a piece at a time, and only where nothing was found; what was
found is in the document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from srs.report.figures import plots
from srs.report.markup import (
    Cell,
    Column,
    data_table,
    figure,
    glossary,
    name,
    paragraph,
    prose,
    section,
)
from srs.report.text import (
    count,
    direction,
    direction_meaning,
    is_paper,
    n_relevant,
    number,
    percent,
    probability,
    stopped,
    surest_first,
)

if TYPE_CHECKING:
    from srs.results.feature_table import FeatureTable

Document = Mapping[str, Any]
MAX_ROWS = 500
MAX_BARS = 30
MAX_CANDIDATES = 10

_NAME = Column("feature", numeric=False)
_ID = Column("id", "the column of the source, counted from 0")
_P = Column("p", "probability that an irrelevant feature shows at least as much evidence")
_Q = Column("q", "smallest false discovery rate at which the feature is in the list")
_STABILITY = Column("stability", "share of the two halves of the trees that find the feature alone")
_LOST = Column("lost", "share of draws in which the random probe was not beaten (no p-value)")
_FOUND_BY = Column("found by", "kind of evidence with the smallest p-value", numeric=False)
_DIRECTION = "direction"
_IMPORTANCE = Column("importance", "mean impurity decrease over all trees of the run")
_EFFECT = Column(
    "effect", "impurity decrease per draw, minus what probes get by chance; – if it is not above 0"
)
_DRAWN = Column("drawn", "trees in which the feature was explored")
_USED = Column("used", "explored trees in which it made a split")


def relevant_features(document: Document, table: FeatureTable) -> str:
    found = n_relevant(document)
    if not found:
        return _nothing(document, table)
    relevant = document["outcome"]["relevant"]
    rows = surest_first(document)[:MAX_ROWS]
    columns = _columns(is_paper(document), _annotations(document))
    columns = _with_evidence(columns, document, rows)
    shown = len(rows)
    caption = "Relevant features, the most certain first, and the stronger among equals"
    if shown < found:
        caption = f"The {shown:,} most certain of {found:,} relevant features"
    more = (
        "<p>All features with their numbers are in <a "
        'href="features.parquet">features.parquet</a> next to this page.</p>'
    )
    return section(
        "features",
        "Relevant features",
        *[
            data_table(caption, columns, [_cells(r, columns) for r in rows], interactive=True),
            more,
            _unused(relevant),
            glossary(columns),
            _importance_bars(relevant),
        ],
    )


def _columns(paper: bool, annotations: Sequence[Column], decided: bool = True) -> list[Column]:
    tests = [] if not decided else [_LOST] if paper else [_P, _Q, _STABILITY]
    return [_NAME, *annotations, _ID, *tests, _IMPORTANCE, _EFFECT, _DRAWN, _USED]


def _with_evidence(
    columns: list[Column], document: Document, rows: Sequence[Mapping[str, Any]]
) -> list[Column]:
    """What found the features, and which way they go, where that is known."""
    more = []
    if any(row.get("found_by") for row in rows):
        more.append(_FOUND_BY)
    if any(row.get("direction") for row in rows):
        more.append(Column(_DIRECTION, direction_meaning(document)))
    at = columns.index(_IMPORTANCE)
    return [*columns[:at], *more, *columns[at:]]


def _annotations(document: Document) -> list[Column]:
    """What the source said of features beside their names."""
    names = document["data"].get("annotations", ())
    return [Column(name, f"{name} of the feature, from the source") for name in names]


def _nearest(table: FeatureTable) -> list[dict[str, Any]]:
    """The rows with the smallest q- and p-values, the more important first among equals."""
    keys = [("q_value", "ascending"), ("p_value", "ascending"), ("importance", "descending")]
    best = table.schema.empty_table()
    for piece in table.pieces():
        rows = pa.concat_tables([best, piece.filter(pc.invert(piece["pinned"]))])
        best = rows.take(pc.sort_indices(rows, sort_keys=keys)[:MAX_CANDIDATES])
    found: list[dict[str, Any]] = best.to_pylist()
    return found


def _cells(row: Mapping[str, Any], columns: Sequence[Column]) -> list[Cell]:
    known = {
        _NAME: lambda: Cell(name(row["name"])),
        _ID: lambda: Cell(str(row["feature_id"]), row["feature_id"]),
        _P: lambda: Cell(prose(probability(row["p_value"])), row["p_value"]),
        _Q: lambda: Cell(prose(probability(row["q_value"])), row["q_value"]),
        _STABILITY: lambda: _share(row.get("stability")),
        _LOST: lambda: Cell(percent(row["p_value"]), row["p_value"]),
        _IMPORTANCE: lambda: Cell(number(row["importance"]), row["importance"]),
        _FOUND_BY: lambda: Cell(name(row["found_by"] or "–")),
        _EFFECT: lambda: Cell(
            number(row["effect"]) if row["effect"] > 0 else "–", max(row["effect"], 0.0)
        ),
        _DRAWN: lambda: Cell(number(row["n_drawn"]), row["n_drawn"]),
        _USED: lambda: Cell(number(row["n_used"]), row["n_used"]),
    }
    return [
        known[column]()
        if column in known
        else _direction(row)
        if column.title == _DIRECTION
        else _annotation(row[column.title])
        for column in columns
    ]


def _direction(row: Mapping[str, Any]) -> Cell:
    value = row.get(_DIRECTION) or 0.0
    return Cell(prose(direction(value)), value)


def _unused(relevant: Sequence[Mapping[str, Any]]) -> str:
    """Why a feature is listed that no tree used."""
    n = sum(row["n_used"] == 0 for row in relevant)
    if not n:
        return ""
    return paragraph(
        f"{count(n, 'relevant feature')} made no split in trees that explored them, because others "
        "were better in each node. What a feature would have gained there is evidence, too (see "
        "“Features against chance”), and for these it is more than chance."
    )


def _share(value: float | None) -> Cell:
    """Results of earlier versions have none."""
    return Cell("", -1.0) if value is None else Cell(percent(value), value)


def _annotation(value: Any) -> Cell:
    return Cell(name(value)) if isinstance(value, str) else Cell(f"{value:,}", value)


def _importance_bars(relevant: Sequence[Mapping[str, Any]]) -> str:
    rows = sorted(relevant, key=lambda row: -row["importance"])[:MAX_BARS]
    title = f"Importance of the {len(rows)} most important relevant features"
    if len(rows) < 2:
        return ""
    plot = plots.bars([(row["name"], row["importance"]) for row in rows], title)
    return figure(plot, prose(f"{title}: {_IMPORTANCE.meaning}."))


def _nothing(document: Document, table: FeatureTable) -> str:
    """An empty list is a finding too: say what it means and what can be tried."""
    paper = is_paper(document)
    if paper:
        meaning = "No feature beat the random probe often enough to be called relevant."
    else:
        meaning = (
            "No feature showed more evidence than its probes do by chance, at this false "
            "discovery rate. This is a result, not an error: no feature could be listed at this "
            "rate. It does not prove that no feature matters; effects may be too small for this "
            "number of samples."
        )
    tries = [
        "Check the target: is it the right column, in the order of the samples?",
        "Look at the nearest features below; more samples are the best way to decide about them.",
        "Grow more trees (--max-passes, --max-trees, --max-seconds), in particular if the run "
        f"ended at a limit. {stopped(document)}",
    ]
    if paper:
        tries.append("Grow more trees or lower probe_share: the paper's rule needs many draws.")
    else:
        tries.append("Allow a larger false discovery rate (--fdr), such as 0.2, for exploration.")
    ways = "".join(f"<li>{prose(way)}</li>" for way in tries)
    nearest = _nearest(table)
    columns = _with_evidence(_columns(paper, _annotations(document)), document, nearest)
    return section(
        "features",
        "Nothing was found",
        *[
            paragraph(meaning),
            f"<p>What you can try:</p><ul>{ways}</ul>",
            data_table(
                "The nearest features: not findings, only candidates to check first",
                columns,
                [_cells(row, columns) for row in nearest],
                interactive=False,
            ),
            glossary(columns),
        ],
    )


def pinned_features(document: Document) -> str:
    pinned = document["outcome"]["pinned"]
    if not pinned:
        return ""
    columns = _columns(is_paper(document), _annotations(document), decided=False)
    columns = _with_evidence(columns, document, pinned)
    caption = count(len(pinned), "pinned feature")
    if len(pinned) > MAX_ROWS:
        caption = f"The first {MAX_ROWS} of {caption}"
    return section(
        "pinned",
        "Pinned features",
        paragraph(
            "These were in every subspace on request: other features are relevant only if they "
            "add information to them. They do not get a verdict."
        ),
        data_table(
            caption, columns, [_cells(row, columns) for row in pinned[:MAX_ROWS]], interactive=False
        ),
    )
