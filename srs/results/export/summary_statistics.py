"""Summary statistics of variants in the columns that other programs expect.

GWAS-SSF 1.0 is the standard of the GWAS Catalog (Hayhurst and others, 2022); the other is that of
the files that regenie writes. Effects and p-values are those of each variant alone.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from scipy import special

from srs.errors import InputError
from srs.results.result import Result

log = logging.getLogger("srs")

NEEDED = ("contig", "position", "effect_allele", "other_allele", "beta", "standard_error")
CHROMOSOMES = {
    "X": "23",
    "XY": "23",
    "PAR1": "23",
    "PAR2": "23",
    "Y": "24",
    "M": "25",
    "MT": "25",
}
UNKNOWN = ("", ".", "0", "N")
SMALLEST = float(np.finfo(np.float64).tiny)  # p-values below are kept as this
LOG_10 = float(np.log(10.0))
MISSING = "#NA"


def _variants(result: Result) -> pa.Table:
    """Variants whose place, alleles and effect are known."""
    schema = result.all_features.schema.names
    if "beta" not in schema:
        raise InputError(
            "the run has no effects of single features: its target has more than two classes, or "
            "it is of an earlier version."
        )
    lacking = [name for name in NEEDED if name not in schema]
    if lacking:
        raise InputError(
            f"summary statistics need {', '.join(lacking)} of each feature, which the store does "
            "not have: ingest variants again from PLINK or VCF files."
        )
    more = [name for name in ("frequency", "n_known") if name in schema]
    wanted = [*NEEDED, "name", "univariate_p", "p_value", "q_value", "verdict", *more]
    pieces = []
    n_all = 0
    for piece in result.all_features.pieces(wanted):
        n_all += len(piece)
        known = pc.and_(pc.is_valid(piece["beta"]), pc.greater(piece["position"], 0))
        for name in ("effect_allele", "other_allele"):
            texts = piece[name].cast(pa.string())
            known = pc.and_(known, pc.invert(pc.is_in(texts, pa.array(UNKNOWN))))
        pieces.append(piece.filter(known))
    table = pa.concat_tables(pieces)
    if not len(table):
        raise InputError(
            "no variant has a place, alleles and an effect: there is nothing to write."
        )
    if len(table) < n_all:
        log.warning(
            "features without a place, alleles or an effect are left out: %d of %d.",
            n_all - len(table),
            n_all,
        )
    return table


def _chromosome(label: str) -> str:
    """
    >>> _chromosome("chr7"), _chromosome("X"), _chromosome("PAR1")
    ('7', '23', '23')
    """
    short = re.sub(r"^chr", "", label, flags=re.IGNORECASE)
    return CHROMOSOMES.get(short.upper(), short)


def _texts(table: pa.Table, name: str) -> list[str]:
    texts: list[str] = table[name].cast(pa.string()).to_pylist()
    return texts


def write_gwas_ssf(result: Result, path: Path) -> None:
    table = _variants(result)
    chromosome = [_chromosome(label) for label in _texts(table, "contig")]
    position, names = table["position"].to_pylist(), _texts(table, "name")
    effect, other = _texts(table, "effect_allele"), _texts(table, "other_allele")
    ids = [
        f"{c}_{at}_{a}_{b}" for c, at, a, b in zip(chromosome, position, other, effect, strict=True)
    ]
    rsids = [name if re.fullmatch(r"rs\d+", name) else None for name in names]
    columns = {
        "chromosome": pa.array(chromosome),
        "base_pair_location": table["position"],
        "effect_allele": pa.array(effect),
        "other_allele": pa.array(other),
        "beta": table["beta"],
        "standard_error": table["standard_error"],
        "effect_allele_frequency": _frequency(table),
        "p_value": table["univariate_p"],
        "variant_id": pa.array(ids),
        "rsid": pa.array(rsids, pa.string()),
        "n": table["n_known"],
        "srs_name": pa.array(names),
        "srs_p_value": table["p_value"],
        "srs_q_value": table["q_value"],
        "srs_verdict": pa.array(_texts(table, "verdict")),
    }
    _write(pa.table(columns), path, "\t", MISSING)


def write_regenie(result: Result, path: Path) -> None:
    table = _variants(result)
    squared, log10_p = _squared_and_log10_p(table)
    columns = {
        "CHROM": pa.array([_chromosome(label) for label in _texts(table, "contig")]),
        "GENPOS": table["position"],
        "ID": pa.array([name.replace(" ", "_") for name in _texts(table, "name")]),
        "ALLELE0": pa.array(_texts(table, "other_allele")),
        "ALLELE1": pa.array(_texts(table, "effect_allele")),
        "A1FREQ": _frequency(table),
        "N": table["n_known"],
        "TEST": pa.array(["ADD"] * len(table)),
        "BETA": table["beta"],
        "SE": table["standard_error"],
        "CHISQ": pa.array(squared),
        "LOG10P": pa.array(log10_p),
        "EXTRA": pa.array(["NA"] * len(table)),
    }
    _write(pa.table(columns), path, " ", "NA")


def _squared_and_log10_p(table: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """Chi-squared with one degree of freedom, and minus the decimal logarithm of the p-value; by
    the effect and its error where the p-value is too small for a number."""
    p = table["univariate_p"].to_numpy()
    squared, log10_p = special.chdtri(1.0, p), -np.log10(p)
    small = p <= SMALLEST
    z = np.abs(table["beta"].to_numpy()[small] / table["standard_error"].to_numpy()[small])
    z = np.maximum(z.astype(np.float64), np.sqrt(special.chdtri(1.0, SMALLEST)))
    squared[small] = z * z
    log10_p[small] = -(np.log(2.0) + special.log_ndtr(-z)) / LOG_10
    return squared, log10_p


def _frequency(table: pa.Table) -> pa.Array:
    if "frequency" in table.column_names:
        return table["frequency"]
    return pa.nulls(len(table), pa.float32())


def _write(table: pa.Table, path: Path, separator: str, missing: str) -> None:
    """Rows of text; what is missing is said as readers expect it."""
    texts = [pc.fill_null(column.cast(pa.string()), missing) for column in table.columns]
    options = pyarrow.csv.WriteOptions(delimiter=separator, quoting_style="none")
    header = separator.join(table.column_names)
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        file.write(header.encode() + b"\n")
        options.include_header = False
        pyarrow.csv.write_csv(pa.Table.from_arrays(texts, table.column_names), file, options)
    partial.replace(path)


WRITERS: dict[str, Callable[[Result, Path], None]] = {
    "gwas-ssf": write_gwas_ssf,
    "regenie": write_regenie,
}
