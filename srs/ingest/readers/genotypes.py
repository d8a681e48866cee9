"""What PLINK and VCF Zarr share: dosages 0, 1, 2 or missing, read by blocks of variants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from srs.ingest.block import ColumnBlock, float_values, numeric_block, small_block
from srs.store.layout import Annotation

# Annotations of variants, as summary statistics call them.
EFFECT_ALLELE, OTHER_ALLELE = "effect_allele", "other_allele"


class GenotypeSource:
    """A Source whose features are variants.

    fetch    gives the dosages of variants first..stop, int8 (k, n_samples), NO_VALUE missing
    targets  gives the values of a target column
    grain    variants that are read together
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
    ) -> None:
        self.n_samples, self.n_features = shape
        self.names: Sequence[str] | None = None
        self.sample_ids: Sequence[str] | None = None
        self.notices: Sequence[str] = ()
        self.annotations: Mapping[str, Annotation] = {}
        self.dtype = np.dtype(np.int8)
        self.held, self.fixed_mem, self.in_memory = held, fixed_mem, False
        self.record = record
        self._fetch, self._targets, self._grain = fetch, targets, grain

    def blocks(self, n_features: int) -> Iterator[ColumnBlock]:
        n_features = small_block(n_features, self.n_samples, self._grain)
        if n_features > self._grain:
            n_features -= n_features % self._grain
        for first in range(0, self.n_features, n_features):
            values = self._fetch(first, min(first + n_features, self.n_features))
            yield numeric_block(first, values)

    def read(self, feature_ids: np.ndarray) -> np.ndarray:
        parts = [self._fetch(i, i + 1) for i in feature_ids.tolist()]
        return float_values(np.concatenate(parts)).astype(np.float64)

    def column(self, name: str) -> Any:
        return self._targets(name)

    def close(self) -> None:
        """Files are open only while they are read."""


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
