"""PLINK 1 files (.bed with .bim and .fam beside it), in blocks of variants.

bed-reader reads .bim and .fam, and genotypes that are stored by samples; those stored by variants,
as nearly all are, are looked up here, four of a byte at once (a fifth of bed-reader's CPU time).
A dosage counts allele 1 of the .bim file. Targets are `phenotype` and `sex` of the .fam file;
others come from a table (`srs.ingest.tables.join`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numba import njit

from srs.errors import SourceError
from srs.ingest.block import NO_VALUE, Wanted
from srs.ingest.formats.arrays.hdf5 import file_record
from srs.ingest.formats.format import Format
from srs.ingest.readers.extras import require
from srs.ingest.readers.fields import parse_number
from srs.ingest.readers.genotypes.individuals import join_ids, name_phenotype
from srs.ingest.readers.genotypes.source import (
    VARIANT_MEM,
    GenotypeSource,
    describe_places,
    name_variants,
)

UNUSED = ("father", "mother", "cm_position")
READ_MEM = 32 << 20  # buffers of bed-reader's threads
BY_VARIANTS = b"\x6c\x1b\x01"  # how a .bed file that is stored by variants starts
_PAIRS = (np.arange(256)[:, None] >> np.arange(0, 8, 2)) & 3
# Four dosages of a byte as one word, in the order of the machine.
_WORDS = np.array([2, NO_VALUE, 1, 0], np.int8)[_PAIRS].view(np.uint32)[:, 0].copy()


@njit(nogil=True, cache=True)
def look_up_dosages(packed, words, dosages):  # type: ignore[no-untyped-def]
    """dosages int8 (k, n) of packed (k, ceil(n / 4)): copies of allele 1, NO_VALUE missing."""
    line = np.empty(packed.shape[1], np.uint32)
    bytes_of_line = line.view(np.int8)
    for v in range(packed.shape[0]):
        for b in range(packed.shape[1]):
            line[b] = words[packed[v, b]]
        for i in range(dosages.shape[1]):
            dosages[v, i] = bytes_of_line[i]


def open_plink(path: Path, wanted: Wanted) -> GenotypeSource:
    bed = open_bed(path, unused=UNUSED)
    try:
        n_samples, n_features = bed.shape
        record = file_record("plink", path, wanted) | {"targets": list(wanted.columns)}

        with path.open("rb") as file:
            by_variants = file.read(len(BY_VARIANTS)) == BY_VARIANTS

        def fetch(first: int, stop: int) -> np.ndarray:
            try:
                if by_variants:
                    return read_variants(path, n_samples, first, stop)
                read = bed.read(np.s_[:, first:stop], dtype="int8", order="F")
            except SourceError:
                raise
            except Exception as error:
                raise SourceError(f"{path} cannot be read: {_say(error)}") from None
            turned: np.ndarray = read.T
            return turned

        source = GenotypeSource(
            (n_samples, n_features),
            fetch,
            lambda name: read_fam(bed, name, path),
            record,
            held=2,
            fixed_mem=VARIANT_MEM * n_features + READ_MEM,
        )
        contigs, positions = bed.chromosome.tolist(), bed.bp_position
        source.names = name_variants(bed.sid.tolist(), contigs, positions)
        alleles = bed.allele_1.tolist(), bed.allele_2.tolist()
        source.annotations = describe_places(contigs, positions, *alleles)
        source.sample_ids = sample_ids(bed)
    except SourceError:
        raise
    except Exception as error:
        raise SourceError(f"{path} cannot be read: {_say(error)}") from None
    return source


def read_variants(path: Path, n_samples: int, first: int, stop: int) -> np.ndarray:
    """Dosages int8 (k, n_samples) of variants first..stop of a .bed file stored by variants."""
    width = -(-n_samples // 4)
    k, start = stop - first, len(BY_VARIANTS) + first * width
    packed = np.fromfile(path, np.uint8, k * width, offset=start)
    if len(packed) < k * width:
        raise SourceError(f"{path} became shorter while it was read.")
    dosages = np.empty((k, n_samples), np.int8)
    look_up_dosages(packed.reshape(k, width), _WORDS, dosages)
    return dosages


def open_bed(path: Path, unused: tuple[str, ...] = ()) -> Any:
    """The opened files; a missing or damaged one is a SourceError."""
    bed_reader = require("bed_reader", str(path))
    for suffix in (".bim", ".fam"):
        if not path.with_suffix(suffix).is_file():
            raise SourceError(f"{path.with_suffix(suffix)} is missing; {path} needs it.")
    try:
        bed = bed_reader.open_bed(path, properties=dict.fromkeys(unused))
        n_bytes = 3 + -(-bed.iid_count // 4) * bed.sid_count
    except Exception as error:
        raise SourceError(f"{path} cannot be read as a .bed file: {_say(error)}") from None
    if path.stat().st_size != n_bytes:
        raise SourceError(
            f"{path} has {path.stat().st_size} bytes instead of the {n_bytes} that follow from "
            "its .bim and .fam files."
        )
    return bed


def _say(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".") + "."


def sample_ids(bed: Any) -> list[str]:
    """Individual ids, with the family before them where they are not unique alone."""
    return join_ids(bed.fid.tolist(), bed.iid.tolist())


def read_fam(bed: Any, name: str, path: Path) -> pd.Series[Any]:
    """`phenotype` or `sex` of the samples; unknown ones are missing."""
    if name == "sex":
        return pd.Series([{1: "male", 2: "female"}.get(s) for s in bed.sex.tolist()], name=name)
    if name != "phenotype":
        raise SourceError(
            f"the target {name!r}: {path.with_suffix('.fam')} has only 'phenotype' and 'sex'; give "
            f"others in a table (--table)."
        )
    fam = path.with_suffix(".fam")
    try:
        numbers = np.array([parse_number(str(text)) for text in bed.pheno.tolist()])
    except ValueError as error:
        raise SourceError(f"a phenotype of {fam}: {error}.") from None
    return name_phenotype(numbers, name, fam)


PLINK_FORMAT = Format(
    name="plink",
    title="PLINK 1",
    help="dosages of allele 1; `target` phenotype or sex, or a column of `table`",
    open=open_plink,
    suffixes=(".bed",),
    companions=(".bim", ".fam"),
    extra="formats",
    safe=True,
    missing=("-9", "-9.0"),
)
