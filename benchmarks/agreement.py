"""Whether seeds agree: five seeds on each of four data sets of each row of the calibration.

Only the seed of the selection changes. The similarity of two lists is that of Jaccard: features in
both over features in either; two empty lists are equal. The mean is over data sets: of a list of
two, one false feature in one of five seeds makes 0.87 of 1. SRS_BENCH_SEEDS and SRS_BENCH_DATA set
the numbers of seeds and of data sets, SRS_BENCH_ROWS the rows, by commas.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import combinations

import numpy as np

import srs
from benchmarks.calibration.methods import RATE
from benchmarks.calibration.rows import FRESH, SIGNALS, Row
from benchmarks.calibration.rows import ROWS as ALL_ROWS
from benchmarks.measure import Line

N_SEEDS = int(os.environ.get("SRS_BENCH_SEEDS", "5"))
N_DATA = int(os.environ.get("SRS_BENCH_DATA", "4"))
BAR = 0.9


def run() -> Iterator[Line]:
    values = []
    wanted = os.environ.get("SRS_BENCH_ROWS")
    for name in wanted.split(",") if wanted else SIGNALS:
        lists = [select_by_seeds(ALL_ROWS[name], FRESH + i) for i in range(N_DATA)]
        by_data = [mean_jaccard(some) for some in lists]
        values.append(float(np.mean(by_data)))
        yield Line(
            f"{name}, {N_SEEDS} seeds, {N_DATA} data sets",
            f"Jaccard {values[-1]:.3f} ({min(by_data):.2f} to {max(by_data):.2f}), "
            f"lists of {_sizes([one for some in lists for one in some])}",
            f"at least {BAR}",
            values[-1] >= BAR,
        )
    yield Line("mean over the rows", f"{np.mean(values):.3f}")


def select_by_seeds(row: Row, run: int = FRESH) -> list[set[int]]:
    problem = row.problem(run)
    store = srs.ingest(problem.X, target=problem.y)
    return [
        set(srs.select(store, fdr=RATE, seed=seed, threads=1).relevant_ids.tolist())
        for seed in range(N_SEEDS)
    ]


def mean_jaccard(lists: list[set[int]]) -> float:
    """The mean over all pairs of lists.

    >>> mean_jaccard([{1, 2}, {1, 2, 3}, {1, 2}])
    0.7777777777777778
    """
    return float(
        np.mean([len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(lists, 2)])
    )


def _sizes(lists: list[set[int]]) -> str:
    sizes = [len(found) for found in lists]
    return f"{min(sizes)} to {max(sizes)}"
