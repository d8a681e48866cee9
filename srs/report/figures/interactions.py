"""A small plot of two features: the mean target by halves of both.

Two lines from the lower to the upper half of the feature, one for each half of the partner. They
are told apart without colour: full with filled points, dashed with outlined ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srs.report.figures.plots import nice_ticks, shorten
from srs.report.markup import prose, text
from srs.report.text import clean_name, number

WIDTH, HEIGHT = 340, 210
LEFT, RIGHT, TOP, BOTTOM = 52, 96, 24, 40
INDENT = 28  # of the points from the sides of the frame


def interaction_plot(row: Mapping[str, Any], what: str, *, share: bool) -> str:
    """A pair of a document, see `srs.results.documents.result.PairRow`.

    what   what the means are of
    share  whether they are shares, from 0 to 1
    """
    lines = {
        "lower": (row["mean_low_low"], row["mean_high_low"]),
        "upper": (row["mean_low_high"], row["mean_high_high"]),
    }
    means = [value for line in lines.values() for value in line]
    low, high = (0.0, 1.0) if share else _span(means)
    floor, end = HEIGHT - BOTTOM, WIDTH - RIGHT

    def up(value: float) -> float:
        return floor - (value - low) / (high - low) * (floor - TOP)

    sides = (LEFT + INDENT, end - INDENT)
    marks = [f'<path class="axis" d="M{LEFT},{TOP}V{floor}H{end}"/>']
    for value in nice_ticks(low, high, 4):
        at = f"{up(value):.1f}"
        marks.append(
            f'<path class="grid" d="M{LEFT},{at}H{end}"/><text class="tick" x="{LEFT - 6}" '
            f'y="{at}" dy="4" text-anchor="end">{number(value)}</text>'
        )
    for x, half in zip(sides, ("lower half", "upper half"), strict=True):
        marks.append(
            f'<text class="tick" x="{x}" y="{floor + 16}" text-anchor="middle">{half}</text>'
        )
    feature, partner = (clean_name(row[key]) for key in ("name", "partner"))
    marks += [
        f'<text x="{(LEFT + end) / 2}" y="{HEIGHT - 6}" text-anchor="middle">'
        f"{text(shorten(feature, 24))}</text>",
        f'<text class="tick" x="4" y="13">{prose(shorten(what, 40))}</text>',
    ]
    labels = _apart(up(lines["lower"][1]), up(lines["upper"][1]))
    for (half, (left, right)), y in zip(lines.items(), labels, strict=True):
        css = "" if half == "lower" else " other"
        marks.append(
            f'<path class="line{css}" d="M{sides[0]},{up(left):.1f}L{sides[1]},{up(right):.1f}"/>'
        )
        marks += [
            f'<circle class="end{css}" cx="{x}" cy="{up(value):.1f}" r="4"/>'
            for x, value in zip(sides, (left, right), strict=True)
        ]
        marks.append(
            f'<text class="tick" x="{sides[1] + 9}" y="{y + 4:.1f}">{half} half of</text>'
            f'<text class="tick" x="{sides[1] + 9}" y="{y + 17:.1f}">'
            f"{text(shorten(partner, 14))}</text>"
        )
    said = _said(what, feature, partner, lines)
    return (
        f'<svg class="small" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{prose(said)}">'
        f"<title>{prose(said)}</title>{''.join(marks)}</svg>"
    )


def _span(means: list[float]) -> tuple[float, float]:
    low, high = min(means), max(means)
    margin = (high - low) * 0.15 or 1.0
    return low - margin, high + margin


def _apart(first: float, second: float, least: float = 32.0) -> tuple[float, float]:
    """Heights of two labels that do not cover each other."""
    gap = least - abs(first - second)
    if gap > 0:
        shift = gap / 2 if first > second else -gap / 2
        first, second = first + shift, second - shift
    lowest = HEIGHT - BOTTOM - 14.0
    over = max(first, second) - lowest
    return (first - over, second - over) if over > 0 else (first, second)


def _said(what: str, feature: str, partner: str, lines: Mapping[str, tuple[float, float]]) -> str:
    ends = [
        f"from {number(left)} to {number(right)} in the {half} half of {partner}"
        for half, (left, right) in lines.items()
    ]
    return f"{what}, from the lower to the upper half of {feature}: {'; '.join(ends)}"


INTERACTION_CSS = """
.small-plots { display: grid; gap: 0 1.5rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); }
.small-plots figure { margin: .8rem 0; }
svg.small { min-width: 0; max-width: 24rem; }
svg .line.other { stroke: var(--edge); stroke-dasharray: 6 4; }
svg .end.other { fill: var(--paper); stroke: var(--edge); stroke-width: 2; }
"""
