"""The kernels that ingest calls: have them compiled."""

from __future__ import annotations

from srs.ingest.encode.codes import encode_dosages
from srs.trees.compiling import compile_in_child


def ensure_compiled() -> None:
    """Have all kernels of ingest in numba's cache."""
    compile_in_child("srs.ingest.exercise", encode_dosages)
