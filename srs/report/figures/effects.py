"""Plots of effects: estimates with their intervals, and the target by the levels of a feature.

As in `plots`, shapes are told apart without colour.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from srs.report.figures.plots import MAX_LABEL, WIDTH, nice_ticks, shorten, svg
from srs.report.markup import prose, text
from srs.report.text import clean_name, number

Row = Mapping[str, Any]
LEFT, RIGHT, STEP, FOOT = 190, 190, 24, 44
MOST_BEYOND = 6.0  # how far the axis goes at most, times the median estimate
SMALL_WIDTH, SMALL_HEIGHT = 360, 230
ROUND = (1, 2, 5)
LARGE = 1e5  # numbers from here on are written as powers of ten


def interval_text(row: Row) -> str:
    """An estimate with its interval.

    >>> interval_text({"estimate": 2.094, "low": 1.56, "high": None})
    '2.09 (1.56 to ∞)'
    """
    if row["estimate"] is None:
        return "–"
    low, high = (
        end if row[key] is None else signed(row[key]) for key, end in (("low", "−∞"), ("high", "∞"))
    )
    return f"{signed(row['estimate'])} ({low} to {high})"


def signed(value: float) -> str:
    """
    >>> signed(-0.25), signed(82_877_747_200.0)
    ('−0.25', '8.3e+10')
    """
    size = f"{abs(value):.1e}" if abs(value) >= LARGE else number(abs(value))
    return f"−{size}" if value < 0 else size


class _Scale:
    """Where estimates are on the axis; ratios by their logarithms."""

    def __init__(self, rows: Sequence[Row], is_ratio: bool) -> None:
        self.is_ratio, self.null = is_ratio, 1.0 if is_ratio else 0.0
        sizes = sorted(abs(self._of(row["estimate"])) for row in rows)
        usual = max(sizes[len(sizes) // 2], 0.1 if is_ratio else 1e-300)
        reach = min(3.0 * max(sizes[-1], usual), MOST_BEYOND * usual)
        ends = [self._of(row[key]) for row in rows for key in ("low", "high") if row[key]]
        low, high = min([*ends, 0.0]), max([*ends, 0.0])
        margin = 0.04 * (high - low or 1.0)
        self.low, self.high = max(low - margin, -reach), min(high + margin, reach)

    def _of(self, value: float) -> float:
        return math.log(max(value, 1e-300)) if self.is_ratio else value

    def place(self, value: float | None, open_end: float) -> tuple[float, bool]:
        """Where a value is drawn, and whether it lies beyond the axis."""
        at = open_end if value is None else self._of(value)
        inside = min(max(at, self.low), self.high)
        share = (inside - self.low) / (self.high - self.low)
        return LEFT + share * (WIDTH - LEFT - RIGHT), inside != at

    def ticks(self) -> list[float]:
        if not self.is_ratio:
            return nice_ticks(self.low, self.high)
        low, high = math.exp(self.low), math.exp(self.high)
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        steps = ROUND if self.high - self.low < 7 else (1,)
        found = [step * 10.0**power for power in powers for step in steps]
        return [value for value in found if low <= value <= high] or [1.0]


def forest_plot(rows: Sequence[Row], title: str, *, is_ratio: bool) -> str:
    """Estimates as squares, intervals as lines; an arrow ends a line that goes on."""
    rows = [row for row in rows if row["estimate"] is not None]
    scale = _Scale(rows, is_ratio)
    floor = STEP * len(rows) + 6
    drawn = []
    for value in scale.ticks():
        x = scale.place(value, 0.0)[0]
        drawn.append(
            f'<path class="grid" d="M{x:.1f},2V{floor}"/><text class="tick" x="{x:.1f}" '
            f'y="{floor + 17}" text-anchor="middle">{signed(value)}</text>'
        )
    null = scale.place(scale.null, 0.0)[0]
    drawn.append(f'<path class="outline thin" d="M{null:.1f},2V{floor}"/>')
    for at, row in enumerate(rows):
        y = at * STEP + 15
        label = clean_name(row["label"])
        middle, far = scale.place(row["estimate"], 0.0)
        low, below = scale.place(row["low"], -math.inf)
        high, above = scale.place(row["high"], math.inf)
        ends = f"M{low:.1f},{y}H{high:.1f}"
        for x, beyond, side in ((low, below, 5), (high, above, -5)):
            ends += (
                f"M{x + side:.1f},{y - 4}L{x:.1f},{y}l{side},4"
                if beyond
                else (f"M{x:.1f},{y - 4}v8")
            )
        said = interval_text(row)
        drawn.append(
            f"<g><title>{text(label)}: {prose(said)}</title>"
            f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">'
            f"{text(shorten(label, MAX_LABEL))}</text>"
            f'<path class="whisker" d="{ends}"/>'
            f"{'' if far else _square(middle, y)}"
            f'<text class="tick" x="{WIDTH - RIGHT + 12}" y="{y + 4}">{prose(said)}</text></g>'
        )
    axis = f'<path class="axis" d="M{LEFT},{floor}H{WIDTH - RIGHT}"/>'
    name = (
        f'<text class="label" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{floor + 38}" '
        f'text-anchor="middle">{prose(title)}</text>'
    )
    return svg(floor + FOOT, title, "".join(drawn) + axis + name)


def _square(x: float, y: float) -> str:
    return f'<rect class="bar" x="{x - 4.5:.1f}" y="{y - 4.5:.1f}" width="9" height="9"/>'


def profile_plot(
    rows: Sequence[Row], what: str, *, is_share: bool, allele: str | None = None
) -> str:
    """The target by the levels of one feature: points with whiskers, samples below.

    allele  what the levels count
    """
    name = clean_name(rows[0]["name"])
    below = f"copies of {clean_name(allele)} of {name}" if allele else name
    left, right, top, bottom = 52, 10, 24, 74
    keys = ("low", "high", "value")
    ends = [float(row[key]) for row in rows for key in keys if row[key] is not None]
    low, high = min(ends), max(ends)
    margin = 0.08 * (high - low or 1.0)
    low, high = low - margin, high + margin
    if is_share:
        low, high = 0.0, min(high, 1.0) if high < 0.75 else 1.0
    floor, width = SMALL_HEIGHT - bottom, (SMALL_WIDTH - left - right) / len(rows)

    def up(value: float) -> float:
        return floor - (value - low) / (high - low) * (floor - top)

    drawn = [f'<path class="axis" d="M{left},{top}V{floor}H{SMALL_WIDTH - right}"/>']
    for value in nice_ticks(low, high, 4):
        drawn.append(
            f'<path class="grid" d="M{left},{up(value):.1f}H{SMALL_WIDTH - right}"/>'
            f'<text class="tick" x="{left - 6}" y="{up(value) + 4:.1f}" text-anchor="end">'
            f"{signed(value)}</text>"
        )
    points = []
    for at, row in enumerate(rows):
        x = left + (at + 0.5) * width
        drawn += _level(row, x, floor, width)
        if row["value"] is None:
            continue
        points.append(f"{x:.1f},{up(row['value']):.1f}")
        if row["low"] is not None:
            ends_of = f"M{x:.1f},{up(row['low']):.1f}V{up(row['high']):.1f}"
            caps = "".join(f"M{x - 4:.1f},{up(row[key]):.1f}h8" for key in ("low", "high"))
            drawn.append(f'<path class="whisker" d="{ends_of}{caps}"/>')
        drawn.append(
            f'<circle class="end" cx="{x:.1f}" cy="{up(row["value"]):.1f}" r="4.5">'
            f"<title>{text(row['level'])}: {number(row['value'])}, "
            f"{row['n']:,} samples</title></circle>"
        )
    line = f'<path class="line faint" d="M{"L".join(points)}"/>' if len(points) > 1 else ""
    names = (
        f'<text x="{(left + SMALL_WIDTH - right) / 2}" y="{SMALL_HEIGHT - 6}" '
        f'text-anchor="middle">{text(shorten(below, 44))}</text>'
        f'<text class="tick" x="4" y="13">{prose(shorten(what, 44))}</text>'
    )
    said = f"{what} by {name}: " + "; ".join(
        f"{row['level']}: {'–' if row['value'] is None else number(row['value'])} ({row['n']})"
        for row in rows
    )
    return (
        f'<svg class="small" viewBox="0 0 {SMALL_WIDTH} {SMALL_HEIGHT}" role="img" '
        f'aria-label="{prose(said)}"><title>{prose(said)}</title>'
        f"{drawn[0]}{line}{''.join(drawn[1:])}{names}</svg>"
    )


def _level(row: Row, x: float, floor: float, width: float) -> list[str]:
    """The name of a level below the axis, in up to two lines, and how many samples it has."""
    start, _, end = str(row["level"]).partition(" to ")
    lines = [start, f"to {end}"] if end else [start]
    room = max(int(width / 6.6), 4)
    marks = [
        f'<text class="tick" x="{x:.1f}" y="{floor + 15 + 13 * at}" text-anchor="middle">'
        f"{text(shorten(clean_name(line).replace('-', '−') if end else clean_name(line), room))}"
        f"</text>"
        for at, line in enumerate(lines)
    ]
    samples = f"n = {row['n']:,}" if width > 48 else f"{row['n']:,}"
    marks.append(
        f'<text class="tick" x="{x:.1f}" y="{floor + 19 + 13 * len(lines)}" text-anchor="middle">'
        f"{samples}</text>"
    )
    return marks


EFFECT_CSS = """
svg .outline.thin { stroke-width: 1.2; stroke-dasharray: 4 3; }
svg .line.faint { stroke-width: 1.5; stroke-opacity: .5; }
"""
