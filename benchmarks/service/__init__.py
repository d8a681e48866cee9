"""The service: submissions under kills, event streams, cost of a job, requests under load."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measure import Line
from benchmarks.service import overhead, requests, streams, submissions

PARTS = (overhead, requests, submissions, streams)


def run() -> Iterator[Line]:
    for part in PARTS:
        yield from part.run()
