"""Genotypes that the formats' own programs wrote: plink2, plink1.9 and bcftools of Debian."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

N = 61
MULTIALLELIC = (3, 7)
PROGRAMS = ("plink2", "plink1.9", "bcftools")
needs_programs = pytest.mark.skipif(
    not all(shutil.which(name) for name in PROGRAMS),
    reason="needs plink2, plink1.9 and bcftools (Debian: tests/system-packages)",
)


def run(command: str, folder: Path) -> None:
    """Call a program in a folder; its last lines are told if it fails."""
    done = subprocess.run(command.split(), cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {(done.stdout + done.stderr)[-500:]}"


def plink2(options: str, folder: Path) -> None:
    run(f"plink2 --threads 1 --memory 640 {options}", folder)


def make_calls(n_variants: int, seed: int) -> list[list[str]]:
    """Fields of variants on chromosomes 1 and X; samples with even numbers are male."""
    rng = np.random.default_rng(seed)
    lines = []
    for j in range(n_variants):
        on_x = j >= 0.8 * n_variants
        alts = "C,T" if j in MULTIALLELIC else "C"
        alleles = rng.choice(2 + (j in MULTIALLELIC), size=(N, 2))
        missing = rng.random(N) < 0.06
        calls = []
        for i, (a, b) in enumerate(alleles.tolist()):
            haploid = on_x and i % 2 == 0
            known = str(a) if haploid else f"{a}/{b}"
            calls.append(("." if haploid else "./.") if missing[i] else known)
        name = "." if j == 5 else f"rs{j}"
        place = ["X", str(5_000_000 + 10 * j)] if on_x else ["1", str(100 + 10 * j)]
        lines.append([*place, name, "A", alts, ".", ".", ".", "GT", *calls])
    return lines


def write_vcf(path: Path, lines: list[list[str]], n_samples: int = N) -> Path:
    fields = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT"]
    names = "\t".join([*fields, *(f"s{i}" for i in range(n_samples))])
    path.write_text(
        "##fileformat=VCFv4.2\n##contig=<ID=1,length=10000000>\n##contig=<ID=X,length=156040895>\n"
        '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">\n'
        + "\n".join([names, *("\t".join(line) for line in lines)])
        + "\n"
    )
    return path


def make_all(folder: Path, n_variants: int = 50, seed: int = 1) -> Path:
    """The same genotypes in all formats: `all` with every allele, `two` of variants with two."""
    write_vcf(folder / "given.vcf", make_calls(n_variants, seed))
    rows = (f"s{i}\t{1 + i % 2}" for i in range(N))
    (folder / "sex.txt").write_text("#IID\tSEX\n" + "\n".join(rows) + "\n")
    rows = (f"s{i}\t{20 + i / 10}\t{1 + i // 3 % 2}\t{'ab'[i % 2]}" for i in range(N))
    (folder / "pheno.txt").write_text("#IID\tbmi\tcase\tsite\n" + "\n".join(rows) + "\n")
    plink2("--vcf given.vcf --update-sex sex.txt --make-pgen --out bare", folder)
    plink2("--pfile bare --pheno pheno.txt --make-pgen --out all", folder)
    plink2("--pfile bare --make-pgen vzs --out packed", folder)
    plink2("--pfile bare --max-alleles 2 --make-pgen --out two", folder)
    plink2("--pfile two --make-bed --out two", folder)
    for version in (1, 2, 3):
        plink2(f"--pfile two --export bgen-1.{version} ref-first --out v1{version}", folder)
    plink2("--pfile bare --export vcf bgz --out all", folder)
    plink2("--pfile two --export vcf bgz --out two", folder)
    run("bcftools view -Ob -o all.bcf all.vcf.gz", folder)
    run("bcftools view -Ob -o two.bcf two.vcf.gz", folder)
    return folder
