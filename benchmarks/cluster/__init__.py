"""Workers of a Dask cluster: throughput, cost of a task, ten million features, reading, rounds."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.cluster import overhead, reading, rounds, ten_million, throughput
from benchmarks.measure import Line

PARTS = (throughput, overhead, reading, ten_million, rounds)


def run() -> Iterator[Line]:
    for part in PARTS:
        yield from part.run()
