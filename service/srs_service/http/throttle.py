"""Limits on what one user may ask of this process: requests a second, open streams."""

from __future__ import annotations

import resource
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from srs_service.errors import TooMany

MAX_USERS = 10_000  # whose buckets are remembered; the least recent are forgotten
BURST_SECONDS = 4.0  # of the limit that may be used at once
# Left for all that is no stream: connections of requests, the database, children, files.
SPARE_FILES = 256


@dataclass(frozen=True)
class Rate:
    """What is left of a limit.

    quota    requests at once
    left     of them, now
    seconds  until all are there again
    """

    quota: int
    left: int
    seconds: float

    @property
    def headers(self) -> dict[str, str]:
        """As `draft-ietf-httpapi-ratelimit-headers` has them.

        >>> Rate(200, 199, 0.1).headers["RateLimit"]
        '"requests";r=199;t=1'
        """
        return {
            "RateLimit-Policy": f'"requests";q={self.quota};w={round(BURST_SECONDS)}',
            "RateLimit": f'"requests";r={self.left};t={max(1, round(self.seconds))}',
        }


class Rates:
    """Token buckets by user."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def count(self, owner: str) -> Rate | None:
        """Count a request; what is left, None if there is no limit; TooMany if the user sent too
        many."""
        if not self._per_second:
            return None
        now, full = time.monotonic(), max(1.0, self._per_second * BURST_SECONDS)
        with self._lock:
            left, then = self._buckets.pop(owner, (full, now))
            left = min(full, left + (now - then) * self._per_second)
            allowed = left >= 1
            self._buckets[owner] = (left - 1 if allowed else left, now)
            if len(self._buckets) > MAX_USERS:
                self._buckets.popitem(last=False)
        if not allowed:
            raise TooMany(
                f"more than {self._per_second:g} requests a second: slow down.",
                retry_after=(1 - left) / self._per_second,
            )
        return Rate(int(full), int(left - 1), (full - left + 1) / self._per_second)


class Streams:
    """Open streams, in all and by user; no more than the process may open files."""

    def __init__(self, total: int, per_user: int) -> None:
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._total = min(total, max(1, files - SPARE_FILES))
        self._per_user = per_user
        self._open: Counter[str] = Counter()

    @property
    def n_open(self) -> int:
        return self._open.total()

    @contextmanager
    def opened(self, owner: str) -> Iterator[None]:
        """Count a stream while it is open; TooMany if there are too many."""
        for n_open, limit, whose in (
            (self._open[owner], self._per_user, " of yours"),
            (self.n_open, self._total, ""),
        ):
            if n_open >= limit:
                raise TooMany(
                    f"{n_open} event streams{whose} are open, and the limit is {limit}: close "
                    f"some, or poll with `GET /v1/jobs/{{id}}?wait=30` later.",
                    retry_after=10,
                    open=n_open,
                    limit=limit,
                )
        self._open[owner] += 1
        try:
            yield
        finally:
            self._open[owner] -= 1
            if not self._open[owner]:
                del self._open[owner]
