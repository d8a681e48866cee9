"""PLINK 2 files (.pgen with .pvar or .pvar.zst, and .psam beside it), in blocks of variants.

pgenlib, of the authors of PLINK 2, reads the genotypes: dosages where the file stores any, else
hard calls. A dosage counts an alternative allele of the .pvar file. Targets are columns of the
.psam file; others come from a table (`srs.ingest.tables.join`).
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from srs.errors import SourceError
from srs.ingest.block import NO_VALUE, Wanted
from srs.ingest.formats.arrays.hdf5 import file_record
from srs.ingest.formats.format import Format
from srs.ingest.readers.extras import require
from srs.ingest.readers.genotypes.individuals import read_psam
from srs.ingest.readers.genotypes.sites import Sites
from srs.ingest.readers.genotypes.source import (
    FRACTIONAL,
    SITE_MEM,
    WHOLE,
    GenotypeSource,
)

MAGIC = b"\x6c\x1b"
HEADER = 12  # bytes: two of magic, the mode, variants, samples, how records are described
BED = 0x01  # modes: a .bed file,
FIXED = {0x02: False, 0x03: True, 0x04: True}  # records of one width: whether dosages are there,
VARYING = (0x10, 0x11)  # and records that differ
BLOCK_VARIANTS = 1 << 16  # whose records are described together
STORES_DOSAGES = 0x60  # of the type of a record
PARSER_MEM = 16 << 20
MOST_LINE = 4 << 20  # characters: a compressed file could promise any number
USUAL = (0, 1, 2, 3, 4)  # places of the columns that are needed


@njit(nogil=True, cache=True)
def mark_missing(values, mark):  # type: ignore[no-untyped-def]
    """Put a mark in the place of -9, which is missing in what pgenlib gives."""
    for i in range(values.shape[0]):
        values[i] = mark if values[i] == -9 else values[i]


class PgenSource(GenotypeSource):
    """A source of genotypes that closes its file."""

    reader: Any = None

    def close(self) -> None:
        self.reader.close()


def open_pgen(path: Path, wanted: Wanted) -> GenotypeSource:
    pgenlib = require("pgenlib", str(path))
    pvar = find_pvar(path)
    if not path.with_suffix(".psam").is_file():
        raise SourceError(f"{path.with_suffix('.psam')} is missing; {path} needs it.")
    individuals = read_psam(path.with_suffix(".psam"))
    stored = read_counts(path)
    sites = read_pvar(pvar, None if stored is None else stored[0])
    sites.refuse_none(pvar)
    n_samples, n_variants = len(individuals.ids), sites.n_variants
    if stored is not None:
        _check_counts(path, stored, (n_variants, n_samples))
    dtype = FRACTIONAL if stores_dosages(path) else WHOLE
    variants, alleles = sites.variants, sites.alleles
    offsets = None
    if sites.n_split:
        counts = np.bincount(variants, minlength=n_variants) + 1
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.uintp)
    try:
        reader = pgenlib.PgenReader(
            bytes(path), n_samples, variant_ct=n_variants, allele_idx_offsets=offsets
        )
    except (RuntimeError, MemoryError) as error:
        raise SourceError(f"{path} cannot be read: {_say(error)}") from None

    turns = [np.empty(0, dtype), np.empty(0, dtype)]  # new memory costs as much as reading into it

    def fetch(first: int, stop: int) -> np.ndarray:
        n_values = (stop - first) * n_samples
        turns.reverse()
        if len(turns[0]) < n_values:
            turns[0] = np.empty(n_values, dtype)
        values = turns[0][:n_values].reshape(stop - first, n_samples)
        try:
            _read(reader, variants[first:stop], alleles[first:stop], values)
        except RuntimeError as error:
            raise SourceError(f"{path} cannot be read: {_say(error)}") from None
        mark_missing(values.reshape(-1), values.dtype.type(NO_VALUE if dtype == WHOLE else np.nan))
        return values

    record = file_record("pgen", path, wanted) | {"targets": list(wanted.columns)}
    source = PgenSource(
        (n_samples, len(sites)),
        fetch,
        individuals.column,
        record,
        held=dtype.itemsize + 1,
        fixed_mem=SITE_MEM * len(sites) + 64 * n_samples + PARSER_MEM,
        dtype=dtype,
    )
    source.reader, source.sample_ids = reader, individuals.ids
    sites.describe(source)
    return source


def _read(reader: Any, variants: np.ndarray, alleles: np.ndarray, out: np.ndarray) -> None:
    """Runs of variants with two alleles at once, others one by one."""
    whole = out.dtype == WHOLE
    read_range = reader.read_range if whole else reader.read_dosages_range
    read_one = reader.read if whole else reader.read_dosages
    split = (
        np.flatnonzero(
            (np.diff(variants.astype(np.int64)) != 1) | (alleles[1:] != 1) | (alleles[:-1] != 1)
        )
        + 1
    )
    for start, stop in zip([0, *split.tolist()], [*split.tolist(), len(variants)], strict=True):
        if alleles[start] == 1:
            read_range(int(variants[start]), int(variants[stop - 1]) + 1, out[start:stop])
        else:
            read_one(int(variants[start]), out[start], int(alleles[start]))


def _say(error: BaseException) -> str:
    text = error.args[0] if error.args else "there is too little memory"
    text = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
    return " ".join(text.split()).rstrip(".") + "."


def read_counts(path: Path) -> tuple[int, int] | None:
    """Variants and samples of a .pgen file; None if it does not say."""
    with path.open("rb") as file:
        head = file.read(HEADER)
    if head[:2] != MAGIC or len(head) < 3:
        raise SourceError(f"{path} is not a .pgen file: it begins with other bytes.")
    if head[2] == BED:
        return None
    if head[2] not in (*FIXED, *VARYING):
        raise SourceError(f"{path} is a .pgen file of an unknown kind ({head[2]:#x}).")
    if len(head) < HEADER:
        raise SourceError(f"{path} ends within its header: it was not copied whole.")
    return int.from_bytes(head[3:7], "little"), int.from_bytes(head[7:11], "little")


def _check_counts(path: Path, stored: tuple[int, int], found: tuple[int, int]) -> None:
    """SourceError if the companions are of another file."""
    names = ((".pvar", "variants"), (".psam", "samples"))
    for n_stored, n_found, (suffix, what) in zip(stored, found, names, strict=True):
        if n_stored != n_found:
            more = " or more" if suffix == ".pvar" and n_found > n_stored else ""
            raise SourceError(
                f"{path} has {n_stored} {what} and its {suffix} file {n_found}{more}: they do not "
                "belong together."
            )


def stores_dosages(path: Path) -> bool:
    """Whether a record of the file has dosages beside hard calls."""
    with path.open("rb") as file:
        head = file.read(HEADER)
        if head[2] == BED or head[2] in FIXED:
            return FIXED.get(head[2], False)
        n_variants = int.from_bytes(head[3:7], "little")
        control = head[11]
        if control & 0x0F < 4:  # half a byte a type, which is of hard calls alone
            return False
        file.seek(8 * -(-n_variants // BLOCK_VARIANTS), io.SEEK_CUR)
        length_bytes = (control & 3) + 1
        count_bytes = control >> 4 & 3
        flag_bits = int(control >> 6 == 3)
        for first in range(0, n_variants, BLOCK_VARIANTS):
            n_here = min(BLOCK_VARIANTS, n_variants - first)
            types = np.frombuffer(file.read(n_here), np.uint8)
            if (types & STORES_DOSAGES).any():
                return True
            skipped = n_here * (length_bytes + count_bytes) + flag_bits * -(-n_here // 8)
            file.seek(skipped, io.SEEK_CUR)
    return False


def find_pvar(path: Path) -> Path:
    """The .pvar file, plain or compressed."""
    plain = path.with_suffix(".pvar")
    packed = path.with_suffix(".pvar.zst")
    for found in (plain, packed):
        if found.is_file():
            return found
    raise SourceError(f"{plain} is missing; {path} needs it (or {packed.name}).")


def read_pvar(path: Path, most: int | None = None) -> Sites:
    """Variants of a .pvar file; one without a header is a .bim file.

    most  variants that there can be: one more is read, so that the difference can be told
    """
    sites = Sites()
    places: tuple[int, ...] | None = None
    for number, line in _lines(path):
        if line.startswith("##") or not line.strip():
            continue
        if line.startswith("#"):
            names = line[1:].split()
            wanted = ("CHROM", "POS", "ID", "REF", "ALT")
            if not set(wanted) <= set(names):
                raise SourceError(f"{path}, line {number}: a column of {wanted} is missing.")
            places = tuple(names.index(name) for name in wanted)
            continue
        if places is None:
            n_fields = len(line.split())
            places = (0, n_fields - 3, 1, n_fields - 1, n_fields - 2)
        fields = line.split(None, 5 if places == USUAL else -1)
        try:
            if places != USUAL:
                fields = [fields[at] for at in places]
            contig, position, name, other, counted = fields[:5]
            sites.add(name, contig, int(position), other, tuple(counted.split(",")))
        except (IndexError, ValueError):
            raise SourceError(
                f"{path}, line {number}: this is not a variant with a place and alleles."
            ) from None
        if most is not None and sites.n_variants > most:
            break
    return sites


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    import pyarrow as pa

    kind = "zstd" if path.suffix.lower() == ".zst" else None
    number = 0
    try:
        with pa.input_stream(str(path), compression=kind) as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8")
            while line := text.readline(MOST_LINE):
                number += 1
                if len(line) == MOST_LINE:
                    raise SourceError(f"{path}, line {number} is too long to be a variant.")
                yield number, line
    except UnicodeDecodeError:
        raise SourceError(f"{path} is not text in UTF-8 after line {number}.") from None
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"{path} cannot be read after line {number}: {error}.") from None


PGEN_FORMAT = Format(
    name="pgen",
    title="PLINK 2",
    help="dosages of alternative alleles; `target` a column of .psam or of `table`",
    open=open_pgen,
    suffixes=(".pgen",),
    companions=(".pvar", ".psam"),
    beside=(".pvar.zst",),
    extra="formats",
    safe=True,
    missing=("-9", "-9.0"),
)
