"""What long benchmarks write: CSV files and figures under `benchmarks/results`.

Rows are saved as they are measured, and what is in the CSV already is not measured again.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"


def results_path(name: str) -> Path:
    path = RESULTS / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


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


def run_missing(
    name: str,
    columns: Sequence[str],
    n_keys: int,
    tasks: Iterable[Any],
    work: Callable[[Any], dict[str, Any]],
    seconds: float = float("inf"),
    processes: int = 2,
) -> None:
    """Add work(task) to a CSV for each task that it lacks, until the time is over.

    The first n_keys columns tell tasks apart; a task is a dataclass with fields of these names.
    """
    keys = columns[:n_keys]
    done = {tuple(row[c] for c in keys) for row in read_rows(name)}
    waiting = [t for t in tasks if tuple(str(getattr(t, c)) for c in keys) not in done]
    deadline = monotonic() + seconds
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        running: set[Future[dict[str, Any]]] = set()
        while waiting or running:
            if monotonic() > deadline:
                waiting.clear()
            while waiting and len(running) < processes:
                running.add(pool.submit(work, waiting.pop(0)))
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            append_rows(name, columns, [future.result() for future in ended])


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
