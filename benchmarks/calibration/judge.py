"""Whether the rates are kept, and who finds more.

Bars of a row: its share of false features is at most the rate within its interval; power is at
least that of univariate tests less 0.01, at least that of version 0.1 less 0.01, and above that of
every peer whose share of false features is at most the rate (1.0 need not be beaten). Means of
methods that saw other data, as those of version 0.1 did, differ by chance too: what a difference is
known to is printed beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import binomtest

from benchmarks.calibration.cells import LEAST_RUNS, Cell
from benchmarks.calibration.methods import RATE
from benchmarks.calibration.rows import NULLS, SIGNALS
from benchmarks.measure import Line

SLACK = 0.01
NOT_PEERS = ("srs", "srs 0.1", "univariate", "extra-trees, true k")  # the last is told the truth


def judge(cells: dict[tuple[str, str], Cell]) -> Iterator[Line]:
    yield from _nulls(cells)
    for row in SIGNALS:
        if (row, "srs") in cells:
            yield from _signal(row, cells)


def _nulls(cells: dict[tuple[str, str], Cell]) -> Iterator[Line]:
    found = [cells[row, "srs"] for row in NULLS if (row, "srs") in cells]
    for cell in found:
        yield _selecting(cell.row, [cell])
    if found:
        yield _selecting("all nulls", found)


def _selecting(what: str, cells: list[Cell]) -> Line:
    n_runs = sum(c.n_runs for c in cells)
    n_selecting = round(sum(c.n_runs * c.false_share for c in cells))
    low, high = binomtest(n_selecting, n_runs).proportion_ci()
    return Line(
        f"{what}: runs that select anything",
        f"{n_selecting} of {n_runs} ({low:.3f} to {high:.3f})",
        f"at most {RATE:.0%} within its interval",
        bool(low <= RATE),
    )


def _signal(row: str, cells: dict[tuple[str, str], Cell]) -> Iterator[Line]:
    ours = cells[row, "srs"]
    yield Line(
        f"{row}, {ours.n_runs} runs: share of false ones",
        f"{ours.false_share:.3f} +- {ours.error:.3f}",
        f"at most {RATE} within its interval",
        ours.keeps_rate,
    )
    for method, slack in (("univariate", SLACK), ("srs 0.1", SLACK)):
        if (row, method) in cells:
            yield _power(ours, cells[row, method], slack)
    peers = [
        c
        for c in cells.values()
        if c.row == row
        and c.method not in NOT_PEERS
        and c.n_runs >= LEAST_RUNS
        and c.false_share <= RATE
    ]
    if peers:
        yield _power(ours, max(peers, key=lambda c: c.power), None)


def _power(ours: Cell, theirs: Cell, slack: float | None) -> Line:
    """Power against another method: at least that less the slack, or above it."""
    error = float(np.hypot(ours.power_error, theirs.power_error))
    if slack is None:
        bar, met = "above it, or all", ours.power > theirs.power or ours.power == 1.0
    else:
        bar, met = f"at least that less {slack}", ours.power >= theirs.power - slack
    return Line(
        f"{ours.row}: power",
        f"{ours.power:.3f}, {theirs.method} {theirs.power:.3f} "
        f"(false {theirs.false_share:.3f}, {theirs.n_runs} runs; difference +- {error:.3f})",
        bar,
        bool(met),
    )
