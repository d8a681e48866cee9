"""Charts of explanations as inline SVG: bars with errors and nulls, contexts, heat maps, networks.

As in `plots`, shapes are told apart without colour: filled, hatched and outlined bars, whiskers,
shades with their numbers beside them, line widths and dashes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from srs.report.markup import prose, text
from srs.report.plots import MAX_LABEL, WIDTH, shorten
from srs.report.text import clean_name, number, probability

LEFT, RIGHT, STEP = 190, 90, 24
FILLS = ("bar", "outlined-bar", "hatched-bar", "soft-bar")


def frame(height: float, title: str, content: str) -> str:
    """An SVG picture with its title for readers without eyes."""
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{prose(title)}">'
        f"<title>{prose(title)}</title>{content}</svg>"
    )


def error_bars(
    rows: Sequence[tuple[str, float, float | None, float | None]], title: str
) -> str:  # fmt: skip
    """Bars of (name, value, error, null): whiskers are two errors, a diamond is the null."""
    reach = [abs(v) + 2 * (e or 0.0) for _, v, e, _ in rows]
    reach += [abs(n) for *_, n in rows if n is not None]
    scale = (WIDTH - LEFT - RIGHT) / (max(reach, default=1.0) or 1.0)
    parts = []
    for at, (name, value, error, null) in enumerate(rows):
        y = at * STEP + 3
        end = LEFT + max(value, 0.0) * scale
        said = f"{clean_name(name)}: {number(value)}"
        said += "" if error is None else f" ± {number(2 * error)}"
        said += "" if null is None else f", null {number(null)}"
        marks = f'<rect class="bar" x="{LEFT}" y="{y + 3}" width="{end - LEFT:.1f}" height="16"/>'
        reach_to = end
        if error:
            low, high = max(value - 2 * error, 0.0), value + 2 * error
            reach_to = LEFT + max(high, 0.0) * scale
            marks += (
                f'<path class="whisker" d="M{LEFT + low * scale:.1f},{y + 11}H{reach_to:.1f}'
                f'M{reach_to:.1f},{y + 7}v8"/>'
            )
        if null is not None:
            x = LEFT + max(null, 0.0) * scale
            marks += f'<path class="null" d="M{x:.1f},{y + 4}l5,7l-5,7l-5,-7z"/>'
            reach_to = max(reach_to, x + 5)
        parts.append(
            f"<g><title>{text(said)}</title>"
            f'<text x="{LEFT - 8}" y="{y + 15}" text-anchor="end">'
            f"{text(shorten(clean_name(name), MAX_LABEL))}</text>{marks}"
            f'<text class="tick" x="{reach_to + 6:.1f}" y="{y + 15}">{number(value)}</text></g>'
        )
    return frame(STEP * len(rows) + 6, title, "".join(parts))


def grouped_bars(
    groups: Sequence[tuple[str, Sequence[tuple[float, float | None]]]],
    parts: Sequence[str],
    title: str,
) -> str:
    """For each feature one bar a part, (value, p-value); a star marks p below 0.05."""
    thick = 13
    top = max((v for _, bars in groups for v, _ in bars), default=1.0) or 1.0
    scale = (WIDTH - LEFT - 1.7 * RIGHT) / top
    height_of = thick * len(parts) + 8
    drawn = [_legend(parts)]
    for at, (name, bars) in enumerate(groups):
        y0 = 26 + at * height_of
        drawn.append(
            f'<text x="{LEFT - 8}" y="{y0 + height_of / 2:.0f}" text-anchor="end">'
            f"{text(shorten(clean_name(name), MAX_LABEL))}</text>"
        )
        for k, (value, p) in enumerate(bars):
            y = y0 + k * thick
            width = max(value, 0.0) * scale
            said = f"{clean_name(name)}, {parts[k]}: {number(value)}"
            label = number(value)
            if p is not None:
                said += f", p = {probability(p)}"
                label += f" p={probability(p)}" + (" *" if p < 0.05 else "")
            drawn.append(
                f"<g><title>{text(said)}</title>"
                f'<rect class="{FILLS[k % len(FILLS)]}" x="{LEFT}" y="{y}" width="{width:.1f}" '
                f'height="{thick - 3}"/><text class="tick" x="{LEFT + width + 5:.1f}" '
                f'y="{y + thick - 4}">{prose(label)}</text></g>'
            )
    return frame(30 + height_of * len(groups), title, "".join(drawn))


def _legend(parts: Sequence[str]) -> str:
    drawn, x = [], float(LEFT)
    for k, part in enumerate(parts):
        label = shorten(clean_name(part), MAX_LABEL)
        drawn.append(
            f'<rect class="{FILLS[k % len(FILLS)]}" x="{x:.0f}" y="4" width="14" height="11"/>'
            f'<text class="tick" x="{x + 19:.0f}" y="14">{text(label)}</text>'
        )
        x += 34 + 8 * len(label)
    return "".join(drawn)


def heat_map(
    rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]], title: str
) -> str:
    """Cells darker where the value is larger; the value stands in the cell."""
    width = (WIDTH - LEFT - 10) / max(len(columns), 1)
    top = max((v for row in values for v in row), default=1.0) or 1.0
    drawn = [
        f'<text class="tick" x="{LEFT + (k + 0.5) * width:.1f}" y="16" text-anchor="middle">'
        f"{text(shorten(clean_name(name), max(int(width / 8), 4)))}</text>"
        for k, name in enumerate(columns)
    ]
    for at, (name, row) in enumerate(zip(rows, values, strict=True)):
        y = 24 + at * STEP
        drawn.append(
            f'<text x="{LEFT - 8}" y="{y + 16}" text-anchor="end">'
            f"{text(shorten(clean_name(name), MAX_LABEL))}</text>"
        )
        for k, value in enumerate(row):
            shade = max(value, 0.0) / top
            ink = "on-dark" if shade > 0.55 else "tick"
            drawn.append(
                f"<g><title>{text(clean_name(name))}, {text(clean_name(columns[k]))}: "
                f"{number(value)}</title>"
                f'<rect class="heat" x="{LEFT + k * width:.1f}" y="{y}" width="{width - 1:.1f}" '
                f'height="{STEP - 1}" fill-opacity="{shade:.3f}"/>'
                f'<text class="{ink}" x="{LEFT + (k + 0.5) * width:.1f}" y="{y + 16}" '
                f'text-anchor="middle">{value:.2f}</text></g>'
            )
    return frame(28 + STEP * len(rows), title, "".join(drawn))


def network_plot(
    links: Sequence[tuple[str, str, float, bool]], directed: bool, title: str
) -> str:  # fmt: skip
    """Links (source, target, weight, dashed) between nodes on a circle; thicker is stronger."""
    names = sorted({name for link in links for name in link[:2]})
    radius, center_x, center_y = 190, WIDTH / 2, 250
    places = {}
    for at, name in enumerate(names):
        angle = 2 * math.pi * at / max(len(names), 1) - math.pi / 2
        places[name] = (
            center_x + radius * math.cos(angle), center_y + radius * math.sin(angle), angle
        )  # fmt: skip
    top = max((abs(weight) for *_, weight, _ in links), default=1.0) or 1.0
    drawn = []
    for source, target, weight, dashed in sorted(links, key=lambda link: abs(link[2])):
        (x1, y1, _), (x2, y2, _) = places[source], places[target]
        bend_x, bend_y = (x1 + x2) / 2, (y1 + y2) / 2
        bend_x += 0.15 * (center_x - bend_x) + (12 if directed and source > target else 0)
        bend_y += 0.15 * (center_y - bend_y)
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
        drawn.append(
            f'<circle class="end" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
            f'<text class="tick" x="{x + (9 if right else -9):.1f}" y="{y + 4:.1f}" '
            f'text-anchor="{"start" if right else "end"}">'
            f"{text(shorten(clean_name(name), 16))}</text>"
        )
    head = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="10" refY="4" markerWidth="9" '
        'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">'
        '<path class="arrow" d="M0,0L8,4L0,8z"/></marker></defs>'
    )
    return frame(500, title, (head if directed else "") + "".join(drawn))


def labelled_points(
    rows: Sequence[tuple[str, float, float]], x_title: str, y_title: str, title: str
) -> str:
    """Points (name, x, y), each axis from 0 to its largest value; the far ones are named."""
    left, right, top, bottom, height = 64, 110, 14, 46, 360
    far_x = max((x for _, x, _ in rows), default=1.0) or 1.0
    far_y = max((y for *_, y in rows), default=1.0) or 1.0
    floor, end = height - bottom, WIDTH - right
    named = {name for name, *_ in sorted(rows, key=lambda r: -(r[1] / far_x + r[2] / far_y))[:12]}
    drawn = [f'<path class="axis" d="M{left},{top}V{floor}H{end}"/>']
    for share in (0.0, 0.5, 1.0):
        x, y = left + share * (end - left), floor - share * (floor - top)
        drawn.append(
            f'<text class="tick" x="{x:.0f}" y="{floor + 18}" text-anchor="middle">'
            f'{number(share * far_x)}</text><text class="tick" x="{left - 8}" y="{y + 4:.0f}" '
            f'text-anchor="end">{number(share * far_y)}</text>'
        )
    for name, value_x, value_y in rows:
        x = left + max(value_x, 0.0) / far_x * (end - left)
        y = floor - max(value_y, 0.0) / far_y * (floor - top)
        short = text(shorten(clean_name(name), 14))
        label = f'<text class="tick" x="{x + 6:.1f}" y="{y + 4:.1f}">{short}</text>'
        drawn.append(
            f"<g><title>{text(clean_name(name))}: {number(value_x)}, {number(value_y)}</title>"
            f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
            f"{label if name in named else ''}</g>"
        )
    drawn.append(
        f'<text class="label" x="{(left + end) / 2:.0f}" y="{height - 8}" text-anchor="middle">'
        f'{prose(x_title)}</text><text class="label" x="14" y="{floor / 2:.0f}" '
        f'text-anchor="middle" transform="rotate(-90 14 {floor / 2:.0f})">{prose(y_title)}</text>'
    )
    return frame(height, title, "".join(drawn))


CHART_CSS = """
svg .outlined-bar { fill: none; stroke: var(--edge); stroke-width: 1.5; }
svg .hatched-bar { fill: var(--fill); fill-opacity: .35; stroke: var(--fill);
  stroke-dasharray: 3 2; }
svg .soft-bar { fill: var(--quiet); }
svg .whisker { fill: none; stroke: var(--ink); stroke-width: 1.3; }
svg .null { fill: var(--paper); stroke: var(--edge); stroke-width: 1.6; }
svg .heat { fill: var(--fill); stroke: var(--rule); }
svg .on-dark { fill: var(--paper); font-size: 12px; }
svg .link { fill: none; stroke: var(--fill); stroke-opacity: .75; }
svg .arrow { fill: var(--ink); }
@media print { .heat, .hatched-bar { print-color-adjust: exact; } }
"""
