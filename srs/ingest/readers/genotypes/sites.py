"""Variants of a file and the features that they become: one for each allele but the reference."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from srs.errors import SourceError
from srs.ingest.readers.genotypes.source import GenotypeSource, describe_places, name_variants

UNKNOWN_ALLELE = "."


@dataclass
class Sites:
    """Features, in the order of the file.

    ids, contigs, positions  of their variants
    counted, others          the allele that dosages count, and the reference
    variants, alleles        number of the variant in the file, and of the allele in the variant
    """

    ids: list[str] = field(default_factory=list)
    contigs: list[str] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    counted: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    variants: list[int] = field(default_factory=list)
    alleles: list[int] = field(default_factory=list)
    n_variants: int = 0
    n_split: int = 0
    first_split: str = ""

    def __len__(self) -> int:
        return len(self.variants)

    def add(
        self, name: str, contig: str, position: int, other: str, counted: tuple[str, ...]
    ) -> None:
        """A variant; each of the alleles `counted` is a feature."""
        names: tuple[str, ...] = (name,)
        counted = counted or (UNKNOWN_ALLELE,)
        if len(counted) > 1:
            known = name if name not in ("", ".") else f"{contig}:{position}"
            names = tuple(f"{known}:{allele}" for allele in counted)
            self.n_split += 1
            self.first_split = self.first_split or known
        n_alleles = len(counted)
        self.ids += names
        self.contigs += (contig,) * n_alleles
        self.positions += (position,) * n_alleles
        self.counted += counted
        self.others += (other,) * n_alleles
        self.variants += (self.n_variants,) * n_alleles
        self.alleles += range(1, n_alleles + 1)
        self.n_variants += 1

    def skip(self) -> None:
        """A variant that is no feature."""
        self.n_variants += 1

    def describe(self, source: GenotypeSource) -> None:
        """Give a source its names, annotations and notices."""
        positions = np.array(self.positions, np.int64)
        source.names = name_variants(self.ids, self.contigs, positions)
        source.annotations = describe_places(self.contigs, positions, self.counted, self.others)
        if self.n_split:
            which = "1 variant has" if self.n_split == 1 else f"{self.n_split} variants have"
            source.notices = [
                *source.notices,
                f"{which} more than two alleles, the first is {self.first_split!r}: each allele "
                "but the reference is a feature of its own.",
            ]

    def refuse_none(self, path: Path) -> None:
        """SourceError if there is no variant."""
        if not self.variants:
            raise SourceError(f"{path} has no variants: there is nothing to ingest.")
