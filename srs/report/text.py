"""The words and numbers that the page and the terminal share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

MOST_CERTAIN = 3  # powers of ten below the rate from which on all features are equally certain
MAX_NAME = 160  # characters of a name that are shown; a source may hold names of any length


def clean_name(name: str) -> str:
    """A name in one printable line: control characters and halves of pairs become escapes.

    >>> clean_name("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    return clean_text(name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…")


def clean_text(text: str) -> str:
    """The same of a text of any length."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def number(value: float) -> str:
    """A number with three digits, or a whole one with all of its digits.

    >>> number(1234567), number(0.012345), number(2.0), number(0)
    ('1,234,567', '0.0123', '2', '0')
    """
    if not math.isfinite(value):
        return str(value)
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.3g}"


def probability(value: float) -> str:
    """A p-value or q-value with two digits.

    >>> probability(0.04321), probability(1e-310), probability(1.0)
    ('0.043', '<1e-300', '1')
    """
    return "<1e-300" if value < 1e-300 else f"{value:.2g}"


def percent(share: float) -> str:
    """
    >>> percent(0.1), percent(0.0333), percent(1)
    ('10 %', '3.33 %', '100 %')
    """
    return f"{share * 100:.3g} %"


def duration(seconds: float) -> str:
    """
    >>> duration(0.41), duration(75), duration(7260), duration(200000)
    ('0.41 s', '1 min 15 s', '2 h 1 min', '2 d 7 h')
    """
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    whole = round(seconds)
    for size, unit, smaller, smaller_unit in (
        (86_400, "d", 3_600, "h"),
        (3_600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // smaller} {smaller_unit}"
    return f"{whole} s"


def count(n: int, noun: str) -> str:
    """
    >>> count(1, "tree"), count(1200, "tree")
    ('1 tree', '1,200 trees')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def describe_trees(
    n_trees: int, n_passes: float, n_found: int, remaining_seconds: float | None
) -> str:
    """How far a run is.

    >>> describe_trees(1200, 12.0, 3, 30.0)
    '1,200 trees, 12.0 passes, 3 found, about 30 s left'
    """
    text = f"{count(n_trees, 'tree')}, {n_passes:.1f} passes, {n_found:,} found"
    left = remaining_seconds
    return text if left is None else f"{text}, about {duration(left)} left"


def describe_stage(doing: str, n_done: int, n_steps: int, remaining_seconds: float | None) -> str:
    """How far a run is before its first tree.

    >>> describe_stage("looking at all pairs", 40, 155, 30.0)
    'looking at all pairs: 40 of 155 blocks, about 30 s left'
    """
    text = f"{doing}: {n_done:,} of {count(n_steps, 'block')}"
    left = remaining_seconds
    return text if left is None else f"{text}, about {duration(left)} left"


def direction(value: float | None) -> str:
    """How the target goes with a feature: an arrow and the strength.

    >>> direction(0.423), direction(-0.3), direction(0.0)
    ('↑ 0.42', '↓ 0.30', '–')
    """
    if not value:
        return "–"
    return f"{'↑' if value > 0 else '↓'} {abs(value):.2f}"


def direction_meaning(document: Mapping[str, Any]) -> str:
    """What an arrow up means in this run."""
    labels = document["data"]["labels"]
    survival = document["data"]["target_kind"] == "survival"
    what = "the event comes earlier" if survival else "the target is larger"
    if len(labels) == 2:
        told = document["outcome"].get("scan", {}).get("group") or labels[1]
        what = f"the class {clean_name(told)} is more frequent"
    return (
        f"↑: {what} where the feature is larger; ↓: where it is smaller. By itself, on a scale "
        "from 0 to 1; –: no direction"
    )


# What the kind of an interaction means, said of the first feature of a pair.
PAIR_KINDS = {
    "crossing": "opposite effects at the two ends of the partner",
    "strengthening": "stronger at the upper end of the partner",
    "weakening": "weaker at the upper end of the partner",
    "joint": "only in combination, without a direction",
}


def why_no_pairs(document: Mapping[str, Any]) -> str | None:
    """Why pairs were not looked at; None if they were, or if nothing is known."""
    left_out = document["outcome"]["grounds"].get("left_out", ())
    reasons = [one["reason"] for one in left_out if one["kind"] == "pairs"]
    return clean_text(reasons[0]) if reasons else None


