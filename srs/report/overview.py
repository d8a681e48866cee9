"""The parts of the page that say how it went: headline, growth of the list, evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from srs.evidence.registry import evidence_kinds
from srs.memory import format_bytes
from srs.report.figures import plots
from srs.report.markup import figure, name, paragraph, prose, section, text
from srs.report.text import clean_text, count, duration, headline, number, promise, stopped

Document = Mapping[str, Any]
MAX_POINTS = 500


# -- headline -------------------------------------------------------------------------------


def hero(document: Document) -> str:
    outcome, measured, data = document["outcome"], document["measured"], document["data"]
    cards = (
        ("trees", f"{outcome['n_trees']:,}", f"in {count(measured['threads'], 'thread')}"),
        ("passes", number(round(outcome["n_passes"], 2)), "over all features"),
        ("time", duration(measured["seconds"]), "of the run"),
        _memory_card(document),
    )
    shown = "".join(
        f'<div class="card"><dt>{label}</dt><dd><strong>{prose(value)}</strong> '
        f"<span>{prose(note)}</span></dd></div>"
        for label, value, note in cards
    )
    about = f"Target “{name(data['target'])}” ({text(data['target_kind'])}), "
    about += f"{count(data['n_samples'], 'sample')}"
    return (
        f'<header>\n<p class="eyebrow">Sequential Random Subspace</p>\n'
        f'<h1>{prose(headline(document))}</h1>\n<p class="about">{about}</p>\n'
        f"{paragraph(promise(document), 'promise')}\n{paragraph(stopped(document))}\n"
        f'<dl class="cards">{shown}</dl>\n</header>'
    )


def _memory_card(document: Document) -> tuple[str, str, str]:
    peak, allowed = document["measured"]["peak_mem"], document["settings"]["allowed_mem"]
    note = f"at most, of {format_bytes(allowed)} allowed"
    if peak > allowed:
        note = f"at most: more than the {format_bytes(allowed)} allowed"
    return "memory", format_bytes(peak), note


def cautions(document: Document) -> str:
    found = document["outcome"].get("cautions", ())
    if not found:
        return ""
    items = "".join(f"<li>{prose(clean_text(one['sentence']))}</li>" for one in found)
    return section(
        "cautions",
        "Before you trust this list",
        f"<ul>{items}</ul>",
        paragraph("Cautions change no verdict."),
    )


# -- how the list came about ----------------------------------------------------------------


def convergence(document: Document) -> str:
    history = document["outcome"]["history"]
    if not history:
        return ""
    line = [(0.0, 0.0), *((float(h["n_trees"]), float(h["n_relevant"])) for h in history)]
    line = _thin(line)
    most = max(value for _, value in line)
    if not most:
        return ""
    x = plots.Axis(max(line[-1][0], 1.0), "trees", whole=True)
    y = plots.Axis(max(most * 1.1, 1.0), "relevant features", whole=True)
    title = f"{number(most)} relevant features at most, {number(line[-1][1])} at the end"
    settled = _settled(line)
    return section(
        "convergence",
        "How the list grew",
        paragraph(
            f"Relevant features against trees grown. The number has been {number(line[-1][1])} "
            f"from tree {number(settled)} on. A flat line at the end means that more trees would "
            "hardly add features."
        ),
        figure(plots.step_line(line, x, y, title)),
    )


def _settled(line: Sequence[tuple[float, float]]) -> float:
    """The number of trees from which on the last value held."""
    start = len(line) - 1
    while start and line[start - 1][1] == line[-1][1]:
        start -= 1
    return line[start][0]


def _thin(line: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """At most about MAX_POINTS points, the first and the last among them."""
    step = -(-len(line) // MAX_POINTS)
    return line if step <= 1 else [*line[:-1:step], line[-1]]


def evidence(document: Document) -> str:
    kinds = document["outcome"]["evidence"]
    n_probes = document["shape"]["n_probes"]
    if n_probes:
        noun = (
            "a probe, a shuffled copy" if n_probes == 1 else f"{n_probes} probes, shuffled copies"
        )
        how = (
            f"Every feature has {noun} of itself that cannot be relevant. The values of probes "
            "are due to chance; features far to the right of all probes stand out. Probe counts "
            f"are divided by {n_probes}, so that both histograms count the same number of "
            "columns."
        )
    else:
        how = (
            "In paper mode one random probe is compared within each tree and not kept, so only "
            "features are shown."
        )
    shown = [_evidence_plot(kind, histogram) for kind, histogram in kinds.items()]
    weighed = [one["kind"] for one in document["outcome"]["grounds"]["kinds"]]
    others = [kind for kind in weighed if kind not in kinds]
    if others:
        verb = "has a test of its own" if len(others) == 1 else "have tests of their own"
        shown.append(paragraph(f"{' and '.join(others)} {verb} and no probes: no histogram."))
    return section("evidence", "Features against chance", paragraph(how), *shown)


def _evidence_plot(kind: str, histogram: Mapping[str, Any]) -> str:
    scale = max(histogram["n_probes"], 1)
    probes = [n / scale for n in histogram["probes"]]
    beyond = _beyond(histogram["features"], probes)
    if histogram["n_probes"]:
        verb = "lies" if beyond == 1 else "lie"
        said = f"{count(beyond, 'feature')} {verb} beyond every probe."
    else:
        said = ""
    title = f"Histogram of the evidence {kind!r} of features and probes. {said}".strip()
    key = '<span class="key"><i class="filled"></i> features</span>'
    if histogram["n_probes"]:
        key += ' <span class="key"><i class="outlined"></i> probes</span>'
    known = evidence_kinds().get(kind)  # a result may be of a kind that is not installed here
    meaning = "" if known is None else known.sees
    plot = plots.histogram(histogram["edges"], histogram["features"], probes, kind, title)
    return figure(plot, f"<strong>{text(kind)}</strong>: {prose(meaning)}. {prose(said)}<br>{key}")


def _beyond(features: Sequence[int], probes: Sequence[float]) -> int:
    """Features in the bins to the right of the last bin with a probe."""
    last = max((i for i, n in enumerate(probes) if n), default=-1)
    return sum(features[last + 1 :])
