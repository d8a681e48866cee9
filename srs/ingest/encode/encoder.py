"""Encode blocks with two threads, in pieces that fit the cache.

What a code is, is `srs.ingest.encode.codes`; where codes go is `srs.store.writer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from srs.ingest.block import ColumnBlock, Values
from srs.ingest.encode.codes import Coded, encode_dosages, encode_fractions, encode_into
from srs.ingest.encode.sparse_values import SparseValues
from srs.ingest.encode.transpose import feature_major
from srs.ingest.notices import Tally, find_counting
from srs.ingest.plan import PIECE_BYTES
from srs.store.content import Content, look_at
from srs.store.layout import MISSING, NUMERIC

ENCODE_THREADS = 2


@dataclass(frozen=True)
class Encoded:
    """What is known of all features once they are encoded, by feature id.

    kinds     uint8: NUMERIC, ORDINAL or CATEGORICAL
    n_levels  uint8: distinct codes, missing aside
    dosages   uint8: which dosages occur, see `srs.ingest.encode.codes.Coded`
    labels    feature id -> labels of its codes
    """

    kinds: np.ndarray
    n_levels: np.ndarray
    dosages: np.ndarray
    labels: dict[int, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def empty(cls, n_features: int) -> Encoded:
        kinds, n_levels, dosages = np.zeros((3, n_features), np.uint8)
        return cls(kinds, n_levels, dosages)


@dataclass(frozen=True)
class Piece:
    """Some encoded features: the id of the first, codes (k, n_samples), and what they say."""

    first: int
    codes: np.ndarray
    content: Content


class Encoder:
    """Encodes two pieces at a time, those of the next block as soon as the last ones are begun."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(ENCODE_THREADS, "srs-encode")

    def submit(
        self, block: ColumnBlock, names: Sequence[str] | None, into: Encoded, tally: Tally
    ) -> list[Future[Piece]]:
        """A block in pieces, in the order of ids; kinds, levels and labels go to `into`.

        names  of all features, or None
        """
        n_features, n_samples = block.values.shape
        here = slice(block.first, block.first + n_features)
        into.kinds[here] = block.kinds
        into.labels.update(block.labels)
        n_levels, dosages = into.n_levels[here], into.dosages[here]
        step = max(1, PIECE_BYTES // (n_samples * block.values.itemsize))

        def encode_piece(start: int) -> Piece:
            piece = slice(start, min(start + step, n_features))
            coded = Coded.empty(piece.stop - start, n_samples)
            kinds = block.kinds[piece]
            counting = np.zeros(0, np.int64)
            if not _encode_sparse(block.values, piece, kinds, coded):
                values = block.values[piece]
                _encode_piece(values, kinds, coded, block.counts_alleles)
                if not block.counts_alleles:
                    counting = find_counting(values)
                    counting = counting[kinds[counting] == NUMERIC]
                del values
            n_levels[piece], dosages[piece] = coded.n_levels, coded.dosages
            first = block.first + start
            tally.count(first, coded, block.labels, counting)
            named = None if names is None else names[first : first + len(coded.codes)]
            return Piece(first, coded.codes, look_at(coded.codes, named, coded.n_ranked))

        return [self._pool.submit(encode_piece, start) for start in range(0, n_features, step)]

    def __enter__(self) -> Encoder:
        return self

    def __exit__(self, *exc: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


def _encode_sparse(values: Values, piece: slice, kinds: np.ndarray, coded: Coded) -> bool:
    """Encode sparse whole numbers as they are; False for all else."""
    return (
        isinstance(values, SparseValues)
        and bool((kinds == NUMERIC).all())
        and values.encode_wholes(piece, coded.codes, coded.n_levels)
    )


def _encode_piece(
    values: np.ndarray, kinds: np.ndarray, coded: Coded, counts_alleles: bool
) -> None:
    if values.dtype == np.int8:
        encode_dosages(feature_major(values), coded.codes, coded.n_levels, coded.dosages)
        return
    if (kinds == NUMERIC).all():
        _encode_numbers(values, coded, counts_alleles)
        return
    for i, kind in enumerate(kinds):
        one = slice(i, i + 1)
        if kind == NUMERIC:
            _encode_numbers(values[one], coded[one], counts_alleles)
        else:
            missing = np.isnan(values[i])
            coded.codes[i] = np.where(missing, MISSING, values[i]).astype(np.uint8)
            coded.n_levels[i] = 0 if missing.all() else int(np.nanmax(values[i])) + 1


def _encode_numbers(values: np.ndarray, coded: Coded, counts_alleles: bool) -> None:
    if counts_alleles:
        lines = feature_major(values.astype(np.float32, copy=False))
        encode_fractions(lines, coded.codes, coded.n_levels, coded.dosages)
    else:
        encode_into(values, coded)
