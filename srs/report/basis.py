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
    Column("p-values beyond the probes", numeric=False),
)
_RULE = {
    "tail": "Each feature was compared with the probes of features like it, for each kind of "
    "evidence by itself. This is the default rule, because it can speak of a single feature among "
    "millions: p-values beyond the largest probes come from a tail fitted to these, which is "
    "checked; where it does not fit, they are ranks among the probes, and the table says so.",
    "knockoff": "The knockoff+ filter was asked for: a feature must lead its own probe by more "
    "than a threshold, beyond which few probes lead their features. It needs no tail, and cannot "
    "select fewer features than one over the rate. p-values and q-values are those of the other "
    "rule, for comparison.",
    "paper": "The rule of the paper was asked for: a share of draws in which the feature beats a "
    "fresh random probe. It has no null, so there are no p-values in the usual sense.",
}
_NAMES = {"tail": "The rule by p-values", "knockoff": "The knockoff+ filter"}


def basis(document: Document) -> str:
    about = document["outcome"]["basis"]
    parts = [paragraph(_RULE[about["rule"]])]
    if about["kinds"]:
        rows = [
            [
                Cell(kind["kind"]),
                Cell(percent(kind["weight"])),
                Cell(number(kind["n_strata"])),
                Cell(_tails(kind)),
            ]
            for kind in about["kinds"]
        ]
        caption = "The null of each kind of evidence"
        parts.append(data_table(caption, _COLUMNS, rows, interactive=False))
    if about["second_opinion"] is not None:
        parts.append(paragraph(second_opinion(about["second_opinion"], document)))
    return section("basis", "What the verdicts rest on", *parts)


def second_opinion(opinion: Mapping[str, Any], document: Document) -> str:
    n_listed = document["outcome"]["verdicts"]["RELEVANT"]
    name = _NAMES[opinion["rule"]]
    if not opinion["n_relevant"] and opinion["n_needed"] > 1:
        return (
            f"{name}, as a second opinion, selects nothing; at this rate it can only select "
            f"{opinion['n_needed']} features or more."
        )
    return (
        f"{name}, as a second opinion, selects {number(opinion['n_relevant'])} features, of which "
        f"{number(opinion['n_agreed'])} are among the {number(n_listed)} of the list."
    )


def _tails(kind: Mapping[str, Any]) -> str:
    fitted, strata = kind["n_fitted"], kind["n_strata"]
    if fitted == strata:
        return f"from a fitted tail (shape up to {kind['heaviest_shape']:.2g})"
    if not fitted:
        return "ranks: no tail could be fitted that describes the probes"
    return f"from a fitted tail in {fitted} of {strata} nulls, ranks in the others"
