"""What a run selected, written in the formats that data came in and read by their libraries."""

import json
import warnings

import anndata
import nibabel
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import zarr
from bed_reader import open_bed, to_bed

import srs
from srs.errors import InputError, SourceError
from srs.ingest.formats.arrays.in_memory import folder_mark
from tests.cli.conftest import invoke

N, P = 240, 60
RNG = np.random.default_rng(12)
DOSAGE = RNG.integers(0, 3, size=(N, P)).astype(float)
Y = (DOSAGE[:, 3] + DOSAGE[:, 41] + RNG.normal(size=N) / 4 > 2).astype(int)
DOSAGE[2, 3] = np.nan


def run(source, folder, **options):
    """Ingest and select; the folder of the run and its relevant names."""
    store = srs.ingest(source, folder / "s.zarr", **options)
    result = srs.select(store, fdr=0.01, max_trees=60, seed=0)
    result.save(folder / "run")
    assert len(result.relevant_ids) == 2
    return folder / "run", store


def test_tables(tmp_path):
    frame = pd.DataFrame(DOSAGE, columns=[f"g{i}" for i in range(P)]).rename(columns={"g3": "=3"})
    frame["g41"] = frame["g41"].map({0: "low", 1: "mid", 2: "high"})
    frame.index = [f"s{i}" for i in range(N)]
    folder, _ = run(frame, tmp_path, target={"y": np.where(Y, "case", "control")})
    assert invoke("export", folder, "--to", "csv").strip() == f"Written: {folder / 'selected.csv'}"
    back = pd.read_csv(folder / "selected.csv")
    assert back.columns.tolist() == ["sample_id", "y", "'=3", "g41"]
    np.testing.assert_array_equal(back["'=3"], DOSAGE[:, 3])
    assert back["g41"].tolist() == frame["g41"].tolist()
    assert back["y"][:4].tolist() == np.where(Y, "case", "control")[:4].tolist()
    path = srs.export(folder, "parquet", tmp_path / "x.parquet")
    table = pq.read_table(path).to_pandas()
    assert table["=3"].isna().sum() == 1
    assert table["sample_id"][7] == "s7"
    with pytest.raises(InputError, match="exists already"):
        srs.export(folder, "csv")
    for to, message in (("xlsx", "no format 'xlsx'"), ("nifti", "not voxels")):
        with pytest.raises(InputError, match=message):
            srs.export(folder, to, tmp_path / "no")


def test_a_part_of_the_samples(tmp_path):
    store = srs.ingest(DOSAGE, tmp_path / "s.zarr", target=Y)
    chosen = np.arange(0, N, 2)[:110]
    result = srs.select(store, samples=chosen, max_trees=60)
    path = srs.export(result, "csv", tmp_path / "x.csv")
    back = pd.read_csv(path)
    np.testing.assert_array_equal(back["f41"], DOSAGE[chosen, 41])
    assert back["sample_id"].tolist() == chosen.tolist()
    with pytest.raises(InputError, match="is not the store of the run"):
        srs.export(result, "csv", tmp_path / "y.csv", store=srs.ingest(DOSAGE[:, 1:], target=Y))
    (tmp_path / "s.zarr").rename(tmp_path / "moved.zarr")
    with pytest.raises(InputError, match="does not exist: give its path"):
        srs.export(result, "csv", tmp_path / "y.csv")
    moved = srs.export(result, "csv", tmp_path / "y.csv", store=tmp_path / "moved.zarr")
    assert moved.read_text() == path.read_text()


