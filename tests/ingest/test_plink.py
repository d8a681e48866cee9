"""PLINK files that bed-reader wrote: dosages, phenotypes, names and places of variants."""

import numpy as np
import pytest
from bed_reader import open_bed, to_bed

from srs.errors import SourceError
from srs.ingest import ingest
from srs.ingest.formats.domains.plink import read_variants
from srs.ingest.values import read_values

N, P = 29, 40


def write(folder, pheno=None, **properties):
    rng = np.random.default_rng(6)
    dosage = rng.binomial(2, 0.4, size=(N, P)).astype(float)
    dosage[rng.random((N, P)) < 0.1] = np.nan
    known = {
        "iid": [f"i{i}" for i in range(N)],
        "fid": ["fam"] * N,
        "sid": [f"rs{i}" if i else "." for i in range(P)],
        "chromosome": [str(1 + i // 20) for i in range(P)],
        "bp_position": np.arange(P) * 100,
        "pheno": pheno or [str(1 + i % 2) for i in range(N)],
        "sex": 1 + np.arange(N) % 2,
    }
    to_bed(folder / "g.bed", dosage, properties=known | properties)
    return folder / "g.bed", dosage


def test_variants_become_the_same_store_as_the_array(tmp_path):
    path, dosage = write(tmp_path)
    store = ingest(path, tmp_path / "s.zarr", target="phenotype")
    assert store.feature_names[:2] == ["1:0", "rs1"]
    assert store.sample_ids[3] == "i3"
    assert store.target().labels == ("case", "control")
    plain = ingest(dosage, names=store.feature_names, sample_ids=store.sample_ids)
    np.testing.assert_array_equal(store.feature_ids, plain.feature_ids)
    np.testing.assert_array_equal(store.read_codes(range(P)), plain.read_codes(range(P)))
    np.testing.assert_array_equal(store.n_levels, plain.n_levels)
    np.testing.assert_array_equal(store.top_shares, plain.top_shares)
    np.testing.assert_array_equal(read_values(store, [39, 0, 5]), dosage[:, [39, 0, 5]])
    places = store.annotations()
    assert [places["contig"].labels[c] for c in places["contig"].values[[0, 19, 20]]] == list("112")
    assert places["position"].values[7] == 700


def test_alleles_and_dosages_are_kept(tmp_path):
    """Codes are numbered without gaps: which dosages they stand for is kept beside them."""
    first, second = ["A", "C", "G", "T"] * 10, ["G", "T", "AT", "A"] * 10
    path, dosage = write(tmp_path, allele_1=first, allele_2=second)
    dosage[:, 3], dosage[:, 4] = np.arange(N) % 2 + 1, np.arange(N) % 2 * 2
    to_bed(path, dosage, properties={"allele_1": first, "allele_2": second})
    store = ingest(path, tmp_path / "s.zarr", target=np.arange(N) % 2)
    told = store.annotations()
    for name, alleles in (("effect_allele", first), ("other_allele", second)):
        assert [told[name].labels[i] for i in told[name].values] == alleles
    occur = [sum(1 << d for d in range(3) if (dosage[:, j] == d).any()) for j in range(P)]
    assert store.dosages.tolist() == occur
    assert occur[3:5] == [6, 5]
    assert store.view(features=[3, 4]).dosages.tolist() == [6, 5]
    assert ingest(dosage[:, :5], target=np.arange(N) % 2).dosages is None


@pytest.mark.parametrize("n_samples", [1, 2, 3, 4, 5, 8, 1003])
def test_dosages_are_those_of_bed_reader(n_samples, tmp_path):
    rng = np.random.default_rng(n_samples)
    dosage = rng.choice([0.0, 1.0, 2.0, np.nan], size=(n_samples, 50))
    to_bed(tmp_path / "g.bed", dosage)
    with open_bed(tmp_path / "g.bed") as bed:
        twin = bed.read(np.s_[:, 7:43], dtype="int8").T
    np.testing.assert_array_equal(read_variants(tmp_path / "g.bed", n_samples, 7, 43), twin)
    with pytest.raises(SourceError, match="became shorter"):
        read_variants(tmp_path / "g.bed", n_samples, 40, 51)


def test_genotypes_stored_by_samples(tmp_path):
    dosage = np.random.default_rng(3).choice([0.0, 1.0, 2.0, np.nan], size=(40, 40))
    stores = []
    for major in ("SNP", "individual"):
        to_bed(tmp_path / f"{major}.bed", dosage, major=major)
        stores.append(ingest(tmp_path / f"{major}.bed"))
    assert stores[0].fingerprint == stores[1].fingerprint


def test_samples_of_unknown_phenotype_are_left_out(tmp_path):
    pheno = [str(i / 10) for i in range(N)]
    pheno[2], pheno[9] = "-9.0", "NA"
    path, dosage = write(tmp_path, pheno)
    store = ingest(path, tmp_path / "s.zarr", target="phenotype")
    kept = [i for i in range(N) if i not in (2, 9)]
    assert store.n_samples == N - 2
    assert store.target().kind == "numbers"
    assert any(
        "missing in 2 samples, which were left out; the first is 'i2'" in notice
        for notice in store.manifest.notices
    )
    np.testing.assert_array_equal(read_values(store, [4, 11]), dosage[kept][:, [4, 11]])
    assert ingest(path, target="sex").target().labels == ("female", "male")


def test_minus_nine_of_a_table_is_missing(tmp_path):
    path, _ = write(tmp_path)
    lines = [f"i{i}\t{(-9, 1, 2)[i % 3]}\t{-9 if i == 4 else i}" for i in range(N)]
    (tmp_path / "p.tsv").write_text("IID\tcase\tage\n" + "\n".join(lines) + "\n")
    store = ingest(
        path, tmp_path / "s.zarr", table=tmp_path / "p.tsv", target="case", covariates=["age"]
    )
    assert store.target().labels == ("1", "2")
    kept = [i for i in range(N) if i % 3]
    ages = [np.nan if i == 4 else i for i in kept]
    np.testing.assert_array_equal(read_values(store, [P])[:, 0], ages)
    said = " ".join(store.manifest.notices)
    assert "-9 in the column 'case' of" in said
    assert "-9 in the column 'age' of" in said


def test_phenotypes_of_zero_and_one_are_explained(tmp_path):
    path, _ = write(tmp_path, [str(i % 2) for i in range(N)])
    with pytest.raises(SourceError, match=r"are 0 and 1, where 1 means control, 2 case and 0 mis"):
        ingest(path, target="phenotype")


def test_categories_and_families(tmp_path):
    path, dosage = write(tmp_path, iid=["x"] * N, fid=[f"F{i}" for i in range(N)])
    store = ingest(path, categorical=["rs7"])
    assert store.sample_ids[:2] == ["F0_x", "F1_x"]
    assert store.labels(7) == ("0", "1", "2")
    assert store.kinds[7] == 2
    kept = ingest(path, tmp_path / "s.zarr", keep_values=True)
    path.unlink()
    np.testing.assert_array_equal(read_values(kept, [3]), dosage[:, [3]])


def test_what_is_refused(tmp_path):
    path, _ = write(tmp_path)
    with pytest.raises(SourceError, match="has only 'phenotype' and 'sex'"):
        ingest(path, target="height")
    with pytest.raises(SourceError, match="says itself"):
        ingest(path, orientation="features")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(SourceError, match=r"has \d+ bytes instead of"):
        ingest(path)
    path.write_bytes(b"not a bed file")
    with pytest.raises(SourceError, match=r"g\.bed"):
        ingest(path)
    path.with_suffix(".fam").unlink()
    with pytest.raises(SourceError, match=r"g\.fam is missing"):
        ingest(path)
