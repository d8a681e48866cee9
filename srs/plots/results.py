"""Plots of a result: features, all p-values, evidence, pairs, profiles, the course of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from srs.errors import InputError, near
from srs.plots import canvas
from srs.plots.canvas import BLUE, GREY, ORANGE, ROW_INCHES, SERIES, certainty, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from srs.results.result import Result

MOST_SPOTS = 100_000  # that are drawn one by one
MOST_NAMES = 12  # of features beside their spots
BY = ("p_value", "effect", "importance")
CONTIGS = ("contig", "chromosome", "chrom", "chr")


@dataclass(frozen=True)
class ResultPlots:
    """Plots of a result; each returns the axes it drew on. They need the extra `plot`."""

    result: Result

    def features(self, n: int = 20, by: str = "p_value", ax: Axes | None = None) -> Axes:
        """The relevant features, the most certain first.

        by  "p_value": how certain each is, in the colour of the evidence that found it; "effect":
            estimates with 95 % intervals; "importance": mean decrease of impurity
        """
        if by not in BY:
            raise InputError(f"by must be one of {', '.join(BY)}, not {by!r}.")
        if by == "effect":
            return _effects(self.result, n, ax)
        rows = _relevant(self.result)[:n]
        ax = canvas.new_axes(ax, height=1.2 + ROW_INCHES * max(len(rows), 2))
        places = canvas.rows_up(ax, [row["name"] for row in rows])
        if by == "importance":
            ax.barh(places, [row["importance"] for row in rows], height=0.62, color=BLUE)
            ax.set_xlabel("mean decrease of impurity")
        else:
            _certainties(ax, rows, places)
        ax.set_title(_title(self.result, len(rows)), loc="left")
        return canvas.tidy(ax, "x")

    def manhattan(self, ax: Axes | None = None) -> Axes:
        """The p-values of all features in their order, by chromosome if these are known."""
        known = set(self.result.document["data"].get("annotations", ()))
        contig = next((name for name in CONTIGS if name in known), None)
        names = ["name", "verdict", "p_value", "pinned", *([contig] if contig else [])]
        columns = self.result.columns(names)
        tested = ~np.asarray(columns["pinned"], bool)
        heights = certainty(columns["p_value"])
        relevant = np.asarray(columns["verdict"].to_pylist()) == "RELEVANT"
        ax = canvas.new_axes(ax, width=8.5)
        order = np.arange(len(heights))
        shades = np.zeros(len(heights), np.int64)
        if contig:
            order, shades = _by_contig(ax, columns[contig].to_pylist())
        else:
            ax.set_xlabel("feature, in the order of the data")
        dots = np.flatnonzero(tested & ~relevant)
        dots = _thinned(dots, heights)
        for shade, alpha in ((0, 0.55), (1, 0.9)):
            some = dots[shades[dots] == shade]
            ax.scatter(
                order[some], heights[some], s=9, color=GREY, alpha=alpha, lw=0, rasterized=True
            )
        found = np.flatnonzero(relevant)
        ax.scatter(order[found], heights[found], s=16, color=ORANGE, lw=0, label="relevant")
        _name_highest(ax, order, heights, found, columns["name"])
        ax.set_ylabel("−log$_{10}$ p")
        ax.set_ylim(bottom=0)
        ax.set_title(_title(self.result), loc="left")
        return canvas.tidy(ax, "y")

    def evidence(self) -> list[Axes]:
        """How far the evidence of features is from that of their probes, one plot a kind."""
        kinds: Mapping[str, Any] = self.result.document["outcome"]["evidence"]
        if not kinds:
            raise InputError("this result keeps no evidence of trees: there is nothing to draw.")
        axes = canvas.grid(1, len(kinds), 4.4, 3.4)
        for ax, (kind, told) in zip(axes, kinds.items(), strict=True):
            edges = np.asarray(told["edges"])
            widths, middles = np.diff(edges), (edges[1:] + edges[:-1]) / 2
            probes = np.asarray(told["probes"]) / max(told["n_probes"], 1)
            ax.bar(middles, told["features"], widths, color=BLUE, alpha=0.75, label="features")
            ax.stairs(probes, edges, color=ORANGE, lw=1.5, label="probes, per feature")
            ax.set_yscale("symlog", linthresh=1)
            ax.set_ylim(bottom=0)
            ax.set_xlabel(f"evidence “{kind}”")
            canvas.tidy(ax, "y")
        axes[0].set_ylabel("number of features")
        axes[-1].legend(frameon=False, fontsize="small")
        return axes

    def pairs(self, n: int = 6) -> list[Axes]:
        """The target by levels of both features, for the most certain pairs."""
        rows = [row for row in self.result.document["outcome"].get("pairs") or () if row["cells"]]
        if not rows:
            raise InputError("this result has no pairs of features that matter together.")
        n_columns = min(3, len(rows[:n]))
        axes = canvas.grid(-(-len(rows[:n]) // n_columns), n_columns, 4.2, 3.6)
        for ax in axes[len(rows[:n]) :]:
            ax.remove()
        for ax, row in zip(axes, rows[:n], strict=False):
            _draw_pair(ax, row, self._is_share)
        return axes[: len(rows[:n])]

    def profile(self, feature: str | int, ax: Axes | None = None) -> Axes:
        """The target by levels of a relevant feature, with 95 % intervals."""
        rows = self.result.document["outcome"].get("profiles") or ()
        mine = [row for row in rows if feature in (row["name"], row["feature_id"])]
        if not mine:
            names = sorted({row["name"] for row in rows})
            raise InputError(
                f"there is no profile of {feature!r}: relevant features have one"
                f"{near(str(feature), names)}"
            )
        levels = list(dict.fromkeys(row["level"] for row in mine))
        groups = list(dict.fromkeys(row["group"] for row in mine))
        ax = canvas.new_axes(ax, width=max(5.0, 1.15 * len(levels)))
        for at, group in enumerate(groups):
            some = {row["level"]: row for row in mine if row["group"] == group}
            values = [some[level]["value"] for level in levels]
            errors = [
                [v - some[level]["low"] for v, level in zip(values, levels, strict=True)],
                [some[level]["high"] - v for v, level in zip(values, levels, strict=True)],
            ]
            x = np.arange(len(levels)) + 0.06 * (at - (len(groups) - 1) / 2)
            ax.errorbar(
                x,
                values,
                errors,
                fmt="o-",
                color=SERIES[at % len(SERIES)],
                capsize=3,
                lw=1.2,
                label=group,
            )
        ax.set_xticks(range(len(levels)), [_broken(level) for level in levels])
        ax.set_xlabel(short(mine[0]["name"]))
        target = self.result.document["data"]["target"]
        shown = f"share of {short(groups[0])}" if len(groups) == 1 and groups[0] else short(target)
        ax.set_ylabel("share" if len(groups) > 1 else shown)
        if len(groups) > 1:
            ax.legend(frameon=False, fontsize="small", title=short(target))
        return canvas.tidy(ax, "y")

    def history(self, ax: Axes | None = None) -> Axes:
        """How many features were relevant while trees were grown."""
        told = self.result.document["outcome"]["history"]
        ax = canvas.new_axes(ax)
        ax.plot(
            [point["n_trees"] for point in told],
            [point["n_relevant"] for point in told],
            color=BLUE,
            marker="o",
            ms=3,
        )
        n_found = len(self.result.relevant_ids)
        ax.axhline(n_found, color=GREY, lw=0.9, ls="--")
        ax.annotate(
            f"in the list: {n_found}",
            (1, n_found),
            xycoords=("axes fraction", "data"),
            xytext=(-4, -6),
            textcoords="offset points",
            ha="right",
            va="top",
            fontsize="small",
            color=GREY,
        )
        most = max([point["n_relevant"] for point in told], default=0)
        ax.set_ylim(0, 1.15 * max(most, n_found, 1))
        ax.set_xlabel("trees")
        ax.set_ylabel("relevant features, interim")
        return canvas.tidy(ax, "y")

    @property
    def _is_share(self) -> bool:
        return bool(self.result.document["data"]["labels"])


def _relevant(result: Result) -> list[Mapping[str, Any]]:
    from srs.report.text import surest_first

    rows = surest_first(result.document)
    if not rows:
        raise InputError("no feature is relevant: there is nothing to draw.")
    return rows


def _title(result: Result, n_shown: int | None = None) -> str:
    n_found = len(result.relevant_ids)
    n_all = result.document["data"]["n_features"]
    some = "" if n_shown in (None, n_found) else f" (the first {n_shown})"
    return f"{n_found:,} of {n_all:,} features are relevant{some}"


def _certainties(ax: Axes, rows: Sequence[Mapping[str, Any]], places: np.ndarray) -> None:
    heights = certainty([row["p_value"] for row in rows])
    kinds = [row.get("found_by") or "p-value" for row in rows]
    for at, kind in enumerate(dict.fromkeys(kinds)):
        some = np.array([one == kind for one in kinds])
        colour = SERIES[at % len(SERIES)]
        ax.hlines(places[some], 0, heights[some], color=colour, lw=1.4)
        ax.scatter(heights[some], places[some], color=colour, s=26, zorder=3, label=kind)
    ax.set_xlim(left=0)
    ax.set_xlabel("−log$_{10}$ p")
    if len(set(kinds)) > 1:
        ax.legend(frameon=False, fontsize="small", title="found by", loc="lower right")


def _effects(result: Result, n: int, ax: Axes | None) -> Axes:
    """A forest plot: estimates of effects with their intervals."""
    outcome = result.document["outcome"]
    rows = [row for row in outcome.get("effects") or () if row["estimate"] is not None][:n]
    if not rows:
        raise InputError("this result has no estimates of effects: there is nothing to draw.")
    ax = canvas.new_axes(ax, height=1.2 + ROW_INCHES * max(len(rows), 2))
    groups = {row["group"] for row in rows}
    names = [f"{r['name']} ({r['group']})" if len(groups) > 1 else r["name"] for r in rows]
    places = canvas.rows_up(ax, names)
    estimates = np.array([row["estimate"] for row in rows])
    sides = np.array([[r["estimate"] - r["low"], r["high"] - r["estimate"]] for r in rows]).T
    ax.errorbar(estimates, places, xerr=sides, fmt="o", color=BLUE, ms=5, capsize=2, lw=1.3)
    is_ratio = bool(outcome["measure"]["is_ratio"])
    ax.axvline(1.0 if is_ratio else 0.0, color=GREY, lw=0.9, ls="--")
    if is_ratio:
        _ratio_axis(ax, rows)
    per = {row["per"] for row in rows}
    ax.set_xlabel(f"{rows[0]['measure']} per {per.pop()}" if len(per) == 1 else rows[0]["measure"])
    ax.set_title(_title(result, len(rows)), loc="left")
    return canvas.tidy(ax, "x")


def _ratio_axis(ax: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    """A logarithmic axis with plain numbers, few enough not to touch."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    ax.set_xscale("log")
    low = min(min(row["low"] for row in rows), 0.95)
    high = max(max(row["high"] for row in rows), 1.05)
    steps = np.array([0.1, 0.2, 0.25, 0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 10])
    inside = steps[(steps >= low * 0.95) & (steps <= high * 1.05)]
    if len(inside) > 7:
        inside = inside[np.isin(inside, [0.1, 0.25, 0.5, 1, 2, 4, 10])]
    if high / low < 50:
        ax.xaxis.set_major_locator(FixedLocator(inside.tolist()))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _by_contig(ax: Axes, contigs: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Features one contig after the other in the order they come, and alternating shades."""
    names = list(dict.fromkeys(contigs))
    number = {name: at for at, name in enumerate(names)}
    which = np.array([number[name] for name in contigs])
    order = np.empty(len(which), np.int64)
    order[np.argsort(which, kind="stable")] = np.arange(len(which))
    counts = np.bincount(which, minlength=len(names))
    ends = np.cumsum(counts)
    wide = counts > 0.02 * len(which)
    labels = [str(n).removeprefix("chr") if w else "" for n, w in zip(names, wide, strict=True)]
    ax.set_xticks(ends - counts / 2, labels)
    ax.set_xlabel("chromosome")
    return order, which % 2


def _thinned(dots: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """All spots that stand out, and of the many others every so many."""
    if len(dots) <= MOST_SPOTS:
        return dots
    highest = dots[np.argsort(-heights[dots], kind="stable")[: MOST_SPOTS // 2]]
    step = -(-len(dots) // (MOST_SPOTS // 2))
    return np.union1d(highest, dots[::step])


def _name_highest(
    ax: Axes, order: np.ndarray, heights: np.ndarray, found: np.ndarray, names: Any
) -> None:
    """Names beside the highest spots, where no other name stands already."""
    top = max(float(heights.max(initial=1.0)), 1.0)
    taken: list[tuple[float, float]] = []
    for row in found[np.argsort(-heights[found], kind="stable")][:MOST_NAMES]:
        x, y = float(order[row]) / len(order), float(heights[row]) / top
        if any(abs(x - a) < 0.16 and abs(y - b) < 0.05 for a, b in taken):
            continue
        taken.append((x, y))
        ax.annotate(
            short(names[int(row)].as_py()),
            (order[row], heights[row]),
            xytext=(-5 if x > 0.8 else 5, 0),
            textcoords="offset points",
            ha="right" if x > 0.8 else "left",
            va="center",
            fontsize="small",
        )


def _draw_pair(ax: Axes, row: Mapping[str, Any], is_share: bool) -> None:
    cells = row["cells"]
    values = np.array(cells["values"], np.float64)
    shown = ax.imshow(
        values,
        cmap="RdBu_r",
        vmin=0 if is_share else None,
        vmax=1 if is_share else None,
        aspect="auto",
        origin="lower",
    )
    ax.set_yticks(range(len(cells["levels"])), [_broken(level) for level in cells["levels"]])
    ax.set_xticks(
        range(len(cells["partner_levels"])), [_broken(level) for level in cells["partner_levels"]]
    )
    ax.set_ylabel(short(row["name"]))
    ax.set_xlabel(short(row["partner"]))
    low, high = shown.get_clim()
    for (i, j), value in np.ndenumerate(values):
        if np.isfinite(value):
            far = abs((value - low) / max(high - low, 1e-12) - 0.5) > 0.33
            ink = "white" if far else "black"
            n = cells["counts"][i][j]
            ax.text(j, i, f"{value:.2g}\nn {n}", ha="center", va="center", color=ink, fontsize=8)
    share = f"share of {short(cells['group'])}" if cells.get("group") else "mean target"
    ax.set_title(f"{share} ({row['kind']})", fontsize="medium", loc="left")


def _broken(level: str) -> str:
    """A label of a level on two lines, so that neighbours do not touch."""
    text = str(level)
    for word in ("to ", "third", "half"):
        text = text.replace(f" {word}", f"\n{word}")
    return text
