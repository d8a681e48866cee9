"""Plots of an explanation, one an analysis, drawn as its descriptor says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from srs.catalogue import find_analyses
from srs.errors import InputError, near
from srs.plots import canvas
from srs.plots.canvas import BLUE, GREY, ORANGE, ROW_INCHES, SERIES, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from srs.results.explanation import Explanation

Row = Mapping[str, Any]
MOST_ROWS, MOST_LINKS = 25, 40


@dataclass(frozen=True)
class ExplanationPlots:
    """Plots of an explanation: `plot("mda")`, or `plot()` for all. They need the extra `plot`."""

    explanation: Explanation

    def __call__(self, analysis: str | None = None, ax: Axes | None = None) -> Any:
        """Draw an analysis as the report does; None: all, as a mapping from names to axes."""
        if analysis is None:
            return {name: self(name) for name in self.explanation.analyses}
        rows = self._rows(analysis)
        kind = find_analyses().get(analysis)
        chart = "bars" if kind is None else kind.section.chart
        if chart in ("links", "pairs", "changed-links"):
            return self.network(analysis, ax)
        if chart == "heat-map":
            return self.heat_map(analysis, ax)
        if len({row["part"] for row in rows}) > 1:
            return self.groups(analysis, ax)
        return self.bars(analysis, ax)

    def bars(self, analysis: str, ax: Axes | None = None) -> Axes:
        """A bar a feature with its standard error, and a tick where the null would be."""
        rows = sorted(self._rows(analysis), key=lambda row: -(row["value"] or 0.0))[:MOST_ROWS]
        ax = canvas.new_axes(ax, height=1.2 + ROW_INCHES * max(len(rows), 2))
        places = canvas.rows_up(ax, [row["feature"] for row in rows])
        colours = [BLUE if _is_certain(row) else GREY for row in rows]
        ax.barh(
            places,
            [row["value"] or 0.0 for row in rows],
            xerr=[row["error"] or 0.0 for row in rows],
            height=0.62,
            color=colours,
            error_kw={"elinewidth": 1, "capsize": 2},
        )
        nulls = [(row["null"], at) for row, at in zip(rows, places, strict=True) if row["null"]]
        if nulls:
            x, y = zip(*nulls, strict=True)
            ax.scatter(x, y, marker="|", s=120, color=ORANGE, label="null")
            ax.legend(frameon=False, fontsize="small", loc="lower right")
        return self._finished(ax, analysis, rows)

    def groups(self, analysis: str, ax: Axes | None = None) -> Axes:
        """A group of dots a feature, one for each part, with standard errors."""
        rows = self._rows(analysis)
        parts = list(dict.fromkeys(row["part"] for row in rows))
        best: dict[str, float] = {}
        for row in rows:
            best[row["feature"]] = max(best.get(row["feature"], -np.inf), row["value"] or 0.0)
        names = sorted(best, key=lambda name: -best[name])[:MOST_ROWS]
        ax = canvas.new_axes(ax, height=1.2 + ROW_INCHES * max(len(names), 2))
        place = dict(zip(names, canvas.rows_up(ax, names), strict=True))
        for at, part in enumerate(parts):
            some = [row for row in rows if row["part"] == part and row["feature"] in place]
            shift = 0.5 * (at - (len(parts) - 1) / 2) / max(len(parts), 1)
            ax.errorbar(
                [row["value"] or 0.0 for row in some],
                [place[row["feature"]] - shift for row in some],
                xerr=[row["error"] or 0.0 for row in some],
                fmt="o",
                ms=4,
                lw=1,
                color=SERIES[at % len(SERIES)],
                label=short(part),
            )
        ax.legend(frameon=False, fontsize="small", loc="lower right")
        return self._finished(ax, analysis, rows)

    def heat_map(self, analysis: str, ax: Axes | None = None) -> Axes:
        """A row a feature and a column a part, e.g. a class."""
        rows = self._rows(analysis)
        parts = list(dict.fromkeys(row["part"] for row in rows))
        values = {(row["feature"], row["part"]): row["value"] or 0.0 for row in rows}
        names = list(dict.fromkeys(row["feature"] for row in rows))
        names.sort(key=lambda name: -max(values.get((name, part), 0.0) for part in parts))
        names = names[:MOST_ROWS]
        size = {"width": 3.4 + 0.7 * len(parts), "height": 1.4 + ROW_INCHES * max(len(names), 2)}
        ax = canvas.new_axes(ax, **size)
        table = np.array([[values.get((name, part), np.nan) for part in parts] for name in names])
        shown = ax.imshow(table, cmap="Blues", aspect="auto", vmin=0)
        ax.set_yticks(range(len(names)), [short(name) for name in names])
        ax.set_xticks(range(len(parts)), [short(part) for part in parts])
        if sum(len(short(part)) for part in parts) > 40:
            ax.tick_params(axis="x", rotation=45)
        ax.figure.colorbar(shown, ax=ax, label="importance")
        ax.set_title(_title(analysis), loc="left")
        return ax

    def network(self, analysis: str, ax: Axes | None = None) -> Axes:
        """The strongest links between features, on a circle; wider is stronger."""
        rows = self._rows(analysis)
        rows = [row for row in rows if row["value"] and row["value"] > 0]
        rows = sorted(rows, key=lambda row: -row["value"])[:MOST_LINKS]
        if not rows:
            raise InputError(f"the analysis {analysis!r} found no links: there is nothing to draw.")
        ax = canvas.new_axes(ax, width=6.4, height=6.4)
        ends = [(row["feature"], row.get("target") or row["part"]) for row in rows]
        names = list(dict.fromkeys(name for pair in ends for name in pair))
        angles = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / len(names)
        place = {n: (np.cos(a), np.sin(a)) for n, a in zip(names, angles, strict=True)}
        most = rows[0]["value"]
        for row, (start, end) in zip(rows, ends, strict=True):
            strength = row["value"] / most
            ax.plot(
                *zip(place[start], place[end], strict=True),
                color=BLUE,
                lw=0.4 + 3.2 * strength,
                alpha=0.25 + 0.55 * strength,
                solid_capstyle="round",
            )
        ax.scatter(np.cos(angles), np.sin(angles), s=28, color=ORANGE, zorder=3)
        for name, angle in zip(names, angles, strict=True):
            _name_on_circle(ax, name, angle)
        ax.set_aspect("equal")
        ax.set_xlim(-1.6, 1.6)
        ax.set_ylim(-1.45, 1.45)
        ax.set_axis_off()
        ax.set_title(f"{_title(analysis)}: {len(rows)} strongest links", loc="left")
        return ax

    def _rows(self, analysis: str) -> Sequence[Row]:
        known = self.explanation.analyses
        if analysis not in known:
            raise InputError(
                f"there is no analysis {analysis!r} in this explanation; it has "
                f"{', '.join(known)}{near(analysis, list(known))}"
            )
        rows: Sequence[Row] = known[analysis].to_json()["rows"]
        return rows

    def _finished(self, ax: Axes, analysis: str, rows: Sequence[Row]) -> Axes:
        ax.axvline(0, color=GREY, lw=0.8)
        quiet = not all(_is_certain(row) for row in rows) and len({row["part"] for row in rows}) < 2
        ax.set_xlabel("importance" + (" (grey: q above 0.05)" if quiet else ""))
        ax.set_title(_title(analysis), loc="left")
        return canvas.tidy(ax, "x")


def _is_certain(row: Row) -> bool:
    return row["q_value"] is None or bool(row["q_value"] <= 0.05)


def _title(analysis: str) -> str:
    kind = find_analyses().get(analysis)
    return analysis if kind is None else kind.title


def _name_on_circle(ax: Axes, name: str, angle: float) -> None:
    """A name outside of the circle, turned to it so that names do not touch."""
    degrees = np.degrees(angle) % 360
    flipped = 90 < degrees < 270
    ax.text(
        1.06 * np.cos(angle),
        1.06 * np.sin(angle),
        short(name),
        rotation=degrees - 180 if flipped else degrees,
        rotation_mode="anchor",
        ha="right" if flipped else "left",
        va="center",
        fontsize="small",
    )
