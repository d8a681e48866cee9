"""The page of many targets: how many features each has, and a heat map of targets by features."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from srs.report.markup import Cell, Column, data_table, name, page, paragraph, prose, section, text
from srs.report.style import CSS, SCRIPT
from srs.report.text import count, duration, number

MOST_FEATURES = 100  # columns of the heat map, those of most targets first
MOST_TARGETS = 200  # and rows
DARKEST = 10.0  # -log10 of the q-value from which on shades are full
HEAT_CSS = """
.heat { width: auto; }
.heat th { font-size: .75rem; min-width: 0; padding: .1rem .4rem .1rem 0; white-space: nowrap; }
.heat thead th { vertical-align: bottom; }
.heat thead span { writing-mode: vertical-rl; transform: rotate(180deg); max-height: 11rem;
  overflow: hidden; }
.heat td { width: 1.1rem; min-width: 1.1rem; height: 1.1rem; padding: 0; text-align: center;
  font-size: .7rem; border: 1px solid var(--rule); }
.heat .relevant { outline: 2px solid var(--ink); outline-offset: -2px; }
"""


def render_many(
    summary: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    link: Callable[[Mapping[str, Any]], str | None],
) -> str:
    """The page.

    summary  one row a target, see `srs.results.many.ManyResults.summary`
    rows     the overview: one row a target and feature
    link     address of the report of a row of the summary; None: it has none
    """
    n_found = len({row["feature_id"] for row in rows if row["verdict"] == "RELEVANT"})
    title = f"{count(n_found, 'relevant feature')} of {count(len(summary), 'target')}"
    header = f"<header><h1>{prose(title)}</h1></header>"
    body = "\n".join(part for part in (_targets(summary, link), _heat(summary, rows)) if part)
    return page(title, CSS + HEAT_CSS, header, body, SCRIPT)


def _targets(
    summary: Sequence[Mapping[str, Any]], link: Callable[[Mapping[str, Any]], str | None]
) -> str:
    columns = [
        Column("target", numeric=False),
        Column("relevant", "Number of relevant features."),
        Column("samples", "Samples that have a value of the target."),
        Column("trees"),
        Column("time", "Wall time of the run."),
        Column("features", "The first relevant features.", numeric=False),
    ]
    return section(
        "targets",
        "Targets",
        data_table(
            "One row per target; its name leads to its report.",
            columns,
            [_target_row(row, link(row)) for row in summary],
            interactive=True,
        ),
    )


def _target_row(row: Mapping[str, Any], address: str | None) -> list[Cell]:
    if row["error"] is not None:
        empty = [Cell("", -1.0)] * 4
        return [Cell(name(row["target"])), *empty, Cell(prose(f"no result: {row['error']}"))]
    shown = name(row["target"])
    if address is not None:
        shown = f'<a href="{text(address)}">{shown}</a>'
    names = row["relevant"]
    some = ", ".join(name(one) for one in names[:5]) + (", …" if len(names) > 5 else "")
    return [
        Cell(shown),
        Cell(number(row["n_relevant"]), float(row["n_relevant"])),
        Cell(number(row["n_samples"]), float(row["n_samples"])),
        Cell(number(row["n_trees"]), float(row["n_trees"])),
        Cell(prose(duration(row["seconds"])), float(row["seconds"])),
        Cell(some),
    ]


def _heat(summary: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> str:
    relevant = [row for row in rows if row["verdict"] == "RELEVANT"]
    if not relevant:
        return ""
    counts = Counter(row["feature_id"] for row in relevant)
    best: dict[int, float] = {}
    for row in relevant:
        best[row["feature_id"]] = min(row["q_value"], best.get(row["feature_id"], 1.0))
    ranked = sorted(counts, key=lambda one: (-counts[one], best[one], one))
    features = sorted(ranked[:MOST_FEATURES])
    names = {row["feature_id"]: row["name"] for row in relevant}
    cells = {(row["target"], row["feature_id"]): row for row in rows}
    done = [row["target"] for row in summary if row["error"] is None]
    targets = done[:MOST_TARGETS]
    heads = "".join(
        f'<th scope="col"><span>{name(names[feature])}</span></th>' for feature in features
    )
    lines = []
    for target in targets:
        line = "".join(_cell(target, names[one], cells.get((target, one))) for one in features)
        lines.append(f'<tr><th scope="row">{name(target)}</th>{line}</tr>')
    left = []
    if len(ranked) > len(features):
        left.append(f"the {len(features)} features that are relevant for most targets")
    if len(done) > len(targets):
        left.append(f"the first {len(targets)} targets")
    shown = f"It shows {' and '.join(left)}; overview.csv has all. " if left else ""
    table = (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Targets by features">'
        f'<table class="heat"><thead><tr><th scope="col">target</th>{heads}</tr></thead>\n'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )
    about = (
        f"{shown}The darker, the smaller the q-value of the feature for the target; framed where "
        "it is relevant. The error rate holds for the list of each target."
    )
    return section("heat", "Targets by features", paragraph(about), table)


def _cell(target: str, feature: str, row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "<td></td>"
    q = row["q_value"]
    share = min(1.0, -math.log10(max(q, 1e-300)) / DARKEST)
    css = ' class="relevant"' if row["verdict"] == "RELEVANT" else ""
    said = text(f"{feature} for {target}: q = {number(q)}, {row['verdict'].lower()}")
    shade = f"background:color-mix(in srgb, var(--fill) {100 * share:.0f}%, transparent)"
    return f'<td{css} style="{shade}" title="{said}"></td>'
