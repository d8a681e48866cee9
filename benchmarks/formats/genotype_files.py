"""Genotypes as files of PLINK 2, BGEN, VCF and BCF, written by the libraries of these formats."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.formats.files import dosages


def write_pgen(path: Path, n_features: int, n_samples: int, *, imputed: bool) -> None:
    import pgenlib

    rng = np.random.default_rng(0)
    block = dosages(n_samples)
    noise = rng.uniform(0, 0.2, size=block.shape).astype(np.float32)
    with pgenlib.PgenWriter(
        bytes(path), n_samples, variant_ct=n_features, dosage_present=imputed
    ) as writer:
        for first in range(0, n_features, len(block)):
            chosen = rng.permutation(n_samples)
            for i in range(min(len(block), n_features - first)):
                if imputed:
                    known = np.abs(block[i, chosen] - noise[i])
                    writer.append_dosages(np.where(known > 2, np.float32(-9), known))
                else:
                    row = np.where(block[i, chosen] < 0, -9, block[i, chosen])
                    writer.append_biallelic(row.astype(np.int8))
    lines = "".join(f"1\t{i + 1}\tv{i}\tA\tC\n" for i in range(n_features))
    path.with_suffix(".pvar").write_text("#CHROM\tPOS\tID\tREF\tALT\n" + lines)
    path.with_suffix(".psam").write_text("#IID\n" + "".join(f"s{i}\n" for i in range(n_samples)))


def write_bgen(path: Path, n_features: int, n_samples: int) -> None:
    """Imputed: probabilities that differ in all samples."""
    import bgen

    rng = np.random.default_rng(0)
    chances = rng.dirichlet([4, 1, 1], size=n_samples)
    names = [f"s{i}" for i in range(n_samples)]
    with bgen.BgenWriter(path, n_samples, names, compression="zlib") as writer:
        for i in range(n_features):
            place = {"chrom": "1", "pos": i + 1, "alleles": ["A", "C"]}
            turned = np.roll(chances, int(rng.integers(n_samples)), axis=0)
            writer.add_variant("", f"v{i}", genotypes=turned, **place)


def write_vcf(path: Path, n_features: int, n_samples: int) -> None:
    """Plain, then turned by htslib into what the suffix says."""
    import cyvcf2

    rng = np.random.default_rng(0)
    texts = np.array(["0/0", "0/1", "1/1", "./."])
    rows = [
        "\t".join(texts[line]) for line in rng.choice(4, (200, n_samples), p=[0.5, 0.3, 0.19, 0.01])
    ]
    plain = path.with_name("plain.vcf")
    names = "\t".join(f"s{i}" for i in range(n_samples))
    with plain.open("w") as file:
        file.write("##fileformat=VCFv4.2\n##contig=<ID=1>\n")
        file.write('##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">\n')
        file.write(f"#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t{names}\n")
        for i in range(n_features):
            file.write(f"1\t{i + 1}\tv{i}\tA\tC\t.\t.\t.\tGT\t{rows[int(rng.integers(200))]}\n")
    read = cyvcf2.VCF(str(plain))
    writer = cyvcf2.Writer(str(path), read, mode="wb" if path.suffix == ".bcf" else "wz")
    for variant in read:
        writer.write_record(variant)
    writer.close()
    read.close()
    plain.unlink()


def read_pgen(path: Path, *, imputed: bool) -> np.ndarray:
    import pgenlib

    with pgenlib.PgenReader(bytes(path)) as reader:
        shape = reader.get_variant_ct(), reader.get_raw_sample_ct()
        values = np.empty(shape, np.float32 if imputed else np.int8)
        (reader.read_dosages_range if imputed else reader.read_range)(0, shape[0], values)
    return values


def read_bgen(path: Path) -> np.ndarray:
    import bgen

    with bgen.BgenReader(str(path)) as reader:
        return np.array([variant.alt_dosage for variant in reader])


def read_vcf(path: Path) -> np.ndarray:
    import cyvcf2

    return np.array([variant.genotype.array() for variant in cyvcf2.VCF(str(path))])
