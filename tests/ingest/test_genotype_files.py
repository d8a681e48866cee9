"""PLINK 2, BGEN, VCF and BCF files of plink2 and bcftools: the same genotypes, the same store."""

from __future__ import annotations

from pathlib import Path

import bgen
import numpy as np
import pytest

from srs.errors import SourceError
from srs.ingest import ingest
from srs.ingest.values import read_values
from tests.ingest.formats.examples import write_bgen, write_pgen
from tests.ingest.genotype_files import (
    MULTIALLELIC,
    N,
    make_all,
    make_calls,
    needs_programs,
    plink2,
    run,
    write_vcf,
)

pytestmark = needs_programs
ONLY_TWO = ("two.pgen", "v11.bgen", "v12.bgen", "v13.bgen", "two.vcf.gz", "two.bcf")
EVERY = ("all.pgen", "packed.pgen", "all.bcf", "given.vcf")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_all(tmp_path_factory.mktemp("genotypes"))


def dosages_of(lines: list[list[str]], allele: str) -> np.ndarray:
    """Copies of an allele, by sample and variant; haploid calls count twice."""
    found = np.full((N, len(lines)), np.nan)
    for j, line in enumerate(lines):
        for i, call in enumerate(line[9:]):
            calls = call.split("/")
            if "." not in calls:
                found[i, j] = calls.count(allele) * (2 / len(calls))
    return found


def texts(store, name: str) -> list[str]:
    annotation = store.annotations()[name]
    return [annotation.labels[i] for i in annotation.values]


@pytest.mark.parametrize("name", ONLY_TWO)
def test_the_same_genotypes_are_the_same_store(folder: Path, name: str):
    """Missing ones, haploid ones of X and unnamed variants, too."""
    bed, other = ingest(folder / "two.bed"), ingest(folder / name)
    assert other.fingerprint == bed.fingerprint
    assert other.feature_names == bed.feature_names
    assert other.sample_ids == bed.sample_ids
    assert other.dosages.tolist() == bed.dosages.tolist()
    np.testing.assert_array_equal(other.read_codes(range(48)), bed.read_codes(range(48)))
    for told in ("contig", "effect_allele", "other_allele"):
        assert texts(other, told) == texts(bed, told)
    assert other.annotations()["position"].values.tolist() == (
        bed.annotations()["position"].values.tolist()
    )


@pytest.mark.parametrize("name", EVERY)
def test_variants_with_more_alleles_are_split(folder: Path, tmp_path: Path, name: str):
    lines = make_calls(50, 1)
    store = ingest(folder / name, tmp_path / "s.zarr")
    assert store.n_features == 52
    names = store.feature_names
    assert [names[i] for i in (3, 4, 6, 9)] == ["rs3:C", "rs3:T", "1:150", "rs7:T"]
    assert [texts(store, "effect_allele")[i] for i in (3, 4)] == ["C", "T"]
    assert any("2 variants have more than two alleles" in one for one in store.manifest.notices)
    first = np.array([i for i in range(52) if i not in (4, 9)])
    values = read_values(store, np.arange(52))
    np.testing.assert_array_equal(values[:, first], dosages_of(lines, "1"))
    second = dosages_of([lines[j] for j in MULTIALLELIC], "2")
    np.testing.assert_array_equal(values[:, [4, 9]], second)
    np.testing.assert_array_equal(read_values(store, [51, 4, 0]), values[:, [51, 4, 0]])


def test_plink_one_writes_the_same(folder: Path, tmp_path: Path):
    """plink1.9 counts the minor allele: those that it turned are told by their alleles."""
    run(f"plink1.9 --bfile {folder}/two --recode vcf bgz --out one", tmp_path)
    two, one = ingest(folder / "two.bed"), ingest(tmp_path / "one.vcf.gz")
    assert one.n_features == two.n_features
    here, there = read_values(one, np.arange(48)), read_values_of(folder / "two.bed", tmp_path)
    same = np.array(texts(one, "effect_allele")) == np.array(texts(two, "effect_allele"))
    assert same.any()
    np.testing.assert_array_equal(np.where(same, here, 2 - here)[:, :40], there[:, :40])


def read_values_of(path: Path, folder: Path) -> np.ndarray:
    return read_values(ingest(path, folder / "of.zarr"), np.arange(48))


def test_columns_of_psam_are_targets(folder: Path):
    path = folder / "all.pgen"
    assert ingest(path, target="bmi").target().values[:3].tolist() == [20, 20.1, 20.2]
    assert ingest(path, target="case").target().labels == ("case", "control")
    assert ingest(path, target="site").target().labels == ("a", "b")
    assert ingest(path, target="sex").target().labels == ("female", "male")
    with pytest.raises(SourceError, match=r"has only SEX, bmi, case, site; .*did you mean 'bmi'"):
        ingest(path, target="bim")
    assert ingest(folder / "all.psam", target="bmi").n_features == 52
    assert ingest(folder / "packed.pvar.zst").n_features == 52


