"""VariantSpark on the same cohort and cores.

`python -m benchmarks.genotypes.variantspark 10000 20000`: samples and variants. Its published
standard job has 1,000 trees, a tenth of the variants tried at a node, depth 15, nodes of 50 samples
and batches of 100 trees. Some batches are grown; trees cost the same after the first batch, so the
rest is extrapolated. It is not among the extras (its licence is for non-commercial use, and it
needs an old Java), so the environment says what runs it:

    SPARK_SUBMIT      spark-submit of Spark 3.1, as of `pip install pyspark==3.1.3`
    VARIANTSPARK_JAR  variant-spark_2.12-0.5.5-all.jar, from the wheel variant-spark==0.5.5

The jar is for Java 8. Later ones refuse 47 of its classes, which name methods of interfaces as
methods of classes; with these references corrected it runs on Java 11.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.genotypes import INGEST, SELECT
from benchmarks.genotypes.cohort import CAUSAL, write_cohort
from benchmarks.measure import Line, run_child, temporary_folder

STANDARD_TREES, BATCH = 1000, 100
OPTIONS = (
    "-rbs",
    str(BATCH),
    "-rmtf",
    "0.1",
    "-rmd",
    "15",
    "-rmns",
    "50",
    "-ro",
    "-v",
    "-sp",
    "4",
    "-sr",
    "1",
    "-on",
    "50",
)
GENOTYPES = np.array([b"\t0/0", b"\t0/1", b"\t1/1", b"\t./."])


@dataclass(frozen=True)
class Grown:
    """Seconds of loading and of the forest, seconds of each batch, variants by importance."""

    load: float
    forest: float
    batches: tuple[float, ...]
    ranking: tuple[str, ...]

    @property
    def standard(self) -> float:
        """Seconds of loading and of all trees of the standard job."""
        late = self.batches[1:] or self.batches
        n_more = STANDARD_TREES / BATCH - len(self.batches)
        return self.load + self.forest + n_more * float(np.mean(late))


def write_vcf(bed_path: Path) -> Path:
    """The cohort as VCF, and its phenotypes as a table beside it."""
    from bed_reader import open_bed

    path = bed_path.with_suffix(".vcf")
    with open_bed(bed_path) as bed, path.open("wb") as file:
        head = ("CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT")
        contigs = "".join(f"##contig=<ID={c}>\n" for c in range(1, 23))
        kind = '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">\n'
        file.write(f"##fileformat=VCFv4.2\n{kind}{contigs}#".encode())
        file.write(("\t".join((*head, *bed.iid)) + "\n").encode())
        for first in range(0, bed.sid_count, 1000):
            block = bed.read(np.s_[:, first : first + 1000], dtype="int8", order="F").T
            for number, row in enumerate(np.where(block < 0, 3, block), first):
                place = f"{bed.chromosome[number]}\t{bed.bp_position[number] + 1}"
                file.write(f"{place}\t{bed.sid[number]}\tA\tC\t.\tPASS\t.\tGT".encode())
                file.write(GENOTYPES[row].tobytes() + b"\n")
        rows = (f"{i},{int(p) - 1}\n" for i, p in zip(bed.iid, bed.pheno, strict=True))
        path.with_suffix(".csv").write_text("sample,case\n" + "".join(rows))
    return path


def grow(vcf: Path, n_trees: int) -> Grown:
    submit, jar = (os.environ[name] for name in ("SPARK_SUBMIT", "VARIANTSPARK_JAR"))
    out = vcf.with_suffix(".importance")
    command = (
        submit,
        "--master",
        "local[2]",
        "--driver-memory",
        "16g",
        "--driver-java-options",
        "-XX:+UseParallelGC",
        "--conf",
        "spark.ui.enabled=false",
        "--class",
        "au.csiro.variantspark.cli.VariantSparkApp",
        jar,
        "importance",
        "-if",
        str(vcf),
        "-it",
        "vcf",
        "-ff",
        str(vcf.with_suffix(".csv")),
        "-fc",
        "case",
        "-rn",
        str(n_trees),
        *OPTIONS,
        "-of",
        str(out),
    )
    log = subprocess.run(
        command, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ).stdout

    def seconds(pattern: str) -> float:
        told = re.search(pattern, log)
        assert told, log[-2000:]
        return float(told[1])

    batches = re.findall(r"Last build trees: \d+, time: (\d+) ms", log)
    place = re.compile(r"([^_]+)_(\d+)_A_C,.*")
    with vcf.with_suffix(".bim").open() as file:
        fields = (line.split() for line in file)
        names = {(f[0], int(f[3]) + 1): f[1] for f in fields}
    found = (place.fullmatch(line) for line in out.read_text().split()[1:])
    return Grown(
        seconds(r"total: \d+, took: ([\d.]+)"),
        seconds(r"oob accuracy: [\d.]+, took: ([\d.]+)"),
        tuple(int(ms) / 1000 for ms in batches),
        tuple(names[one[1], int(one[2])] for one in found if one),
    )


def run(n_samples: int, n_variants: int, n_trees: int = 300) -> Iterator[Line]:
    size = f"{n_samples:,} x {n_variants:,}"
    with temporary_folder() as folder:
        source, store = folder / "cohort.bed", folder / "s.zarr"
        write_cohort(source, n_samples, n_variants)
        done = run_child(INGEST, str(source), str(store))
        found = run_child(SELECT, str(store), "3600")
        ours = done["seconds"] + found["seconds"]
        grown = grow(write_vcf(source), n_trees)
    causal = {f"causal{i}" for i in range(CAUSAL)}
    yield Line(
        f"{size}: ingest and select",
        f"{ours:.0f} s, {len(causal & set(found['relevant']))} of {CAUSAL} causal and "
        f"{len(set(found['relevant']) - causal)} others",
    )
    batches = ", ".join(f"{seconds:.0f}" for seconds in grown.batches)
    yield Line(
        f"{size}: VariantSpark, {n_trees} trees: loading, forest",
        f"{grown.load:.0f} s, {grown.forest:.0f} s ({batches})",
    )
    yield Line("  its standard job of 1,000 trees, extrapolated", f"{grown.standard:.0f} s")
    first = [variant in causal for variant in grown.ranking]
    yield Line("  causal variants in its first 10, 20", f"{sum(first[:10])}, {sum(first[:20])}")
    yield Line("  its standard job against ours", f"{grown.standard / ours:.1f} x")


if __name__ == "__main__":
    for one in run(*map(int, sys.argv[1:])):
        one.show()
