"""Wakes those who wait for news of jobs: event streams and long polls.

One task asks the database which of the watched jobs have new events (whichever replica wrote
them), once for all streams. New events are read once a job and shared, so that 500 streams cost
as much as the jobs they watch; only a stream that is far behind reads by itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.concurrency import run_in_threadpool

from srs_service.database import JobStore
from srs_service.database.events import Event

log = logging.getLogger("srs_service")

LOOK_SECONDS = 0.2
KEPT_EVENTS = 50  # of a watched job, for streams that are up to date
GONE = -1


class Watch:
    """What is known of one job that somebody watches.

    newest  number of its newest event that was seen; GONE once the job was deleted
    """

    def __init__(self, newest: int) -> None:
        self.newest = newest
        self.n_watchers = 0
        self._kept: deque[Event] = deque(maxlen=KEPT_EVENTS)
        self._changed = asyncio.Event()

    def add(self, events: list[Event]) -> None:
        self._kept.extend(events)
        self.newest = events[-1].number
        self._wake()

    def end(self) -> None:
        self.newest = GONE
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def wait(self, after: int, seconds: float) -> bool:
        """Wait until there are events above `after`; whether there are."""
        if self.newest == GONE or self.newest > after:
            return True
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        return self.newest == GONE or self.newest > after

    def kept_after(self, after: int) -> list[Event] | None:
        """Events above `after`; None if some of them are no longer kept."""
        if not self._kept or self._kept[0].number > after + 1:
            return None
        return [event for event in self._kept if event.number > after]


class Hub:
    def __init__(self, store: JobStore) -> None:
        self._store = store
        self._watches: dict[str, Watch] = {}
        self._task: asyncio.Task[None] | None = None
        self.closing = asyncio.Event()

    def start(self) -> None:
        self._task = asyncio.create_task(self._look_for_news())

    async def stop(self) -> None:
        self.closing.set()
        for watch in list(self._watches.values()):
            watch.end()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @asynccontextmanager
    async def watching(self, job_id: str, newest: int) -> AsyncIterator[Watch]:
        """Watch a job whose newest event is known."""
        watch = self._watches.setdefault(job_id, Watch(newest))
        watch.n_watchers += 1
        try:
            yield watch
        finally:
            watch.n_watchers -= 1
            if not watch.n_watchers:
                self._watches.pop(job_id, None)

    async def _look_for_news(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if self._watches:
                try:
                    await self._look()
                except Exception as error:
                    log.error("hub: %s", type(error).__name__)
                    await asyncio.sleep(1.0)

    async def _look(self) -> None:
        watched = dict(self._watches)
        newest = await run_in_threadpool(self._store.jobs.newest_events, list(watched))
        for job_id, watch in watched.items():
            if job_id not in newest:
                watch.end()
            elif newest[job_id] > watch.newest:
                events = await run_in_threadpool(
                    self._store.events.read, job_id, watch.newest, KEPT_EVENTS
                )
                if events:
                    watch.add(events)
