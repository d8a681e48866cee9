"""Trees until all planted features are found, against `round_size` and the paper's loop.

Two features with effects of their own, and two that matter only given one of them, among 5,000.
"""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import numpy as np

import srs
from benchmarks.measure import Line
from srs.engine.context import make_context, with_resident_codes
from srs.engine.loop import Run
from srs.executors import LocalExecutor
from srs.settings import Settings
from srs.store import FeatureStore

N_FEATURES, N_SAMPLES, N_SEEDS, MOST_TREES, PAPER_TREES = 5_000, 1_000, 5, 1_500, 4_000
PLANTED = {3, 11, 20, 31}


class Traced(Run):
    """A run that ends when all planted features are in the relevant set."""

    found_at: int | None = None

    def _look(self) -> None:
        super()._look()
        ids = self.context.store.feature_ids[self.state.relevant]
        if self.found_at is None and set(ids.tolist()) >= PLANTED:
            self.found_at = self.state.n_trees

    def _stop_reason(self) -> str | None:
        return "found" if self.found_at is not None else super()._stop_reason()


def run() -> Iterator[Line]:
    # Chunks of a quarter of a subspace: a batch of one tree is possible.
    with patch("srs.store.layout.CHUNK_BYTES", 1 << 17):
        stores = [make_planted(seed) for seed in range(N_SEEDS)]
    medians = {}
    for name, settings in {
        "1": {"round_size": 1},
        "16": {"round_size": 16},
        "64": {"round_size": 64},
        "a pass": {},
        "the paper's loop": {"mode": "paper"},
    }.items():
        found = [trees_to_found(store, seed, settings) for seed, store in enumerate(stores)]
        medians[name] = float(np.median([np.inf if f is None else f for f in found]))
        yield Line(f"trees to 4 of 4, rounds of {name}", f"median {medians[name]:g} of {found}")
    yield Line(
        "a pass against the best round_size",
        f"{medians['a pass'] / min(medians.values()):.2f}",
        "1.5",
        medians["a pass"] <= 1.5 * min(medians.values()),
    )


def make_planted(seed: int) -> FeatureStore:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_SAMPLES, N_FEATURES)).astype(np.float32)
    score = 2 * X[:, 3] + 2 * X[:, 11]
    score += 2 * np.where(X[:, 3] > 0, X[:, 20], -X[:, 20])
    score += 2 * np.where(X[:, 11] > 0, X[:, 31], -X[:, 31])
    return srs.ingest(X, target=(score > 0).astype(int))


def trees_to_found(store: FeatureStore, seed: int, settings: dict[str, object]) -> int | None:
    most = PAPER_TREES if "mode" in settings else MOST_TREES
    chosen = Settings(seed=seed, max_trees=most, subspace_size=500, patience=10**6, **settings)
    context = with_resident_codes(make_context(store, chosen), 1)
    traced = Traced(context, LocalExecutor(1))
    traced.run()
    return traced.found_at
