"""Apply a function to many specs, a bounded number at a time, and yield results in order.

`local` has threads of this process, `dask` the workers of a Dask cluster. Dask is imported by
`srs.executors.dask` alone, and only where a cluster is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from srs.errors import ClusterError, SettingsError
from srs.executors.local import LocalExecutor, available_cores

__all__ = ["Executor", "LocalExecutor", "available_cores", "check_executor", "open_executor"]

S = TypeVar("S")
R = TypeVar("R")


class Executor(Protocol):
    """What the loop needs of an executor.

    n_parallel  how many batches run, and are held in memory, at once; of a remote executor: in
                one worker process
    remote      whether functions and specs travel to other processes
    """

    n_parallel: int
    remote: bool

    def map(self, function: Callable[[S], R], specs: Iterable[S]) -> Iterator[R]:
        """function(spec) for each spec, in the order of specs."""
        ...

    def figures(self) -> dict[str, int]:
        """What is known of the workers so far, by name; see `srs.executors.dask`."""
        ...


@contextmanager
def open_executor(
    given: Any,
    threads: int | None = None,
    worker_mem: int | None = None,
    tls: Path | None = None,
    task_timeout: float | None = None,
) -> Iterator[Executor]:
    """The executor that `given` stands for; what is started or opened here is closed at the end.

    given       None: threads of this process; an executor: itself; a `distributed.Client`, which
                stays open; the address of a Dask scheduler; a number of worker processes to
                start on this machine; or a `srs.executors.batch_systems.JobCluster`
    threads     threads of this process, or of each worker process that is started
    worker_mem  bytes that one worker process may hold; None: not checked
    tls         folder of ca.pem, cert.pem and key.pem for an address or what is started
    task_timeout  seconds of a task after which its worker is called hung; None: ten times the
                slowest so far, at least a minute
    """
    check_executor(given, task_timeout)
    if given is None:
        yield LocalExecutor(threads)
        return
    if hasattr(given, "map") and hasattr(given, "n_parallel"):
        yield given
        return
    try:
        from srs.executors import dask
    except ImportError as error:
        missing = str(error.name).partition(".")[0]
        raise ClusterError(
            f"workers need Dask, and {missing} is not installed: "
            f"pip install 'srs-select[cluster]', or run without workers."
        ) from None
    with dask.open_dask(given, threads, worker_mem, tls, task_timeout) as executor:
        yield executor


def check_executor(given: Any, task_timeout: float | None = None) -> None:
    """Refuse what `open_executor` can refuse without opening anything."""
    if task_timeout is not None and not task_timeout > 0:
        raise SettingsError(f"the timeout of a task must be above 0 seconds, not {task_timeout!r}.")
    if given is None and task_timeout is not None:
        raise SettingsError(
            "the timeout of a task needs workers: give workers, or leave the timeout out."
        )
    if isinstance(given, bool) or (isinstance(given, int) and given < 1):
        raise SettingsError(f"the number of workers must be at least 1, not {given!r}.")
