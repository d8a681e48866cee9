"""Plots as inline SVG: a step line, a histogram of two kinds, bars, points.

Shapes are told apart without colour: filled bars against an outlined step line. Colours come from
classes of the page's style sheet, so plots follow its light, dark and print forms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from srs.report.markup import prose, text
from srs.report.text import clean_name, number

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 14, 14, 46
MAX_LABEL = 20  # letters beside a bar


@dataclass(frozen=True)
class Axis:
    """A span of values, and how it maps to 0..1.

    high   the value at the end; the axis starts at `low`
    title  what is measured
    log    whether the map is log(1 + value), which has a place for 0
    whole  whether values are whole numbers
    """

    high: float
    title: str
    low: float = 0.0
    log: bool = False
    whole: bool = False

    def place(self, value: float) -> float:
        if self.log:
            return math.log1p(value) / math.log1p(self.high)
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        if not self.log:
            return nice_ticks(self.low, self.high, whole=self.whole)
        ticks = [0.0, *(10.0**power for power in range(int(math.log10(self.high)) + 1))]
        step = -(-len(ticks) // 7)
        return [ticks[0], *ticks[1::step]]


def nice_ticks(low: float, high: float, most: int = 6, whole: bool = False) -> list[float]:
    """Round values within a span.

    >>> nice_ticks(0, 112), nice_ticks(0, 2.2, whole=True)
    ([0.0, 20.0, 40.0, 60.0, 80.0, 100.0], [0.0, 1.0, 2.0])
    """
    rough = max((high - low) / most, 1.0 if whole else 0.0)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [
        float(f"{i * step:.10g}") + 0.0 for i in range(first, math.floor(high / step + 1e-9) + 1)
    ]


def step_line(points: Sequence[tuple[float, float]], x: Axis, y: Axis, title: str) -> str:
    """A line that keeps its value until the next point."""
    across, up = scales(x, y)
    path = f"M{across(points[0][0]):.1f},{up(points[0][1]):.1f}"
    for at, value in points[1:]:
        path += f"H{across(at):.1f}V{up(value):.1f}"
    end = (
        f'<circle class="end" cx="{across(points[-1][0]):.1f}" cy="{up(points[-1][1]):.1f}" r="4"/>'
    )
    return framed(x, y, title, f'<path class="line" d="{path}"/>{end}')


def histogram(
    edges: Sequence[float],
    features: Sequence[float],
    probes: Sequence[float],
    name: str,
    title: str,
) -> str:
    """Features as filled bars, probes as an outlined step line, on a log scale of counts."""
    x = Axis(edges[-1], name)
    y = Axis(max(1.0, *features, *probes) * 1.15, "count (log scale)", log=True)
    across, up = scales(x, y)
    bars = []
    for (start, stop), n, m in zip(pairwise(edges), features, probes, strict=True):
        if not n and not m:
            continue
        left, width, height = across(start), across(stop) - across(start), up(0) - up(n)
        hint = f"{number(start)} to {number(stop)}: {number(n)} features"
        hint += f", {number(m)} probes" if any(probes) else ""
        bars.append(
            f'<rect class="bar" x="{left + 0.5:.1f}" y="{up(n):.1f}" '
            f'width="{max(width - 1, 0.5):.1f}" height="{height:.1f}"><title>{hint}</title></rect>'
        )
    return framed(x, y, title, "".join(bars) + _outline(edges, probes, across, up))


def _outline(
    edges: Sequence[float],
    counts: Sequence[float],
    across: Callable[[float], float],
    up: Callable[[float], float],
) -> str:
    if not any(counts):
        return ""
    last = max(i for i, n in enumerate(counts) if n)
    path = f"M{across(edges[0]):.1f},{up(0):.1f}"
    for stop, n in zip(edges[1 : last + 2], counts[: last + 1], strict=True):
        path += f"V{up(n):.1f}H{across(stop):.1f}"
    return f'<path class="outline" d="{path}V{up(0):.1f}"/>'


def shorten(label: str, width: int) -> str:
    """A label cut to a width in letters; what is not ASCII counts as two, as many such are wide.

    >>> shorten("expression", 6), shorten("short", 6)
    ('expre…', 'short')
    """
    used = 0
    for at, letter in enumerate(label):
        used += 1 if letter.isascii() else 2
        if used > width:
            return label[: max(at - 1, 1)] + "…"
    return label


def bars(rows: Sequence[tuple[str, float]], title: str) -> str:
    """Horizontal bars with a name on the left and the value at the end."""
    step, left, right = 24, 190, 70
    top = max(value for _, value in rows) or 1.0
    height = step * len(rows) + 6
    parts = []
    for at, (name, value) in enumerate(rows):
        label = clean_name(name)
        y = at * step + 3
        width = max(value / top, 0.0) * (WIDTH - left - right)
        short = shorten(label, MAX_LABEL)
        parts.append(
            f"<g><title>{text(label)}: {number(value)}</title>"
            f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{text(short)}</text>'
            f'<rect class="bar" x="{left}" y="{y + 3}" width="{width:.1f}" height="{step - 8}"/>'
            f'<text class="tick" x="{left + width + 6:.1f}" y="{y + 15}">{number(value)}</text></g>'
        )
    return svg(height, title, "".join(parts))


def points(pairs: Sequence[tuple[float, float]], x_title: str, y_title: str, title: str) -> str:
    """Points with the diagonal on which both values are equal."""
    values = [value for pair in pairs for value in pair]
    low, high = min(values), max(values)
    margin = (high - low) * 0.05 or 1.0
    low, high = low - margin, high + margin
    x, y = Axis(high, x_title, low=low), Axis(high, y_title, low=low)
    across, up = scales(x, y)
    diagonal = (
        f'<path class="outline" d="M{across(low):.1f},{up(low):.1f}'
        f'L{across(high):.1f},{up(high):.1f}"/>'
    )
    dots = "".join(
        f'<circle class="dot" cx="{across(a):.1f}" cy="{up(b):.1f}" r="3"/>' for a, b in pairs
    )
    return framed(x, y, title, diagonal + dots)


def scales(x: Axis, y: Axis) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """Where values of both axes are in the picture."""

    def across(value: float) -> float:
        return LEFT + x.place(value) * (WIDTH - LEFT - RIGHT)

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - y.place(value) * (HEIGHT - TOP - BOTTOM)

    return across, up


def framed(x: Axis, y: Axis, title: str, content: str) -> str:
    """A picture with axes, ticks and their titles around its content."""
    across, up = scales(x, y)
    floor, end = HEIGHT - BOTTOM, WIDTH - RIGHT
    marks = [f'<path class="axis" d="M{LEFT},{TOP}V{floor}H{end}"/>']
    for value in y.ticks():
        at = f"{up(value):.1f}"
        marks.append(
            f'<path class="grid" d="M{LEFT},{at}H{end}"/><text class="tick" x="{LEFT - 8}" '
            f'y="{at}" dy="4" text-anchor="end">{number(value)}</text>'
        )
    for value in x.ticks():
        at = f"{across(value):.1f}"
        marks.append(
            f'<path class="axis" d="M{at},{floor}v5"/><text class="tick" x="{at}" '
            f'y="{floor + 19}" text-anchor="middle">{number(value)}</text>'
        )
    middle = (TOP + floor) / 2
    names = (
        f'<text class="label" x="{(LEFT + end) / 2}" y="{HEIGHT - 6}" text-anchor="middle">'
        f"{prose(x.title)}</text>"
        f'<text class="label" x="14" y="{middle}" text-anchor="middle" '
        f'transform="rotate(-90 14 {middle})">{prose(y.title)}</text>'
    )
    return svg(HEIGHT, title, "".join(marks) + names + content)


def svg(height: float, title: str, content: str) -> str:
    """A picture with its title for readers without eyes."""
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{prose(title)}">'
        f"<title>{prose(title)}</title>{content}</svg>"
    )
