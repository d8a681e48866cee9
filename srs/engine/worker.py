"""What travels to a worker: a small description from which it makes its own context, once.

A `Task` is a function of a spec, as the local one is. In each worker process the first call opens
the store, compares fingerprint and version with the coordinator's, compiles what is not compiled
on that machine, and keeps the context for the calls that follow.
"""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import BoundedSemaphore, Lock

import numpy as np

import srs
from srs.engine import batch
from srs.engine.batch import Spec
from srs.engine.context import RunContext, gather_context, load_codes
from srs.engine.kernels import ensure_compiled
from srs.engine.memory import RunShape, worker_mem, worker_slots
from srs.errors import ClusterError
from srs.evidence.arrays import BatchEvidence
from srs.memory import keep_small_arrays
from srs.settings import Settings
from srs.store import open_store
from srs.store.view import Selection
from srs.trees import Tree


@dataclass(frozen=True)
class Task:
    """A run as a worker needs to know it.

    store        where the store is, as the worker finds it too
    fingerprint  what must be there
    selection    which part of it is used; None: all
    version      code that must run, see `code_version`
    settings     of the run
    shape        its sizes
    pinned       places of pinned features
    threads      threads of a worker process
    """

    store: str
    fingerprint: str
    selection: Selection | None
    version: str
    settings: Settings
    shape: RunShape
    pinned: tuple[int, ...]
    threads: int

    def __call__(self, spec: Spec) -> tuple[BatchEvidence, list[Tree]]:
        context, slots = _KEPT.of(self)
        with slots:
            return batch.run_spec(context, spec)


def make_task(context: RunContext, threads: int) -> Task:
    """The task of a run, for workers of so many threads."""
    store = context.store
    return Task(
        store=store.shared_location(),
        fingerprint=store.fingerprint,
        selection=store.selection,
        version=code_version(),
        settings=context.settings,
        shape=context.shape,
        pinned=tuple(context.pinned.tolist()),
        threads=threads,
    )


@cache
def code_version() -> str:
    """What decides the bytes of an answer: our code, and the packages that compile and draw."""
    digest = hashlib.sha256()
    folder = Path(srs.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba"))
    return f"srs {srs.__version__} ({digest.hexdigest()[:8]}), {packages}"


class _Kept:
    """The context of the run that this process works for, and how many batches it may hold."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._task: Task | None = None
        self._made: tuple[RunContext, BoundedSemaphore] | None = None

    def of(self, task: Task) -> tuple[RunContext, BoundedSemaphore]:
        with self._lock:
            if self._made is None or task != self._task:
                self._task = self._made = None  # the memory of one run at a time
                self._made = _make(task)
                self._task = task
            return self._made


_KEPT = _Kept()


def _make(task: Task) -> tuple[RunContext, BoundedSemaphore]:
    here = platform.node()
    if task.version != code_version():
        raise ClusterError(
            f"the worker on {here} runs {code_version()} and the coordinator runs "
            f"{task.version}: install the same versions on both."
        )
    store = open_store(task.store, check_chunks=False)
    if task.selection is not None:
        store = task.selection.apply(store)
    if store.fingerprint != task.fingerprint:
        raise ClusterError(
            f"the worker on {here} finds another store at {task.store} than the coordinator "
            f"(fingerprint {store.fingerprint[:12]} instead of {task.fingerprint[:12]})."
        )
    ensure_compiled()
    keep_small_arrays()
    pinned = np.array(task.pinned, np.int64)
    context = gather_context(store, task.settings, task.shape, pinned)
    slots = worker_slots(task.shape, task.threads, task.settings.allowed_mem)
    if worker_mem(task.shape, slots, resident=True) <= task.settings.allowed_mem:
        context = load_codes(context)
    return context, BoundedSemaphore(slots)
