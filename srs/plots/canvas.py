"""Axes to draw on, and what plots have in common: colours, shortened names, p-values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from srs.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREY = "#2f6db3", "#c65a11", "#8a93a0"
SERIES = (BLUE, ORANGE, "#3d8f5f", "#8c5aa8", "#b23a6b", "#6b7280", "#a98600", "#2a9da8")
LONGEST = 28  # letters of a name on an axis
ROW_INCHES = 0.27
SMALLEST_P = 1e-300


def new_axes(ax: Axes | None, width: float = 6.4, height: float = 4.0) -> Axes:
    """The axes that were given, or those of a new figure that fits its labels."""
    if ax is not None:
        return ax
    return grid(1, 1, width, height)[0]


def grid(n_rows: int, n_columns: int, width: float, height: float) -> list[Axes]:
    """Axes of a new figure, row by row; each has this size in inches."""
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise InputError("plots need matplotlib: pip install 'srs-select[plot]'.") from None
    figure, axes = pyplot.subplots(
        n_rows,
        n_columns,
        figsize=(width * n_columns, height * n_rows),
        layout="constrained",
        squeeze=False,
    )
    del figure
    return list(axes.ravel())


def tidy(ax: Axes, along: str | None = None) -> Axes:
    """Fewer lines: no frame above and at the right, and a light grid along one axis."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if along is not None:
        ax.grid(axis=along, color=GREY, alpha=0.25, linewidth=0.6)  # type: ignore[arg-type]
        ax.set_axisbelow(True)
    return ax


def short(name: Any) -> str:
    """A name that leaves room for the plot.

    >>> short("a" * 40)[:5], len(short("a" * 40))
    ('aaaaa', 28)
    """
    text = str(name)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def rows_up(ax: Axes, names: list[str]) -> np.ndarray:
    """Places of rows with names, the first at the top."""
    places = np.arange(len(names))[::-1]
    ax.set_yticks(places, [short(name) for name in names])
    ax.set_ylim(-0.7, len(names) - 0.3)
    return places


def certainty(p_values: Any) -> np.ndarray:
    """Minus the decimal logarithm of p-values."""
    return -np.log10(np.maximum(np.asarray(p_values, np.float64), SMALLEST_P))