def is_paper(document: Mapping[str, Any]) -> bool:
    return bool(document["settings"]["mode"] == "paper")


def n_relevant(document: Mapping[str, Any]) -> int:
    return int(document["outcome"]["verdicts"]["RELEVANT"])


def headline(document: Mapping[str, Any]) -> str:
    """How many features were found."""
    found, n_features = n_relevant(document), document["data"]["n_features"]
    noun = "feature" if n_features == 1 else "features"
    verb = "is" if found == 1 else "are"
    return f"{found:,} of {n_features:,} {noun} {verb} relevant"


def surest_first(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Rows of the relevant features, the most certain first, and the stronger among equals.

    q-values count in powers of ten below the rate, down to a thousandth of it. Smaller ones come
    from fitted tails, whose differences say less than the strength of a feature does.

    >>> rows = [{"q_value": q, "p_value": q, "importance": s, "name": n} for q, s, n in
    ...         [(1e-9, 0.1, "weak"), (1e-6, 0.9, "strong"), (0.05, 2.0, "unsure")]]
    >>> document = {"settings": {"mode": "default", "fdr": 0.1}, "outcome": {"relevant": rows}}
    >>> [row["name"] for row in surest_first(document)]
    ['strong', 'weak', 'unsure']
    """
    rows: list[Mapping[str, Any]] = document["outcome"]["relevant"]
    if is_paper(document):
        return sorted(rows, key=lambda r: (r["p_value"], -r["importance"]))
    fdr = document["settings"]["fdr"]

    def key(row: Mapping[str, Any]) -> tuple[int, float, float, float]:
        below = math.log10(max(row["q_value"], 1e-300) / fdr)
        certain = min(max(math.ceil(below - 1e-9), -MOST_CERTAIN), 0)
        return certain, -row["importance"], row["q_value"], row["p_value"]

    return sorted(rows, key=key)


def grouped(document: Mapping[str, Any]) -> str:
    """How many signals the relevant features are, and how few of them are enough."""
    outcome = document["outcome"]
    groups, enough = outcome["groups"], len(outcome["minimal"])
    features = count(sum(len(group["names"]) for group in groups), "relevant feature")
    said = f"{features} in {count(len(groups), 'group')}"
    if enough < len(groups):
        verb = "predicts" if enough == 1 else "predict"
        said += f"; {enough:,} of them {verb} nearly as well as all"
    return said


def _of_paper(settings: Mapping[str, Any]) -> str:
    unkept = "This rule does not control the false discovery rate."
    if settings.get("paper_rule") == "importance":
        return (
            "Paper mode: a feature is relevant if it had an importance above 0 in at least one "
            f"tree (step 2(c) of Algorithm 7.1). {unkept}"
        )
    return (
        "Paper mode: a feature is relevant if it was drawn more than "
        f"{settings['probe_draws']} times and beat the random probe in more than "
        f"{percent(settings['probe_share'])} of its draws. {unkept}"
    )


def promise(document: Mapping[str, Any]) -> str:
    """What is known of the share of false features among the relevant ones."""
    settings = document["settings"]
    if is_paper(document):
        return _of_paper(settings)
    if settings.get("n_features") is not None:
        return _fixed_number(document)
    rate = percent(settings["fdr"])
    said = (
        f"At a false discovery rate of {settings['fdr']:g}: in the mean over lists, at most {rate} "
        "of the listed features are false."
    )
    if settings.get("guarantee") != "confident":
        return said
    return (
        f"{said} For this list, too: either at most three quarters of a false feature are expected "
        f"in all, or the share is at most {rate} with 95 % confidence, if features are not "
        "strongly dependent."
    )


def _fixed_number(document: Mapping[str, Any]) -> str:
    """What is known of a list of a length that was asked for."""
    rows = document["outcome"]["relevant"]
    asked = count(document["settings"]["n_features"], "feature")
    cut = max((row["q_value"] for row in rows), default=None)
    said = f"A fixed number of {asked} was asked for; there is no promise on how many are false."
    return said if cut is None else f"{said} The q-value at that cut is {probability(cut)}."


def stopped(document: Mapping[str, Any]) -> str:
    return f"The run ended because {clean_name(document['outcome']['stop_reason'])}."
