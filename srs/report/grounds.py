"""The part of the page that says what the verdicts rest on: rule, kinds, promise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from srs.evidence.registry import evidence_kinds
from srs.report.markup import Cell, Column, data_table, name, paragraph, prose, section
from srs.report.text import clean_text, is_paper, number, percent, promise

Document = Mapping[str, Any]

_COLUMNS = (
    Column("kind of evidence", numeric=False),
    Column("what it sees", numeric=False),
    Column("weight"),
    Column("where its p-values come from", numeric=False),
)
_COMBINED = (
    "Each kind of evidence gives a p-value. The combined p-value is theirs by the Cauchy rule: "
    "p-values become numbers that grow as p gets small, and their weighted mean becomes a p-value "
    "again. It may be used although the kinds look at the same samples, and kinds that agree make "
    "a feature more certain. Weights start from fixed shares; where a kind finds many features, "
    "more weight goes to it."
)
_RULE = {
    "tail": _COMBINED,
    "knockoff": "The knockoff+ filter was requested: a feature must exceed its own probe by "
    "more than a threshold, beyond which few probes exceed their features. It needs "
    "no tail, and cannot select fewer features than one over the rate. p-values and "
    "q-values are those of the other rule, for comparison.",
    "paper": "The rule of the paper was requested: the share of draws in which the feature "
    "beats a new random probe. It has no null distribution, so there are no p-values "
    "in the usual sense.",
}
_NAMES = {"tail": "The rule by p-values", "knockoff": "The knockoff+ filter"}
_DEPENDENCE = (
    "Where many features follow a common factor (a batch, ancestry, cell composition), false "
    "features come together: most lists then have none, and a few have many."
)


def grounds(document: Document) -> str:
    about = document["outcome"]["grounds"]
    parts = [paragraph(_RULE[about["rule"]])]
    if about["kinds"]:
        rows = [
            [
                Cell(f"<strong>{name(kind['kind'])}</strong>"),
                Cell(prose(_sees(kind["kind"]))),
                Cell(percent(kind["weight"]), kind["weight"]),
                Cell(prose(_source(kind))),
            ]
            for kind in about["kinds"]
        ]
        parts.append(data_table("Kinds of evidence", _COLUMNS, rows, interactive=False))
    parts.append(_left_out(about.get("left_out", ())))
    if about["second_opinion"] is not None:
        parts.append(paragraph(second_opinion(about["second_opinion"], document)))
    parts += [f"<h3>What the list promises</h3>{paragraph(one)}" for one in _promises(document)]
    return section("grounds", "Grounds of the verdicts", *parts)


def _sees(kind: str) -> str:
    known = evidence_kinds().get(kind)  # a result may be of a kind that is not installed here
    return "" if known is None else known.sees


def _source(kind: Mapping[str, Any]) -> str:
    if not kind["n_feature_classes"]:
        return "a test of its own, without probes"
    return f"probes of like features; beyond the largest one {_tails(kind)}"


def _left_out(kinds: Sequence[Mapping[str, Any]]) -> str:
    if not kinds:
        return ""
    items = "".join(
        f"<li><strong>{name(one['kind'])}</strong>: {prose(clean_text(one['reason']))}</li>"
        for one in kinds
    )
    return f"<p>Kinds of evidence that took no part:</p><ul>{items}</ul>"


def _promises(document: Document) -> list[str]:
    """The promise in plain words; paper mode has none."""
    if is_paper(document):
        return []
    settings = document["settings"]
    if settings.get("n_features") is not None:
        return [
            f"{promise(document)} A q-value is the false discovery rate of a list that ends at "
            "this feature."
        ]
    if settings.get("guarantee") == "confident":
        more = "The confidence for this list does not hold if features are strongly dependent."
    else:
        more = 'A single list may have more than that; guarantee="confident" bounds it, too.'
    return [f"{promise(document)} {more} {_DEPENDENCE}"]


def second_opinion(opinion: Mapping[str, Any], document: Document) -> str:
    n_listed = document["outcome"]["verdicts"]["RELEVANT"]
    rule = _NAMES[opinion["rule"]]
    if not opinion["n_relevant"] and opinion["n_needed"] > 1:
        return (
            f"{rule}, as a second opinion, selects nothing; at this rate it can only select "
            f"{opinion['n_needed']} features or more."
        )
    return (
        f"{rule}, as a second opinion, selects {number(opinion['n_relevant'])} features, of "
        f"which {number(opinion['n_agreed'])} are among the {number(n_listed)} in the list."
    )


def _tails(kind: Mapping[str, Any]) -> str:
    fitted, feature_classes = kind["n_fitted"], kind["n_feature_classes"]
    if fitted == feature_classes:
        return f"a fitted tail (shape up to {kind['heaviest_shape']:.2g})"
    if not fitted:
        return "ranks, because no tail fits the probes"
    return f"a fitted tail in {fitted} of {feature_classes} classes, ranks in the others"
