"""BGEN files (versions 1.1 to 1.3): dosages of the second allele, in blocks of variants.

The package `bgen` decodes the probabilities. The file is read from start to end; an index is not
needed. Samples are those of the .sample file beside it, whose columns can be targets, else those
in the file.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from srs.errors import SourceError
from srs.ingest.block import Wanted
from srs.ingest.formats.arrays.hdf5 import file_record
from srs.ingest.formats.format import Format
from srs.ingest.readers.extras import require
from srs.ingest.readers.genotypes.individuals import Individuals, read_sample
from srs.ingest.readers.genotypes.sites import Sites
from srs.ingest.readers.genotypes.source import FRACTIONAL, GenotypeStream
from srs.ingest.readers.size_guard import refuse_hollow

ONE_COPY = 1  # ploidy of haploid samples


def open_bgen(path: Path, wanted: Wanted) -> GenotypeStream:
    module = require("bgen", str(path))
    sites, skipped = Sites(), []
    with _opened(module, path) as reader:
        n_samples, n_variants = reader.header.nsamples, reader.header.nvariants
        refuse_hollow(n_samples * max(n_variants, 1), path.stat().st_size, str(path))
        own_ids = reader.samples if reader.header.has_sample_ids else None
        for variant in reader:
            alleles = variant.alleles
            if len(alleles) == 2:
                name = variant.rsid or variant.varid
                sites.add(name, variant.chrom, variant.pos, alleles[0], (alleles[1],))
            else:
                sites.skip()
                skipped.append(variant.rsid or variant.varid)
    sites.refuse_none(path)
    individuals = _individuals(path, n_samples, own_ids)
    numbers = sites.variants

    def stream(ids: np.ndarray | None) -> Iterator[np.ndarray]:
        wanted_numbers = numbers if ids is None else numbers[ids]
        with _opened(module, path) as reader:
            at = 0
            for number, variant in enumerate(reader):
                if at == len(wanted_numbers):
                    break
                if number == wanted_numbers[at]:
                    at += 1
                    yield _dosages(variant)

    def column(name: str) -> Any:
        if individuals.path != path:
            return individuals.column(name)
        raise SourceError(
            f"the target {name!r}: {path} has no columns; put a .sample file beside it, or give "
            "the target in a table (--table)."
        )

    record = file_record("bgen", path, wanted) | {"targets": list(wanted.columns)}
    shape = n_samples, len(sites)
    source = GenotypeStream(shape, stream, column, record, dtype=FRACTIONAL)
    source.sample_ids = individuals.ids or None
    sites.describe(source)
    if skipped:
        which = "1 variant was" if len(skipped) == 1 else f"{len(skipped)} variants were"
        source.notices = [
            *source.notices,
            f"{which} left out, the first is {skipped[0]!r}: of BGEN files only variants with two "
            "alleles are read.",
        ]
    return source


def _dosages(variant: Any) -> np.ndarray:
    """Copies of the second allele; haploid samples have 0 or 2, as in PLINK files."""
    dosages: np.ndarray = variant.alt_dosage
    ploidy = variant.ploidy
    if ploidy.min() == ONE_COPY:
        dosages[ploidy == ONE_COPY] *= 2
    return np.clip(dosages, 0, 2, out=dosages)  # rounding of 8 bits; NaN stays


@contextmanager
def _opened(module: Any, path: Path) -> Iterator[Any]:
    """The reader, which does not open an index beside the file; what it raises is a SourceError,
    and its warnings are not shown."""
    plain = type("Plain", (module.BgenReader,), {"_check_for_index": lambda *_: False})
    logger = logging.getLogger()
    quiet = _Quiet()
    logger.addFilter(quiet)
    try:
        with plain(str(path)) as reader:
            yield reader
    except (SourceError, GeneratorExit):
        raise
    except Exception as error:
        text = " ".join(str(error).split()).rstrip(".")
        raise SourceError(f"{path} cannot be read as BGEN: {text}.") from None
    finally:
        logger.removeFilter(quiet)


class _Quiet(logging.Filter):
    """The package writes to the logger of the whole process, a line for each rounded variant."""

    def filter(self, record: logging.LogRecord) -> bool:
        return "probabilities" not in str(record.msg)


def _individuals(path: Path, n_samples: int, own_ids: list[str] | None) -> Individuals:
    beside = path.with_suffix(".sample")
    if not beside.is_file():
        return Individuals(path, own_ids or [], {}, of_plink=False)
    found = read_sample(beside)
    if len(found.ids) != n_samples:
        raise SourceError(
            f"{beside} has {len(found.ids)} samples and {path} {n_samples}: they do not belong "
            "together."
        )
    return found


BGEN_FORMAT = Format(
    name="bgen",
    title="BGEN",
    help="dosages of the second allele; `target` a column of .sample beside it or of `table`",
    open=open_bgen,
    suffixes=(".bgen",),
    beside=(".sample",),
    extra="formats",
    safe=True,
    missing=("-9", "-9.0"),
)
