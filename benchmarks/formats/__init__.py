"""Formats: ingest against each format's own library just reading, and 2-bit codes against bytes."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.formats import packing, reading
from benchmarks.measure import Line

PARTS = (reading, packing)


def run() -> Iterator[Line]:
    for part in PARTS:
        yield from part.run()
