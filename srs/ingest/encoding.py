"""Encode blocks with two threads while a third reads the next block.

What a code is, is `srs.ingest.encode`; where codes go is `srs.store.writer`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from srs.ingest.block import ColumnBlock
from srs.ingest.encode import encode_dosages, encode_numeric
from srs.ingest.notices import Tally
from srs.ingest.plan import PIECE_BYTES
from srs.store.layout import MISSING, NUMERIC

ENCODE_THREADS = 2


@dataclass(frozen=True)
class Encoded:
    """What is known of all features once they are encoded, by feature id.

    kinds     uint8: NUMERIC, ORDINAL or CATEGORICAL
    n_levels  uint8: distinct codes, missing aside
    labels    feature id -> labels of its codes
    """

    kinds: np.ndarray
    n_levels: np.ndarray
    labels: dict[int, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def empty(cls, n_features: int) -> Encoded:
        return cls(np.zeros(n_features, np.uint8), np.zeros(n_features, np.uint8))


class Encoder:
    """Encodes a block in pieces that fit the cache, two at a time."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(ENCODE_THREADS, "srs-encode")

    def encode(self, block: ColumnBlock, into: Encoded, tally: Tally) -> np.ndarray:
        """Codes (k, n_samples) of a block; kinds, levels and labels go to `into`."""
        n_features, n_samples = block.values.shape
        codes = np.empty((n_features, n_samples), np.uint8)
        here = slice(block.first, block.first + n_features)
        into.kinds[here] = block.kinds
        into.labels.update(block.labels)
        n_levels = into.n_levels[here]
        step = max(1, PIECE_BYTES // (n_samples * block.values.itemsize))
        pieces = [slice(a, a + step) for a in range(0, n_features, step)]

        def encode_piece(piece: slice) -> None:
            values, levels = block.values[piece], n_levels[piece]
            _encode_piece(values, block.kinds[piece], codes[piece], levels)
            tally.count(block.first + piece.start, values, codes[piece], levels)

        for _ in self._pool.map(encode_piece, pieces):
            pass
        return codes

    def __enter__(self) -> Encoder:
        return self

    def __exit__(self, *exc: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


def _encode_piece(
    values: np.ndarray, kinds: np.ndarray, codes: np.ndarray, n_levels: np.ndarray
) -> None:
    if values.dtype == np.int8:
        encode_dosages(values, codes, n_levels)
        return
    if (kinds == NUMERIC).all():
        codes[:], n_levels[:] = encode_numeric(values)
        return
    for i, kind in enumerate(kinds):
        if kind == NUMERIC:
            one_code, one_level = encode_numeric(values[i : i + 1])
            codes[i], n_levels[i] = one_code[0], one_level[0]
        else:
            missing = np.isnan(values[i])
            codes[i] = np.where(missing, MISSING, values[i]).astype(np.uint8)
            n_levels[i] = 0 if missing.all() else int(np.nanmax(values[i])) + 1


@contextlib.contextmanager
def read_ahead(blocks: Iterator[ColumnBlock]) -> Generator[Iterator[ColumnBlock]]:
    """The same blocks, each made by a thread while the one before is in use.

    Leaving the context waits for the thread and closes `blocks`, so its files are gone.
    """
    pool = ThreadPoolExecutor(1, "srs-read")

    def ahead() -> Iterator[ColumnBlock]:
        pending = pool.submit(next, blocks, None)
        while (block := pending.result()) is not None:
            pending = pool.submit(next, blocks, None)
            yield block
            del block  # else three blocks would be held, not two

    try:
        yield ahead()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        close = getattr(blocks, "close", None)
        if close is not None:
            close()
