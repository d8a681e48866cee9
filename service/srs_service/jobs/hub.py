"""Wakes those who wait for news of jobs: event streams and long polls.

One task asks the database which of the watched jobs have new events (whichever replica wrote
them), once for all streams. New events are read once a job and shared, so that 500 streams cost
as much as the jobs they watch; only a stream that is far behind reads by itself. The same task
looks whether the keys and sessions of those who wait still count.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.concurrency import run_in_threadpool

from srs_service.database import JobStore
from srs_service.database.events import Event
from srs_service.database.keys import Caller

log = logging.getLogger("srs_service")

LOOK_SECONDS = 0.2
CHECK_SECONDS = 0.5  # how often keys and sessions are looked at
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
        self.wake()

    def end(self) -> None:
        self.newest = GONE
        self.wake()

    def wake(self) -> None:
        """Let those who wait look again."""
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
        self._callers: Counter[Caller] = Counter()
        self._refused: set[Caller] = set()
        self._checked = time.monotonic()
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
    async def watching(self, job_id: str, newest: int, caller: Caller) -> AsyncIterator[Watch]:
        """Watch a job whose newest event is known."""
        watch = self._watches.setdefault(job_id, Watch(newest))
        watch.n_watchers += 1
        self._callers[caller] += 1
        try:
            yield watch
        finally:
            watch.n_watchers -= 1
            if not watch.n_watchers:
                self._watches.pop(job_id, None)
            self._callers[caller] -= 1
            if not self._callers[caller]:
                del self._callers[caller]
                self._refused.discard(caller)

    def refuses(self, caller: Caller) -> bool:
        """Whether what the caller showed has stopped counting since they began to wait."""
        if caller.expires_at is not None and caller.expires_at <= time.time():
            return True
        return caller in self._refused

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
        if time.monotonic() - self._checked >= CHECK_SECONDS:
            self._checked = time.monotonic()
            await self._check_callers()
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

    async def _check_callers(self) -> None:
        callers = [one for one in self._callers if one.key_id or one.session_id]
        keys = {one.key_id for one in callers if one.key_id}
        sessions = {one.session_id for one in callers if one.session_id}
        counting = await run_in_threadpool(self._store.sessions.counting, keys, sessions)
        self._refused = {one for one in callers if (one.session_id or one.key_id) not in counting}
        if self._refused:
            for watch in self._watches.values():
                watch.wake()
