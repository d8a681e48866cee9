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
    """A pair of a document, see `srs.results.documents.pairs.PairRow`.

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


def cell_plot(row: Mapping[str, Any], what: str) -> str:
    """The target by levels of both features: darker is more; below it the number of samples."""
    cells = row["cells"]
    values = [one for line in cells["values"] for one in line if one is not None]
    if not values:
        return ""
    low, high = min(values), max(values)
    columns, rows = len(cells["partner_levels"]), len(cells["levels"])
    left, top = 104, 58
    width, tall = (WIDTH - left - 8) / columns, 46
    feature, partner = (clean_name(row[key]) for key in ("name", "partner"))
    marks = [
        f'<text class="tick" x="4" y="13">{prose(shorten(what, 40))}</text>',
        f'<text x="{(left + WIDTH - 8) / 2:.0f}" y="33" text-anchor="middle">'
        f"{text(shorten(partner, 28))}</text>",
        f'<text x="{left - 8}" y="{top - 4}" text-anchor="end">{text(shorten(feature, 14))}</text>',
    ]
    for b, name in enumerate(cells["partner_levels"]):
        marks.append(
            f'<text class="tick" x="{left + (b + 0.5) * width:.1f}" y="{top - 6}" '
            f'text-anchor="middle">{text(shorten(clean_name(name), int(width / 6.6)))}</text>'
        )
    for a, name in enumerate(cells["levels"]):
        y = top + a * tall
        marks.append(
            f'<text class="tick" x="{left - 8}" y="{y + tall / 2 + 4:.0f}" text-anchor="end">'
            f"{text(shorten(clean_name(name), 14))}</text>"
        )
        for b in range(columns):
            marks.append(_cell(cells, a, b, (left + b * width, y, width, tall), (low, high)))
    said = f"{what} by levels of {feature} and {partner}"
    height = top + rows * tall + 8
    return (
        f'<svg class="small" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{prose(said)}">'
        f"<title>{prose(said)}</title>{''.join(marks)}</svg>"
    )


def _cell(
    cells: Mapping[str, Any],
    a: int,
    b: int,
    box: tuple[float, float, float, float],
    span: tuple[float, float],
) -> str:
    x, y, width, tall = box
    value, n = cells["values"][a][b], cells["counts"][a][b]
    shade = 0.0 if value is None else 0.08 + 0.8 * (value - span[0]) / (span[1] - span[0] or 1.0)
    ink = "on-dark" if shade > 0.6 else "on-light"
    shown = "–" if value is None else number(value).replace("-", "−")
    hint = (
        ""
        if value is None or cells["low"][a][b] is None
        else (f" ({number(cells['low'][a][b])} to {number(cells['high'][a][b])})")
    )
    middle = x + width / 2
    return (
        f"<g><title>{prose(shown + hint)}, {n:,} samples</title>"
        f'<rect class="heat" x="{x:.1f}" y="{y}" width="{width - 2:.1f}" height="{tall - 2}" '
        f'fill-opacity="{shade:.3f}"/>'
        f'<text class="{ink}" x="{middle:.1f}" y="{y + 20}" text-anchor="middle">{shown}</text>'
        f'<text class="{ink} count" x="{middle:.1f}" y="{y + 36}" text-anchor="middle">'
        f"n = {n:,}</text></g>"
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
svg .count { font-size: 11px; }
svg .line.other { stroke: var(--edge); stroke-dasharray: 6 4; }
svg .end.other { fill: var(--paper); stroke: var(--edge); stroke-width: 2; }
"""
