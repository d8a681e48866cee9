"""The part of the page that says what the verdicts rest on: rule, null, second opinion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srs.report.markup import Cell, Column, data_table, paragraph, section
from srs.report.text import number, percent

Document = Mapping[str, Any]

_COLUMNS = (
    Column("kind of evidence", numeric=False),
    Column("share of the error rate"),
    Column("nulls"),
    Column("p-values beyond the largest probe", numeric=False),
)
_RULE = {
    "tail": "Each feature was compared with the probes of its feature class, for each kind of "
    "evidence separately. This is the default rule, because it can find a single "
    "feature among millions: p-values beyond the largest probes come from a tail fitted "
    "to the probes. The fit is checked; if it is not good, p-values are ranks among the "
    "probes, and the table says so.",
    "knockoff": "The knockoff+ filter was requested: a feature must exceed its own probe by "
    "more than a threshold, beyond which few probes exceed their features. It needs "
    "no tail, and cannot select fewer features than one over the rate. p-values and "
    "q-values are those of the other rule, for comparison.",
    "paper": "The rule of the paper was requested: the share of draws in which the feature "
    "beats a new random probe. It has no null distribution, so there are no p-values "
    "in the usual sense.",
}
_NAMES = {"tail": "The rule by p-values", "knockoff": "The knockoff+ filter"}


def grounds(document: Document) -> str:
    about = document["outcome"]["grounds"]
    parts = [paragraph(_RULE[about["rule"]])]
    if about["kinds"]:
        rows = [
            [
                Cell(kind["kind"]),
                Cell(percent(kind["weight"])),
                Cell(number(kind["n_feature_classes"])),
                Cell(_tails(kind)),
            ]
            for kind in about["kinds"]
        ]
        caption = "Null distribution of each kind of evidence"
        parts.append(data_table(caption, _COLUMNS, rows, interactive=False))
    if about["second_opinion"] is not None:
        parts.append(paragraph(second_opinion(about["second_opinion"], document)))
    return section("grounds", "Grounds of the verdicts", *parts)


def second_opinion(opinion: Mapping[str, Any], document: Document) -> str:
    n_listed = document["outcome"]["verdicts"]["RELEVANT"]
    name = _NAMES[opinion["rule"]]
    if not opinion["n_relevant"] and opinion["n_needed"] > 1:
        return (
            f"{name}, as a second opinion, selects nothing; at this rate it can only select "
            f"{opinion['n_needed']} features or more."
        )
    return (
        f"{name}, as a second opinion, selects {number(opinion['n_relevant'])} features, of "
        f"which {number(opinion['n_agreed'])} are among the {number(n_listed)} in the list."
    )


def _tails(kind: Mapping[str, Any]) -> str:
    fitted, feature_classes = kind["n_fitted"], kind["n_feature_classes"]
    if fitted == feature_classes:
        return f"from a fitted tail (shape up to {kind['heaviest_shape']:.2g})"
    if not fitted:
        return "ranks, because no tail fits the probes"
    return f"from a fitted tail in {fitted} of {feature_classes} classes, ranks in the others"