@pytest.mark.parametrize("suffix", [".h5ad", ".zarr"])
def test_anndata(suffix, tmp_path):
    kinds = pd.Index(["case", "control"], dtype=object)
    index = pd.Index([f"c{i}" for i in range(N)], dtype=object)
    obs = pd.DataFrame(
        {"state": pd.Categorical.from_codes(1 - Y, kinds), "depth": Y * 2.5}, index=index
    )
    var = pd.DataFrame({"length": np.arange(P)}, index=pd.Index(map(str, range(P)), dtype=object))
    cells = anndata.AnnData(np.nan_to_num(DOSAGE), obs=obs, var=var)
    source = tmp_path / f"cells{suffix}"
    cells.write_h5ad(source) if suffix == ".h5ad" else cells.write_zarr(source)
    folder, _ = run(source, tmp_path, target="obs:state")
    path = srs.export(folder, "h5ad")
    back = anndata.read_h5ad(path)
    assert back.var_names.tolist() == ["3", "41"]
    assert back.obs_names.tolist() == list(index)
    assert back.obs["state"].tolist() == obs["state"].tolist()
    np.testing.assert_array_equal(back.obs["depth"], Y * 2.5)
    np.testing.assert_array_equal(back.X[:, 1], DOSAGE[:, 41])
    assert (back.var["q_value"] <= 0.1).all()
    for _ in range(2):  # again replaces what was added before
        invoke(*["export", folder, "--to", "h5ad", "--into", source])
    again = anndata.read_h5ad(source) if suffix == ".h5ad" else anndata.read_zarr(source)
    assert again.var.columns.tolist() == [
        "length",
        "srs_relevant",
        "srs_p_value",
        "srs_q_value",
        "srs_importance",
    ]
    assert np.flatnonzero(again.var["srs_relevant"]).tolist() == [3, 41]
    np.testing.assert_array_equal(again.X, cells.X)
    srs.export(folder, "parquet")  # the store goes on to read the source that was added to
    copy = tmp_path / f"copy{suffix}"
    before = folder_mark(source) if source.is_dir() else source.read_bytes()
    invoke(*["export", folder, "--to", "h5ad", "--into", source, "--out", copy])
    assert before == (folder_mark(source) if source.is_dir() else source.read_bytes())
    copied = anndata.read_h5ad(copy) if suffix == ".h5ad" else anndata.read_zarr(copy)
    assert copied.var.equals(again.var)
    with pytest.raises(InputError, match="exists already"):
        srs.export(folder, "h5ad", copy, into=source)


def make_cells(names, **obs):
    index = pd.Index([f"c{i}" for i in range(N)], dtype=object)
    var = pd.DataFrame(index=pd.Index(names, dtype=object))
    return anndata.AnnData(np.nan_to_num(DOSAGE), obs=pd.DataFrame(obs, index=index), var=var)


@pytest.mark.filterwarnings("ignore:Variable names are not unique")
def test_repeated_names_are_matched_by_place(tmp_path):
    names = [f"g{i}" for i in range(P)]
    names[5] = names[41] = "g3"
    cells = make_cells(names, y=Y, age=np.arange(N) / 2)
    cells.write_h5ad(tmp_path / "x.h5ad")
    (tmp_path / "table.csv").write_text(
        "id,height\n" + "".join(f"c{i},{i % 7}\n" for i in range(N))
    )
    folder, _ = run(
        tmp_path / "x.h5ad",
        tmp_path,
        target="obs:y",
        table=tmp_path / "table.csv",
        covariates=["height"],
    )
    srs.export(folder, "h5ad", into=tmp_path / "x.h5ad")
    var = anndata.read_h5ad(tmp_path / "x.h5ad").var
    assert np.flatnonzero(var["srs_relevant"]).tolist() == [3, 41]
    for other in (cells[:, ::-1], cells[:, :20]):  # g3 of the run may be any of three
        other.copy().write_h5ad(tmp_path / "y.h5ad")
        with pytest.raises(InputError, match="the name 'g3' occurs more than once"):
            srs.export(folder, "h5ad", into=tmp_path / "y.h5ad")


@pytest.mark.parametrize("consolidated", [True, False])
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning")
def test_columns_added_to_zarr_are_seen(version, consolidated, tmp_path):
    source = tmp_path / "x.zarr"
    with anndata.settings.override(zarr_write_format=version):
        make_cells([f"g{i}" for i in range(P)], y=Y).write_zarr(source)
    metadata = source / (".zmetadata" if version == 2 else "zarr.json")
    if not consolidated and version == 2:
        metadata.unlink()
    elif not consolidated:
        known = json.loads(metadata.read_text())
        metadata.write_text(json.dumps(known | {"consolidated_metadata": None}))
    folder, _ = run(source, tmp_path, target="obs:y")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        srs.export(folder, "h5ad", into=source)
    var = anndata.read_zarr(source).var
    assert np.flatnonzero(var["srs_relevant"]).tolist() == [3, 41]
    known = zarr.open_group(source, mode="r").metadata.consolidated_metadata
    assert (known is not None) == consolidated


def test_columns_of_obs_with_missing_values(tmp_path):
    state = pd.Categorical.from_codes(np.where(np.arange(N) < 9, -1, Y), ["a", "b"])
    dose = pd.array(np.arange(N), dtype="Int64")
    dose[30] = pd.NA
    cells = make_cells([f"g{i}" for i in range(P)], state=state, dose=dose, ok=pd.array(Y == 1))
    cells.obs["state"] = cells.obs["state"].cat.rename_categories(
        pd.Index(["a", "b"], dtype=object)
    )
    cells.write_h5ad(tmp_path / "x.h5ad")
    folder, store = run(tmp_path / "x.h5ad", tmp_path, target="obs:state")
    assert store.n_samples == N - 9
    obs = anndata.read_h5ad(srs.export(folder, "h5ad")).obs
    expected = np.arange(9, N, dtype=float)
    expected[21] = np.nan
    np.testing.assert_array_equal(obs["dose"], expected)
    np.testing.assert_array_equal(obs["ok"], (Y == 1)[9:])