def test_columns_of_sample_are_targets(folder: Path, tmp_path: Path):
    source = f"--pfile {folder}/all --max-alleles 2"
    plink2(f"{source} --export bgen-1.2 ref-first --out x", tmp_path)
    path = tmp_path / "x.bgen"
    assert ingest(path, target="bmi").target().values[:3].tolist() == [20, 20.1, 20.2]
    assert ingest(path, target="sex").target().labels == ("female", "male")
    path.with_suffix(".sample").unlink()
    assert ingest(path).sample_ids[:2] == ["s0", "s1"]
    with pytest.raises(SourceError, match=r"put a \.sample file beside it"):
        ingest(path, target="bmi")


def test_dosages_that_are_fractions(tmp_path: Path):
    """plink2 takes those of a VCF file into .pgen, and writes them as .bgen."""
    rng = np.random.default_rng(4)
    dosages = rng.beta(0.4, 0.8, size=(N, 30)).round(3) * 2
    dosages[rng.random((N, 30)) < 0.05] = np.nan
    dosages[:, 7] = rng.integers(0, 3, N)
    lines = [
        ["1", str(10 + j), f"rs{j}", "A", "C", ".", ".", ".", "DS"]
        + ["." if np.isnan(v) else format(v, "g") for v in dosages[:, j]]
        for j in range(30)
    ]
    vcf = write_vcf(tmp_path / "d.vcf", lines)
    vcf.write_text(
        vcf.read_text().replace(
            'ID=GT,Number=1,Type=String,Description="Genotype"',
            'ID=DS,Number=A,Type=Float,Description="Dosage"',
        )
    )
    run("bcftools view -Oz -o d.vcf.gz d.vcf", tmp_path)
    plink2("--vcf d.vcf dosage=DS --make-pgen --out d", tmp_path)
    plink2("--pfile d --export bgen-1.2 bits=16 ref-first --out d", tmp_path)
    for name, error in (("d.vcf.gz", 1e-6), ("d.pgen", 1e-4), ("d.bgen", 2e-4)):
        store = ingest(tmp_path / name, tmp_path / "s.zarr", overwrite=True)
        assert store.dosages.tolist() == [8] * 7 + [7] + [8] * 22
        read = read_values(store, np.arange(30))
        np.testing.assert_allclose(read, dosages, atol=error)
        codes = store.read_codes(range(30))
        told = np.where(codes == 255, np.nan, codes / 127)
        told[:, 7] = np.where(codes[:, 7] == 255, np.nan, codes[:, 7])
        np.testing.assert_allclose(told, dosages, atol=0.5 / 127 + error)


def test_dosages_are_read_where_they_are_asked_for(tmp_path: Path):
    calls = make_calls(20, 2)
    lines = [[*line[:8], "GT:DS", *(f"{call}:0.25" for call in line[9:])] for line in calls]
    for j in MULTIALLELIC:
        lines[j] = [*lines[j][:9], *(f"{call}:0.25,1.5" for call in calls[j][9:])]
    path = write_vcf(tmp_path / "x.vcf", lines)
    path.write_text(
        path.read_text().replace(
            "##FORMAT", '##FORMAT=<ID=DS,Number=A,Type=Float,Description="Dosage">\n##FORMAT', 1
        )
    )
    run("bcftools view -Ob -o x.bcf x.vcf", tmp_path)
    assert set(ingest(tmp_path / "x.bcf").dosages.tolist()) == {7}
    store = ingest(tmp_path / "x.bcf", tmp_path / "s.zarr", dataset="DS")
    assert set(np.unique(read_values(store, [0, 3, 4])).tolist()) == {0.25, 1.5}
    with pytest.raises(SourceError, match="the field 'GP' is not read; give GT or DS"):
        ingest(tmp_path / "x.bcf", dataset="GP")


def test_variants_without_calls_are_missing(tmp_path: Path):
    """A field may be in the header and not in every line; one allele of two is not enough."""
    lines = make_calls(20, 2)
    lines[1][8:] = ["XX"] + ["1"] * N
    lines[2][9:12] = ["./1", "0/.", "1/1"]
    path = write_vcf(tmp_path / "x.vcf", lines)
    declared = '##FORMAT=<ID=XX,Number=1,Type=Integer,Description="Other">\n##FORMAT'
    path.write_text(path.read_text().replace("##FORMAT", declared, 1))
    values = read_values(ingest(path, tmp_path / "s.zarr"), [0, 1, 2])
    assert np.isnan(values[:, 1]).all()
    assert not np.isnan(values[:, 0]).all()
    np.testing.assert_array_equal(values[:3, 2], [np.nan, np.nan, 2])


