"""Sources of genotypes: dosages from 0 to 2 or missing, read by blocks of variants.

A dosage counts one allele of a variant. Whole dosages are int8, others float32.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from srs.ingest.block import ColumnBlock, float_values, numeric_block, small_block
from srs.store.layout import Annotation

# Annotations of variants, as summary statistics call them.
EFFECT_ALLELE, OTHER_ALLELE = "effect_allele", "other_allele"
VARIANT_MEM = 800  # ids, contigs, positions and alleles as text while they become names
SITE_MEM = 200  # the same, packed: see `srs.ingest.readers.genotypes.sites` (measured: 110)
LINE_MEM = 64  # of a sample, while a variant is read: its field as text, calls, probabilities
WHOLE, FRACTIONAL = np.dtype(np.int8), np.dtype(np.float32)


class GenotypeSource:
    """A Source whose features are variants.

    fetch    gives the dosages of variants first..stop, (k, n_samples): int8 with NO_VALUE for
             missing, or float32 with NaN; good until the next but one
    targets  gives the values of a target column
    grain    variants that are read together
    dtype    of what `fetch` gives
    """

    def __init__(
        self,
        shape: tuple[int, int],
        fetch: Callable[[int, int], np.ndarray],
        targets: Callable[[str], Any],
        record: Mapping[str, Any],
        held: int,
        fixed_mem: int,
        grain: int = 1,
        dtype: np.dtype[Any] = WHOLE,
    ) -> None:
        self.n_samples, self.n_features = shape
        self.names: Sequence[str] | None = None
        self.sample_ids: Sequence[str] | None = None
        self.notices: Sequence[str] = ()
        self.annotations: Mapping[str, Annotation] = {}
        self.dtype = dtype
        self.held, self.fixed_mem, self.in_memory = held, fixed_mem, False
        self.record = record
        self._fetch, self._targets, self._grain = fetch, targets, grain

    def blocks(self, n_features: int) -> Iterator[ColumnBlock]:
        n_features = small_block(n_features, self.n_samples * self.dtype.itemsize, self._grain)
        if n_features > self._grain:
            n_features -= n_features % self._grain
        for first in range(0, self.n_features, n_features):
            values = self._fetch(first, min(first + n_features, self.n_features))
            yield dosage_block(first, values)

    def read(self, feature_ids: np.ndarray) -> np.ndarray:
        parts = [self._fetch(i, i + 1).copy() for i in feature_ids.tolist()]
        return float_values(np.concatenate(parts)).astype(np.float64)

    def column(self, name: str) -> Any:
        return self._targets(name)

    def close(self) -> None:
        """Files are open only while they are read."""


class GenotypeStream(GenotypeSource):
    """A Source of variants in a file that is read from start to end.

    stream  gives the dosages of each feature, in the order of ids; of some alone if it is given
            their ids, ascending
    """

    def __init__(
        self,
        shape: tuple[int, int],
        stream: Callable[[np.ndarray | None], Iterator[np.ndarray]],
        targets: Callable[[str], Any],
        record: Mapping[str, Any],
        dtype: np.dtype[Any],
    ) -> None:
        super().__init__(
            shape,
            lambda first, stop: self._some(np.arange(first, stop)),
            targets,
            record,
            held=dtype.itemsize,
            fixed_mem=SITE_MEM * shape[1] + LINE_MEM * shape[0],
            dtype=dtype,
        )
        self._stream = stream

    def blocks(self, n_features: int) -> Iterator[ColumnBlock]:
        n_features = small_block(n_features, self.n_samples * self.dtype.itemsize)
        lines = self._stream(None)
        try:
            for first in range(0, self.n_features, n_features):
                k = min(n_features, self.n_features - first)
                values = np.empty((k, self.n_samples), self.dtype)
                for i in range(k):
                    values[i] = next(lines)
                yield dosage_block(first, values)
        finally:
            lines.close()  # type: ignore[attr-defined]

    def _some(self, ids: np.ndarray) -> np.ndarray:
        values = np.empty((len(ids), self.n_samples), self.dtype)
        for i, line in enumerate(self._stream(ids)):
            values[i] = line
        return values

    def read(self, feature_ids: np.ndarray) -> np.ndarray:
        ids, places = np.unique(feature_ids, return_inverse=True)
        return float_values(self._some(ids)[places]).astype(np.float64)


def dosage_block(first: int, values: np.ndarray) -> ColumnBlock:
    """Features that are dosages."""
    block = numeric_block(first, values)
    return block if values.dtype == WHOLE else replace(block, counts_alleles=True)


def describe_places(
    contigs: Sequence[str],
    positions: np.ndarray,
    counted: Sequence[str] | None = None,
    others: Sequence[str] | None = None,
) -> dict[str, Annotation]:
    """Where variants are on the genome, and their alleles where these are known.

    counted  the allele that dosages count
    others   the other one
    """
    found = {
        "contig": _annotate(contigs),
        "position": Annotation(np.asarray(positions).astype(np.int64)),
    }
    if counted is not None and others is not None:
        found |= {EFFECT_ALLELE: _annotate(counted), OTHER_ALLELE: _annotate(others)}
    return found


def _annotate(texts: Sequence[str]) -> Annotation:
    labels = sorted(set(texts))
    number = {label: i for i, label in enumerate(labels)}
    return Annotation(np.array([number[text] for text in texts], np.int32), tuple(labels))


def name_variants(ids: Sequence[str], contigs: Sequence[str], positions: np.ndarray) -> list[str]:
    """Ids of variants; contig:position where there is none.

    >>> name_variants(["rs1", "."], ["1", "2"], [10, 20])
    ['rs1', '2:20']
    """
    places = zip(ids, contigs, np.asarray(positions).tolist(), strict=True)
    return [
        str(name) if name not in (".", "") else f"{contig}:{position}"
        for name, contig, position in places
    ]
