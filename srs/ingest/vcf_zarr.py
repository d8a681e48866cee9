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
from srs.ingest.anndata import read_column
from srs.ingest.arrays import folder_mark
from srs.ingest.block import NO_VALUE, Wanted
from srs.ingest.genotypes import GenotypeSource, describe_places, name_variants
from srs.ingest.zarr_checks import check_array, open_group

GENOTYPES = "call_genotype"
FIXED_MEM = 64 << 20  # what the allocator keeps for zarr's threads
VARIANT_MEM = 400  # ids, contigs and positions as text while they become names


@njit(nogil=True, cache=True)
def count_alleles(calls, dosages):  # type: ignore[no-untyped-def]
    """dosages int8 (k, n) from calls int8 (k, n, ploidy): -1 is missing, -2 is fill."""
    if calls.shape[2] == 2:  # nearly all; ten times faster without the inner loop
        for v in range(calls.shape[0]):
            for i in range(calls.shape[1]):
                a, b = calls[v, i, 0], calls[v, i, 1]
                unknown = (a == -1) | (b == -1) | ((a < -1) & (b < -1))
                dosages[v, i] = NO_VALUE if unknown else (a > 0) + (b > 0)
        return
    for v in range(calls.shape[0]):
        for i in range(calls.shape[1]):
            count, missing, filled = 0, False, 0
            for a in range(calls.shape[2]):
                allele = calls[v, i, a]
                count += allele > 0
                missing |= allele == -1
                filled += allele < -1
            dosages[v, i] = NO_VALUE if missing or filled == calls.shape[2] else count


def is_vcf_zarr(folder: Path) -> bool:
    return (folder / GENOTYPES).is_dir()


def open_vcf_zarr(folder: Path, wanted: Wanted) -> GenotypeSource:
    group: Any = open_group(folder)
    if wanted.orientation != "samples":
        raise SourceError(f"{folder} says itself what its samples are: leave out the orientation.")
    calls = group[GENOTYPES]
    if calls.ndim != 3 or calls.dtype.kind != "i" or 0 in calls.shape:
        raise SourceError(
            f"{folder}/{GENOTYPES} must be whole numbers (variants, samples, ploidy), not "
            f"{calls.dtype} {tuple(calls.shape)}."
        )
    check_array(calls, folder)
    n_features, n_samples, ploidy = (int(n) for n in calls.shape)
    grain = (calls.shards or calls.chunks)[0]

    def fetch(first: int, stop: int) -> np.ndarray:
        dosages = np.empty((stop - first, n_samples), np.int8)
        for a in range(first, stop, grain):
            part = np.asarray(calls[a : min(a + grain, stop)])
            count_alleles(part.astype(np.int8, copy=False), dosages[a - first : a - first + grain])
        return dosages

    record = {
        "kind": "vcf-zarr", "path": str(folder.resolve()), **folder_mark(folder),
        "orientation": wanted.orientation, "targets": list(wanted.columns),
    }  # fmt: skip
    item = calls.dtype.itemsize
    source = GenotypeSource(
        (n_samples, n_features), fetch, lambda name: _column(group, name, folder, n_samples),
        record, held=1, grain=grain,
        fixed_mem=FIXED_MEM + 3 * item * ploidy * n_samples * grain + VARIANT_MEM * n_features,
    )  # fmt: skip
    contigs, positions = _places(group, folder, n_features)
    ids = _texts(group, "variant_id", folder) if "variant_id" in group else ["."] * n_features
    source.names = name_variants(ids, contigs, positions)
    source.annotations = describe_places(contigs, positions)
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
    if name not in group:
        raise SourceError(f"{folder}/{name} is missing, which belongs to VCF Zarr.")
    check_array(group[name], folder)
    return group[name]


def _texts(group: Any, name: str, folder: Path) -> list[str]:
    return [str(text) for text in read_column(_array(group, name, folder))]


def _column(group: Any, name: str, folder: Path, n_samples: int) -> Any:
    """A target: an array of the group with one value for each sample."""
    if name not in group or group[name].shape != (n_samples,):
        raise SourceError(
            f"the target {name!r}: {folder} has no array of this name with one value a sample; "
            f"give it in a table (--table)."
        )
    return read_column(group[name])
