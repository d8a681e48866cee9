"""Refuse files whose metadata promise far more data than they store."""

from __future__ import annotations

from srs.errors import SourceError
from srs.memory import format_bytes

MOST = 20_000  # times larger than stored; zeros compress 1,000 times (gzip) to 10,000 (zstd)
LEAST = 1 << 30  # smaller ones do no harm


def refuse_hollow(n_bytes: int, n_stored: int, where: str) -> None:
    """SourceError if `n_stored` bytes of a file claim to be `n_bytes` of an array."""
    if n_bytes > LEAST and n_bytes > MOST * max(n_stored, 1):
        raise SourceError(
            f"{where} claims {format_bytes(n_bytes)} of values and stores "
            f"{format_bytes(n_stored)}: it is damaged or made to exhaust memory."
        )
