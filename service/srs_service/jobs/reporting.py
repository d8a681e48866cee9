"""What a child process tells of its job and asks for while it runs, and whether it is to stop.

Before bytes are written that go beyond what was granted, more is asked for, and the child waits
for the answer: the quota of its user holds whatever else the user does meanwhile.
"""

from __future__ import annotations

import queue
import resource
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from srs_service.data.layout import folder_size
from srs_service.database.documents import Figures, ProgressDocument
from srs_service.errors import OverQuota

T = TypeVar("T")
Report = Callable[[Mapping[str, Any]], None]

SECONDS_BETWEEN_REPORTS = 0.25
SECONDS_BETWEEN_LOOKS = 2.0  # at the evidence
STEP = 64 << 20  # bytes that are asked for at once


class Stopped(Exception):
    """The order was asked to stop, and has nothing to keep."""


class Reporter:
    """Tells progress, at most four times a second, and less often in long jobs.

    finish  set when the job is asked to end with what it has found
    """

    def __init__(self, report: Report, stop: threading.Event, finish: threading.Event) -> None:
        self._report = report
        self._stop = stop
        self.finish = finish
        self._started = time.monotonic()
        self._told = 0.0

    def tell(self, progress: Callable[[], Figures]) -> None:
        """Tell it if it is time to: only then it is asked for."""
        now = time.monotonic()
        elapsed = now - self._started
        # A day of progress is then some 4,000 events, not 350,000.
        if now - self._told < max(SECONDS_BETWEEN_REPORTS, elapsed / 500):
            return
        self._told = now
        peak_mem = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        told: ProgressDocument = {
            "seconds": round(elapsed, 3),
            "peak_mem": peak_mem,
            **progress(),
        }
        self._report({"event": "progress", "progress": told})

    def end(self, message: Mapping[str, Any]) -> None:
        """Tell how it ended."""
        self._report(message)

    @property
    def asked_to_stop(self) -> bool:
        return self._stop.is_set()

    def stop_if_asked(self) -> None:
        if self.asked_to_stop:
            raise Stopped


class Throttle:
    """What is long to tell or takes time: every few seconds, and less often in long jobs."""

    def __init__(self, every: float = SECONDS_BETWEEN_LOOKS) -> None:
        self._every = every
        self._started = time.monotonic()
        self._next = 0.0

    def ask(self, make: Callable[[], T]) -> T | None:
        """What is made; None if it is not time yet."""
        now = time.monotonic()
        if now < self._next:
            return None
        made = make()
        took = time.monotonic() - now
        # A day has then some 400 of these, and making them takes 2 % of the time at most.
        self._next = now + max(self._every, (now - self._started) / 50, 50 * took)
        return made


class Room:
    """What may be written.

    granted  bytes in all
    answers  what the service granted, each time that it was asked
    """

    def __init__(self, report: Report, granted: int, answers: queue.Queue[int]) -> None:
        self._report = report
        self._granted = granted
        self._answers = answers
        self._used = 0
        self._looks = Throttle(every=1.0)

    def take(self, n_bytes: int) -> None:
        """So many bytes more will be written; OverQuota if they may not."""
        self._need(self._used + n_bytes)
        self._used += n_bytes

    def watch(self, folder: Path, done: int, of: int) -> None:
        """A folder is being filled in steps: have room for all that it is going to hold."""

        def look() -> None:
            self._need(self._used + folder_size(folder) * max(of, 1) // max(done, 1))

        self._looks.ask(look)

    def _need(self, total: int) -> None:
        if total <= self._granted:
            return
        self._report({"event": "space", "needed": total, "wanted": total + STEP})
        self._granted = self._answers.get()
        if total > self._granted:
            raise OverQuota(
                "the files of the job need more than is left of your quota: delete "
                "datasets, uploads or jobs; GET /v1/usage says what they take."
            )
