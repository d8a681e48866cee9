"""Predict the bytes that a run needs, and refuse what does not fit, with both numbers.

`allowed_mem` is what the process may hold (its resident set, interpreter included),
`projected_mem` what a run is predicted to hold, `peak_mem` what it held. Predictions are pure
functions of sizes. What a calling program holds besides (its own arrays) is not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from srs.engine.subspace import subspace_limit
from srs.errors import MemoryBudgetError
from srs.evidence.registry import (
    USUAL,
    bytes_of,
    halves_bytes,
    has_halves,
    held_bytes,
    kinds_held,
    kinds_of_trees,
)
from srs.memory import FETCHED_RESULTS, INTERPRETER_MEM, MB, format_bytes

WORKER_MEM = 215 * MB  # fresh Dask worker with kernels loaded
DASK_MEM = 60 * MB  # client, scheduler and nannies in a coordinator that starts workers
HELD_RESULTS = 3  # results of one thread that wait in its worker to be fetched
SLAB_SUBSPACES = 4  # subspaces that one slab is cut into; fewer if a round has fewer trees
MIN_SUBSPACE, MAX_SUBSPACE = 250, 10_000
SEEN_WHOLE = 64  # up to which every tree sees all of them
USUAL_BYTES = bytes_of(kinds_of_trees(USUAL))
SUBSPACE_SHARE = 10  # a subspace is a tenth of the features, between the two


@dataclass(frozen=True)
class RunShape:
    """The sizes that decide what a run holds in memory.

    n_samples      samples of the store
    n_features     features of the store
    chunk_features features in a chunk of the store
    subspace_size  explored features of one tree
    slab_chunks    chunks that one batch holds
    n_roles        a feature and its probes: 1 + number of probes
    max_carried    most carried columns of a tree
    n_outputs      classes, or 1 for a numeric target
    weighted       whether samples may have weights
    held_bytes     of the evidence of a feature and its probes, as the loop holds it, with halves
    batch_bytes    of the evidence of a feature or probe, as a batch returns it
    """

    n_samples: int
    n_features: int
    chunk_features: int
    subspace_size: int
    slab_chunks: int
    n_roles: int
    max_carried: int
    n_outputs: int
    weighted: bool = False
    held_bytes: int = 2 * USUAL_BYTES
    batch_bytes: int = USUAL_BYTES

    @property
    def sees_all(self) -> bool:
        """Whether every tree sees all features; some must then be made different on purpose."""
        return self.subspace_size >= self.n_features


def store_mem(shape: RunShape) -> int:
    """Bytes of all codes of the store."""
    n_chunks = -(-shape.n_features // shape.chunk_features)
    return n_chunks * shape.chunk_features * shape.n_samples


def batch_mem(shape: RunShape, resident: bool = False) -> int:
    """Bytes that one batch holds: slab, block, carried columns, and what the kernel needs."""
    n = shape.n_samples
    slab_features = shape.slab_chunks * shape.chunk_features
    q = subspace_limit(
        shape.slab_chunks, shape.chunk_features, shape.subspace_size, shape.n_features
    )
    n_columns = shape.n_roles * q + shape.max_carried
    slab = 0 if resident else slab_features * n
    block = n * (n_columns + 8)
    carried = n * (shape.max_carried + shape.chunk_features)
    tree = 2 * n * (48 + 8 * shape.n_outputs) + 48 * n_columns + 16 * n * (shape.n_outputs + 2)
    evidence = (shape.batch_bytes + 4) * shape.n_roles * slab_features
    return slab + block + carried + tree + evidence


def run_disk(shape: RunShape) -> int:
    """Bytes on disk that the folder of a run takes at most: checkpoints, then tables and report.

    A checkpoint is the evidence of all features; the newest, the one before and one that is being
    written may be there at once. A row of the table of features takes up to 150 bytes, with a name.
    """
    checkpoints = 3 * shape.held_bytes
    return shape.n_features * (checkpoints + 150) + (4 << 20)


def coordinator_mem(shape: RunShape) -> int:
    """Bytes that are held for all features.

    Evidence, ids and feature classes, and the arrays of a decision: p-values, the kind that found a
    feature, what the knockoff filter sorts, or of one kind of evidence the places of a feature
    class and its probes; and of halves their draws and in how many of them a feature is found. The
    table of the result (`srs.inference.final`) is made as evidence is given up, and needs no more.
    """
    evidence = shape.held_bytes + 12 + 5
    decision = 14 + 4 * (shape.n_roles - 1)
    if has_halves(shape.n_features, shape.n_roles):
        decision += 8
    return shape.n_features * (evidence + decision)


def weight_mem(shape: RunShape) -> int:
    """Bytes of the table of entropies of weighted samples, which all threads share."""
    return max(8 << 20, 128 * shape.n_samples) if shape.weighted else 0


def projected_mem(shape: RunShape, threads: int, resident: bool = False) -> int:
    """Bytes that the process is predicted to hold at most; resident: with all codes."""
    store = weight_mem(shape) + (store_mem(shape) if resident else 0)
    return INTERPRETER_MEM + coordinator_mem(shape) + store + threads * batch_mem(shape, resident)


def coordinator_projected_mem(shape: RunShape) -> int:
    """Bytes that a coordinator of workers is predicted to hold at most."""
    fetched = 2 * FETCHED_RESULTS * evidence_mem(shape)
    return INTERPRETER_MEM + DASK_MEM + fetched + coordinator_mem(shape)


def worker_mem(shape: RunShape, slots: int, resident: bool = False) -> int:
    """Bytes that a Dask worker process is predicted to hold with `slots` batches at once.

    It knows nothing of all features but which are categorical (a byte each); results that are not
    fetched yet wait in it.
    """
    waiting = HELD_RESULTS * evidence_mem(shape)
    store = weight_mem(shape) + (store_mem(shape) if resident else 0)
    a_slot = batch_mem(shape, resident) + waiting
    return WORKER_MEM + shape.n_features + store + slots * a_slot


def worker_projected_mem(shape: RunShape, threads: int, allowed_mem: int) -> int:
    """Bytes that a worker of so many threads is predicted to hold: with all codes if they fit."""
    slots = worker_slots(shape, threads, allowed_mem)
    resident = worker_mem(shape, slots, resident=True)
    return resident if resident <= allowed_mem else worker_mem(shape, slots)


def evidence_mem(shape: RunShape) -> int:
    """Bytes of the evidence that one batch returns."""
    return (shape.batch_bytes * shape.n_roles + 10) * shape.slab_chunks * shape.chunk_features


def worker_slots(shape: RunShape, threads: int, allowed_mem: int) -> int:
    """How many batches a worker of so many threads may hold at once, at least one."""
    while threads > 1 and worker_mem(shape, threads) > allowed_mem:
        threads -= 1
    return threads


def slab_chunks(n_features: int, chunk_features: int, subspace_size: int, n_subspaces: int) -> int:
    """Chunks in a slab: about so many subspaces, such that slabs are nearly equal."""
    n_chunks = -(-n_features // chunk_features)
    n_slabs = max(1, round(n_features / (n_subspaces * subspace_size)))
    return -(-n_chunks // min(n_slabs, n_chunks))


def plan_shape(
    *,
    n_samples: int,
    n_features: int,
    chunk_features: int,
    n_roles: int,
    max_carried: int,
    n_outputs: int,
    allowed_mem: int,
    subspace_size: int | None = None,
    round_size: int | None = None,
    weighted: bool = False,
    kinds: Sequence[str] = USUAL,
) -> RunShape:
    """The shape of a run within `allowed_mem`, or MemoryBudgetError with both numbers.

    The subspace is a tenth of the features, at least 250 (but no more than a third of them, or
    all trees would be alike) and at most 10,000, made smaller until two batches fit, so that the
    same shape, and so the same answer, serves 1 or 2 threads. Of few features it is all of them:
    triples that matter only together must meet (`srs.engine.stopping`).
    A given `subspace_size` is kept, and must fit once. A slab has no more trees than a round.
    """

    def shape_of(q: int) -> RunShape:
        q = max(1, min(q, n_features))
        n_subspaces = min(SLAB_SUBSPACES, round_size or SLAB_SUBSPACES)
        chunks = slab_chunks(n_features, chunk_features, q, n_subspaces)
        return RunShape(
            n_samples=n_samples,
            n_features=n_features,
            chunk_features=chunk_features,
            subspace_size=q,
            slab_chunks=chunks,
            n_roles=n_roles,
            max_carried=max_carried,
            n_outputs=n_outputs,
            weighted=weighted,
            held_bytes=held_bytes(kinds_held(kinds), n_roles)
            + halves_bytes(kinds, n_features, n_roles),
            batch_bytes=bytes_of(kinds_of_trees(kinds)),
        )

    if subspace_size is not None:
        shape = shape_of(subspace_size)
        what = f"subspaces of {subspace_size} features"
        _refuse_above(projected_mem(shape, 1), allowed_mem, what)
        return shape
    least = min(MIN_SUBSPACE, -(-n_features // 3))
    if n_features <= SEEN_WHOLE:
        least = n_features
    q = min(MAX_SUBSPACE, max(least, n_features // SUBSPACE_SHARE))
    while q > least and projected_mem(shape_of(q), 2) > allowed_mem:
        q = max(least, q * 3 // 4)
    shape = shape_of(q)
    _refuse_above(projected_mem(shape, 1), allowed_mem, f"the evidence of {n_features} features")
    return shape


def _refuse_above(needed: int, allowed: int, what: str) -> None:
    if needed > allowed:
        raise MemoryBudgetError(
            f"{what} need {format_bytes(needed)} of memory and {format_bytes(allowed)} are "
            f"allowed: allow at least {format_bytes(needed * 1.005)} (--memory).",
            needed,
            allowed,
        )


def threads_that_fit(shape: RunShape, threads: int, allowed_mem: int) -> int:
    """How many batches may be held at once, at least one and at most `threads`."""
    while threads > 1 and projected_mem(shape, threads) > allowed_mem:
        threads -= 1
    return threads
