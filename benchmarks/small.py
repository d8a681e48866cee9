"""Small problems: seconds of a warm selection, with a random forest of scikit-learn beside it.

Two weak effects among noise, two classes. "Warm" is the second selection of a process: kernels are
compiled and loaded. Both may use all cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter, process_time

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import srs
from benchmarks.measure import Line

SHAPES = ((500, 1_000), (400, 5_000), (1_000, 20_000))  # samples, features
SECONDS, N_TREES, REPEATS = 5.0, 500, 3


def run() -> Iterator[Line]:
    warm_up()
    for n_samples, n_features in SHAPES:
        X, y = make_weak(n_samples, n_features)
        seconds, cpu, found = [], [], []
        for seed in range(REPEATS):
            start, of_cpu = perf_counter(), process_time()
            selector = srs.SRSSelector(fdr=0.1, random_state=seed).fit(X, y)
            seconds.append(perf_counter() - start)
            cpu.append(process_time() - of_cpu)
            found.append(np.flatnonzero(selector.get_support()))
        start = perf_counter()
        RandomForestClassifier(N_TREES, n_jobs=-1, random_state=0).fit(X, y)
        forest = perf_counter() - start
        ours = float(np.median(seconds))
        yield Line(
            f"{n_samples} x {n_features}: two effects found, others, over {REPEATS} seeds",
            f"{[int((f < 2).sum()) for f in found]}, {[int((f >= 2).sum()) for f in found]}",
        )
        yield Line(
            f"{n_samples} x {n_features}, median of {REPEATS} seeds ({np.median(cpu):.1f} s CPU)",
            f"{ours:.1f} s, RandomForest({N_TREES}) {forest:.1f} s: {forest / ours:.1f} x",
            f"at most {SECONDS:g} s",
            ours <= SECONDS,
        )


def make_weak(n_samples: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """The first two of normal features have a weak effect."""
    rng = np.random.default_rng((n_samples, n_features))
    X = rng.normal(size=(n_samples, n_features)).astype(np.float32)
    score = 0.5 * (X[:, 0] + X[:, 1])
    return X, (score + rng.logistic(size=n_samples) > 0).astype(int)


def warm_up() -> None:
    X, y = make_weak(200, 200)
    srs.SRSSelector(fdr=0.1).fit(X, y)
