"""Error rates and power over many runs: nulls, thirteen kinds of signal, and peers.

    python -m benchmarks.calibration [--runs 50] [--slow-runs 50] [--seconds 3600] [rows]

Runs are saved to `benchmarks/results/calibration.csv` as they end, and what is there is not run
again: delete it to start over. What counts as relevant is said in `problems`; `rows` says which run
numbers count. The rows `srs 0.1` are those of version 0.1 and cannot be run again. At full length
(50 runs a row and method) it takes about a day on one core, most of it the slow peers';
`python -m benchmarks calibration` runs two of a row and the fast methods.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.calibration.cells import CSV, Cell, summarise
from benchmarks.calibration.judge import judge
from benchmarks.calibration.methods import METHODS, NULL_METHODS, SLOW_METHODS, cannot_run
from benchmarks.calibration.rows import ROWS, first_run
from benchmarks.measure import Line
from benchmarks.output import print_table, run_missing

__all__ = ["Cell", "Task", "run", "run_tasks", "show", "summarise", "work"]

COLUMNS = ("row", "method", "run", "n_true", "n_false", "n_relevant", "seconds")


@dataclass(frozen=True)
class Task:
    """One run: which data, by which method, and its number, which is the seed."""

    row: str
    method: str
    run: int


def work(task: Task) -> dict[str, Any]:
    problem = ROWS[task.row].problem(task.run)
    start = perf_counter()
    found = METHODS[task.method](problem, task.run)
    n_true = int(np.isin(found, problem.relevant).sum())
    return {
        "row": task.row,
        "method": task.method,
        "run": task.run,
        "n_true": n_true,
        "n_false": len(found) - n_true,
        "n_relevant": len(problem.relevant),
        "seconds": round(perf_counter() - start, 2),
    }


def plan_tasks(
    rows: Sequence[str], methods: Sequence[str], n_runs: int, n_slow: int
) -> Iterator[Task]:
    """The fast methods first; one run of all rows before the next, so that time is shared out."""
    rows = [row for row in rows if ROWS[row].available()]
    for slow in (False, True):
        for number in range(n_slow if slow else n_runs):
            for row in rows:
                for method in methods:
                    if (method in SLOW_METHODS) != slow or cannot_run(method, ROWS[row]):
                        continue
                    if ROWS[row].is_null and method not in NULL_METHODS:
                        continue
                    yield Task(row, method, first_run(row, method) + number)


def run_tasks(tasks: Sequence[Task], seconds: float, processes: int) -> None:
    """Run what the CSV lacks."""
    run_missing(
        CSV, COLUMNS, n_keys=3, tasks=tasks, work=work, seconds=seconds, processes=processes
    )


def show() -> None:
    """The table of all rows and methods, and what is judged."""
    cells = summarise()
    print_table(
        ("row", "method", "runs", "false share", "power", "seconds"),
        [
            (
                c.row,
                c.method,
                c.n_runs,
                f"{c.false_share:.3f} +- {c.error:.3f}",
                "" if np.isnan(c.power) else f"{c.power:.3f}",
                f"{c.seconds:.1f}",
            )
            for row in ROWS
            for method in ("srs 0.1", *METHODS)
            if (c := cells.get((row, method)))
        ],
    )
    for line in judge(cells):
        line.show()


def run() -> Iterator[Line]:
    """Two runs of every row by the fast methods, beside what is saved."""
    run_tasks(list(plan_tasks(list(ROWS), ("srs", "univariate"), 2, 0)), float("inf"), 2)
    yield from judge(summarise())
