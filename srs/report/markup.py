"""Pieces of HTML: elements with escaped content, tables, lists of facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from srs.report.text import clean_name


def text(value: object) -> str:
    """Anything as HTML text, safe inside elements and quoted attributes."""
    return escape(clean_name(str(value)), quote=True)


def prose(sentence: str) -> str:
    """A sentence of ours, of any length, as HTML text."""
    return escape(sentence, quote=True)


def name(value: str) -> str:
    """A name from the data. `bdi` keeps right-to-left names from reordering their neighbours."""
    return f"<bdi>{text(value)}</bdi>"


def paragraph(sentence: str, css: str = "") -> str:
    kind = f' class="{css}"' if css else ""
    return f"<p{kind}>{prose(sentence)}</p>"


def section(anchor: str, title: str, *parts: str) -> str:
    body = "\n".join(part for part in parts if part)
    return (
        f'<section id="{anchor}" aria-labelledby="{anchor}-title">\n'
        f'<h2 id="{anchor}-title">{prose(title)}</h2>\n{body}\n</section>'
    )


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    html   what is shown
    value  what the column is sorted by; None: the shown text
    """

    html: str
    value: float | None = None


@dataclass(frozen=True)
class Column:
    """One column of a table.

    title    its heading
    meaning  one sentence, shown on hovering and listed below the table
    numeric  whether it is aligned and sorted as numbers
    """

    title: str
    meaning: str = ""
    numeric: bool = True


def data_table(
    caption: str, columns: Sequence[Column], rows: Iterable[Sequence[Cell]], *, interactive: bool
) -> str:
    """A table whose first column names its rows; an interactive one gets sorting and a search."""
    heads = "".join(_head(column) for column in columns)
    body = "\n".join(_row(columns, row) for row in rows)
    css = "data interactive" if interactive else "data"
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{prose(caption)}">'
        f'<table class="{css}"><caption>{prose(caption)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _head(column: Column) -> str:
    css = ' class="num"' if column.numeric else ""
    hint = f' title="{prose(column.meaning)}"' if column.meaning else ""
    return f'<th scope="col"{css}{hint}>{prose(column.title)}</th>'


def _row(columns: Sequence[Column], row: Sequence[Cell]) -> str:
    cells = []
    for at, (column, cell) in enumerate(zip(columns, row, strict=True)):
        tag = "th" if at == 0 else "td"
        scope = ' scope="row"' if at == 0 else ""
        css = ' class="num"' if column.numeric else ""
        value = "" if cell.value is None else f' data-v="{cell.value!r}"'
        cells.append(f"<{tag}{scope}{css}{value}>{cell.html}</{tag}>")
    return f"<tr>{''.join(cells)}</tr>"


def glossary(columns: Sequence[Column]) -> str:
    """What the columns mean, for readers without a mouse and for print."""
    terms = "".join(
        f"<dt>{prose(c.title)}</dt><dd>{prose(c.meaning)}</dd>" for c in columns if c.meaning
    )
    return (
        f'<details><summary>What the columns mean</summary><dl class="terms">{terms}</dl></details>'
    )


def facts(caption: str, rows: Iterable[tuple[str, str]]) -> str:
    """A table of two columns; the second one is HTML already."""
    body = "\n".join(
        f'<tr><th scope="row">{prose(key)}</th><td>{value}</td></tr>' for key, value in rows
    )
    return (
        f'<div class="scroll"><table class="facts"><caption>{prose(caption)}</caption>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def figure(svg: str, caption: str = "") -> str:
    """A plot below its caption, which is HTML already."""
    plot = f'<div class="plot">{svg}</div>'
    words = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f"<figure>{words}{plot}</figure>"


def page(title: str, css: str, header: str, body: str, script: str) -> str:
    """A whole page that needs nothing from outside; all but the title is markup."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{prose(title)}</title>
<style>{css}</style>
</head>
<body>
{header}
<main>
{body}
</main>
<script>{script}</script>
</body>
</html>
"""
