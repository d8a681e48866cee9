"""The parts of the page on features that matter together, or only given others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srs.report.figures.interactions import cell_plot, interaction_plot
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
from srs.report.prediction import SCORED
from srs.report.text import PAIR_KINDS, clean_name, count, number, probability, why_no_pairs

Document = Mapping[str, Any]
Row = Mapping[str, Any]
MAX_ROWS = 200
MAX_PLOTS = 4
FEW = 10  # rows that need neither search nor sorting
MAX_CONDITIONS = 50


def pairs(document: Document) -> str:
    """Features that matter together; why there are none, if that is known."""
    rows = document["outcome"].get("pairs")
    if rows is None:
        reason = why_no_pairs(document)
        return "" if reason is None else _section(paragraph(f"Pairs were not looked at: {reason}"))
    if document["data"]["n_features"] < 2:
        return ""
    if not rows:
        return _section(
            paragraph(
                f"All {_n_pairs(document)} were looked at. No pair was found in which what one "
                "feature means for the target depends on the other."
            )
        )
    caption = count(len(rows), "pair") + ", the most certain first"
    if len(rows) > MAX_ROWS:
        caption = f"The {MAX_ROWS} most certain of {len(rows):,} pairs"
    columns = _columns(document)
    drawn = [
        *[_plot(row, document) for row in rows if row.get("mean_low_low") is not None][:MAX_PLOTS],
        *[_cell_plot(row, document) for row in rows if row.get("cells")][:MAX_PLOTS],
    ]
    plots = f'<div class="small-plots">{"".join(drawn)}</div>' if drawn else ""
    return _section(
        paragraph(
            f"All {_n_pairs(document)} were looked at. In those listed, the two features tell more "
            "of the target together than each by itself: what one means depends on the other. Two "
            "features that merely both have an effect, or go along with each other, are no pair."
        ),
        plots,
        data_table(
            caption, columns, [_cells(row) for row in rows[:MAX_ROWS]], interactive=len(rows) > FEW
        ),
        glossary(columns),
    )


def _section(*parts: str) -> str:
    return section("pairs", "Features that matter together", *parts)


def _n_pairs(document: Document) -> str:
    n = document["data"]["n_features"]
    return f"{count(n * (n - 1) // 2, 'pair')} of features"


def _is_share(document: Document) -> bool:
    """Whether means of a pair are shares; of two classes given covariates they are residuals."""
    labels = document["data"]["labels"]
    return bool(labels) and not (len(labels) == 2 and document["settings"].get("covariates"))


def outcome_name(document: Document) -> str:
    """What the mean target of a pair is."""
    labels = document["data"]["labels"]
    if labels:
        pairs = document["outcome"].get("pairs") or [{}]
        group = pairs[0].get("cells", {}).get("group")  # which earlier versions do not tell
        beyond = "" if _is_share(document) else " beyond what the covariates tell"
        return f"share of {clean_name(group or labels[-1])}{beyond}"
    target = clean_name(document["data"]["target"])
    if document["data"]["target_kind"] in SCORED:
        return f"mean score residual of {target}"
    return f"mean of {target}"


def _columns(document: Document) -> list[Column]:
    what = f"difference that the upper half of the feature makes to the {outcome_name(document)}"
    return [
        Column("feature", numeric=False),
        Column("partner", "the other feature of the pair", numeric=False),
        Column("what the feature does", "how its effect depends on the partner", numeric=False),
        Column("p", "probability of so much without an interaction"),
        Column("q", "smallest false discovery rate at which the pair is listed, among all pairs"),
        Column("at the lower end", f"{what}, in the lower half of the partner"),
        Column("at the upper end", f"{what}, in the upper half of the partner"),
    ]


def _cells(row: Row) -> list[Cell]:
    return [
        Cell(name(row["name"])),
        Cell(name(row["partner"])),
        Cell(prose(PAIR_KINDS[row["kind"]])),
        Cell(prose(probability(row["p_value"])), row["p_value"]),
        Cell(prose(probability(row["q_value"])), row["q_value"]),
        *(
            Cell("–") if row[end] is None else Cell(prose(signed(row[end])), row[end])
            for end in ("low", "high")
        ),
    ]


def signed(value: float) -> str:
    """
    >>> signed(0.4213), signed(-0.5)
    ('+0.421', '−0.5')
    """
    return f"{'−' if value < 0 else '+'}{number(abs(value))}"


def _plot(row: Row, document: Document) -> str:
    what = outcome_name(document)
    plot = interaction_plot(row, what, share=_is_share(document))
    return figure(plot, f"{name(row['name'])} with {name(row['partner'])}")


def _cell_plot(row: Row, document: Document) -> str:
    group = row["cells"]["group"]
    target = clean_name(document["data"]["target"])
    what = f"mean of {target}" if group is None else f"share of {clean_name(group)}"
    plot = cell_plot(row, what)
    return figure(plot, f"{name(row['name'])} with {name(row['partner'])}") if plot else ""


def conditions(document: Document) -> str:
    """Features that were found only given others."""
    rows = document["outcome"].get("conditions", ())
    if not rows:
        return ""
    columns = [
        Column("feature", numeric=False),
        Column("given", "within whose lower and upper halves it tells most", numeric=False),
        Column("p", "probability of so much by chance, among all conditions that were tried"),
    ]
    shown = [
        [
            Cell(name(row["name"])),
            Cell(" and ".join(name(one) for one in row["given"])),
            Cell(prose(probability(row["p_value"])), row["p_value"]),
        ]
        for row in rows[:MAX_CONDITIONS]
    ]
    caption = count(len(rows), "feature")
    if len(rows) > MAX_CONDITIONS:
        caption = f"The first {MAX_CONDITIONS} of {caption}"
    return section(
        "conditions",
        "Found only given others",
        paragraph(
            "These relevant features tell nothing of the target by themselves, nor with a single "
            "partner. Trees found them after splits on others."
        ),
        data_table(caption, columns, shown, interactive=False),
    )
