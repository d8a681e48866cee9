"""The part of the page on effects of relevant features: estimates with intervals, profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from srs.report.figures.effects import forest_plot, interval_text, profile_plot
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
from srs.report.text import clean_name, count, number, probability, surest_first

Document = Mapping[str, Any]
Row = Mapping[str, Any]
MAX_BARS = 25
MAX_PROFILES = 12
MAX_ROWS = 300
FEW = 10


def effects(document: Document) -> str:
    """How large the effects of relevant features are; "" if the result does not say."""
    outcome = document["outcome"]
    rows = outcome.get("effects")
    if not rows:
        return ""
    rows = _in_order(rows, document)
    groups = list(dict.fromkeys(row["group"] for row in rows))
    told = outcome["measure"]
    words = _words(document, rows)
    shown = [
        {**row, "label": _label(row, many=len(groups) > 1)}
        for row in rows
        if row["estimate"] is not None
    ][:MAX_BARS]
    plots = ""
    if shown:
        title = _axis_title(told, shown)
        plots = figure(
            forest_plot(shown, title, is_ratio=told["is_ratio"]),
            prose(f"Effects of the {len(shown)} most certain features, with 95 % intervals"),
        )
    columns = _columns(document, rows, many=len(groups) > 1)
    caption = f"Effects of {count(len({row['feature_id'] for row in rows}), 'relevant feature')}"
    parts = [
        paragraph(words),
        paragraph(
            "Each feature is looked at alone, in the samples that it was found in. Effects of "
            "features that were chosen because they stand out are somewhat too large on average: "
            "expect less in new samples.",
            "quiet",
        ),
        plots,
        _profiles(document, rows),
        data_table(
            caption,
            columns,
            [_cells(row, columns) for row in rows[:MAX_ROWS]],
            interactive=len(rows) > FEW,
        ),
        '<p>All of them, with more columns, are in <a href="effects.parquet">effects.parquet</a> '
        'and <a href="profiles.parquet">profiles.parquet</a>.</p>',
        glossary(columns),
    ]
    return section("effects", "How large the effects are", *parts)


def _label(row: Row, *, many: bool) -> str:
    allele = f" ({row['effect_allele']})" if row.get("effect_allele") else ""
    return f"{row['name']}{allele}" + (f", {row['group']}" if many else "")


def _in_order(rows: Sequence[Row], document: Document) -> list[Row]:
    rank = {row["feature_id"]: at for at, row in enumerate(surest_first(document))}
    return sorted(rows, key=lambda row: rank.get(row["feature_id"], len(rank)))


def _words(document: Document, rows: Sequence[Row]) -> str:
    told, target = document["outcome"]["measure"], clean_name(document["data"]["target"])
    steps = list(dict.fromkeys(row["per"] for row in rows if row["per"]))
    steps_said = " or ".join(f"one {step}" for step in steps) or "one unit"
    groups = list(dict.fromkeys(row["group"] for row in rows))
    group = clean_name(groups[0]) if len(groups) == 1 and groups[0] else "a class"
    meaning = told["meaning"].format(group=group, target=target, step=f"{steps_said} of a feature")
    said = f"{told['measure'].capitalize()}: {meaning}."
    if any(row["scale"] == "ranks" for row in rows):
        said += (
            " Values of some features could not be read again; their effects are those of ranks, "
            "per standard deviation of these."
        )
    if told["adjusted"]:
        said += f" Adjusted for {', '.join(map(clean_name, told['adjusted']))}."
    return said


def _axis_title(told: Mapping[str, Any], rows: Sequence[Row]) -> str:
    steps = list(dict.fromkeys(row["per"] for row in rows))
    groups = list(dict.fromkeys(row["group"] for row in rows))
    of = f" of {clean_name(groups[0])}" if len(groups) == 1 and groups[0] else ""
    scale = " (log scale)" if told["is_ratio"] else ""
    return f"{told['measure']}{of} per {' or '.join(steps)}{scale}"


def _columns(document: Document, rows: Sequence[Row], *, many: bool) -> list[Column]:
    told = document["outcome"]["measure"]
    columns = [Column("feature", numeric=False)]
    if many:
        columns.append(Column("class", "the class that the row is about", numeric=False))
    columns += [
        *(
            [Column("allele", "the counted one, and the other", numeric=False)]
            if any(row.get("effect_allele") for row in rows)
            else []
        ),
        Column(told["measure"], "estimate and its interval of 95 % confidence"),
        Column("per", "what the estimate is per; in units of the feature", numeric=False),
        Column("p", "probability of such an effect without one; not corrected for many features"),
    ]
    if any(row["deviations"] is not None for row in rows):
        columns += [
            Column("difference in SD", "difference of means between the class and the others"),
            Column("AUC", "chance that a sample of the class has more of it than another one"),
        ]
    if any(row.get("frequency") is not None for row in rows):
        columns.append(Column("frequency", "of the counted allele"))
    columns.append(Column("n", "samples with a value"))
    if any(row["note"] for row in rows):
        columns.append(Column("note", numeric=False))
    return columns


def _cells(row: Row, columns: Sequence[Column]) -> list[Cell]:
    def interval(key: str) -> Cell:
        ends = {"estimate": row[key], "low": row[f"{key}_low"], "high": row[f"{key}_high"]}
        return Cell(prose(interval_text(ends)), row[key] if row[key] is not None else None)

    step = row["per"] or "–"
    if row["per"] == "standard deviation":
        step = f"SD ({number(row['step'])})" if row["step"] is not None else "SD of ranks"
    known = {
        "feature": lambda: Cell(name(row["name"])),
        "allele": lambda: Cell(
            name(
                f"{row['effect_allele']} / {row['other_allele']}" if "effect_allele" in row else ""
            )
        ),
        "class": lambda: Cell(name(row["group"])),
        "per": lambda: Cell(prose(step)),
        "p": lambda: Cell("–" if row["p_value"] is None else prose(probability(row["p_value"]))),
        "difference in SD": lambda: interval("deviations"),
        "AUC": lambda: interval("auc"),
        "frequency": lambda: Cell(
            "–" if row.get("frequency") is None else f"{row['frequency']:.3f}"
        ),
        "n": lambda: Cell(f"{row['n']:,}", row["n"]),
        "note": lambda: Cell(prose(row["note"] or "")),
    }
    return [
        known[column.title]()
        if column.title in known
        else Cell(prose(interval_text(row)), row["estimate"])
        for column in columns
    ]


def _profiles(document: Document, rows: Sequence[Row]) -> str:
    """Small plots of the most certain features; of many classes, the one it tells most of."""
    told = document["outcome"]["measure"]
    best: dict[int, Row] = {}
    for row in rows:
        now = best.get(row["feature_id"])
        if now is None or abs(row["beta"] or 0.0) > abs(now["beta"] or 0.0):
            best[row["feature_id"]] = row
    plots = []
    for feature_id, row in list(best.items())[:MAX_PROFILES]:
        levels = [
            one
            for one in document["outcome"]["profiles"]
            if one["feature_id"] == feature_id and one["group"] == row["group"]
        ]
        if levels:
            what = told["outcome"].format(
                group=clean_name(row["group"] or ""), target=clean_name(document["data"]["target"])
            )
            plot = profile_plot(
                levels, what, is_share=told["is_share"], allele=row.get("effect_allele")
            )
            plots.append(figure(plot))
    if not plots:
        return ""
    words = paragraph(
        "The target by levels of a feature, or by fifths of the samples, with 95 % intervals:"
    )
    return f'{words}<div class="small-plots">{"".join(plots)}</div>'
