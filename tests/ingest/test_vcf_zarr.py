"""VCF Zarr in the layout of bio2zarr: dosages, ids, places; codecs that are not on the list."""

import json
import re
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
import zarr

from srs.errors import SourceError
from srs.ingest import ingest
from srs.ingest.values import read_values

V, N = 33, 17
FILES = Path(__file__).parent / "files"


def write(folder, version, calls=None):
    """The arrays that bio2zarr writes."""
    rng = np.random.default_rng(8)
    calls = rng.integers(-1, 3, size=(V, N, 2)).astype(np.int8) if calls is None else calls
    group = zarr.create_group(folder, zarr_format=version)
    group.create_array("call_genotype", data=calls, chunks=(10, 6, 2))
    group.create_array("variant_contig", data=np.arange(V, dtype=np.int16) // 20)
    group.create_array("variant_position", data=np.arange(V, dtype=np.int32) * 7)
    for name, texts in (
        ("contig_id", ["chr1", "chr2"]),
        ("variant_id", [f"rs{i}" if i % 5 else "." for i in range(V)]),
        ("sample_id", [f"NA{i}" for i in range(N)]),
    ):
        array = group.create_array(name, shape=len(texts), dtype=np.dtypes.StringDType())
        array[:] = np.array(texts, np.dtypes.StringDType())
    return calls


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_dosages(version, tmp_path):
    folder = tmp_path / "calls.vcz"
    calls = write(folder, version)
    store = ingest(folder, tmp_path / "s.zarr", target=np.arange(N) % 2)
    missing = (calls == -1).any(axis=2)
    dosage = np.where(missing, np.nan, (calls > 0).sum(axis=2)).T
    np.testing.assert_array_equal(read_values(store, np.arange(V)), dosage)
    assert set(np.unique(store.read_codes(np.arange(V)))) == {0, 1, 2, 255}
    assert store.feature_names[:3] == ["chr1:0", "rs1", "rs2"]
    assert store.sample_ids[-1] == "NA16"
    places = store.annotations()
    assert places["contig"].labels == ("chr1", "chr2")
    assert places["contig"].values[[19, 20]].tolist() == [0, 1]
    assert places["position"].values.tolist() == (np.arange(V) * 7).tolist()


def read_vcf(path):
    """Variants and dosages of a small VCF file: the obvious twin."""
    lines = [line.split("\t") for line in path.read_text().splitlines() if line[:2] != "##"]
    calls = [[re.split(r"[/|]", call) for call in line[9:]] for line in lines[1:]]
    dosages = [
        [np.nan if "." in call else sum(allele != "0" for allele in call) for call in line]
        for line in calls
    ]
    return lines[0][9:], [tuple(line[:5]) for line in lines[1:]], np.array(dosages)


def test_a_file_of_bio2zarr(tmp_path):
    """`vcf2zarr convert` of bio2zarr 0.2.1 made it of the VCF file beside it, in which calls are
    phased or not, missing in whole or half, haploid, and of three alleles."""
    with zipfile.ZipFile(FILES / "calls.vcz.zip") as archive:
        archive.extractall(tmp_path)
    samples, variants, dosages = read_vcf(FILES / "calls.vcf")
    store = ingest(tmp_path / "calls.vcz", tmp_path / "s.zarr", target=np.arange(9) % 2)
    assert store.sample_ids == samples
    names = [f"{contig}:{at}" if name == "." else name for contig, at, name, *_ in variants]
    assert store.feature_names == names
    places = store.annotations()
    contigs = [places["contig"].labels[i] for i in places["contig"].values]
    assert contigs == [contig for contig, *_ in variants]
    assert places["position"].values.tolist() == [int(at) for _, at, *_ in variants]
    for name, column in (("other_allele", 3), ("effect_allele", 4)):
        alleles = [places[name].labels[i] for i in places[name].values]
        assert alleles == [one[column] for one in variants]
    assert np.isnan(dosages).any()
    np.testing.assert_array_equal(read_values(store, np.arange(len(names))).T, dosages)


def test_haploid_calls_have_fill(tmp_path):
    calls = np.array([[[1, -2], [0, -2], [1, 1], [0, -1]]], np.int8).repeat(V, axis=0)
    rng = np.random.default_rng(0)
    calls = calls[:, rng.integers(0, 4, N)]
    folder = tmp_path / "calls.vcz"
    write(folder, 3, calls)
    store = ingest(folder, tmp_path / "s.zarr")
    expected = np.select(
        [(calls == -1).any(axis=2)], [np.nan], (calls > 0).sum(axis=2).astype(float)
    )
    np.testing.assert_array_equal(read_values(store, [4])[:, 0], expected[4])


@pytest.mark.parametrize("dtype", [np.int16, np.int32])
def test_sites_of_many_alleles(dtype, tmp_path):
    """Guards the cast: as int8, allele 128 would be below 0 and 255 would be missing."""
    calls = np.random.default_rng(0).choice([-2, -1, 0, 1, 127, 128, 254, 255, 256], (V, N, 2))
    folder = tmp_path / "calls.vcz"
    write(folder, 3, calls.astype(dtype))
    store = ingest(folder, tmp_path / "s.zarr")
    unknown = (calls == -1).any(axis=2) | (calls == -2).all(axis=2)
    expected = np.where(unknown, np.nan, (calls > 0).sum(axis=2))
    np.testing.assert_array_equal(read_values(store, np.arange(V)).T, expected)


def test_what_is_refused(tmp_path):
    folder = tmp_path / "calls.vcz"
    write(folder, 3)
    with pytest.raises(SourceError, match="no array of this name with one value per sample"):
        ingest(folder, target="height")
    metadata = folder / "variant_id" / "zarr.json"
    before = metadata.read_text()
    changed = json.loads(before)
    changed["codecs"].append({"name": "numcodecs.pickle", "configuration": {}})
    metadata.write_text(json.dumps(changed))
    with pytest.raises(SourceError, match=r"uses the codec 'numcodecs.pickle', which is not read"):
        ingest(folder)
    metadata.write_text(before)
    chunk = folder / "call_genotype" / "c" / "0" / "0" / "0"
    (tmp_path / "secret").write_bytes(chunk.read_bytes())
    chunk.unlink()
    chunk.symlink_to(tmp_path / "secret")
    with pytest.raises(SourceError, match="is a link that leaves the folder"):
        ingest(folder)
    shutil.rmtree(folder / "call_genotype")
    with pytest.raises(SourceError, match="call_genotype is missing; VCF Zarr needs it"):
        ingest(folder)
