"""Say before a run what it will cost: sizes, memory, time, and what could be found by when.

Time comes from a short calibration: the first rounds of the run are grown on this machine. How many
trees it takes to find features of a kind comes from `srs.theory`.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from srs.config import Settings
from srs.context import Context, make_context, require_samples, with_resident_codes
from srs.executors import LocalExecutor
from srs.kernels import ensure_compiled
from srs.memory import (
    DEFAULT_MEM,
    batch_mem,
    coordinator_mem,
    parse_bytes,
    projected_mem,
    store_mem,
    threads_that_fit,
    worker_projected_mem,
)
from srs.run import Progress, Run
from srs.sets import choose_sets
from srs.stopping import trees_to_meet_a_clique
from srs.store import Chosen, FeatureStore, open_store
from srs.theory import expected_iterations

CALIBRATION_SECONDS = 2.0  # about as long as the calibration may take


@dataclass(frozen=True)
class Plan:
    """What a run will cost.

    subspace_size      explored features of a tree
    n_probes           probes of a feature
    trees_a_pass       trees that explore every feature once
    least_trees        trees before the run may end because its list is stable
    threads            batches at once, as memory allows
    resident           whether the whole store stays in memory
    bytes_a_pass       bytes read from the store in a pass (once in all, if resident)
    projected_mem      bytes that the process will hold
    batch_mem          bytes of it that each thread holds
    coordinator_mem    bytes of it that are held for all features, by the coordinator of workers too
    worker_mem         bytes that a Dask worker of one thread will hold (`srs select --workers`)
    allowed_mem        bytes that are allowed
    seconds_a_tree     measured on this machine with all threads
    seconds_a_pass     predicted wall time
    seconds            predicted wall time until the run may end
    pair_trees         expected trees until a pair without effects of their own shows
    """

    subspace_size: int
    n_probes: int
    trees_a_pass: int
    least_trees: int
    threads: int
    resident: bool
    bytes_a_pass: int
    projected_mem: int
    batch_mem: int
    coordinator_mem: int
    worker_mem: int
    allowed_mem: int
    seconds_a_tree: float
    seconds_a_pass: float
    seconds: float
    pair_trees: float
    n_features: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def expected_trees(self, scenario: str, n_relevant: int, sequential: bool = True) -> float:
        """Trees until all of `n_relevant` features of a kind were in a tree that shows them.

        scenario: "chain" (each matters only given the ones before), "clique" (only all together)
        or "marginal". By the closed forms of the theory: uniform draws, infinite samples.
        """
        return expected_iterations(
            scenario, self.n_features, self.subspace_size, n_relevant, sequential
        )


def plan(
    store: FeatureStore | str | os.PathLike[str],
    *,
    memory: str | int | None = None,
    workers: int | None = None,
    samples: Chosen | None = None,
    features: Chosen | None = None,
    **settings: Any,
) -> Plan:
    """Plan a run of `srs.select` with the same settings; a short calibration measures the time.

    samples, features: the part of the store that is used, as in `srs.select`.

    >>> import numpy as np, srs
    >>> X = np.random.default_rng(0).normal(size=(100, 400))
    >>> planned = srs.plan(srs.ingest(X, target=np.arange(100) % 2), memory="1GB", workers=2)
    >>> planned.subspace_size, planned.trees_a_pass, planned.projected_mem < planned.allowed_mem
    (134, 3, True)
    """
    store = store if isinstance(store, FeatureStore) else open_store(store)
    if samples is not None or features is not None:
        store = store.view(samples, features)
    allowed_mem = DEFAULT_MEM if memory is None else parse_bytes(memory)
    context = make_context(store, Settings(allowed_mem=allowed_mem, **settings))
    ensure_compiled()
    wanted = LocalExecutor(workers).n_parallel
    threads = threads_that_fit(context.shape, wanted, allowed_mem)
    context = with_resident_codes(context, threads)
    resident = context.resident is not None
    # A limit of no seconds at all must not end the rehearsal before its first round.
    timeless = replace(context, settings=replace(context.settings, max_seconds=None))
    run, start, seconds_a_tree = _rehearse(timeless, LocalExecutor(threads))
    n_rounds = max(context.settings.patience, -(-run.least_trees // run.round_trees))
    seconds = start + seconds_a_tree * n_rounds * run.round_trees
    shape = context.shape
    return Plan(
        shape.subspace_size, shape.n_roles - 1, run.trees_a_pass, run.least_trees, threads,
        resident, store_mem(shape) * store.manifest.code_bits // 8,
        projected_mem(shape, threads, resident),
        batch_mem(shape, resident), coordinator_mem(shape.n_features, shape.n_roles),
        worker_projected_mem(shape, 1, allowed_mem), allowed_mem,
        seconds_a_tree, seconds_a_tree * run.trees_a_pass, seconds,
        trees_to_meet_a_clique(shape, 2), shape.n_features,
    )  # fmt: skip


def check(
    store: FeatureStore | str | os.PathLike[str],
    *,
    memory: str | int | None = None,
    feature_sets: Any = None,
    **settings: Any,
) -> None:
    """Raise what `srs.select` would refuse with the same settings, before any codes are read.

    feature_sets: as in `srs.select`.

    >>> import numpy as np, srs
    >>> store = srs.ingest(np.random.default_rng(0).normal(size=(9, 4)), target=[0, 1, 1] * 3)
    >>> try:
    ...     srs.check(store, memory="1MB")
    ... except srs.SRSError as error:
    ...     print(error.needed_mem > 10**8, error.allowed_mem)
    True 1000000
    """
    store = store if isinstance(store, FeatureStore) else open_store(store)
    allowed_mem = DEFAULT_MEM if memory is None else parse_bytes(memory)
    context = make_context(store, Settings(allowed_mem=allowed_mem, **settings))
    require_samples(context)
    if feature_sets is not None:
        choose_sets(feature_sets, store, context.settings)


class _Enough(Exception):
    """Ends a rehearsal."""


def _rehearse(context: Context, executor: LocalExecutor) -> tuple[Run, float, float]:
    """A run that was begun: with it, seconds to get going, and wall seconds of a tree.

    Looks at the evidence, and threads that wait for one another and for memory, are part of it.
    """
    marks: list[tuple[float, int]] = []

    def note(progress: Progress) -> None:
        marks.append((progress.seconds, progress.n_trees))
        if len(marks) > 1 and progress.seconds > CALIBRATION_SECONDS:
            raise _Enough

    run = Run(context, executor, on_progress=note)
    with suppress(_Enough):
        run.run()
    (first, n_first), (last, n_last) = marks[0], marks[-1]
    if n_last == n_first:
        return run, 0.0, last / n_last
    a_tree = (last - first) / (n_last - n_first)
    return run, max(0.0, first - n_first * executor.n_parallel * a_tree), a_tree
