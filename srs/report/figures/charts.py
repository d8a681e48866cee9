"""Charts of explanations as inline SVG: bars with errors and nulls, contexts, heat maps, networks.

As in `plots`, shapes are told apart without colour: filled, hatched and outlined bars, whiskers,
shades with their numbers beside them, line widths and dashes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from srs.report.figures.plots import MAX_LABEL, WIDTH, Axis, framed, scales, shorten, svg
from srs.report.markup import prose, text
from srs.report.text import clean_name, number

LEFT, RIGHT, STEP = 190, 90, 24
MIN_BARS = 100  # room that bars have at least, however long their notes
MIN_CELL = 32  # width of a cell of a heat map that holds its number
MANY_NODES = 20  # from which on the names of nodes stand along their rays
FILLS = ("bar", "outlined-bar", "hatched-bar", "soft-bar")


@dataclass(frozen=True)
class Bar:
    """One bar.

    error   standard error of the value: whiskers are two of them
    null    what the value is where nothing matters, a diamond; `spread` is its standard deviation
    note    what stands behind the value
    """

    name: str
    value: float
    error: float | None = None
    null: float | None = None
    spread: float | None = None
    note: str = ""

    @property
    def said(self) -> str:
        """The value and the note, as HTML."""
        return prose(", ".join(part for part in (number(self.value), self.note) if part))


def error_bars(rows: Sequence[Bar], title: str) -> str:
    """Horizontal bars with their errors and nulls; what is below 0 has no bar, only its number."""
    reach = [abs(r.value) + 2 * (r.error or 0.0) for r in rows]
    reach += [abs(r.null) + 2 * (r.spread or 0.0) for r in rows if r.null is not None]
    room = RIGHT + 7 * max((len(r.note) for r in rows), default=0)
    scale = (WIDTH - LEFT - room) / (max(reach, default=1.0) or 1.0)
    has_null = any(r.null for r in rows)
    parts = []
    for at, row in enumerate(rows):
        y = at * STEP + 3
        said = f"{clean_name(row.name)}: {number(row.value)}"
        said += "" if row.error is None else f" ± {number(2 * row.error)}"
        said += "" if row.null is None else f", null {number(row.null)}"
        width = max(row.value, 0.0) * scale
        marks = f'<rect class="bar" x="{LEFT}" y="{y + 3}" width="{width:.1f}" height="16"/>'
        ends = [width]
        apart = 4 if row.error and row.spread else 0  # two whiskers, one above the other
        if row.error:
            marks += _whisker(row.value, row.error, scale, y + 11 - apart)
            ends.append((row.value + 2 * row.error) * scale)
        if row.null is not None and has_null:
            at, half = y + 11 + apart, 7 - apart // 2
            marks += "" if not row.spread else _whisker(row.null, row.spread, scale, at)
            x = max(row.null, 0.0) * scale
            marks += (
                f'<path class="null" d="M{LEFT + x:.1f},{at - half}l{half - 2},{half}'
                f'l-{half - 2},{half}l-{half - 2},-{half}z"/>'
            )
            ends += [x + 5, (row.null + 2 * (row.spread or 0.0)) * scale]
        parts.append(
            f"<g><title>{text(said)}</title>"
            f'<text x="{LEFT - 8}" y="{y + 15}" text-anchor="end">'
            f"{text(shorten(clean_name(row.name), MAX_LABEL))}</text>{marks}"
            f'<text class="tick" x="{LEFT + max(ends) + 6:.1f}" y="{y + 15}">{number(row.value)}'
            f"{prose(f', {row.note}') if row.note else ''}</text></g>"
        )
    axis = f'<path class="axis" d="M{LEFT},2V{STEP * len(rows) + 4}"/>'
    return svg(STEP * len(rows) + 6, title, "".join(parts) + axis)


def _whisker(middle: float, error: float, scale: float, y: float) -> str:
    """Two errors to both sides, not below 0."""
    low, high = (LEFT + max(middle + k * error, 0.0) * scale for k in (-2, 2))
    line = f"M{low:.1f},{y}H{high:.1f}M{low:.1f},{y - 3}v6M{high:.1f},{y - 3}v6"
    return f'<path class="halo" d="{line}"/><path class="whisker" d="{line}"/>'


def grouped_bars(
    groups: Sequence[tuple[str, Sequence[Bar]]], parts: Sequence[str], title: str
) -> str:
    """For each feature one bar a part; a thin line across a bar is its null.

    Four parts are told apart by their fills; of more, each bar has its part written behind it.
    """
    thick = 15
    by_fill = len(parts) <= len(FILLS)
    heads = ["" if by_fill else f"{shorten(clean_name(part), MAX_LABEL)}: " for part in parts]
    every = [bar for _, bars in groups for bar in bars]
    top = max((max(b.value, b.null or 0.0) for b in every), default=1.0) or 1.0
    room = RIGHT + 7 * max((len(b.note) for b in every), default=0)
    room += 7 * max(map(len, heads), default=0)
    scale = max(WIDTH - LEFT - room, MIN_BARS) / top
    height_of = thick * len(parts) + 9
    drawn = [_legend(parts)] if by_fill else []
    for at, (name, bars) in enumerate(groups):
        y0 = 26 + at * height_of
        drawn.append(
            f'<text x="{LEFT - 8}" y="{y0 + height_of / 2:.0f}" text-anchor="end">'
            f"{text(shorten(clean_name(name), MAX_LABEL))}</text>"
        )
        for k, bar in enumerate(bars):
            y = y0 + k * thick
            width, null = (max(v or 0.0, 0.0) * scale for v in (bar.value, bar.null))
            said = f"{clean_name(name)}, {parts[k]}: {number(bar.value)}"
            said += "" if bar.null is None else f", null {number(bar.null)}"
            mark = (
                ""
                if bar.null is None
                else (f'<path class="whisker" d="M{LEFT + null:.1f},{y - 2}v{thick + 1}"/>')
            )
            drawn.append(
                f"<g><title>{text(said)}</title>"
                f'<rect class="{FILLS[k if by_fill else 0]}" x="{LEFT}" y="{y}" '
                f'width="{width:.1f}" '
                f'height="{thick - 3}"/>{mark}'
                f'<text class="tick" x="{LEFT + max(width, null) + 6:.1f}" '
                f'y="{y + thick - 4}">{text(heads[k])}{bar.said}</text></g>'
            )
    return svg(30 + height_of * len(groups), title, "".join(drawn))


def _legend(parts: Sequence[str]) -> str:
    drawn, x = [], float(LEFT)
    room = (WIDTH - LEFT) / max(len(parts), 1)
    for k, part in enumerate(parts):
        label = shorten(clean_name(part), min(MAX_LABEL, int((room - 34) / 8)))
        drawn.append(
            f'<rect class="{FILLS[k]}" x="{x:.0f}" y="4" width="14" height="11"/>'
            f'<text class="tick" x="{x + 19:.0f}" y="14">{text(label)}</text>'
        )
        x += 34 + 8 * len(label)
    return "".join(drawn)


def heat_map(
    rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]], title: str
) -> str:
    """Cells darker where the value is larger; the value stands in the cell if there is room."""
    width = (WIDTH - LEFT - 10) / max(len(columns), 1)
    top = max((v for row in values for v in row), default=1.0) or 1.0
    labels = [shorten(clean_name(name), MAX_LABEL) for name in columns]
    longest = max(map(len, labels), default=0)
    upright = 8 * longest > width
    head = 12 + 8 * longest if upright else 24
    drawn = []
    for k, label in enumerate(labels):
        x = LEFT + (k + 0.5) * width
        place = (
            f'x="{x + 4:.1f}" y="{head - 8}" transform="rotate(-90 {x + 4:.1f} {head - 8})"'
            if upright
            else f'x="{x:.1f}" y="16" text-anchor="middle"'
        )
        drawn.append(f'<text class="tick" {place}>{text(label)}</text>')
    for at, (name, row) in enumerate(zip(rows, values, strict=True)):
        y = head + at * STEP
        drawn.append(
            f'<text x="{LEFT - 8}" y="{y + 16}" text-anchor="end">'
            f"{text(shorten(clean_name(name), MAX_LABEL))}</text>"
        )
        for k, value in enumerate(row):
            shade = max(value, 0.0) / top
            ink = "on-dark" if shade > 0.65 else "on-light"
            written = (
                ""
                if width < MIN_CELL
                else (
                    f'<text class="{ink}" x="{LEFT + (k + 0.5) * width:.1f}" y="{y + 16}" '
                    f'text-anchor="middle">{value:.2f}</text>'
                )
            )
            drawn.append(
                f"<g><title>{text(clean_name(name))}, {text(clean_name(columns[k]))}: "
                f"{number(value)}</title>"
                f'<rect class="heat" x="{LEFT + k * width:.1f}" y="{y}" width="{width - 1:.1f}" '
                f'height="{STEP - 1}" fill-opacity="{shade:.3f}"/>{written}</g>'
            )
    return svg(head + 4 + STEP * len(rows), title, "".join(drawn))


def network_plot(links: Sequence[tuple[str, str, float, bool]], directed: bool, title: str) -> str:
    """Links (source, target, weight, dashed) between nodes on a circle; thicker is stronger.

    Links of both directions bend to either side of their nodes.
    """
    names = sorted({name for link in links for name in link[:2]})
    rays = len(names) > MANY_NODES
    margin = 140 if rays else 35
    radius, center_x, center_y = 190, WIDTH / 2, 190 + margin
    places = {}
    for at, name in enumerate(names):
        angle = 2 * math.pi * at / max(len(names), 1) - math.pi / 2
        places[name] = (
            center_x + radius * math.cos(angle),
            center_y + radius * math.sin(angle),
            angle,
        )
    top = max((abs(weight) for *_, weight, _ in links), default=1.0) or 1.0
    drawn = []
    for source, target, weight, dashed in sorted(links, key=lambda link: abs(link[2])):
        (x1, y1, _), (x2, y2, _) = places[source], places[target]
        bend_x, bend_y = (x1 + x2) / 2, (y1 + y2) / 2
        aside = 0.08 if directed else 0.0
        bend_x += 0.15 * (center_x - bend_x) + aside * (y1 - y2)
        bend_y += 0.15 * (center_y - bend_y) + aside * (x2 - x1)
        arrow = ' marker-end="url(#arrow)"' if directed else ""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        between = "→" if directed else "–"
        drawn.append(
            f'<path class="link" d="M{x1:.1f},{y1:.1f}Q{bend_x:.1f},{bend_y:.1f} '
            f'{x2:.1f},{y2:.1f}" stroke-width="{0.6 + 3.4 * abs(weight) / top:.2f}"{dash}{arrow}>'
            f"<title>{text(clean_name(source))} {between} {text(clean_name(target))}: "
            f"{number(weight)}</title></path>"
        )
    for name, (x, y, angle) in places.items():
        right = math.cos(angle) >= -1e-9
        turn = math.degrees(angle) + (0 if right else 180)
        ray = f' transform="rotate({turn:.1f} {x:.1f} {y:.1f})"' if rays else ""
        drawn.append(
            f'<circle class="end" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
            f'<text class="tick" x="{x + (9 if right else -9):.1f}" y="{y + 4:.1f}" '
            f'text-anchor="{"start" if right else "end"}"{ray}>'
            f"{text(shorten(clean_name(name), 16))}</text>"
        )
    head = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="10" refY="4" markerWidth="9" '
        'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">'
        '<path class="arrow" d="M0,0L8,4L0,8z"/></marker></defs>'
    )
    return svg(2 * (radius + margin) + 10, title, (head if directed else "") + "".join(drawn))


def labelled_points(
    rows: Sequence[tuple[str, float, float]], x_title: str, y_title: str, title: str
) -> str:
    """Points (name, x, y) from 0 on; as many are named as there is room for, the far ones first."""
    x = Axis(1.15 * max((a for _, a, _ in rows), default=1.0) or 1.0, x_title)
    y = Axis(1.08 * max((b for *_, b in rows), default=1.0) or 1.0, y_title)
    across, up = scales(x, y)
    drawn, taken = [], [(across(max(a, 0.0)), up(max(b, 0.0)), 8.0) for _, a, b in rows]
    for name, a, b in sorted(rows, key=lambda r: -(r[1] / x.high + r[2] / y.high)):
        at, height = across(max(a, 0.0)), up(max(b, 0.0))
        short = shorten(clean_name(name), 14)
        width = 7.5 * len(short)
        label = ""
        for left, anchor in ((at + 7, "start"), (at - 7 - width, "end")):
            if across(0.0) <= left <= WIDTH - width and not any(
                abs(height - other) < 12 and left < start + wide and start - 8 < left + width
                for start, other, wide in taken
                if (start, other) != (at, height)
            ):
                taken.append((left, height, width))
                edge = left if anchor == "start" else left + width
                label = (
                    f'<text class="tick" x="{edge:.1f}" y="{height + 4:.1f}" '
                    f'text-anchor="{anchor}">{text(short)}</text>'
                )
                break
        drawn.append(
            f"<g><title>{text(clean_name(name))}: {number(a)}, {number(b)}</title>"
            f'<circle class="dot" cx="{at:.1f}" cy="{height:.1f}" r="4"/>{label}</g>'
        )
    return framed(x, y, title, "".join(drawn))


CHART_CSS = """
svg .outlined-bar { fill: none; stroke: var(--edge); stroke-width: 1.5; }
svg .hatched-bar { fill: var(--fill); fill-opacity: .35; stroke: var(--fill);
  stroke-dasharray: 3 2; }
svg .soft-bar { fill: var(--quiet); }
svg .halo { fill: none; stroke: var(--paper); stroke-width: 3.5; stroke-opacity: .6; }
svg .whisker { fill: none; stroke: var(--ink); stroke-width: 1.3; }
svg .null { fill: var(--paper); stroke: var(--edge); stroke-width: 1.6; }
svg .heat { fill: var(--fill); stroke: var(--rule); }
svg .on-dark { fill: var(--paper); font-size: 12px; }
svg .on-light { fill: var(--ink); font-size: 12px; }
svg .link { fill: none; stroke: var(--fill); stroke-opacity: .75; }
svg .arrow { fill: var(--ink); }
.contents { columns: 3 14rem; padding-left: 1.2rem; }
.notes { max-width: 46rem; padding-left: 1.2rem; }
@media print { .heat, .hatched-bar { print-color-adjust: exact; } }
"""
