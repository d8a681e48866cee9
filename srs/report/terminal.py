"""A short summary of a run for the terminal, as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from srs.memory import format_bytes
from srs.report.prediction import SCORED, accuracy, measures_of, r_squared
from srs.report.sets import sets_found
from srs.report.text import (
    PAIR_KINDS,
    clean_name,
    clean_text,
    count,
    direction,
    direction_meaning,
    duration,
    grouped,
    headline,
    is_paper,
    number,
    percent,
    probability,
    promise,
    stopped,
    surest_first,
    why_no_pairs,
)

MAX_ROWS = 20
MAX_NAME = 30
MAX_PAIRS = 5
TABLES = ("features", "effects", "profiles", "pairs")  # one file each
WIDTH = 88


def render_terminal(document: Mapping[str, Any], folder: str | None = None) -> str:
    """What was found, the surest features, what it took, and where the files are.

    document  what result.json holds, see `srs.report`
    folder    where the result was saved; None: say nothing of files
    """
    parts = [
        f"{headline(document)} to the target '{clean_name(document['data']['target'])}'",
        *(_wrap(sentence) for sentence in (promise(document), stopped(document))),
    ]
    if document["outcome"].get("groups"):
        parts.append(grouped(document))
    parts += [*_sets(document), *_pairs(document)]
    cautions = document["outcome"].get("cautions", ())
    parts += [_wrap(f"Caution: {clean_text(one['sentence'])}") for one in cautions]
    parts += ["", *_features(document), "", _cost(document)]
    parts += _prediction(document)
    if folder is not None:
        outcome = document["outcome"]
        tables = [name for name in TABLES if name == "features" or outcome.get(name) is not None]
        files = ["report.html", *(f"{name}.parquet" for name in tables), "result.json"]
        parts.append(_wrap(f"Files in {folder}: {', '.join(files)}"))
    return "\n".join(parts) + "\n"


def _wrap(sentence: str) -> str:
    return textwrap.fill(sentence, WIDTH)


def _sets(document: Mapping[str, Any]) -> list[str]:
    if "sets" not in document["outcome"]:
        return []
    rows = [row for row in document["outcome"]["sets"]["rows"] if row["verdict"] == "RELEVANT"]
    rows.sort(key=lambda row: (row["q_value"], row["p_value"]))
    named = [clean_name(row["set"]) for row in rows[:MAX_ROWS]]
    more = f" and {len(rows) - MAX_ROWS:,} more" if len(rows) > MAX_ROWS else ""
    listed = ": " + ", ".join(named) + more if named else ""
    return [_wrap(sets_found(document) + listed)]


def _pairs(document: Mapping[str, Any]) -> list[str]:
    """The first pairs, by name; why there are none, if that is known."""
    rows = document["outcome"].get("pairs")
    if rows is None:
        reason = why_no_pairs(document)
        return [] if reason is None else [_wrap(f"Pairs of features were not looked at: {reason}")]
    if not rows:
        return ["All pairs of features were looked at; none matters together"]
    lines = [f"{count(len(rows), 'pair')} of features matter{'s' * (len(rows) == 1)} together:"]
    for row in rows[:MAX_PAIRS]:
        feature, partner = _short(row["name"]), _short(row["partner"])
        kind = PAIR_KINDS[row["kind"]]
        lines.append(f"  {feature} with {partner}: {kind} (q {probability(row['q_value'])})")
    if len(rows) > MAX_PAIRS:
        lines.append(f"  ... and {len(rows) - MAX_PAIRS:,} more in the report and pairs.parquet")
    return lines


def _short(text: str) -> str:
    name = clean_name(text)
    return name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…"


def _features(document: Mapping[str, Any]) -> list[str]:
    relevant = document["outcome"]["relevant"]
    if not relevant:
        return [
            _wrap(
                "No feature could be distinguished from chance. The report shows the nearest "
                "features and what you can try."
            )
        ]
    best = surest_first(document)
    tests = ["lost"] if is_paper(document) else ["p", "q"]
    lines = [["feature", "id", *tests, "stability", "importance", "drawn", "used"]]
    lines += [_row(row, is_paper(document)) for row in best[:MAX_ROWS]]
    _add_evidence(lines, best[:MAX_ROWS])
    shown = _align(lines)
    if len(best) > MAX_ROWS:
        shown.append(f"... and {len(best) - MAX_ROWS:,} more in the report and features.parquet")
    if lines[0][-1] == "direction":
        shown.append(_wrap(f"direction {direction_meaning(document)}"))
    return shown


def _add_evidence(lines: list[list[str]], rows: Sequence[Mapping[str, Any]]) -> None:
    """Add columns: what found the features, and which way they go, where that is known."""
    more = {
        "found by": [row.get("found_by") or "" for row in rows],
        "direction": [direction(row.get("direction")) for row in rows],
    }
    for title, cells in more.items():
        if any(cell not in ("", "–") for cell in cells):
            for line, cell in zip(lines, [title, *cells], strict=True):
                line.append(cell)


def _row(row: Mapping[str, Any], paper: bool) -> list[str]:
    tests = (
        [percent(row["p_value"])]
        if paper
        else [probability(row["p_value"]), probability(row["q_value"])]
    )
    return [
        _short(row["name"]),
        str(row["feature_id"]),
        *tests,
        _stability(row),
        number(row["importance"]),
        number(row["n_drawn"]),
        number(row["n_used"]),
    ]


def _stability(row: Mapping[str, Any]) -> str:
    """Share of the halves of the trees; unknown in paper mode and to earlier versions."""
    known = row.get("stability")
    return "" if known is None else percent(known)


def _align(lines: Sequence[Sequence[str]]) -> list[str]:
    """Columns two spaces apart, names to the left and numbers to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def _cost(document: Mapping[str, Any]) -> str:
    outcome, measured = document["outcome"], document["measured"]
    allowed = document["settings"]["allowed_mem"]
    return (
        f"{count(outcome['n_trees'], 'tree')} in {number(round(outcome['n_passes'], 2))} passes, "
        f"{duration(measured['seconds'])}, {count(measured['threads'], 'thread')}, at most "
        f"{format_bytes(measured['peak_mem'])} of {format_bytes(allowed)} memory"
    )


def _prediction(document: Mapping[str, Any]) -> list[str]:
    rows = document["outcome"]["prediction"]
    if not rows:
        return []
    kind = document["data"]["target_kind"]
    if kind in SCORED:
        figures = measures_of(rows, kind)
        said = ", ".join(f"{name} {value:.3g}" for name, value in figures.items()).capitalize()
        return [f"{said} on {count(len(rows), 'held-out sample')}"]
    if document["data"]["labels"]:
        return [f"Accuracy {percent(accuracy(rows))} on {count(len(rows), 'held-out sample')}"]
    explained = r_squared(rows)
    said = "is not defined" if explained is None else f"= {explained:.3g}"
    return [f"R² {said} on {count(len(rows), 'held-out sample')}"]
