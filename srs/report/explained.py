"""Explanations: one section an analysis, each a chart, words, and its numbers.

They are part of the page of the run whose features they explain, or a page of their own. Reads the
document that `srs.explain.run` writes as explain.json, and how each analysis is shown from
`srs.catalogue`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from srs.catalogue import Analysis, find_analyses
from srs.report.figures import charts
from srs.report.figures.plots import shorten
from srs.report.markup import (
    Cell,
    Column,
    data_table,
    figure,
    name,
    page,
    paragraph,
    prose,
    section,
)
from srs.report.style import CSS, SCRIPT
from srs.report.text import clean_name, count, number, probability

Document = Mapping[str, Any]
Row = Mapping[str, Any]
COMMON = ("feature", "part", "value", "error", "null", "p_value", "q_value", "label")
MAX_BARS, MAX_LINKS, MAX_ROWS, MAX_CONTEXT_FEATURES, MAX_CONTEXT_PLOTS = 40, 60, 1000, 25, 6

UMFI_MDI = "UMFI against MDI"


def render_explanation(document: Document) -> str:
    """An explanation by itself as one HTML page that needs nothing from outside."""
    header = f"""<header>
<p class="eyebrow">Sequential Random Subspace: explain</p>
<h1>{prose(headline(document))}</h1>
</header>"""
    body = "\n".join(explanation_parts(document))
    return page(headline(document), CSS + charts.CHART_CSS, header, body, SCRIPT)


def headline(document: Document) -> str:
    n = document["data"]["n_features"]
    return f"Why {count(n, 'feature')} {'matters' if n == 1 else 'matter'}"


def explanation_parts(document: Document) -> list[str]:
    """The sections of an explanation: what was looked at, then one an analysis."""
    analyses = {analysis["name"]: analysis for analysis in document["analyses"]}
    notices = document["data"]["notices"]
    parts = [_section(analysis, notices) for analysis in analyses.values()]
    titles = {key: _described(key).title for key in analyses}
    if "umfi" in analyses and "mdi" in analyses:
        parts.append(_umfi_against_mdi(analyses["umfi"]["rows"], analyses["mdi"]["rows"]))
        titles["umfi-mdi"] = UMFI_MDI
    return [_contents(document, titles), *parts]


def _contents(document: Document, titles: Mapping[str, str]) -> str:
    data = document["data"]
    about = f"{count(data['n_samples'], 'sample')}, {count(data['n_features'], 'feature')}"
    if data["target"] is not None:
        about = f"Target “{name(data['target'])}” ({prose(data['target_kind'])}), {prose(about)}"
    links = "".join(
        f'<li><a href="#{key}">{prose(title)}</a></li>' for key, title in titles.items()
    )
    return section(
        "explained",
        "Why they matter",
        f'<p class="about">{about}</p>',
        _listed(data["notices"]),
        f'<ul class="contents">{links}</ul>',
    )


def _described(key: str) -> Analysis:
    """The descriptor of an analysis; one of a package that is gone by its name and with bars."""
    found = find_analyses().get(key)
    return found or Analysis(name=key, title=key, question="", run="")


def _section(analysis: Document, notices: Sequence[str]) -> str:
    kind = _described(analysis["name"])
    rows = analysis["rows"]
    parts = (
        paragraph(kind.section.meaning),
        CHARTS[kind.section.chart](kind, rows),
        _listed([note for note in analysis["notes"] if note not in notices]),
        _made_with(analysis["settings"]),
        _numbers(kind, rows),
    )
    return section(kind.name, kind.title, *parts)


def _listed(sentences: Sequence[str]) -> str:
    items = "".join(f"<li>{prose(sentence)}</li>" for sentence in sentences)
    return f'<ul class="notes">{items}</ul>' if items else ""


def _made_with(settings: Document) -> str:
    """The settings of an analysis in one line."""
    shown = [
        f"{value:,} {key.removeprefix('n_').replace('_', ' ')}"
        if key.startswith("n_")
        else f"{key.replace('_', ' ')} {str(value).lower() if isinstance(value, bool) else value}"
        for key, value in settings.items()
        if isinstance(value, (int, float, str))
    ]
    words = ", ".join(shown)
    return paragraph(f"{words[0].upper()}{words[1:]}.", "quiet") if shown else ""


def _changed_links(kind: Analysis, rows: Sequence[Row]) -> str:
    """The links that a context changes, a drawing each for the contexts that change most."""
    changed: dict[str, list[Row]] = {}
    for row in sorted((r for r in rows if r["label"]), key=lambda r: r["p_value"]):
        changed.setdefault(row["context"], []).append(row)
    if not changed:
        return paragraph(kind.section.nothing)
    drawn = []
    for context, some in list(changed.items())[:MAX_CONTEXT_PLOTS]:
        links = [
            (r["feature"], r["target"], r["value"], r["label"] == "weaker")
            for r in some[:MAX_LINKS]
        ]
        title = f"{kind.title}: {context}"
        drawn.append(
            figure(charts.network_plot(links, True, title), f"In the context “{name(context)}”")
        )
    return "".join(drawn)


def _links(kind: Analysis, rows: Sequence[Row]) -> str:
    """The strongest links, as arrows or as lines; words where there is nothing to draw."""
    if kind.section.nothing and not any(r["value"] > 0 for r in rows):
        return paragraph(kind.section.nothing)
    n_nodes = len({r["feature"] for r in rows} | {r["part"] for r in rows})
    shown = rows[: min(MAX_LINKS, max(10, 2 * n_nodes))]
    links = [(r["feature"], r["part"], r["value"], False) for r in shown if r["value"] > 0]
    return figure(charts.network_plot(links, kind.section.chart == "links", kind.title))


def _bars(kind: Analysis, rows: Sequence[Row]) -> str:
    best = sorted(rows, key=lambda r: -(r["value"] or 0.0))[:MAX_BARS]
    return figure(charts.error_bars([_bar(r) for r in best], kind.title))


def _bar(row: Row) -> charts.Bar:
    p, note = row["p_value"], ""
    if p is not None:
        note = f"p {probability(p)}" + (" *" if p < 0.05 else "")
    if row["label"] not in (None, "significant", "independent"):
        note += f" {row['label']}"
    return charts.Bar(
        name=row["feature"],
        value=row["value"] or 0.0,
        error=row["error"],
        null=row["null"],
        spread=row.get("null_spread"),
        note=note,
    )


def _groups(kind: Analysis, rows: Sequence[Row]) -> str:
    """A group of bars a feature, one for each part, the smallest p-values first."""
    parts = list(dict.fromkeys(r["part"] for r in rows))
    by_feature: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_feature.setdefault(row["feature"], {})[row["part"]] = row
    order = sorted(by_feature, key=lambda f: min(r["p_value"] for r in by_feature[f].values()))
    groups = [
        (feature, [_bar(by_feature[feature][part]) for part in parts])
        for feature in order[:MAX_CONTEXT_FEATURES]
    ]
    return figure(charts.grouped_bars(groups, parts, kind.title))


def _heat_map(kind: Analysis, rows: Sequence[Row]) -> str:
    classes = list(dict.fromkeys(r["part"] for r in rows))
    values = {(r["feature"], r["part"]): r["value"] or 0.0 for r in rows}
    features = dict.fromkeys(r["feature"] for r in rows)
    best = sorted(features, key=lambda f: -max(values[f, c] for c in classes))[:MAX_BARS]
    table = [[values[feature, c] for c in classes] for feature in best]
    return figure(charts.heat_map(best, classes, table, kind.title))


CHARTS: Mapping[str, Callable[[Analysis, Sequence[Row]], str]] = {
    "bars": _bars,
    "groups": _groups,
    "heat-map": _heat_map,
    "links": _links,
    "pairs": _links,
    "changed-links": _changed_links,
}


def _umfi_against_mdi(umfi: Sequence[Row], mdi: Sequence[Row]) -> str:
    known = {row["feature"]: row["value"] for row in mdi}
    rows = [(r["feature"], known[r["feature"]], r["value"]) for r in umfi if r["feature"] in known]
    cells = [[_cell("feature", label), _cell("mdi", a), _cell("umfi", b)] for label, a, b in rows]
    columns = [Column("feature", numeric=False), Column("mdi"), Column("umfi")]
    table = data_table(f"{UMFI_MDI}: {count(len(rows), 'row')}", columns, cells, interactive=True)
    return section(
        "umfi-mdi",
        UMFI_MDI,
        paragraph(
            "High in UMFI and low in MDI: features that share information with others. MDI is "
            "divided among such features."
        ),
        figure(
            charts.labelled_points(
                rows, "mean decrease of impurity", "ultra-marginal importance", UMFI_MDI
            )
        ),
        f"<details><summary>The numbers</summary>{table}</details>",
    )


def _numbers(kind: Analysis, rows: Sequence[Row]) -> str:
    """The table behind a chart, one click away."""
    if not rows:
        return ""
    title = kind.title
    shown_keys = (*COMMON, *kind.section.columns) if kind.section.columns else tuple(rows[0])
    keys = [k for k in rows[0] if k in shown_keys and any(row[k] is not None for row in rows)]
    texts = {key for key in keys if any(isinstance(row[key], str) for row in rows)}
    columns = [Column(key, numeric=key not in texts) for key in keys]
    cells = [[_cell(key, row[key]) for key in keys] for row in rows[:MAX_ROWS]]
    shown = min(len(rows), MAX_ROWS)
    caption = f"{title}: {count(len(rows), 'row')}"
    if shown < len(rows):
        caption = f"{title}: the first {shown:,} of {len(rows):,} rows"
    link = f'<p>All rows: <a href="{kind.name}.parquet">{kind.name}.parquet</a>.</p>'
    table = data_table(caption, columns, cells, interactive=True)
    return f"<details><summary>The numbers</summary>{link}{table}</details>"


def _cell(key: str, value: Any) -> Cell:
    if value is None:
        return Cell("–", 0.0) if key not in ("part", "label", "best") else Cell("–")
    if isinstance(value, str):
        return Cell(name(value))
    if key.startswith(("p_", "q_")):
        return Cell(prose(probability(value)), float(value))
    return Cell(number(value), float(value))


def summarise_explanation(document: Document) -> str:
    """A few lines an analysis for the terminal: its strongest rows."""
    lines = [headline(document), *document["data"]["notices"]]
    for analysis in document["analyses"]:
        rows = sorted(analysis["rows"], key=_strength)[:5]
        lines.append(f"\n{_described(analysis['name']).title}")
        for row in rows:
            names = [clean_name(row[key]) for key in ("feature", "part") if row[key] is not None]
            short = [shorten(text, 40 if len(names) == 1 else 24) for text in names]
            said = f"  {' / '.join(short):<51} {number(row['value'] or 0.0):>10}"
            said += "" if row["p_value"] is None else f"  p {probability(row['p_value'])}"
            lines.append(said + ("" if row["label"] is None else f"  {row['label']}"))
    return "\n".join(lines) + "\n"


def _strength(row: Row) -> tuple[float, float]:
    p = 1.0 if row["p_value"] is None else row["p_value"]
    return p, -(row["value"] or 0.0)
