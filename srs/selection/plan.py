"""Say before a run what it will cost: sizes, memory, time, and what could be found by when.

Time comes from a short calibration: the first rounds of the run are grown on this machine. How many
trees it takes to find features of a kind comes from `srs.theory`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from srs.engine.context import RunContext, make_context, require_samples, with_resident_codes
from srs.engine.kernels import ensure_compiled
from srs.engine.memory import (
    batch_mem,
    coordinator_mem,
    projected_mem,
    store_mem,
    threads_that_fit,
    worker_projected_mem,
)
from srs.engine.state import Progress
from srs.engine.stopping import trees_to_meet_a_clique
from srs.executors import LocalExecutor, check_executor
from srs.selection.feature_sets import choose_sets
from srs.selection.pair_cost import cost_of_pairs
from srs.selection.rehearsal import Rehearsal
from srs.selection.request import Request, read_request
from srs.store import Chosen, FeatureStore
from srs.theory import expected_iterations


@dataclass(frozen=True)
class Plan:
    """What a run will cost.

    subspace_size      explored features of a tree
    n_probes           number of probes per feature
    trees_per_pass     trees that explore every feature once
    least_trees        trees before the run may end because its list is stable
    threads            batches at once, as memory allows
    resident           whether the whole store stays in memory
    bytes_per_pass     bytes read from the store in a pass (once in all, if resident)
    projected_mem      bytes that the process will hold
    batch_mem          bytes of it that each thread holds
    coordinator_mem    bytes of it for all features, also in the coordinator of workers
    worker_mem         bytes that a Dask worker of one thread will hold (`srs select --workers`)
    allowed_mem        bytes that are allowed
    seconds_per_tree   measured on this machine with all threads
    seconds_per_pass   predicted wall time
    seconds            predicted wall time until the run may end
    seconds_of_steps   of these, before the first tree: all pairs of features, tests of single ones
    most_trees         trees after which it ends even if its list is not stable; None: no such end
    max_seconds        wall time after which it ends with what it has found; None: no limit
    pair_trees         expected trees until a pair with no effects of their own is found
    n_features         number of features
    n_pairs            number of pairs of features
    pairs_left_out     why not all pairs of features are looked at, a sentence; None: they are
    pair_seconds       predicted wall time of a look at all pairs, if it is done or not; None if it
                       cannot be done, as in paper mode
    """

    subspace_size: int
    n_probes: int
    trees_per_pass: int
    least_trees: int
    threads: int
    resident: bool
    bytes_per_pass: int
    projected_mem: int
    batch_mem: int
    coordinator_mem: int
    worker_mem: int
    allowed_mem: int
    seconds_per_tree: float
    seconds_per_pass: float
    seconds: float
    seconds_of_steps: float
    most_trees: int | None
    max_seconds: float | None
    pair_trees: float
    n_features: int
    n_pairs: int
    pairs_left_out: str | None
    pair_seconds: float | None

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
    # generated: settings
    fdr: float = 0.1,
    memory: str | int | None = None,
    seed: int = 0,
    mode: str = "default",
    target: str | None = None,
    pinned: Sequence[str | int] | None = None,
    subspace_size: int | None = None,
    max_trees: int | None = None,
    max_passes: int | None = None,
    max_seconds: float | None = None,
    carry_fraction: float = 0.5,
    max_carried: int = 40,
    round_size: int | None = None,
    root_share: float = 0.25,
    random_recall: bool = True,
    n_probes: int | None = None,
    evidence: Sequence[str] | None = None,
    rule: str = "tail",
    pairs: str = "auto",
    n_features: int | None = None,
    guarantee: str = "fdr",
    criterion: str | None = None,
    max_features: int | None = None,
    max_depth: int | None = None,
    min_samples_leaf: int = 1,
    patience: int | None = None,
    paper_rule: str = "probe",
    probe_draws: int = 10,
    probe_share: float = 0.95,
    holdout: float = 0.0,
    keep_trees: bool = False,
    sample_weight: str | None = None,
    class_weight: str | None = None,
    confounders: Sequence[str] | None = None,
    subjects: str | None = None,
    covariates: Sequence[str] | None = None,
    samples: Chosen | None = None,
    features: Chosen | None = None,
    feature_sets: Any = None,
    threads: int | None = None,
    executor: Any = None,
    tls: str | os.PathLike[str] | None = None,
    task_timeout: float | None = None,
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    finish: Any = None,
    # end generated
) -> Plan:
    """Predict the cost of `srs.select`: begins it on threads of this process.

    >>> import numpy as np, srs
    >>> store = srs.ingest(np.eye(100, 400), target=np.arange(100) % 2)
    >>> planned = srs.plan(store, memory="1GB", threads=2)
    >>> planned.subspace_size, planned.trees_per_pass, planned.projected_mem < planned.allowed_mem
    (134, 3, True)
    """
    return make_plan(read_request(locals()))


def check(
    store: FeatureStore | str | os.PathLike[str],
    *,
    # generated: settings
    fdr: float = 0.1,
    memory: str | int | None = None,
    seed: int = 0,
    mode: str = "default",
    target: str | None = None,
    pinned: Sequence[str | int] | None = None,
    subspace_size: int | None = None,
    max_trees: int | None = None,
    max_passes: int | None = None,
    max_seconds: float | None = None,
    carry_fraction: float = 0.5,
    max_carried: int = 40,
    round_size: int | None = None,
    root_share: float = 0.25,
    random_recall: bool = True,
    n_probes: int | None = None,
    evidence: Sequence[str] | None = None,
    rule: str = "tail",
    pairs: str = "auto",
    n_features: int | None = None,
    guarantee: str = "fdr",
    criterion: str | None = None,
    max_features: int | None = None,
    max_depth: int | None = None,
    min_samples_leaf: int = 1,
    patience: int | None = None,
    paper_rule: str = "probe",
    probe_draws: int = 10,
    probe_share: float = 0.95,
    holdout: float = 0.0,
    keep_trees: bool = False,
    sample_weight: str | None = None,
    class_weight: str | None = None,
    confounders: Sequence[str] | None = None,
    subjects: str | None = None,
    covariates: Sequence[str] | None = None,
    samples: Chosen | None = None,
    features: Chosen | None = None,
    feature_sets: Any = None,
    threads: int | None = None,
    executor: Any = None,
    tls: str | os.PathLike[str] | None = None,
    task_timeout: float | None = None,
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    finish: Any = None,
    # end generated
) -> None:
    """Raise what `srs.select` would refuse with the same arguments, before any codes are read.

    >>> import numpy as np, srs
    >>> store = srs.ingest(np.random.default_rng(0).normal(size=(9, 4)), target=[0, 1, 1] * 3)
    >>> srs.check(store, memory="1MB")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    srs.errors.MemoryBudgetError: the evidence of 4 features need ... and 1MB are allowed: ...
    """
    check_request(read_request(locals()))


def check_request(request: Request) -> RunContext:
    """The state that a run would start from, without its codes."""
    check_executor(request.run.executor, request.run.task_timeout)
    context = make_context(request.store, request.settings)
    require_samples(context)
    if request.run.feature_sets is not None:
        choose_sets(request.run.feature_sets, request.store, request.settings)
    return context


def make_plan(request: Request) -> Plan:
    """The plan of a request."""
    allowed_mem = request.settings.allowed_mem
    context = check_request(request)
    ensure_compiled()
    wanted = LocalExecutor(request.run.threads).n_parallel
    threads = threads_that_fit(context.shape, wanted, allowed_mem)
    context = with_resident_codes(context, threads)
    resident = context.resident is not None
    settings = context.settings
    rehearsal = Rehearsal(context, LocalExecutor(threads))
    rehearsal.rehearse()
    seconds_per_tree = rehearsal.seconds_per_tree
    n_rounds = max(settings.patience or 0, -(-rehearsal.least_trees // rehearsal.round_trees))
    seconds = rehearsal.seconds_before + seconds_per_tree * n_rounds * rehearsal.round_trees
    without_end = settings.patience is not None or settings.mode == "paper"
    shape = context.shape
    pairs = cost_of_pairs(context, threads)
    return Plan(
        subspace_size=shape.subspace_size,
        n_probes=shape.n_roles - 1,
        trees_per_pass=rehearsal.trees_per_pass,
        least_trees=rehearsal.least_trees,
        threads=threads,
        resident=resident,
        bytes_per_pass=store_mem(shape) * request.store.manifest.code_bits // 8,
        projected_mem=projected_mem(shape, threads, resident) + context.kept_mem,
        batch_mem=batch_mem(shape, resident),
        coordinator_mem=coordinator_mem(shape),
        worker_mem=worker_projected_mem(shape, 1, allowed_mem),
        allowed_mem=allowed_mem,
        seconds_per_tree=seconds_per_tree,
        seconds_per_pass=seconds_per_tree * rehearsal.trees_per_pass,
        seconds=seconds,
        seconds_of_steps=rehearsal.seconds_of_steps,
        most_trees=None if without_end else rehearsal.most_trees,
        max_seconds=settings.seconds_limit,
        pair_trees=trees_to_meet_a_clique(shape, 2),
        n_features=shape.n_features,
        n_pairs=pairs.n_pairs,
        pairs_left_out=pairs.reason,
        pair_seconds=pairs.seconds,
    )
