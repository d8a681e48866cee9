"""The most features among which a pair that matters only together is found in ten minutes.

An XOR pair without marginal effects, a tenth of the labels turned around, 2,000 samples. The cost
grows with the square of the features: sizes are tried from the smallest on, until one is missed.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np

import srs
from benchmarks.measure import Line
from benchmarks.verdict import make_xor
from srs.engine.context import make_context, with_resident_codes
from srs.engine.kernels import ensure_compiled
from srs.engine.loop import Run
from srs.executors import LocalExecutor
from srs.settings import Settings

SIZES = (10_000, 14_000, 20_000, 28_000, 40_000, 56_000)
N_SAMPLES, SECONDS, THREADS = 2_000, 600.0, 2


class SearchingRun(Run):
    """A run that ends as soon as what is looked for is in the relevant set."""

    sought: np.ndarray

    @property
    def is_found(self) -> bool:
        found = self.context.store.feature_ids[self.state.relevant]
        return bool(np.isin(self.sought, found).all())

    def _stop_reason(self) -> str | None:
        return "found" if self.is_found else super()._stop_reason()


def run() -> Iterator[Line]:
    ensure_compiled()
    largest = 0
    for n_features in SIZES:
        X, y, pair = make_xor(N_SAMPLES, n_features, np.random.default_rng(n_features))
        settings = Settings(max_seconds=SECONDS, patience=10**9)
        context = make_context(srs.ingest(X, target=y), settings)
        search = SearchingRun(with_resident_codes(context, THREADS), LocalExecutor(THREADS))
        search.sought = pair
        start = perf_counter()
        search.run()
        n_false = int((~np.isin(context.store.feature_ids[search.state.relevant], pair)).sum())
        yield Line(
            f"XOR pair among {n_features:,}, N = {N_SAMPLES:,}",
            f"{'found' if search.is_found else 'not found'} after {perf_counter() - start:.0f} s, "
            f"{search.state.n_trees:,} trees, {n_false} false",
        )
        if not search.is_found:
            break
        largest = n_features
    yield Line(f"the largest that is found in {SECONDS:.0f} s", f"{largest:,} features")
