"""Table 7.C.2: accuracy of ensembles that SRS grows in paper mode, and of forests, on half splits.

    python -m benchmarks.paper.table_7_c_2 [--splits 10] [--seconds 1800] [madelon arcene isolet]

One split is one seed: half of the samples train, the other half test, the same for all methods.
Runs are saved as they end; runs that are in the CSV already are not run again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import srs
from benchmarks.measure import Line
from benchmarks.output import (
    new_figure,
    print_table,
    read_rows,
    results_path,
    run_missing,
    save_figure,
)
from benchmarks.paper.data import load
from srs.engine.context import make_context
from srs.settings import Settings

NAME = "paper/table_7_c_2"
COLUMNS = ("data", "n_rows", "method", "split", "accuracy", "n_relevant", "seconds")
ITERATIONS = 10_000
FOREST_TREES = 1_000
SHARES, ALPHAS = (0.01, 0.05, 0.1), (0.0, 0.5, 1.0)
SRS_METHODS = tuple(f"SRS q={q:g} a={a:g}" for q in SHARES for a in ALPHAS)
FORESTS = tuple(f"{f} K={k:g}" for f in ("RF", "ET") for k in (0.01, 0.1, 1.0))
# Rows as in the thesis, where the copy at hand has them; isolet there had 7797.
ROWS = {"madelon": 2000, "arcene": 100, "isolet": 1560}
BAR = 0.03


@dataclass(frozen=True)
class Task:
    """One accuracy: a data set, the method, and the seed that splits it."""

    data: str
    n_rows: int
    method: str
    split: int


def plan(data: str, n_rows: int, methods: Sequence[str], n_splits: int) -> list[Task]:
    return [Task(data, n_rows, method, split) for split in range(n_splits) for method in methods]


def work(task: Task) -> dict[str, Any]:
    """Train on one half, predict the other."""
    start = perf_counter()
    name, parameters = task.method.split(" ", 1)
    values = [float(part.split("=")[1]) for part in parameters.split(" ")]
    if name == "SRS":
        accuracy, n_relevant = _srs_accuracy(task, *values)
    else:
        accuracy, n_relevant = _forest_accuracy(task, name, *values), -1
    return {
        "data": task.data,
        "n_rows": task.n_rows,
        "method": task.method,
        "split": task.split,
        "accuracy": round(accuracy, 6),
        "n_relevant": n_relevant,
        "seconds": round(perf_counter() - start, 1),
    }


def _srs_accuracy(task: Task, share: float, alpha: float) -> tuple[float, int]:
    X, _, store = load(task.data, task.n_rows)
    result = srs.select(
        store,
        mode="paper",
        subspace_size=round(share * X.shape[1]),
        carry_fraction=alpha,
        max_trees=ITERATIONS,
        holdout=0.5,
        seed=task.split,
        threads=1,
    )
    predicted = result.prediction
    assert predicted is not None
    return float((predicted.truth == predicted.prediction).mean()), len(result.relevant_ids)


def _forest_accuracy(task: Task, name: str, share: float) -> float:
    X, y, store = load(task.data, task.n_rows)
    context = make_context(store, Settings(mode="paper", holdout=0.5, seed=task.split))
    kind = {"RF": RandomForestClassifier, "ET": ExtraTreesClassifier}[name]
    n_trees = FOREST_TREES if name == "ET" or share < 1 else FOREST_TREES // 5  # RF K=1 is slow
    forest = kind(n_trees, criterion="entropy", max_features=share, random_state=task.split)
    forest.fit(X[context.train], y[context.train])
    return float(forest.score(X[context.held_out], y[context.held_out]))


def run_tasks(tasks: Sequence[Task], seconds: float = float("inf"), processes: int = 2) -> None:
    """Run what the CSV lacks, until the time is over."""
    run_missing(
        f"{NAME}.csv",
        COLUMNS,
        n_keys=4,
        tasks=tasks,
        work=work,
        seconds=seconds,
        processes=processes,
    )


@dataclass(frozen=True)
class Cell:
    """Mean accuracy of some splits beside the printed value."""

    data: str
    n_rows: int
    method: str
    n_splits: int
    mean: float
    error: float
    n_relevant: float
    printed: float
    seconds: float


def summarise() -> list[Cell]:
    """All that was measured; the values that the thesis prints are in a CSV beside it."""
    printed = {
        (row["data"], row["method"]): float(row["accuracy"])
        for row in read_rows(f"{NAME}_printed.csv")
    }
    methods = (*SRS_METHODS, *FORESTS)
    groups: dict[tuple[str, int, str], list[dict[str, str]]] = {}
    for row in read_rows(f"{NAME}.csv"):
        groups.setdefault((row["data"], int(row["n_rows"]), row["method"]), []).append(row)
    cells = []
    for (data, n_rows, method), rows in groups.items():
        of = {c: np.array([float(row[c]) for row in rows]) for c in COLUMNS[4:]}
        error = of["accuracy"].std(ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else np.nan
        cells.append(
            Cell(
                data=data,
                n_rows=n_rows,
                method=method,
                n_splits=len(rows),
                mean=of["accuracy"].mean(),
                error=error,
                n_relevant=of["n_relevant"].mean(),
                printed=printed[data, method],
                seconds=of["seconds"].mean(),
            )
        )
    return sorted(cells, key=lambda c: (c.data, c.n_rows, methods.index(c.method)))


def show(cells: Sequence[Cell]) -> None:
    print_table(
        (
            "data",
            "rows",
            "method",
            "splits",
            "accuracy",
            "error",
            "printed",
            "difference",
            "relevant",
            "seconds",
        ),
        [
            (
                c.data,
                c.n_rows,
                c.method,
                c.n_splits,
                f"{c.mean:.3f}",
                f"{c.error:.3f}",
                f"{c.printed:.3f}",
                f"{c.mean - c.printed:+.3f}",
                "" if c.n_relevant < 0 else f"{c.n_relevant:.1f}",
                f"{c.seconds:.0f}",
            )
            for c in cells
        ],
    )


def judge(data: str, n_rows: int, methods: Sequence[str]) -> Iterator[Line]:
    """Whether means are as near to print as the bar asks."""
    for cell in summarise():
        if (cell.data, cell.n_rows) == (data, n_rows) and cell.method in methods:
            yield Line(
                f"Table 7.C.2, {data}, {cell.method}, {cell.n_splits} splits",
                f"{cell.mean:.3f} +- {cell.error:.3f}, printed {cell.printed:.3f}",
                f"within {BAR} of print",
                abs(cell.mean - cell.printed) <= BAR,
            )


def draw(cells: Sequence[Cell]) -> None:
    groups = sorted({(c.data, c.n_rows) for c in cells})
    figure, axes = new_figure(len(groups), 4.2, 4.4)
    for axis, group in zip(axes, groups, strict=True):
        mine = [c for c in cells if (c.data, c.n_rows) == group]
        places = np.arange(len(mine))
        axis.barh(
            places,
            [c.mean for c in mine],
            xerr=[c.error for c in mine],
            color="#9ec5e8",
            label="measured, standard error",
        )
        axis.plot([c.printed for c in mine], places, "k|", markersize=12, label="printed")
        axis.set_yticks(places, [c.method for c in mine], fontsize=7)
        axis.invert_yaxis()
        axis.set_xlim(0.3, 1)
        axis.set_xlabel("accuracy")
        axis.set_title(f"{group[0]}, {group[1]} rows", fontsize=10)
        axis.legend(fontsize=7, loc="lower left")
    save_figure(figure, NAME)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", default=list(ROWS))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--rows", type=int, help="rows to use, instead of those of the thesis")
    parser.add_argument("--methods", nargs="*", default=[*SRS_METHODS, *FORESTS])
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start nothing after")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    tasks = [
        task
        for data in chosen.data
        for task in plan(data, chosen.rows or ROWS[data], chosen.methods, chosen.splits)
    ]
    run_tasks(tasks, chosen.seconds, chosen.processes)
    cells = summarise()
    show(cells)
    draw(cells)
    print(f"wrote {results_path(NAME)}.csv, .png and .svg")


if __name__ == "__main__":
    main()
