"""Summary statistics of a run on genotypes of plink2, beside those of `plink2 --glm`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import special, stats

import srs
from srs.ingest.values import read_values
from srs.results.export.summary_statistics import _squared_and_log10_p
from tests.ingest.genotype_files import needs_programs, plink2, run, write_vcf

N, P = 600, 150
CAUSAL = (20, 70)
COLUMNS = "cols=chrom,pos,ref,alt,a1freq,nobs,beta,orbeta,se,tz,p"
MANDATORY = [
    *("chromosome", "base_pair_location", "effect_allele", "other_allele", "beta"),
    *("standard_error", "effect_allele_frequency", "p_value"),
]


def make_dosages(seed: int) -> np.ndarray:
    """Imputed dosages: near whole numbers, some uncertain, some missing; males (even) on X."""
    rng = np.random.default_rng(seed)
    whole = rng.binomial(2, rng.uniform(0.15, 0.85, P), size=(N, P)).astype(float)
    males = np.arange(N) % 2 == 0
    whole[np.ix_(males, np.arange(P) >= 130)] = 2 * rng.binomial(1, 0.4, size=(males.sum(), 20))
    noise = np.where(rng.random((N, P)) < 0.3, rng.uniform(-0.4, 0.4, size=(N, P)), 0)
    dosages = np.clip(whole + noise, 0, 2).round(3)
    dosages[:, ::3] = whole[:, ::3]  # every third variant is genotyped
    dosages[rng.random((N, P)) < 0.02] = np.nan
    return dosages


def call(dosage: float, haploid: bool) -> str:
    """Genotype and dosage; of haploid samples both count one allele."""
    if np.isnan(dosage):
        return ".:." if haploid else "./.:."
    whole = round(dosage / 2) if haploid else round(dosage)
    known = str(whole) if haploid else ("0/0", "0/1", "1/1")[whole]
    return f"{known}:{dosage / 2 if haploid else dosage:g}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`imputed` with dosages, `calls` with hard calls, and two phenotypes of planted effects."""
    folder = tmp_path_factory.mktemp("glm")
    dosages = make_dosages(3)
    rng = np.random.default_rng(4)
    score = 0.7 * np.nan_to_num(dosages[:, 20]) - 0.6 * np.nan_to_num(dosages[:, 70])
    height = score + rng.normal(size=N)
    case = 1 + (1.3 * (score - score.mean()) + rng.logistic(size=N) > 0)
    rows = (f"s{i}\t{height[i]:.8g}\t{case[i]}" for i in range(N))
    (folder / "pheno.txt").write_text("#IID\theight\tcase\n" + "\n".join(rows) + "\n")
    rows = (f"s{i}\t{1 + i % 2}" for i in range(N))
    (folder / "sex.txt").write_text("#IID\tSEX\n" + "\n".join(rows) + "\n")
    letters = "ACGT"
    lines = []
    for j in range(P):
        place = ["X", str(5_000_000 + j)] if j >= 130 else [str(1 + j // 70), str(100 + j)]
        about = [f"rs{j}", letters[j % 4], letters[(j + 1) % 4], ".", ".", ".", "GT:DS"]
        males = (j >= 130 and i % 2 == 0 for i in range(N))
        lines.append([*place, *about, *map(call, dosages[:, j], males)])
    vcf = write_vcf(folder / "d.vcf", lines, N)
    more = '##contig=<ID=2>\n##FORMAT=<ID=DS,Number=A,Type=Float,Description="Dosage">\n'
    vcf.write_text(vcf.read_text().replace("##contig", more + "##contig", 1))
    given = "--vcf d.vcf dosage=DS --update-sex sex.txt"
    plink2(f"{given} --pheno pheno.txt --make-pgen --out imputed", folder)
    plink2(f"{given} --hard-call-threshold 0.49 --make-pgen erase-dosage --out calls", folder)
    glm = f"--glm allow-no-covars omit-ref no-firth no-x-sex {COLUMNS}"
    plink2(f"--pfile imputed {glm} --out imputed", folder)
    plink2(f"--pfile calls --pheno pheno.txt {glm} --out calls", folder)
    return folder


def select(source: Path, folder: Path, **given: object) -> Path:
    store = srs.ingest(source, folder / "s.zarr", overwrite=True, **given)
    result = srs.select(store, seed=1, threads=1, pairs="off", max_trees=200)
    out = folder / "run"
    shutil.rmtree(out, ignore_errors=True)
    result.save(out)
    return out


def read(out: Path, to: str, folder: Path) -> pd.DataFrame:
    path = folder / to
    path.unlink(missing_ok=True)
    srs.export(out, to, path, table="features")
    if to == "regenie":
        return pd.read_csv(path, sep=" ", dtype={"CHROM": str}).set_index("ID")
    table = pd.read_csv(path, sep="\t", na_values="#NA", dtype={"chromosome": str})
    assert list(table)[:8] == MANDATORY
    return table.set_index("rsid")


def compare(out: Path, theirs: Path, tmp_path: Path, error: float) -> None:
    """`error`: of an effect, in standard errors."""
    glm = pd.read_csv(theirs, sep="\t", dtype={"#CHROM": str}).set_index("ID")
    ours, regenie = read(out, "gwas-ssf", tmp_path), read(out, "regenie", tmp_path)
    glm = glm.loc[ours.index]
    assert len(ours) == P
    z = "T_STAT" if "T_STAT" in glm else "Z_STAT"
    assert (np.abs(ours.beta - glm.BETA) <= error * glm.SE).all()
    np.testing.assert_allclose(ours.standard_error, glm.SE, rtol=max(error, 1e-4))
    np.testing.assert_allclose(ours.effect_allele_frequency, glm.A1_FREQ, atol=1e-3)
    assert ours.effect_allele.tolist() == glm.A1.tolist()
    assert ours.other_allele.tolist() == glm.REF.tolist()
    assert ours.base_pair_location.tolist() == glm.POS.tolist()
    assert ours.chromosome.tolist() == glm["#CHROM"].replace("X", "23").tolist()
    assert ours.n.tolist() == glm.OBS_CT.tolist()
    # Theirs are of Wald's test, ours of the score test: they differ by z cubed over n.
    score = np.sqrt(special.chdtri(1.0, ours.p_value))
    apart = np.abs(score - np.abs(glm[z]))
    assert (apart <= 0.01 + error + np.abs(glm[z]) ** 3 / N).all()
    np.testing.assert_allclose(regenie.BETA, ours.beta)
    np.testing.assert_allclose(regenie.LOG10P, -np.log10(ours.p_value))
    np.testing.assert_allclose(regenie.CHISQ, score**2, atol=1e-9)
    assert regenie.ALLELE1.tolist() == ours.effect_allele.tolist()
    inflation = np.median(stats.chi2.isf(glm.P, 1)) / stats.chi2.median(1)
    told = json.loads((out / "result.json").read_text())["outcome"]["scan"]["inflation"]
    assert told == pytest.approx(inflation, rel=0.03)


@needs_programs
@pytest.mark.parametrize(("target", "model"), [("height", "linear"), ("case", "logistic")])
def test_hard_calls_give_the_statistics_of_plink(folder: Path, tmp_path: Path, target, model):
    out = select(folder / "calls.pgen", tmp_path, table=folder / "pheno.txt", target=target)
    compare(out, folder / f"calls.{target}.glm.{model}", tmp_path, error=1e-3)
    found = srs.load_result(out).relevant_names
    assert {f"rs{j}" for j in CAUSAL} <= set(found)


@needs_programs
@pytest.mark.parametrize(("target", "model"), [("height", "linear"), ("case", "logistic")])
def test_imputed_dosages_give_the_statistics_of_plink(folder: Path, tmp_path: Path, target, model):
    """Dosages are stored in steps of 1/127: effects differ by hundredths of their errors."""
    out = select(folder / "imputed.pgen", tmp_path, target=target)
    compare(out, folder / f"imputed.{target}.glm.{model}", tmp_path, error=0.03)


@needs_programs
def test_every_format_can_be_written_as_summary_statistics(folder: Path, tmp_path: Path):
    """The same calls in all formats: the same bytes."""
    calls = f"--pfile {folder}/calls"
    plink2(f"{calls} --make-bed --out a", tmp_path)
    plink2(f"{calls} --export vcf bgz --out a", tmp_path)
    plink2(f"{calls} --export bgen-1.2 ref-first --out a", tmp_path)
    run("bcftools view -Ob -o a.bcf a.vcf.gz", tmp_path)
    given = {"table": folder / "pheno.txt", "target": "case"}
    written = set()
    for source in (folder / "calls.pgen", *(tmp_path / f"a.{e}" for e in ("bed", "bgen", "bcf"))):
        out = select(source, tmp_path, **given)
        read(out, "gwas-ssf", tmp_path)
        read(out, "regenie", tmp_path)
        written.add((tmp_path / "gwas-ssf").read_bytes() + (tmp_path / "regenie").read_bytes())
    assert len(written) == 1


@needs_programs
def test_dosages_of_vcf_files_are_those_of_plink(folder: Path, tmp_path: Path):
    """Those of haploid samples are from 0 to 1 there, and from 0 to 2 in .pgen files."""
    here = srs.ingest(folder / "d.vcf", tmp_path / "a.zarr", dataset="DS")
    there = srs.ingest(folder / "imputed.pgen", tmp_path / "b.zarr")
    values = [read_values(store, np.arange(P)) for store in (here, there)]
    np.testing.assert_allclose(*values, atol=1e-4)
    np.testing.assert_allclose(values[0], make_dosages(3), atol=1e-3)


def test_p_values_too_small_for_a_number():
    tiny = np.finfo(np.float64).tiny
    table = pa.table(
        {
            "univariate_p": np.array([0.05, tiny]),
            "beta": np.array([2.0, -50.0], np.float32),
            "standard_error": np.array([1.0, 1.0], np.float32),
        }
    )
    squared, log10_p = _squared_and_log10_p(table)
    assert log10_p[0] == pytest.approx(-np.log10(0.05))
    assert squared[1] == 2500
    assert log10_p[1] == pytest.approx(-stats.norm.logsf(50) / np.log(10) - np.log10(2))
