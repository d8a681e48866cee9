"""How well a run knows its remaining time: predicted over true, at its half and at three quarters.

Eleven kinds of data, from lists that are stable at once to lists that waver, and from steps that
take all of the time to trees that do. True is until `srs.select` returns. The clock is that of CPU
time, of one thread: how busy the machine is with other work cannot be predicted. (Where it is as
busy to the end as before, the ratios are the same by the clock on the wall.) The data are others
than those that the costs were fitted on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

import srs
from benchmarks.measure import Line
from srs.engine import loop

Data = tuple[np.ndarray, np.ndarray]
SHARES = (0.5, 0.75)  # of the run, at which its prediction is taken
FACTOR = 1.5
FRESH = 5  # seed of the data; costs were fitted on 4


def _linear(n: int, p: int, n_effects: int, size: float) -> Callable[[np.random.Generator], Data]:
    def make(rng: np.random.Generator) -> Data:
        X = rng.normal(size=(n, p)).astype(np.float32)
        score = X[:, :n_effects] @ (size * rng.normal(size=n_effects)) + rng.normal(size=n)
        return X, (score > 0).astype(int)

    return make


def _blocks(rng: np.random.Generator) -> Data:
    shared = rng.normal(size=(600, 200))
    X = np.repeat(shared, 20, axis=1) + rng.normal(size=(600, 4_000))
    return X, (shared[:, :8].sum(1) * 0.4 + rng.normal(size=600) > 0).astype(int)


def _cells(rng: np.random.Generator) -> Data:
    """Sparse counts of three kinds of cells; many genes differ a little."""
    y = rng.choice(3, size=2_000, p=[0.5, 0.35, 0.15])
    change = np.ones((3, 3_000))
    change[:, :400] = np.exp(0.3 * rng.normal(size=(3, 400)))
    mean = rng.gamma(0.35, 0.5, size=3_000) + 0.005
    rate = rng.lognormal(0, 0.4, size=(2_000, 1)) * mean * change[y]
    return np.log1p(rng.poisson(rng.gamma(2.0, rate / 2.0))).astype(np.float32), y


def _genotypes(rng: np.random.Generator) -> Data:
    X = rng.binomial(2, rng.uniform(0.05, 0.5, 10_000), (1_500, 10_000))
    score = X[:, :10] @ np.full(10, 0.35) + rng.normal(size=1_500)
    return X, (score > np.median(score)).astype(int)


def _numbers(rng: np.random.Generator) -> Data:
    X = rng.random((800, 2_000))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    return X, y + 3 * rng.normal(size=800)


def _classes(rng: np.random.Generator) -> Data:
    y = rng.integers(0, 8, 1_000)
    X = rng.normal(size=(1_000, 3_000))
    X[:, :16] += 0.5 * (y[:, None] == np.arange(16) % 8)
    return X, y


def _triple(rng: np.random.Generator) -> Data:
    X = rng.integers(0, 2, (1_500, 30))
    return X, X[:, 2] ^ X[:, 3] ^ X[:, 4] ^ (rng.random(1_500) < 0.1)


def _pair(rng: np.random.Generator) -> Data:
    X = rng.integers(0, 2, (1_000, 30_000), dtype=np.uint8)
    return X, X[:, 17] ^ X[:, 20_003] ^ (rng.random(1_000) < 0.2)


def _rare(rng: np.random.Generator) -> Data:
    y = (np.arange(2_000) < 100).astype(int)
    X = rng.normal(size=(2_000, 2_000))
    X[:, :10] += y[:, None] * np.linspace(0.2, 0.8, 10)
    return X, y


KINDS: dict[str, Callable[[np.random.Generator], Data]] = {
    "noise, 500 x 10,000": _linear(500, 10_000, 1, 0.0),
    "few strong effects, 1,000 x 10,000": _linear(1_000, 10_000, 5, 1.0),
    "many weak effects, 400 x 2,000": _linear(400, 2_000, 60, 0.3),
    "correlated blocks, 600 x 4,000": _blocks,
    "sparse counts, 2,000 x 3,000": _cells,
    "genotypes, 1,500 x 10,000": _genotypes,
    "a numeric target, 800 x 2,000": _numbers,
    "eight classes, 1,000 x 3,000": _classes,
    "a triple among 30, 1,500 samples": _triple,
    "a pair among 30,000, 1,000 samples": _pair,
    "a rare class, 2,000 x 2,000": _rare,
}


def run() -> Iterator[Line]:
    by_wall, loop.monotonic = loop.monotonic, process_time
    try:
        with threadpool_limits(1):
            yield from _kinds()
    finally:
        loop.monotonic = by_wall


def _kinds() -> Iterator[Line]:
    for name, make in KINDS.items():
        X, y = make(np.random.default_rng(FRESH))
        store = srs.ingest(X, target=y)
        srs.select(store, max_trees=1, pairs="off", threads=1)  # kernels are loaded
        told: list[tuple[float, float]] = []  # seconds since the start, and predicted ones
        started = process_time()

        def note(now: srs.Progress, told: list = told, started: float = started) -> None:
            if now.remaining_seconds is not None:
                told.append((process_time() - started, now.remaining_seconds))

        result = srs.select(store, on_progress=note, threads=1)
        total = process_time() - started
        ratios = [_ratio(told, share * total, total) for share in SHARES]
        values = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        yield Line(
            f"{name}: {total:.1f} s, {result.n_trees} trees",
            f"{values} at 50 %, 75 %",
            f"within a factor of {FACTOR}",
            all(1 / FACTOR <= ratio <= FACTOR for ratio in ratios),
        )


def _ratio(told: list[tuple[float, float]], at: float, total: float) -> float:
    """Predicted over true, as of the last prediction before this moment."""
    before = [one for one in told if one[0] <= at] or told[:1]
    seconds, left = before[-1]
    return (left - (at - seconds)) / (total - at)
