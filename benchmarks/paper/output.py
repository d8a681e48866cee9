"""Where the scripts write: `benchmarks/results/paper`, one CSV and one figure each."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[1] / "results" / "paper"


def results_path(name: str) -> Path:
    RESULTS.mkdir(parents=True, exist_ok=True)
    return RESULTS / name


def read_rows(name: str) -> list[dict[str, str]]:
    path = results_path(name)
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def append_rows(name: str, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> None:
    """Add rows to a CSV; the first ones bring its header."""
    path = results_path(name)
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, columns)
        if is_new:
            writer.writeheader()
        writer.writerows(rows)


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    lines = [list(map(str, head)), *(list(map(str, row)) for row in rows)]
    widths = [max(len(line[c]) for line in lines) for c in range(len(head))]
    for line in lines:
        print("  " + "  ".join(f"{text:<{w}}" for text, w in zip(line, widths, strict=True)))


def new_figure(n_panels: int, width: float = 5.0, height: float = 3.6) -> tuple[Any, list[Any]]:
    """A figure without a display, and its axes in one row."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, n_panels, figsize=(width * n_panels, height), squeeze=False)
    return figure, list(axes[0])


def save_figure(figure: Any, name: str) -> Path:
    """Write `name`.png and `name`.svg; returns the path of the first."""
    figure.tight_layout()
    figure.savefig(results_path(f"{name}.svg"), metadata={"Date": None})
    path = results_path(f"{name}.png")
    figure.savefig(path, dpi=150)
    return path
