"""How objects show themselves in notebooks: a small card with facts, and perhaps a table.

Colours and fonts are those of the notebook, light or dark: nothing here sets a background. Pages
for a browser are `srs.report`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

__all__ = ["card"]

RULE = "border-bottom:1px solid color-mix(in srgb,currentColor 25%,transparent)"
QUIET = "color:color-mix(in srgb,currentColor 65%,transparent)"
MOST_ROWS = 10


def card(
    title: str,
    facts: Mapping[str, object],
    columns: Sequence[str] = (),
    rows: Sequence[Sequence[object]] = (),
) -> str:
    """HTML of a card: a title, facts beside their names, and the first rows of a table.

    >>> "&lt;b&gt;" in card("Result", {"target": "<b>"})
    True
    """
    parts = [
        '<div style="font:inherit;line-height:1.45;max-width:52em">',
        f"<div><strong>{escape(title)}</strong></div>",
        _facts(facts),
    ]
    if rows:
        parts.append(_table(columns, rows[:MOST_ROWS]))
        if len(rows) > MOST_ROWS:
            parts.append(f'<div style="{QUIET}">… and {len(rows) - MOST_ROWS:,} more</div>')
    return "".join([*parts, "</div>"])


def _facts(facts: Mapping[str, object]) -> str:
    pairs = (
        f'<span style="{QUIET}">{escape(key)}</span><span style="overflow-wrap:anywhere">'
        f"{escape(str(value))}</span>"
        for key, value in facts.items()
        if value not in (None, "")
    )
    grid = "display:grid;grid-template-columns:max-content 1fr;gap:0 1em"
    return f'<div style="{grid}">{"".join(pairs)}</div>'


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    cell = f"padding:.1em .9em .1em 0;text-align:left;background:none;{RULE}"
    head = "".join(f'<th style="{cell}">{escape(name)}</th>' for name in columns)
    body = "".join(
        "<tr>" + "".join(f'<td style="{cell}">{escape(str(v))}</td>' for v in row) + "</tr>"
        for row in rows
    )
    style = "border-collapse:collapse;margin-top:.5em"
    return f'<table style="{style}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
