"""Workers of a Dask cluster: a given client, a scheduler's address, or processes started here.

What Dask does not promise is done here. Tasks in flight are bounded, and results are taken in the
order of specs, so an answer does not depend on workers. A task that was lost with its worker is
submitted again; so is one that a hung worker does not finish in time, and its late answer is
dropped with its future. After the loss of a scheduler all that was in flight is submitted again to
the one that takes its place.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from time import monotonic, perf_counter, sleep
from typing import Any, TypeVar
from uuid import uuid4

from dask import annotate
from distributed import Client, Future, KilledWorker, get_worker
from distributed.comm import CommClosedError

from srs.errors import ClusterError, SettingsError, SRSError
from srs.executors.batch_systems import JobCluster
from srs.executors.dask_memory import TASKS_KEPT, forget_in_scheduler, forget_in_worker, make_span
from srs.executors.launch import check_limits, connect, open_cluster, open_jobs
from srs.memory import DEFAULT_MEM, FETCHED_RESULTS, peak_mem

S = TypeVar("S")
R = TypeVar("R")

TASK_SECONDS = 2.0  # small specs are sent together until a task takes about so long
POLL_SECONDS = 1.0
MAX_LOST = 10  # workers that one task may lose or find hung before the run ends
FIRST_SECONDS = 600.0  # a worker compiles and reads before its first answer
LEAST_SECONDS = 60.0  # no worker is called hung earlier
HUNG_FACTOR = 10  # nor before so many times the slowest task
REPLACE_SECONDS = 20.0  # after which workers of our own cluster are missed
JOB_SECONDS = 24 * 3600.0  # that jobs may wait in a queue
GONE = (CancelledError, asyncio.CancelledError, CommClosedError, OSError)

log = logging.getLogger("srs")


@dataclass
class _Flight:
    """Some specs on their way.

    n_lost  times that they were submitted again
    """

    specs: list[Any]
    future: Future
    since: float
    n_lost: int = 0


@dataclass(frozen=True)
class _Answer:
    """What a task brings back: results in the order of its specs, and who grew them."""

    results: list[Any]
    worker: str
    seconds: float
    peak_mem: int


def _apply(function: Callable[[S], R], specs: list[S]) -> _Answer:
    """What a worker runs."""
    started = perf_counter()
    forget_in_worker()
    results = [function(spec) for spec in specs]
    return _Answer(results, get_worker().address, perf_counter() - started, peak_mem())


@dataclass
class DaskExecutor:
    """Workers of a Dask cluster.

    client           the client; closed by whoever opened it
    reopen           opens a client after a lost scheduler; None: the client reconnects itself
    task_timeout     after so long a worker is called hung; None: from the slowest task so far
    patience         seconds to wait for a scheduler or for any worker
    n_parallel       threads of one worker process
    n_wanted         workers that the client's own cluster shall have; 0: not ours to say
    """

    client: Client
    reopen: Callable[[], Client] | None = None
    task_timeout: float | None = None
    patience: float = 120.0
    n_parallel: int = 1
    n_wanted: int = 0
    remote: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        if self.client.asynchronous:
            raise SettingsError("the client is asynchronous: give one made outside of async code.")
        self._threads: dict[str, int] = {}
        self._refreshed = -POLL_SECONDS
        self._without_workers: float | None = None
        self._suspects: set[str] = set()
        self._taken = self._complete = monotonic()
        self._slowest = self._mean = 0.0
        self._peaks: dict[str, int] = {}
        self._n_again = 0
        self._n_submitted = 0  # since the scheduler forgot
        self._span = make_span()
        self._news = Event()  # some task has ended
        self._refresh()
        self.n_parallel = max(self._threads.values(), default=self.n_parallel)

    # -- the window -------------------------------------------------------------------------

    def map(self, function: Callable[[S], R], specs: Iterable[S]) -> Iterator[R]:
        """See `Executor.map`. About two tasks a thread are in flight."""
        waiting, flights = deque(specs), deque[_Flight]()
        self._taken = monotonic()
        try:
            while waiting or flights:
                try:
                    self._refresh()
                    self._forget()
                    self._submit_more(function, waiting, flights)
                    answers = self._take(function, flights)
                except GONE:
                    self._reconnect()
                    self._submit_again(function, list(flights))
                    continue
                for answer in answers:
                    yield from answer.results
        finally:
            for flight in flights:
                flight.future.release()

    def _submit_more(
        self, function: Callable[[S], R], waiting: deque[S], flights: deque[_Flight]
    ) -> None:
        n_threads = max(1, sum(self._threads.values()))
        while waiting and len(flights) < 2 * n_threads + 2:
            n = 1
            if self._mean:
                most = min(FETCHED_RESULTS, len(waiting) // (2 * n_threads))
                n = min(most, int(TASK_SECONDS / self._mean))
            group = [waiting.popleft() for _ in range(max(1, n))]
            flights.append(_Flight(group, self._submit(function, group), monotonic()))

    def _submit(self, function: Callable[[S], R], group: list[S]) -> Future:
        healthy = [w for w in self._threads if w not in self._suspects]
        with annotate(span=self._span):
            future = self.client.submit(
                _apply,
                function,
                group,
                key=f"srs_slab-{uuid4().hex}",
                pure=False,
                workers=healthy if self._suspects and healthy else None,
            )
        future.add_done_callback(lambda _: self._news.set())
        self._n_submitted += 1
        return future

    def _forget(self) -> None:
        if self._n_submitted >= TASKS_KEPT:
            self._n_submitted = 0
            try:
                forget_in_scheduler(self.client, self._span)
            except GONE:
                raise
            except Exception as error:  # one that lets nobody run functions, or keeps no spans
                log.debug("the scheduler remembers what is over: %s", error)

    def _submit_again(self, function: Callable[[S], R], flights: list[_Flight]) -> None:
        for flight in flights:
            flight.n_lost += 1
            self._n_again += 1
            if flight.n_lost > MAX_LOST:
                raise ClusterError(
                    f"a batch was lost with {MAX_LOST} workers, one after another: check their "
                    "logs; if the system killed them, allow less memory (--memory)."
                )
            flight.future.release()  # its answer, should it come, goes nowhere
            flight.future, flight.since = self._submit(function, flight.specs), monotonic()

    # -- results ----------------------------------------------------------------------------

    def _take(self, function: Callable[[S], R], flights: deque[_Flight]) -> list[_Answer]:
        """Answers that are next in order; none if there is nothing yet."""
        head = flights[0]
        if not head.future.done():
            self._news.wait(POLL_SECONDS)
            self._news.clear()
            self._watch(function, flights)
            return []
        if head.future.status == "error":
            self._raise_or_retry(function, head)
            return []
        ready: list[_Flight] = []
        for flight in flights:
            n_specs = sum(len(f.specs) for f in ready)
            if flight.future.status != "finished" or n_specs + len(flight.specs) > FETCHED_RESULTS:
                break
            ready.append(flight)
        if not ready:  # cancelled or lost: the scheduler went, and with it all that it knew
            raise CommClosedError("a task is not known any more")
        try:
            answers = self._gather([flight.future for flight in ready])
        except TimeoutError:
            self._suspect(self.client.who_has([f.future for f in ready]).values())
            self._submit_again(function, ready)
            return []
        for flight, answer in zip(ready, answers, strict=True):
            flight.future.release()
            flights.popleft()
            self._note(answer, len(flight.specs))
        self._taken = monotonic()
        return answers

    def _gather(self, futures: list[Future]) -> list[_Answer]:
        """`Client.gather` with an end: a worker may hang before it hands over what it finished."""
        gathering = asyncio.run_coroutine_threadsafe(
            self.client.gather(futures, asynchronous=True), self.client.loop.asyncio_loop
        )
        try:
            answers: list[_Answer] = gathering.result(self._seconds_until_hung())
        except TimeoutError:
            gathering.cancel()
            raise
        return answers

    def _note(self, answer: _Answer, n_specs: int) -> None:
        self._slowest = max(self._slowest, answer.seconds)
        a_spec = answer.seconds / n_specs
        self._mean = a_spec if not self._mean else 0.9 * self._mean + 0.1 * a_spec
        self._peaks[answer.worker] = answer.peak_mem
        self._suspects.discard(answer.worker)

    def _raise_or_retry(self, function: Callable[[S], R], flight: _Flight) -> None:
        error = flight.future.exception()
        if isinstance(error, KilledWorker):
            self._submit_again(function, [flight])
            return
        if isinstance(error, SRSError):
            raise error
        raise ClusterError(
            f"a worker could not run a batch ({type(error).__name__}: {error}): srs and its "
            f"packages must be installed there in the same versions as here."
        ) from error

    # -- workers and scheduler --------------------------------------------------------------

    def _seconds_until_hung(self) -> float:
        if self.task_timeout is not None:
            return self.task_timeout
        return max(LEAST_SECONDS, HUNG_FACTOR * self._slowest) if self._slowest else FIRST_SECONDS

    def _watch(self, function: Callable[[S], R], flights: deque[_Flight]) -> None:
        """Take from a hung worker what it holds: the oldest task must end some time."""
        head = flights[0]
        if monotonic() - max(head.since, self._taken) < self._seconds_until_hung():
            return
        held: set[str] = {head.future.key}
        for worker, keys in self.client.processing().items():
            if head.future.key in keys:
                self._suspect([[worker]])
                held.update(keys)
        self._submit_again(function, [f for f in flights if f.future.key in held])

    def _suspect(self, workers: Iterable[Iterable[str]]) -> None:
        for worker in {w for some in workers for w in some}:
            log.warning("worker %s does not answer: other workers take over its tasks", worker)
            self._suspects.add(worker)

    def _refresh(self) -> None:
        """Learn now and then which workers there are; to wait for the first has an end."""
        now = monotonic()
        if now - self._refreshed < POLL_SECONDS and self._threads:
            return
        self._threads = dict(self.client.nthreads())
        self._refreshed = now
        self._suspects &= set(self._threads)
        self._replace_lost(now)
        if self._threads:
            self._without_workers = None
            return
        self._without_workers = self._without_workers or now
        if now - self._without_workers > self.patience:
            raise ClusterError(
                f"the scheduler has had no workers for {self.patience:.0f} s: start some and run "
                f"again."
            )

    def _replace_lost(self, now: float) -> None:
        """Have workers started anew whose nanny ended with them, as it does during their start.

        Dask forgets such a worker some 15 s later, and starts it when it is asked to scale.
        """
        if len(self._threads) >= self.n_wanted:
            self._complete = now
        elif now - self._complete > REPLACE_SECONDS:
            self.client.cluster.scale(self.n_wanted)
            self._complete = now

    def _reconnect(self) -> None:
        """Wait for the scheduler, or for one in its place."""
        log.warning("the scheduler was lost: waiting for it up to %.0f s", self.patience)
        until = monotonic() + self.patience
        while monotonic() < until:
            sleep(POLL_SECONDS / 2)
            if self.client.status in ("closed", "closing") and self.reopen is not None:
                try:
                    self.client = self.reopen()
                except ClusterError:
                    continue
            if self.client.status == "running":
                self._threads, self._without_workers = {}, None
                self._suspects.clear()
                return
            if self.client.status == "closed" and self.reopen is None:
                break
        raise ClusterError("the scheduler was lost and did not come back.")

    def figures(self) -> dict[str, int]:
        """workers now, their threads, largest peak memory of one, and tasks submitted again."""
        return {
            "n_workers": len(self._threads),
            "n_threads": sum(self._threads.values()),
            "peak_mem": max(self._peaks.values(), default=0),
            "n_submitted_again": self._n_again,
        }

    @property
    def seen_workers(self) -> tuple[str, ...]:
        """Addresses of the workers that have answered."""
        return tuple(self._peaks)


@contextmanager
def open_dask(
    given: Any,
    threads: int | None,
    worker_mem: int | None,
    tls: Path | None = None,
    task_timeout: float | None = None,
) -> Iterator[DaskExecutor]:
    """The executor of a client, an address, a number of processes or jobs; see `open_executor`."""
    if isinstance(given, JobCluster):
        with open_jobs(given, threads or 1, worker_mem or DEFAULT_MEM, tls) as client:
            yield DaskExecutor(
                client, None, task_timeout, patience=JOB_SECONDS, n_parallel=threads or 1
            )
        return
    if isinstance(given, Client):
        check_limits(given, worker_mem)
        yield DaskExecutor(given, None, task_timeout)
        return
    if isinstance(given, str):
        executor = DaskExecutor(connect(given, tls), lambda: connect(given, tls), task_timeout)
        try:
            check_limits(executor.client, worker_mem)
            yield executor
        finally:
            executor.client.close()
        return
    if not isinstance(given, int):
        raise SettingsError(
            f"an executor is a distributed.Client, the address of a scheduler or a number of "
            f"worker processes, not {type(given).__name__}."
        )
    with open_cluster(given, threads or 1, worker_mem, tls) as client:
        yield DaskExecutor(client, None, task_timeout, n_wanted=given)
