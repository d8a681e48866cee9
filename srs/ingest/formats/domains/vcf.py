"""VCF and BCF files, plain or compressed: genotypes (GT) or dosages (DS) by blocks of variants.

cyvcf2 (htslib) reads them from start to end: once for the variants, without samples, and once for
the genotypes. Each alternative allele is a feature, and its dosage counts it. A call of which any
allele is missing is missing; haploid calls count twice, 0 or 2, as in PLINK files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from srs.errors import SourceError
from srs.ingest.block import NO_VALUE, Wanted
from srs.ingest.formats.arrays.hdf5 import file_record
from srs.ingest.formats.format import Format
from srs.ingest.readers.extras import require
from srs.ingest.readers.genotypes.sites import Sites
from srs.ingest.readers.genotypes.source import FRACTIONAL, WHOLE, GenotypeStream

CALLS, DOSAGES = "GT", "DS"
ERRORS_ONLY = 0  # of htslib, which else writes to stderr: what is wrong is raised, too
GZIP, BLOCKED = b"\x1f\x8b", b"BC\x02\x00"  # how compressed files start, and those in blocks
END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")


@njit(nogil=True, cache=True)
def count_allele(calls, allele, dosages):  # type: ignore[no-untyped-def]
    """Copies of an allele, int8 (n,), of calls int16 (n, ploidy + 1): -1 is missing, -2 is fill,
    and the last column says nothing of alleles. One call of a haploid sample counts as two."""
    ploidy = calls.shape[1] - 1
    for i in range(calls.shape[0]):
        count, n_known, missing = 0, 0, False
        for a in range(ploidy):
            found = calls[i, a]
            count += found == allele
            n_known += found >= 0
            missing |= found == -1
        if missing or n_known == 0:
            dosages[i] = NO_VALUE
        else:
            dosages[i] = 2 * count if n_known == 1 else count


def open_vcf(path: Path, wanted: Wanted) -> GenotypeStream:
    cyvcf2 = require("cyvcf2", str(path))
    cyvcf2.cyvcf2.set_htslib_log_level(ERRORS_ONLY)
    _check_whole(path)
    with _opened(cyvcf2, path) as file:
        sample_ids = list(file.samples)
        if not sample_ids:
            raise SourceError(f"{path} has no samples: it holds variants alone.")
        field = _choose(file, path, wanted)
    sites = Sites()
    with _opened(cyvcf2, path, samples=[]) as file:
        for variant in file:
            name, alleles = variant.ID or ".", tuple(variant.ALT)
            sites.add(name, variant.CHROM, variant.POS, variant.REF, alleles)
    sites.refuse_none(path)
    numbers, alleles_of = sites.variants, sites.alleles
    read = _reader_of(field, len(sample_ids), path)

    def stream(ids: np.ndarray | None) -> Iterator[np.ndarray]:
        which = np.arange(len(numbers)) if ids is None else ids
        at = 0
        with _opened(cyvcf2, path) as file:
            for number, variant in enumerate(file):
                if at == len(which):
                    break
                values: Any = None
                while at < len(which) and numbers[which[at]] == number:
                    values, line = read(variant, int(alleles_of[which[at]]), values)
                    yield line
                    at += 1
        if at < len(which):
            raise SourceError(f"{path} became shorter while it was read.")

    record = file_record("vcf", path, wanted) | {"targets": list(wanted.columns)}
    source = GenotypeStream(
        (len(sample_ids), len(sites)),
        stream,
        lambda name: _refuse_target(name, path),
        record | {"dataset": field},
        dtype=WHOLE if field == CALLS else FRACTIONAL,
    )
    source.sample_ids = sample_ids
    sites.describe(source)
    return source


def _refuse_target(name: str, path: Path) -> Any:
    raise SourceError(
        f"the target {name!r}: {path} says nothing of its samples; give the target in a table "
        "(--table)."
    )


Reader = Callable[[Any, int, Any], tuple[Any, np.ndarray]]


def _reader_of(field: str, n_samples: int, path: Path) -> Reader:
    """Gives the dosages of an allele of a variant; what was read of a variant is handed on."""
    line = np.empty(n_samples, np.int8)

    def calls(variant: Any, allele: int, found: Any) -> tuple[Any, np.ndarray]:
        if found is None:
            found = _calls(variant)
        if found is None:
            found = np.full((n_samples, 2), -1, np.int16)
        count_allele(found, allele, line)
        return found, line

    def dosages(variant: Any, allele: int, found: Any) -> tuple[Any, np.ndarray]:
        if found is None:
            found = variant.format(DOSAGES)
            if found is None:
                found = np.full((n_samples, allele), np.nan, np.float32)
        if found.shape[1] < allele:
            raise SourceError(
                f"{path}, {variant.CHROM}:{variant.POS}: {DOSAGES} has {found.shape[1]} values a "
                "sample instead of one for each alternative allele."
            )
        values = found[:, allele - 1].astype(np.float32)
        called = _calls(variant)
        if called is not None:  # where calls are haploid, dosages are from 0 to 1
            values[_is_haploid(called)] *= 2
        values[np.isnan(values)] = np.nan  # htslib's own one warns whenever it is used
        return found, np.clip(values, 0, 2, out=values)

    return calls if field == CALLS else dosages


def _calls(variant: Any) -> np.ndarray | None:
    """int16 (n, ploidy + 1), see `count_allele`; None if the variant has none."""
    return variant.genotype.array() if CALLS in variant.FORMAT else None


def _is_haploid(calls: np.ndarray) -> np.ndarray:
    """Of calls (n, ploidy + 1): which samples have one allele."""
    return np.asarray((calls[:, :-1] >= -1).sum(axis=1) == 1)


def _choose(file: Any, path: Path, wanted: Wanted) -> str:
    """The field that is read: the one asked for, else GT, else DS."""
    known = [name for name in (CALLS, DOSAGES) if _declares(file, name)]
    if wanted.dataset is None and known:
        return known[0]
    if wanted.dataset is None:
        raise SourceError(f"{path} has neither genotypes (GT) nor dosages (DS) of its samples.")
    if wanted.dataset not in (CALLS, DOSAGES):
        raise SourceError(
            f"{path}: the field {wanted.dataset!r} is not read; give GT or DS (--dataset)."
        )
    if wanted.dataset not in known:
        raise SourceError(
            f"{path} has no field {wanted.dataset} (--dataset); it has {' and '.join(known)}."
        )
    return wanted.dataset


def _declares(file: Any, field: str) -> bool:
    try:
        return bool(file.get_header_type(field, order=[2]))  # of FORMAT lines
    except KeyError:
        return False


@contextmanager
def _opened(cyvcf2: Any, path: Path, **options: Any) -> Iterator[Any]:
    """The opened file; what the library raises is a SourceError."""
    try:
        with closing(cyvcf2.VCF(str(path), **options)) as file:
            yield file
    except (SourceError, GeneratorExit):
        raise
    except Exception as error:
        text = " ".join(str(error).split()).rstrip(".")
        raise SourceError(
            f"{path} cannot be read, it is damaged or not a VCF file: {text}."
        ) from None


def _check_whole(path: Path) -> None:
    """SourceError if a compressed file lacks its last block, or is empty."""
    with path.open("rb") as file:
        head = file.read(18)
        if not head:
            raise SourceError(f"{path} is empty: there is nothing to ingest.")
        if head[:2] != GZIP or head[12:16] != BLOCKED:
            return
        file.seek(-min(len(END), path.stat().st_size), 2)
        if file.read() != END:
            raise SourceError(f"{path} ends too early: it was not copied or written whole.")


VCF_FORMAT = Format(
    name="vcf",
    title="VCF and BCF",
    help="dosages of alternative alleles, from GT; `dataset` DS takes those of imputation",
    open=open_vcf,
    suffixes=(".vcf", ".vcf.gz", ".vcf.bgz", ".bcf"),
    options=("dataset",),
    extra="formats",
    safe=True,
)
