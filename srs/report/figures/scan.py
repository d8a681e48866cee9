"""Plots of all features, each tested alone: Manhattan, quantiles, volcano.

Relevant features are rings with names, others are dots; chromosomes alternate in shade.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from srs.report.figures.plots import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    framed,
    scales,
    shorten,
    svg,
)
from srs.report.markup import prose, text
from srs.report.text import clean_name, number

Spot = Mapping[str, Any]
MOST_NAMES = 12
Y_TITLE = "−log₁₀ p"
SQUARE = 340  # width and height of the plot of quantiles


def manhattan_plot(spots: Sequence[Spot], contigs: Sequence[Mapping[str, Any]], title: str) -> str:
    """p-values along the genome."""
    high = contigs[-1]["end"]
    top = max(max(spot["y"] for spot in spots), 2.0) * 1.12
    x, y = Axis(high, "chromosome"), Axis(top, Y_TITLE)
    across, up = scales(x, y)
    floor = HEIGHT - BOTTOM
    drawn = [f'<path class="axis" d="M{LEFT},{TOP}V{floor}H{WIDTH - RIGHT}"/>']
    for value in y.ticks():
        drawn.append(
            f'<path class="grid" d="M{LEFT},{up(value):.1f}H{WIDTH - RIGHT}"/>'
            f'<text class="tick" x="{LEFT - 8}" y="{up(value):.1f}" dy="4" text-anchor="end">'
            f"{number(value)}</text>"
        )
    last = -math.inf
    for contig in contigs:
        middle = across((contig["start"] + contig["end"]) / 2)
        label = shorten(clean_name(contig["name"]).removeprefix("chr"), 8)
        if middle - last > 7 * len(label) + 4:  # else the names would touch
            drawn.append(
                f'<text class="tick" x="{middle:.1f}" y="{floor + 17}" text-anchor="middle">'
                f"{text(label)}</text>"
            )
            last = middle
    edges = [contig["start"] for contig in contigs]
    for spot in spots:
        if not spot["relevant"]:
            at = sum(edge <= spot["x"] for edge in edges)
            drawn.append(_dot(across(spot["x"]), up(spot["y"]), "" if at % 2 else " other"))
    drawn += _found(spots, across, up)
    drawn.append(_names(HEIGHT, x.title))
    return svg(HEIGHT, title, "".join(drawn))


def volcano_plot(spots: Sequence[Spot], x_title: str, title: str) -> str:
    """Effects against p-values, the same width to both sides."""
    reach = max(sorted(abs(spot["x"]) for spot in spots)[int(0.999 * (len(spots) - 1))], 1e-9)
    reach = max([reach, *(abs(spot["x"]) for spot in spots if spot["relevant"])]) * 1.12
    x = Axis(reach, x_title, low=-reach)
    y = Axis(max(max(spot["y"] for spot in spots), 2.0) * 1.12, Y_TITLE)
    across, up = scales(x, y)
    floor = HEIGHT - BOTTOM
    middle = f'<path class="outline thin" d="M{across(0):.1f},{TOP}V{floor}"/>'
    drawn = [
        _dot(across(max(min(spot["x"], reach), -reach)), up(spot["y"]), " other")
        for spot in spots
        if not spot["relevant"]
    ]
    return framed(x, y, title, middle + "".join(drawn + _found(spots, across, up)))


def quantile_plot(expected: Sequence[float], observed: Sequence[float], title: str) -> str:
    """Observed against expected p-values; on the line if no feature matters."""
    left, edge, bottom = 52, 12, 46
    most = max([1.0, *expected, *observed]) * 1.05
    right = max([1.0, *expected]) * 1.05
    floor, end = SQUARE - bottom, SQUARE - edge

    def across(value: float) -> float:
        return left + value / right * (end - left)

    def up(value: float) -> float:
        return floor - value / most * (floor - edge)

    drawn = [f'<path class="axis" d="M{left},{edge}V{floor}H{end}"/>']
    for value in Axis(most, "").ticks():
        drawn.append(
            f'<path class="grid" d="M{left},{up(value):.1f}H{end}"/><text class="tick" '
            f'x="{left - 6}" y="{up(value) + 4:.1f}" text-anchor="end">{number(value)}</text>'
        )
    for value in Axis(right, "").ticks():
        drawn.append(
            f'<path class="axis" d="M{across(value):.1f},{floor}v5"/><text class="tick" '
            f'x="{across(value):.1f}" y="{floor + 18}" text-anchor="middle">{number(value)}</text>'
        )
    drawn.append(
        f'<path class="outline thin" d="M{across(0):.1f},{up(0):.1f}'
        f'L{across(right):.1f},{up(right):.1f}"/>'
    )
    drawn += [_dot(across(a), up(b), "") for a, b in zip(expected, observed, strict=True)]
    drawn.append(
        f'<text class="label" x="{(left + end) / 2}" y="{SQUARE - 6}" text-anchor="middle">'
        f"expected {Y_TITLE}</text>"
        f'<text class="label" x="14" y="{(edge + floor) / 2}" text-anchor="middle" '
        f'transform="rotate(-90 14 {(edge + floor) / 2})">observed {Y_TITLE}</text>'
    )
    return (
        f'<svg class="small" viewBox="0 0 {SQUARE} {SQUARE}" role="img" '
        f'aria-label="{prose(title)}"><title>{prose(title)}</title>{"".join(drawn)}</svg>'
    )


def _dot(x: float, y: float, css: str) -> str:
    return f'<circle class="spot{css}" cx="{x:.1f}" cy="{y:.1f}" r="2"/>'


def _found(spots: Sequence[Spot], across: Any, up: Any) -> list[str]:
    """Relevant features, the highest with their names where these do not cover each other."""
    found = sorted((spot for spot in spots if spot["relevant"]), key=lambda spot: -spot["y"])
    taken: list[tuple[float, float, float]] = []
    drawn = []
    for at, spot in enumerate(found):
        x, y = across(spot["x"]), up(spot["y"])
        name = clean_name(spot.get("name", ""))
        label = ""
        short = shorten(name, 16)
        width = 7.2 * len(short)
        start = x + 7 if x + 7 + width < WIDTH - 2 else x - 7 - width
        free = all(abs(y - b) > 12 or start > a + w or start + width < a for a, b, w in taken)
        if at < MOST_NAMES and free and name:
            taken.append((start, y, width))
            label = f'<text class="tick" x="{start:.1f}" y="{y + 4:.1f}">{text(short)}</text>'
        drawn.append(
            f"<g><title>{text(name)}: {number(spot['y'])}</title>"
            f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>{label}</g>'
        )
    return drawn


def _names(height: float, x_title: str) -> str:
    floor, end = height - BOTTOM, WIDTH - RIGHT
    middle = (TOP + floor) / 2
    return (
        f'<text class="label" x="{(LEFT + end) / 2}" y="{height - 6}" text-anchor="middle">'
        f"{prose(x_title)}</text>"
        f'<text class="label" x="14" y="{middle}" text-anchor="middle" '
        f'transform="rotate(-90 14 {middle})">{Y_TITLE}</text>'
    )


SCAN_CSS = """
svg .spot { fill: var(--fill); }
svg .spot.other { fill: var(--quiet); fill-opacity: .65; }
svg .ring { fill: var(--paper); stroke: var(--edge); stroke-width: 2; }
@media print { .spot { print-color-adjust: exact; } }
"""
