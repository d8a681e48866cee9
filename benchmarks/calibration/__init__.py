"""Error rates and power over many runs: nulls, eight kinds of signal, and peers on the same data.

    python -m benchmarks.calibration [--runs 50] [--slow-runs 50] [--seconds 3600] [rows]

Runs are saved to `benchmarks/results/calibration.csv` as they end, and what is there is not run
again: delete it to start over. What counts as relevant is said in `problems`. At full length (200
nulls, 50 runs a row and method) it takes about three hours on two cores, half of them BorutaPy's
and Altmann's. `python -m benchmarks calibration` takes ten minutes: four runs of a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from scipy.stats import binomtest

from benchmarks.calibration.methods import METHODS, RATE, SLOW_METHODS
from benchmarks.calibration.problems import INTERACTION_ROWS, NULL_SHAPES, ROWS, Problem, null
from benchmarks.measure import Line
from benchmarks.output import print_table, read_rows, run_missing

CSV = "calibration.csv"
COLUMNS = ("row", "method", "run", "n_true", "n_false", "n_relevant", "seconds")
NULL_METHODS = ("srs", "univariate")
NULLS = [f"null {n} x {p}" for n, p in NULL_SHAPES]
ROW_NAMES = [*NULLS, *ROWS]


@dataclass(frozen=True)
class Task:
    """One run: which data, by which method, and its number, which is the seed."""

    row: str
    method: str
    run: int


def make_problem(task: Task) -> Problem:
    """The data of a run: the same for all methods."""
    rng = np.random.default_rng((ROW_NAMES.index(task.row), task.run))
    if task.row in ROWS:
        return ROWS[task.row](rng)
    return null(NULLS.index(task.row), task.run, rng)


def work(task: Task) -> dict[str, Any]:
    problem = make_problem(task)
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


def run_tasks(
    rows: Sequence[str], n_runs: int, n_slow: int, seconds: float, processes: int
) -> None:
    """Run what the CSV lacks, the fast methods first."""
    tasks = [
        Task(row, method, run)
        for slow in (False, True)
        for run in range(n_slow if slow else n_runs)
        for row in rows
        for method in (METHODS if row in ROWS else NULL_METHODS)
        if (method in SLOW_METHODS) == slow
    ]
    run_missing(
        CSV, COLUMNS, n_keys=3, tasks=tasks, work=work, seconds=seconds, processes=processes
    )


@dataclass(frozen=True)
class Cell:
    """What a method did on the runs of one row.

    false_share  mean share of false features in the list (nulls: share of runs that select any)
    error        half of its 95 % interval
    power        mean share of the relevant features that were found
    """

    row: str
    method: str
    n_runs: int
    false_share: float
    error: float
    power: float
    seconds: float

    @property
    def keeps_rate(self) -> bool:
        return self.false_share - self.error <= RATE


def summarise() -> dict[tuple[str, str], Cell]:
    groups: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in read_rows(CSV):
        groups.setdefault((row["row"], row["method"]), []).append(row)
    cells = {}
    for (row, method), runs in groups.items():
        true, false, relevant = (
            np.array([float(r[c]) for r in runs]) for c in ("n_true", "n_false", "n_relevant")
        )
        shares = false / np.maximum(true + false, 1)
        if row in ROWS:
            error = 1.96 * shares.std(ddof=1) / np.sqrt(len(runs)) if len(runs) > 1 else np.nan
            power = float((true / relevant).mean())
        else:
            interval = binomtest(int(shares.sum()), len(runs)).proportion_ci()
            error, power = float(shares.mean() - interval.low), np.nan
        seconds = float(np.mean([float(r["seconds"]) for r in runs]))
        cells[row, method] = Cell(
            row=row,
            method=method,
            n_runs=len(runs),
            false_share=float(shares.mean()),
            error=float(error),
            power=power,
            seconds=seconds,
        )
    return cells


def show() -> None:
    """The table of all rows and methods, and where a peer finds more."""
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
            for row in ROW_NAMES
            for method in METHODS
            if (c := cells.get((row, method)))
        ],
    )
    for line in judge(cells):
        line.show()


def judge(cells: dict[tuple[str, str], Cell]) -> Iterator[Line]:
    """Whether the rates are kept, and whether any peer that keeps its rate finds more."""
    nulls = [c for c in cells.values() if c.method == "srs" and c.row in NULLS]
    if nulls:
        n_runs = sum(c.n_runs for c in nulls)
        n_selecting = round(sum(c.n_runs * c.false_share for c in nulls))
        low = binomtest(n_selecting, n_runs).proportion_ci().low
        yield Line(
            f"{n_runs} nulls that select anything",
            f"{n_selecting}",
            f"at most {RATE:.0%}",
            bool(low <= RATE),
        )
    for row in ROWS:
        ours = cells.get((row, "srs"))
        if ours is None:
            continue
        peers = [c for c in cells.values() if c.row == row and c.method != "srs"]
        rival = max((c for c in peers if c.keeps_rate), key=lambda c: c.power, default=None)
        best = "none" if rival is None else f"{rival.method} {rival.power:.2f}"
        ahead = rival is None or ours.power >= rival.power
        if row in INTERACTION_ROWS and rival is not None:
            ahead = ours.power > rival.power or ours.power == rival.power == 1.0
        yield Line(
            f"{row}, {ours.n_runs} runs",
            f"false {ours.false_share:.3f}, power {ours.power:.2f}; best peer at its rate: {best}",
            f"false at most {RATE} within its interval, power at least the peers'",
            bool(ours.keeps_rate and ahead),
        )


def run() -> Iterator[Line]:
    """Four runs of every row and method."""
    run_tasks(ROW_NAMES, 4, 1, float("inf"), 2)
    yield from judge(summarise())