def test_what_is_refused(folder: Path, tmp_path: Path):
    with pytest.raises(SourceError, match=r"has no field DS .*it has GT"):
        ingest(folder / "all.vcf.gz", dataset="DS")
    with pytest.raises(SourceError, match="says nothing of its samples; give the target in a tab"):
        ingest(folder / "all.vcf.gz", target="bmi")
    write_pgen(tmp_path / "x.pgen")
    lines = (tmp_path / "x.pvar").read_text().splitlines()
    (tmp_path / "x.pvar").write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(SourceError, match=r"has 6 variants and its \.pvar file 5: they do not"):
        ingest(tmp_path / "x.pgen")
    (tmp_path / "x.pvar").write_text("\n".join(lines) + "\n")
    (tmp_path / "x.psam").write_text("#IID\na\nb\n")
    with pytest.raises(SourceError, match=r"has 14 samples and its \.psam file 2: they do not"):
        ingest(tmp_path / "x.pgen")
    (tmp_path / "x.psam").unlink()
    with pytest.raises(SourceError, match=r"x\.psam is missing"):
        ingest(tmp_path / "x.pgen")
    (tmp_path / "x.pvar").unlink()
    with pytest.raises(SourceError, match=r"x\.pvar is missing; .*\(or x\.pvar\.zst\)"):
        ingest(tmp_path / "x.pgen")
    write_bgen(tmp_path / "y.bgen")
    (tmp_path / "y.sample").write_text("ID_1 ID_2 missing\n0 0 0\n1 1 0\n")
    with pytest.raises(SourceError, match=r"y\.sample has 1 samples and .* 14: they do not belong"):
        ingest(tmp_path / "y.bgen")


def test_an_index_of_a_bgen_file_is_not_opened(folder: Path, tmp_path: Path):
    (tmp_path / "x.bgen").write_bytes((folder / "v12.bgen").read_bytes())
    (tmp_path / "x.bgen.bgi").write_bytes(b"no database")
    assert ingest(tmp_path / "x.bgen").n_features == 48


def test_bgen_variants_with_more_alleles_are_left_out(tmp_path: Path):
    chances = np.tile([0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (N, 1))
    two = np.tile([0.0, 1.0, 0.0], (N, 1))
    with bgen.BgenWriter(tmp_path / "x.bgen", N) as writer:
        for name, alleles, given in (
            ("a", ["A", "C"], two),
            ("b", ["A", "C", "T"], chances),
            ("c", ["A", "G"], two),
        ):
            about = {"chrom": "1", "pos": 5, "alleles": alleles, "genotypes": given}
            writer.add_variant("", name, **about)
    store = ingest(tmp_path / "x.bgen")
    assert store.feature_names == ["a", "c"]
    assert any("1 variant was left out, the first is 'b'" in one for one in store.manifest.notices)
    assert (read_values(ingest(tmp_path / "x.bgen", tmp_path / "s.zarr"), [1]) == 1).all()


def test_files_without_variants_or_samples(folder: Path, tmp_path: Path):
    for kind, name in (("-Ov", "x.vcf"), ("-Oz", "x.vcf.gz"), ("-Ob", "x.bcf")):
        run(f"bcftools view -h {kind} -o {name} {folder}/all.vcf.gz", tmp_path)
        with pytest.raises(SourceError, match="has no variants"):
            ingest(tmp_path / name)
        run(f"bcftools view -G {kind} -o {name} {folder}/all.vcf.gz", tmp_path)
        with pytest.raises(SourceError, match="has no samples: it holds variants alone"):
            ingest(tmp_path / name)
    write_pgen(tmp_path / "x.pgen")
    (tmp_path / "x.pvar").write_text("#CHROM\tPOS\tID\tREF\tALT\n")
    with pytest.raises(SourceError, match="has no variants"):
        ingest(tmp_path / "x.pgen")


@pytest.mark.parametrize("name", ["all.pgen", "v11.bgen", "v12.bgen", "all.vcf.gz", "all.bcf"])
def test_damaged_files_are_refused_in_one_sentence(folder: Path, tmp_path: Path, name: str, capfd):
    """Cut anywhere, and with bytes that differ: no crash, no half store, nothing on stderr."""
    whole = (folder / name).read_bytes()
    rng = np.random.default_rng(9)
    path = tmp_path / name
    for file in folder.glob(f"{path.name.split('.')[0]}.p*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    cut = [*rng.integers(0, len(whole), 12).tolist(), 0, 1, 5, 20, len(whole) - 1]
    refused = 0
    for at in cut:
        path.write_bytes(whole[:at])
        with pytest.raises(SourceError) as caught:
            ingest(path, tmp_path / "s.zarr")
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
        assert not (tmp_path / "s.zarr").exists()
    for _ in range(30):
        damaged = bytearray(whole)
        for at in rng.integers(0, len(whole), 3):
            damaged[at] = rng.integers(0, 256)
        path.write_bytes(damaged)
        try:
            ingest(path, tmp_path / "s.zarr", overwrite=True)
        except SourceError:
            refused += 1
    assert refused > 0
    assert capfd.readouterr().err == ""
