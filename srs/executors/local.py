"""Threads of this process."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cached_property
from typing import TypeVar

S = TypeVar("S")
R = TypeVar("R")


class LocalExecutor:
    """Threads of this process; the kernel, sorting and reading release the interpreter lock."""

    remote = False

    def __init__(self, threads: int | None = None) -> None:
        self.n_parallel = threads or available_cores()

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        """Threads for all rounds of a run, which end with the executor."""
        return ThreadPoolExecutor(self.n_parallel)

    def map(self, function: Callable[[S], R], specs: Iterable[S]) -> Iterator[R]:
        """See `Executor.map`. At most n_parallel run at a time; as many more wait their turn."""
        if self.n_parallel == 1:
            for spec in specs:
                yield function(spec)
            return
        waiting: deque[Future[R]] = deque()
        try:
            for spec in specs:
                waiting.append(self._pool.submit(function, spec))
                if len(waiting) >= 2 * self.n_parallel:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            wait([future for future in waiting if not future.cancel()])

    def figures(self) -> dict[str, int]:
        """See `Executor.figures`."""
        return {}


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
