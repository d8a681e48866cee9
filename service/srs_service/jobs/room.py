"""How many bytes a job may write. Runs in child processes; the service grants them.

Before bytes are written that go beyond what was granted, more is asked for, and the child waits
for the answer: the quota of its user holds whatever else the user does meanwhile.
"""

from __future__ import annotations

import queue
from pathlib import Path

from srs_service.data.layout import folder_size
from srs_service.errors import OverQuota
from srs_service.jobs.reporting import Report, Throttle

STEP = 64 << 20  # bytes that are asked for at once


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
