"""Variants of a file and the features that they become: one for each allele but the reference."""

from __future__ import annotations

from array import array
from pathlib import Path

import numpy as np

from srs.errors import SourceError
from srs.ingest.readers.genotypes.source import (
    EFFECT_ALLELE,
    OTHER_ALLELE,
    GenotypeSource,
)
from srs.store.layout import Annotation

UNKNOWN_ALLELE = "."
UNNAMED = ("", ".")


class Labels:
    """Texts of which few differ, by number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._of = array("i")

    def add(self, text: str, times: int = 1) -> None:
        number = self._numbers.setdefault(text, len(self._numbers))
        for _ in range(times):
            self._of.append(number)

    def annotate(self) -> Annotation:
        """The texts of all, with labels in their order."""
        labels = sorted(self._numbers)
        place = {label: i for i, label in enumerate(labels)}
        new = np.array([place[label] for label in self._numbers], np.int32)
        return Annotation(new[np.frombuffer(self._of, np.int32)], tuple(labels))


class Sites:
    """Features, in the order of the file.

    names             of the features: ids of variants, contig:position where there is none
    variants, alleles by feature: number of the variant in the file, of the allele in the variant
    n_variants        of the file
    n_split           variants that are several features
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.n_variants = self.n_split = 0
        self._first_split = ""
        self._positions, self._variants, self._alleles = array("q"), array("I"), array("H")
        self._contigs, self._counted, self._others = Labels(), Labels(), Labels()

    def __len__(self) -> int:
        return len(self.names)

    @property
    def variants(self) -> np.ndarray:
        return np.frombuffer(self._variants, np.uint32)

    @property
    def alleles(self) -> np.ndarray:
        return np.frombuffer(self._alleles, np.uint16)

    def add(
        self, name: str, contig: str, position: int, other: str, counted: tuple[str, ...]
    ) -> None:
        """A variant; each of the alleles `counted` is a feature."""
        counted = counted or (UNKNOWN_ALLELE,)
        n_features = len(counted)
        if name in UNNAMED:
            name = f"{contig}:{position}"
        if n_features > 1:
            self.names += [f"{name}:{allele}" for allele in counted]
            self.n_split += 1
            self._first_split = self._first_split or name
        else:
            self.names.append(name)
        self._contigs.add(contig, n_features)
        self._others.add(other, n_features)
        for number, allele in enumerate(counted, 1):
            self._counted.add(allele)
            self._positions.append(position)
            self._variants.append(self.n_variants)
            self._alleles.append(number)
        self.n_variants += 1

    def skip(self) -> None:
        """A variant that is no feature."""
        self.n_variants += 1

    def describe(self, source: GenotypeSource) -> None:
        """Give a source its names, annotations and notices."""
        source.names = self.names
        source.annotations = {
            "contig": self._contigs.annotate(),
            "position": Annotation(np.frombuffer(self._positions, np.int64)),
            EFFECT_ALLELE: self._counted.annotate(),
            OTHER_ALLELE: self._others.annotate(),
        }
        if self.n_split:
            which = "1 variant has" if self.n_split == 1 else f"{self.n_split} variants have"
            source.notices = [
                *source.notices,
                f"{which} more than two alleles, the first is {self._first_split!r}: each allele "
                "but the reference is a feature of its own.",
            ]

    def refuse_none(self, path: Path) -> None:
        """SourceError if there is no variant."""
        if not self.names:
            raise SourceError(f"{path} has no variants: there is nothing to ingest.")
