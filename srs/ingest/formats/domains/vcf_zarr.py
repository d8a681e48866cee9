"""VCF Zarr (the layout of bio2zarr and sgkit): `call_genotype` by blocks of variants.

A dosage counts the alleles of a call that are not the reference; a call of which any allele is
missing is missing, and fill of lower ploidy counts as nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from srs.errors import SourceError
from srs.ingest.block import NO_VALUE, Wanted
from srs.ingest.formats.arrays.in_memory import folder_mark
from srs.ingest.formats.domains.anndata import read_column
from srs.ingest.formats.folders import FolderSigns
from srs.ingest.formats.format import FOLDER, Format
from srs.ingest.readers.genotypes.sites import UNKNOWN_ALLELE
from srs.ingest.readers.genotypes.source import (
    VARIANT_MEM,
    GenotypeSource,
    describe_places,
    name_variants,
)
from srs.ingest.readers.zarr_checks import check_array, check_folder, open_group
from srs.ingest.readers.zarr_chunks import ZarrChunks

GENOTYPES = "call_genotype"
FIXED_MEM = 64 << 20  # what the allocator keeps for zarr's threads


@njit(nogil=True, cache=True)
def count_alleles(calls, dosages, first, column):  # type: ignore[no-untyped-def]
    """Dosages int8 (k, n) of calls int8 (variants, samples, ploidy): -1 is missing, -2 is fill.

    The first call belongs to dosages[first, column]; those that lie beyond are left out.
    """
    start, stop = max(0, -first), min(calls.shape[0], dosages.shape[0] - first)
    n = min(calls.shape[1], dosages.shape[1] - column)
    if calls.shape[2] == 2:  # nearly all; ten times faster without the inner loop
        for v in range(start, stop):
            known, counted = calls[v], dosages[first + v, column : column + n]
            for i in range(n):
                a, b = known[i, 0], known[i, 1]
                unknown = (a == -1) | (b == -1) | ((a < -1) & (b < -1))
                counted[i] = NO_VALUE if unknown else (a > 0) + (b > 0)
        return
    for v in range(start, stop):
        for i in range(n):
            count, missing, filled = 0, False, 0
            for a in range(calls.shape[2]):
                allele = calls[v, i, a]
                count += allele > 0
                missing |= allele == -1
                filled += allele < -1
            unknown = missing or filled == calls.shape[2]
            dosages[first + v, column + i] = NO_VALUE if unknown else count


def open_vcf_zarr(folder: Path, wanted: Wanted) -> GenotypeSource:
    group: Any = open_group(folder)
    calls = _array(group, GENOTYPES, folder)
    if calls.ndim != 3 or calls.dtype.kind != "i" or 0 in calls.shape:
        raise SourceError(
            f"{folder}/{GENOTYPES} must be whole numbers (variants, samples, ploidy), not "
            f"{calls.dtype} {tuple(calls.shape)}."
        )
    n_features, n_samples = int(calls.shape[0]), int(calls.shape[1])
    chunks = ZarrChunks(calls, folder / GENOTYPES)

    def fetch(first: int, stop: int) -> np.ndarray:
        dosages = np.empty((stop - first, n_samples), np.int8)

        def count(part: np.ndarray, row: int, column: int) -> None:
            if part.dtype != np.int8:
                part = np.clip(part, -2, 1).astype(np.int8)  # larger ones would wrap
            count_alleles(part, dosages, row - first, column)

        chunks.hand_out(slice(first, stop), slice(0, n_samples), count)
        return dosages

    record = {
        "kind": "vcf-zarr",
        "path": str(folder.resolve()),
        **folder_mark(folder),
        "orientation": wanted.orientation,
        "targets": list(wanted.columns),
    }
    source = GenotypeSource(
        (n_samples, n_features),
        fetch,
        lambda name: _column(group, name, folder, n_samples),
        record,
        held=1,
        grain=chunks.rows,
        fixed_mem=FIXED_MEM + chunks.held + VARIANT_MEM * n_features,
    )
    contigs, positions = _places(group, folder, n_features)
    ids = _texts(group, "variant_id", folder) if "variant_id" in group else ["."] * n_features
    source.names = name_variants(ids, contigs, positions)
    source.annotations = describe_places(contigs, positions, *_alleles(group, folder, n_features))
    source.sample_ids = _texts(group, "sample_id", folder)
    return source


def _places(group: Any, folder: Path, n_features: int) -> tuple[list[str], np.ndarray]:
    labels = np.array(_texts(group, "contig_id", folder))
    numbers = np.asarray(_array(group, "variant_contig", folder)[:])
    positions = np.asarray(_array(group, "variant_position", folder)[:])
    if len(numbers) != n_features or len(positions) != n_features:
        raise SourceError(f"{folder}: contigs or positions are not one for each variant.")
    if numbers.min() < 0 or numbers.max() >= len(labels):
        raise SourceError(f"{folder}/variant_contig names a contig that is not in contig_id.")
    return labels[numbers].tolist(), positions


def _array(group: Any, name: str, folder: Path) -> Any:
    array = group.get(name)
    if array is None:
        raise SourceError(f"{folder}/{name} is missing; VCF Zarr needs it.")
    check_array(array, folder)
    return array


def _texts(group: Any, name: str, folder: Path) -> list[str]:
    return [str(text) for text in read_column(_array(group, name, folder))]


def _alleles(group: Any, folder: Path, n_features: int) -> tuple[list[str], list[str]] | tuple[()]:
    """The alternative alleles, which dosages count together, and the reference of each variant."""
    if "variant_allele" not in group:
        return ()
    array = _array(group, "variant_allele", folder)
    if len(array.shape) != 2 or array.shape[0] != n_features:
        raise SourceError(f"{folder}/variant_allele is not one list for each variant.")
    found = _named(array[:])
    counted = [",".join(alleles[1:]) or UNKNOWN_ALLELE for alleles in found]
    return counted, [alleles[0] if alleles else UNKNOWN_ALLELE for alleles in found]


def read_alleles(folder: Path, variants: np.ndarray) -> list[list[str]] | None:
    """The reference and the alternative alleles of some variants; None if the folder has none."""
    group: Any = open_group(folder)
    if "variant_allele" not in group:
        return None
    return _named(_array(group, "variant_allele", folder).oindex[variants, :])


def _named(alleles: Any) -> list[list[str]]:
    return [[str(one) for one in row if str(one) not in ("", ".")] for row in alleles]


def _column(group: Any, name: str, folder: Path, n_samples: int) -> Any:
    """A target: an array of the group with one value for each sample."""
    if name not in group or group[name].shape != (n_samples,):
        raise SourceError(
            f"the target {name!r}: {folder} has no array of this name with one value per sample; "
            "give it in a table (--table)."
        )
    return read_column(group[name])


VCF_ZARR_FORMAT = Format(
    name="vcf-zarr",
    title="VCF Zarr",
    help="dosages of all alleles except the reference, as written by bio2zarr and sgkit",
    open=open_vcf_zarr,
    kinds=(FOLDER,),
    suffixes=(".vcz",),
    signs=FolderSigns(zarr=True, one_of=("call_genotype/", "variant_position/")),
    safe=True,
    check=check_folder,
)
