"""Figure 7.4.1: F1 score of the selected set along the run, 20 relevant among 50,000 features.

    python -m benchmarks.paper.figure_7_4_1 [--seeds 2] [--trees 2000 8000]
    python -m benchmarks.paper.figure_7_4_1 --informative 20 --features 5000 --samples 4000

Subspaces of 5 % (2,500) and 0.5 % (250); alpha = 0 (the Random Subspace method), 0.5 and 1 in paper
mode, and the default mode in the same axes: with the same subspaces and with its own. Runs are
saved as they end; runs that are in the CSV already are not run again.

The thesis gives neither the number of samples nor the generator ("similar to madelon"). With 15 of
the 20 relevant features mixtures of 5, as Madelon has them, what is carried masks the mixtures, and
alpha = 0 finds more than alpha > 0. With 20 informative features without mixtures, and samples
enough to see them given others (the second command), alpha > 0 finds more, as the thesis shows.
That setting was looked for: of nine tried at smaller sizes (5 or 20 informative, 1,000 to 4,000
samples, 2,000 or 10,000 features; one seed) it was the only one in that order, two were ties. It
was not run at 50,000 features.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache
from multiprocessing import get_context
from time import monotonic
from typing import Any

import numpy as np

import srs
from benchmarks.output import (
    append_rows,
    new_figure,
    print_table,
    read_rows,
    results_path,
    save_figure,
)
from benchmarks.paper.data import make_madelon_like
from srs.engine.context import make_context, with_resident_codes
from srs.engine.kernels import ensure_compiled
from srs.engine.loop import Run
from srs.executors import LocalExecutor
from srs.settings import Settings
from srs.store import FeatureStore

NAME = "paper/figure_7_4_1"
N_RELEVANT = 20
KEY = ("n_samples", "n_features", "n_informative", "seed", "max_trees", "q", "mode", "alpha")
COLUMNS = (*KEY, "n_trees", "n_true", "n_false", "f1", "seconds")
SHARES = (0.05, 0.005)  # of the features, in a subspace
OWN = 0  # stands for the subspace that the default mode chooses


@dataclass(frozen=True)
class Task:
    """One run: its data (to seed), and its settings."""

    n_samples: int
    n_features: int
    n_informative: int
    seed: int
    max_trees: int
    q: int
    mode: str
    alpha: float

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(map(str, astuple(self)))

    @property
    def label(self) -> str:
        if self.mode == "paper":
            return f"paper, alpha = {self.alpha:g}"
        return "default, its own q" if self.q == OWN else "default, same q"


class TracedRun(Run):
    """A run that notes, at each look at the evidence, what is in the relevant set."""

    truth: set[int]
    trace: list[tuple[int, int, int]]

    def _look(self) -> None:
        super()._look()
        found = set(self.context.store.feature_ids[self.state.relevant].tolist())
        counts = len(found & self.truth), len(found - self.truth)
        if not self.trace or self.trace[-1][1:] != counts:
            self.trace.append((self.state.n_trees, *counts))


@lru_cache(maxsize=1)
def _data(
    n_samples: int, n_features: int, n_informative: int, seed: int
) -> tuple[FeatureStore, set[int]]:
    X, y, relevant = make_madelon_like(n_samples, n_features, n_informative, seed)
    return srs.ingest(X, target=y), set(relevant.tolist())


def work(task: Task) -> list[dict[str, Any]]:
    """The rows of one run: one for each change of the relevant set, and one for the end."""
    store, truth = _data(*astuple(task)[:4])
    settings = Settings(
        mode=task.mode,
        seed=task.seed,
        carry_fraction=task.alpha,
        max_trees=task.max_trees,
        subspace_size=None if task.q == OWN else task.q,
    )
    context = make_context(store, settings)
    ensure_compiled()
    run = TracedRun(with_resident_codes(context, 1), LocalExecutor(1))
    run.truth, run.trace = truth, []
    start = monotonic()
    outcome = run.run()
    seconds = round(monotonic() - start, 1)
    last = run.trace[-1] if run.trace else (0, 0, 0)
    rows = []
    for n_trees, n_true, n_false in [*run.trace, (outcome.state.n_trees, *last[1:])]:
        f1 = 2 * n_true / (n_true + n_false + N_RELEVANT)
        values = (*task.key, n_trees, n_true, n_false, round(f1, 4), seconds)
        rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows


def plan(data: tuple[int, int, int], seeds: int, trees: Sequence[int]) -> list[Task]:
    """data: samples, features, informative ones; trees: at most, for each share."""
    tasks = []
    for seed in range(seeds):
        for share, most in zip(SHARES, trees, strict=True):
            q = round(share * data[1])
            tasks += [Task(*data, seed, most, q, "paper", a) for a in (0.0, 0.5, 1.0)]
            tasks.append(Task(*data, seed, most, q, "default", 0.5))
        tasks.append(Task(*data, seed, max(trees), OWN, "default", 0.5))
    return tasks


def run_tasks(tasks: Sequence[Task], processes: int = 2) -> None:
    done = {tuple(row[c] for c in KEY) for row in read_rows(f"{NAME}.csv")}
    waiting = [task for task in tasks if task.key not in done]
    with get_context("spawn").Pool(processes) as pool:
        for rows in pool.imap_unordered(work, waiting):
            append_rows(f"{NAME}.csv", COLUMNS, rows)


def read_curves(tasks: Sequence[Task]) -> dict[Task, np.ndarray]:
    """For each task (n, 5): trees, true, false, F1, seconds; from the start to the end."""
    curves = {}
    rows = read_rows(f"{NAME}.csv")
    for task in tasks:
        mine = [r for r in rows if tuple(r[c] for c in KEY) == task.key]
        if mine:
            curve = [[float(r[c]) for c in COLUMNS[len(KEY) :]] for r in mine]
            curves[task] = np.array([[0.0] * 5, *curve])
    return curves


def show(curves: dict[Task, np.ndarray]) -> None:
    def at(curve: np.ndarray, share: float, max_trees: int) -> str:
        row = curve[np.searchsorted(curve[:, 0], share * max_trees, side="right") - 1]
        return f"{row[3]:.2f}"

    print_table(
        (
            "q",
            "method",
            "seed",
            "trees",
            "F1 at 1/4",
            "F1 at 1/2",
            "F1 at end",
            "true",
            "false",
            "trees to best F1",
            "seconds",
        ),
        [
            (
                task.q or "own",
                task.label,
                task.seed,
                int(c[-1, 0]),
                *(at(c, share, task.max_trees) for share in (0.25, 0.5, 1.0)),
                int(c[-1, 1]),
                int(c[-1, 2]),
                int(c[c[:, 3].argmax(), 0]),
                f"{c[-1, 4]:.0f}",
            )
            for task, c in sorted(
                curves.items(),
                key=lambda item: (-item[0].q, item[0].mode, item[0].alpha, item[0].seed),
            )
        ],
    )


def draw(curves: dict[Task, np.ndarray], name: str) -> None:
    figure, axes = new_figure(2, 5.4, 3.8)
    labels = (
        "paper, alpha = 0",
        "paper, alpha = 0.5",
        "paper, alpha = 1",
        "default, same q",
        "default, its own q",
    )
    n_features = next(iter(curves)).n_features
    for axis, share in zip(axes, SHARES, strict=True):
        q = round(share * n_features)
        end = max((t.max_trees for t in curves if t.q == q), default=1)
        for number, label in enumerate(labels):
            mine = [c for t, c in curves.items() if t.label == label and t.q in (q, OWN)]
            if not mine:
                continue
            trees = np.unique(np.r_[0.0, end, *(c[:, 0] for c in mine)])
            trees = trees[trees <= end]
            scores = [c[np.searchsorted(c[:, 0], trees, side="right") - 1, 3] for c in mine]
            axis.step(
                trees,
                np.mean(scores, axis=0),
                where="post",
                color=f"C{number}",
                label=label,
                linestyle="--" if label == labels[2] else "-",
            )
            if len(scores) > 1:
                axis.fill_between(
                    trees,
                    np.min(scores, axis=0),
                    np.max(scores, axis=0),
                    step="post",
                    alpha=0.15,
                    color=f"C{number}",
                )
        axis.set(
            xlabel="iterations (trees)",
            ylabel="F1",
            ylim=(-0.02, 1.02),
            xlim=(0, end),
            title=f"q = {q} of {n_features}",
        )
        axis.legend(fontsize=7, loc="lower right")
    save_figure(figure, name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--trees", type=int, nargs=2, default=[2_000, 8_000], help="for each q")
    parser.add_argument("--samples", type=int, default=1_000)
    parser.add_argument("--features", type=int, default=50_000)
    parser.add_argument("--informative", type=int, default=5)
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    data = chosen.samples, chosen.features, chosen.informative
    tasks = plan(data, chosen.seeds, chosen.trees)
    run_tasks(tasks, chosen.processes)
    curves = read_curves(tasks)
    show(curves)
    name = NAME if chosen.informative == 5 else f"{NAME}_informative_{chosen.informative}"
    draw(curves, name)
    print(f"wrote {results_path(NAME)}.csv, and {name}.png and .svg")


if __name__ == "__main__":
    main()
