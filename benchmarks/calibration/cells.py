"""The saved runs, summarised: one cell for each row and method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from benchmarks.calibration.methods import RATE
from benchmarks.calibration.rows import ROWS, first_run
from benchmarks.output import read_rows

CSV = "calibration.csv"
LEAST_RUNS = 10  # with fewer, a cell tells too little to be judged or shown on the page


@dataclass(frozen=True)
class Cell:
    """What a method did on the runs of one row.

    false_share  mean share of false features in the list (nulls: share of runs that select any)
    error        half of its 95 % interval (nulls: down to its lower end)
    power        mean share of the relevant features that were found
    power_error  half of the 95 % interval of that
    """

    row: str
    method: str
    n_runs: int
    false_share: float
    error: float
    power: float
    power_error: float
    seconds: float

    @property
    def keeps_rate(self) -> bool:
        return bool(self.false_share <= RATE or self.false_share - self.error <= RATE)


def summarise() -> dict[tuple[str, str], Cell]:
    groups: dict[tuple[str, str], list[dict[str, str]]] = {}
    for run in read_rows(CSV):
        row, method = run["row"], run["method"]
        if row in ROWS and int(run["run"]) >= first_run(row, method):
            groups.setdefault((row, method), []).append(run)
    return {key: _cell(key, runs) for key, runs in groups.items()}


def _cell(key: tuple[str, str], runs: list[dict[str, str]]) -> Cell:
    true, false, relevant = (
        np.array([float(r[c]) for r in runs]) for c in ("n_true", "n_false", "n_relevant")
    )
    shares = false / np.maximum(true + false, 1)
    power, power_error = np.nan, np.nan
    if ROWS[key[0]].is_null:
        interval = binomtest(int(shares.sum()), len(runs)).proportion_ci()
        error = float(shares.mean() - interval.low)
    else:
        error = _half_interval(shares)
        power, power_error = float((true / relevant).mean()), _half_interval(true / relevant)
    return Cell(
        row=key[0],
        method=key[1],
        n_runs=len(runs),
        false_share=float(shares.mean()),
        error=error,
        power=power,
        power_error=power_error,
        seconds=float(np.mean([float(r["seconds"]) for r in runs])),
    )


def _half_interval(values: np.ndarray) -> float:
    if len(values) < 2:
        return float("nan")
    return float(1.96 * values.std(ddof=1) / np.sqrt(len(values)))