def test_a_failed_export_leaves_no_file(tmp_path):
    np.save(tmp_path / "x.npy", DOSAGE)
    folder, _ = run(tmp_path / "x.npy", tmp_path, target=Y)
    (tmp_path / "x.npy").unlink()
    for to in ("h5ad", "bed", "csv", "parquet"):
        with pytest.raises(SourceError, match="is missing"):
            srs.export(folder, to)
    assert not list(folder.glob("selected*"))


def test_variants(tmp_path):
    to_bed(
        tmp_path / "g.bed",
        DOSAGE,
        properties={
            "iid": [f"i{i}" for i in range(N)],
            "sid": [f"rs{i}" for i in range(P)],
            "chromosome": ["7"] * P,
            "bp_position": np.arange(P) * 5,
            "allele_1": ["A"] * P,
            "pheno": [str(1 + y) if i else "-9" for i, y in enumerate(Y)],
        },
    )
    folder, store = run(tmp_path / "g.bed", tmp_path, target="phenotype")
    with open_bed(srs.export(folder, "bed")) as bed:
        assert bed.sid.tolist() == ["rs3", "rs41"]
        assert bed.chromosome.tolist() == ["7", "7"]
        assert bed.bp_position.tolist() == [15, 205]
        assert bed.iid.tolist() == store.sample_ids == [f"i{i}" for i in range(1, N)]
        assert bed.pheno.tolist() == [str(1 + y) for y in Y[1:]]
        np.testing.assert_array_equal(bed.read(), DOSAGE[1:, [3, 41]])
    page = (folder / "report.html").read_text()
    assert "position" in page
    assert ">205<" in page
    result = srs.load_result(folder)
    assert [row["contig"] for row in result.document["outcome"]["relevant"]] == ["7", "7"]
    with pytest.raises(InputError, match="not voxels"):
        srs.export(folder, "nifti")
    with pytest.raises(InputError, match="does not exist"):
        srs.export(folder, "h5ad", into=tmp_path / "no.h5ad")


def test_variants_beside_covariates(tmp_path, caplog):
    """Guards what PLINK users know their data by, when covariates were added to the features."""
    alleles = np.array(["GT", "AC"])[np.arange(P) % 2]
    sex, families = 1 + np.arange(N) % 2, [f"F{i // 2}" for i in range(N)]
    pheno = [str(1 + y) for y in Y]
    to_bed(
        tmp_path / "g.bed",
        DOSAGE,
        properties={
            "fid": families,
            "iid": [f"i{i}" for i in range(N)],
            "sex": sex,
            "pheno": pheno,
            "sid": [f"rs{i}" for i in range(P)],
            "allele_1": [a[0] for a in alleles],
            "allele_2": [a[1] for a in alleles],
        },
    )
    table = pd.DataFrame({"age": Y + np.random.default_rng(1).normal(size=N), "y": Y})
    table.index = [f"i{i}" for i in range(N)]
    table.loc["i5", "y"] = np.nan
    table.to_csv(tmp_path / "t.csv", index_label="IID")
    store = srs.ingest(
        tmp_path / "g.bed",
        tmp_path / "s.zarr",
        table=tmp_path / "t.csv",
        target="y",
        covariates=["age"],
    )
    pinned = srs.select(store, pinned=["age"], max_trees=60, seed=0)
    free = srs.select(store, max_trees=60, seed=0)
    assert pinned.relevant_names == ["rs3", "rs41"]
    assert free.relevant_names == ["rs3", "rs41", "age"]
    kept = np.delete(np.arange(N), 5)
    ids = [3, 41]
    for one, notices in ((pinned, []), (free, ["covariates are left out of the file: age."])):
        caplog.clear()
        path = srs.export(one, "bed", tmp_path / f"{len(notices)}.bed")
        assert [record.getMessage() for record in caplog.records] == notices
        with open_bed(path) as bed:
            assert bed.sid.tolist() == ["rs3", "rs41"]
            assert bed.allele_1.tolist() == [alleles[i][0] for i in ids]
            assert bed.allele_2.tolist() == [alleles[i][1] for i in ids]
            assert bed.fid.tolist() == [families[i] for i in kept]
            assert bed.sex.tolist() == sex[kept].tolist()
            assert bed.pheno.tolist() == [pheno[i] for i in kept]
            np.testing.assert_array_equal(bed.read(), DOSAGE[np.ix_(kept, ids)])
    others = [name for name in store.feature_names if name not in ("rs3", "rs41")]
    only = srs.select(store, features=others, max_trees=60, seed=0)
    assert only.relevant_names == ["age"]
    with pytest.raises(InputError, match="all relevant features are covariates"):
        srs.export(only, "bed", tmp_path / "x.bed")


@pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_alleles_of_vcf_zarr(tmp_path, caplog):
    """Allele 1 is the one that a dosage counts, also in the new file."""
    alleles = np.array([["A", "C", "", ""], ["G", "T", "C", "A"]], "U3")[np.arange(P) % 2]
    alleles[3] = ["A", "CAT", "", ""]
    calls = np.stack([DOSAGE.T > 0, DOSAGE.T > 1], axis=2).astype(np.int8)
    calls[np.isnan(DOSAGE.T)] = -1
    group = zarr.create_group(tmp_path / "x.vcz", zarr_format=2)
    group.create_array("call_genotype", data=calls)
    group.create_array("variant_contig", data=np.zeros(P, np.int8))
    group.create_array("variant_position", data=np.arange(P))
    ids = [f"NA{i}" for i in range(N)]
    for name, texts in (("contig_id", ["chr7"]), ("sample_id", ids), ("variant_allele", alleles)):
        array = group.create_array(name, shape=np.shape(texts), dtype=np.dtypes.StringDType())
        array[:] = np.array(texts, np.dtypes.StringDType())
    folder, _ = run(tmp_path / "x.vcz", tmp_path, target=Y)
    with open_bed(srs.export(folder, "bed")) as bed:
        assert bed.allele_1.tolist() == ["CAT", "T"]
        assert bed.allele_2.tolist() == ["A", "G"]
        assert bed.chromosome.tolist() == ["chr7"] * 2
        assert bed.bp_position.tolist() == [3, 41]
        assert bed.iid.tolist() == ids
        np.testing.assert_array_equal(bed.read(), DOSAGE[:, [3, 41]])
    assert "several alternative alleles, which are counted together: 1;" in caplog.text


def test_a_map_of_voxels(tmp_path):
    affine = np.diag([2.0, 2.0, 2.0, 1.0])
    images = RNG.normal(size=(4, 5, 3, N)).astype(np.float32)
    labels = (images[1, 2, 0] + images[3, 4, 2] > 0).astype(int)
    nibabel.Nifti1Image(images, affine).to_filename(tmp_path / "x.nii")
    mask = np.ones((4, 5, 3), np.uint8)
    mask[0] = 0
    nibabel.Nifti1Image(mask, affine).to_filename(tmp_path / "m.nii")
    folder, _ = run(tmp_path / "x.nii", tmp_path, mask=tmp_path / "m.nii", target=labels)
    written = nibabel.load(srs.export(folder, "nifti"))
    found = np.argwhere(np.asarray(written.dataobj) > 0)
    assert found.tolist() == [[1, 2, 0], [3, 4, 2]]
    np.testing.assert_array_equal(written.affine, affine)
    voxels = pd.read_parquet(srs.export(folder, "parquet", tmp_path / "v", table="voxels"))
    assert voxels[["i", "j", "k"]].to_numpy().tolist() == found.tolist()
    assert voxels[["x", "y", "z"]].to_numpy().tolist() == (2 * found).tolist()
    np.testing.assert_allclose(voxels.value, np.asarray(written.dataobj)[tuple(found.T)], rtol=1e-3)
    clusters = pd.read_csv(srs.export(folder, "tsv", tmp_path / "c", table="clusters"), sep="\t")
    assert clusters.n_voxels.tolist() == [1, 1]
    assert clusters.volume.tolist() == [8, 8]


def test_no_relevant_voxel_is_lost(tmp_path):
    """Many voxels tell the same, so that trees split by few of them: all are on the map, and those
    that touch are one cluster."""
    images = RNG.normal(size=(8, 8, 4, N)).astype(np.float32)
    signal = RNG.normal(size=N)
    images[1:4, 1:4, 1:3] += 2 * signal
    images[6:, 6:, 0] -= 2 * signal
    labels = (signal > 0).astype(int)
    nibabel.Nifti1Image(images, np.diag([3.0, 3.0, 3.0, 1.0])).to_filename(tmp_path / "x.nii")
    store = srs.ingest(tmp_path / "x.nii", tmp_path / "s.zarr", target=labels)
    result = srs.select(store, max_trees=60, seed=0)
    folder = result.save(tmp_path / "run")
    written = np.asarray(nibabel.load(srs.export(folder, "nifti")).dataobj)
    assert (written > 0).sum() == len(result.relevant_ids)
    assert (written[1:4, 1:4, 1:3] > 0).sum() >= 16
    first = result.document["outcome"]["clusters"][0]
    assert first["n_voxels"] >= 16
    assert 1 <= first["i"] <= 4
    assert first["x"] == 3 * first["i"]
    assert "Where the voxels are" in (folder / "report.html").read_text()
