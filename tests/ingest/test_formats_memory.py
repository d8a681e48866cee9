"""Peak memory of a child that ingests a file larger than its budget leaves for data."""

import gzip
import json
import os
import subprocess
import sys

import nibabel
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import scipy.io
import zarr
from bed_reader import create_bed
from scipy import sparse

CHILD = """
import json, sys
import srs
opened = []
sys.addaudithook(lambda event, given: opened.append(given[0]) if event == "open" else None)
store = srs.ingest(sys.argv[1], sys.argv[2], memory=int(sys.argv[3]))
from srs.memory import peak_mem
n_opened = [str(one) for one in opened].count(sys.argv[1])
print(json.dumps({"peak_mem": peak_mem(), "shape": [store.n_samples, store.n_features],
                  "n_opened": n_opened}))
"""
ALLOWED = 420_000_000


def write_bed(path):
    """120 million genotypes: 120 MB as bytes, 480 as floats."""
    rows = np.random.default_rng(0).integers(0, 3, size=(50, 6000)).astype(np.int8)
    with create_bed(path, iid_count=6000, sid_count=20_000) as bed:
        for i in range(20_000):
            bed.write(np.roll(rows[i % 50], i))
    return [6000, 20_000]


def make_sparse():
    """60 million values, 240 MB dense; 500 of a sample are stored."""
    columns = (7 * np.arange(6000)[:, None] + 19 * np.arange(500)) % 10_000
    columns.sort(axis=1)
    values = np.random.default_rng(0).standard_normal(columns.size, dtype=np.float32)
    starts = np.arange(0, columns.size + 1, 500)
    return sparse.csr_matrix((values, columns.ravel(), starts), shape=(6000, 10_000))


def make_dense():
    """60 million values, 240 MB."""
    values = np.random.default_rng(0).standard_normal((6000, 100), dtype=np.float32)
    return np.concatenate([np.roll(values, i, axis=0) for i in range(100)], axis=1)


def write_anndata(matrix, path):
    import anndata

    obs = pd.DataFrame(index=pd.Index([f"c{i}" for i in range(6000)], dtype=object))
    var = pd.DataFrame(index=pd.Index([f"g{i}" for i in range(10_000)], dtype=object))
    made = anndata.AnnData(matrix, obs=obs, var=var)
    made.write_zarr(path, chunks=(500, 1000)) if path.suffix == ".zarr" else made.write_h5ad(path)
    return [6000, 10_000]


def write_csr(path):
    return write_anndata(make_sparse(), path)


def write_csc(path):
    return write_anndata(make_sparse().tocsc(), path)


def write_dense(path):
    return write_anndata(make_dense(), path)


def write_npz(path):
    sparse.save_npz(path, make_sparse(), compressed=False)
    return [6000, 10_000]


def write_coo(path):
    sparse.save_npz(path, make_sparse().tocoo(), compressed=False)
    return [6000, 10_000]


def write_hdf5(path):
    """In chunks."""
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=make_dense(), chunks=(500, 500))
    return [6000, 10_000]


def write_matlab_5(path):
    """scipy reads it whole: 48 MB, twice."""
    scipy.io.savemat(path, {"x": make_dense()[:, :2000]})
    return [6000, 2000]


def write_matlab_73(path):
    """In chunks, transposed, behind a block of MATLAB's."""
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        file.create_dataset("x", data=np.ascontiguousarray(make_dense().T), chunks=(500, 500))
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file".ljust(116))
    return [6000, 10_000]


def write_zarr(path):
    """In chunks, compressed."""
    array = zarr.create_array(path, shape=(6000, 10_000), chunks=(500, 1000), dtype="f4")
    array[...] = make_dense()
    return [6000, 10_000]


def write_vcf_zarr(path):
    """240 million alleles."""
    calls = (np.random.default_rng(0).random((500, 6000, 2)) < 0.3).astype(np.int8)
    group = zarr.create_group(path)
    array = group.create_array(
        "call_genotype", shape=(20_000, 6000, 2), chunks=(500, 6000, 2), dtype="i1"
    )
    for first in range(0, 20_000, 500):
        array[first : first + 500] = np.roll(calls, first, axis=1)
    group.create_array("variant_contig", data=np.zeros(20_000, np.int8))
    group.create_array("variant_position", data=np.arange(20_000, dtype=np.int32))
    for name, texts in (("contig_id", ["1"]), ("sample_id", [f"s{i}" for i in range(6000)])):
        group.create_array(name, data=np.array(texts, np.dtypes.StringDType()))
    return [6000, 20_000]


def write_pgen(path):
    """120 million dosages, 480 MB as floats."""
    import pgenlib

    rows = np.random.default_rng(0).uniform(0, 2, size=(50, 6000)).astype(np.float32)
    with pgenlib.PgenWriter(bytes(path), 6000, variant_ct=20_000, dosage_present=True) as writer:
        for i in range(20_000):
            writer.append_dosages(np.roll(rows[i % 50], i))
    lines = "".join(f"1\t{i + 1}\tv{i}\tA\tC\n" for i in range(20_000))
    path.with_suffix(".pvar").write_text("#CHROM\tPOS\tID\tREF\tALT\n" + lines)
    path.with_suffix(".psam").write_text("#IID\n" + "".join(f"s{i}\n" for i in range(6000)))
    return [6000, 20_000]


def write_bgen(path):
    """60 million dosages, 240 MB as floats."""
    import bgen

    chances = np.random.default_rng(0).dirichlet([1, 1, 1], size=6000)
    with bgen.BgenWriter(path, 6000, [f"s{i}" for i in range(6000)], compression=None) as writer:
        for i in range(10_000):
            place = {"chrom": "1", "pos": i + 1, "alleles": ["A", "C"]}
            writer.add_variant("", f"v{i}", genotypes=np.roll(chances, i, axis=0), **place)
    return [6000, 10_000]


def write_vcf(path):
    """144 MB of text."""
    calls = np.random.default_rng(0).choice(["0/0", "0/1", "1/1", "./."], size=(20, 6000))
    lines = ["\t".join(row) for row in calls.tolist()]
    names = "\t".join(f"s{i}" for i in range(6000))
    with path.open("w") as file:
        file.write("##fileformat=VCFv4.2\n##contig=<ID=1>\n")
        file.write('##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">\n')
        file.write(f"#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t{names}\n")
        for i in range(6000):
            file.write(f"1\t{i + 1}\tv{i}\tA\tC\t.\t.\t.\tGT\t{lines[i % 20]}\n")
    return [6000, 6000]


def write_series(path, n_rows=30_000, n_samples=400):
    """A series matrix of GEO: 100 MB of text, 96 MB as numbers."""
    values = np.random.default_rng(0).beta(0.5, 0.5, size=(50, n_samples)).round(6)
    rows = ["\t".join(map(str, row)) + "\n" for row in values.tolist()]
    names = "\t".join(f'"GSM{i}"' for i in range(n_samples))
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write(f'!Series_title\t"x"\n!series_matrix_table_begin\n"ID_REF"\t{names}\n')
        file.writelines(f'"cg{i:08}"\t{rows[i % 50]}' for i in range(n_rows))
        file.write("!series_matrix_table_end\n")
    return [n_samples, n_rows]


def write_libsvm(path):
    """4.2 million items of 29 million values, 235 MB dense."""
    rows = [" ".join(f"{7 * k + i % 7 + 1}:{k * i % 17 + 1}" for k in range(700)) for i in range(7)]
    path.write_text("".join(f"{i % 2} {rows[i % 7]}\n" for i in range(6000)))
    return [6000, 4900]


def write_arff(path):
    """90 MB of text, 96 MB as numbers."""
    values = np.random.default_rng(0).standard_normal((50, 4000)).round(4)
    rows = [",".join(map(str, row)) for row in values.tolist()]
    with path.open("w") as file:
        file.write("@relation r\n")
        file.writelines(f"@attribute g{i} numeric\n" for i in range(4000))
        file.write("@data\n")
        file.writelines(rows[i % 50] + "\n" for i in range(3000))
    return [3000, 4000]


def write_csv_gz(path):
    """60 MB of text, 80 MB as numbers."""
    values = np.random.default_rng(0).standard_normal((50, 4000)).round(3)
    rows = [",".join(map(str, row)) + "\n" for row in values.tolist()]
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write(",".join(f"g{i}" for i in range(4000)) + "\n")
        file.writelines(rows[i % 50] for i in range(2500))
    return [2500, 4000]


def make_table(dense):
    return pa.table({f"g{i}": column for i, column in enumerate(dense.T.copy())})


def write_parquet(path):
    pq.write_table(make_table(make_dense()), path)
    return [6000, 10_000]


def write_parquets(path):
    """Six files of samples."""
    path.mkdir()
    for i, part in enumerate(np.split(make_dense(), 6)):
        pq.write_table(make_table(part), path / f"part-{i}.parquet")
    return [6000, 10_000]


def write_feather(path):
    pyarrow.feather.write_feather(make_table(make_dense()), path, compression="lz4", chunksize=500)
    return [6000, 10_000]


def write_nifti(path):
    """1000 images of 64,000 voxels, 256 MB as floats."""
    images = np.random.default_rng(0).normal(1000, 50, size=(40, 40, 40, 20)).astype(np.int16)
    nibabel.Nifti1Image(np.tile(images, 50), np.eye(4)).to_filename(path)
    return [1000, 64_000]


def write_images(path):
    """The same as a file each."""
    path.mkdir()
    images = np.random.default_rng(0).normal(1000, 50, size=(40, 40, 40, 20)).astype(np.int16)
    for i in range(1000):
        nibabel.Nifti1Image(images[..., i % 20], np.eye(4)).to_filename(path / f"s{i:04}.nii")
    return [1000, 64_000]


FORMATS = {
    "x.bed": write_bed,
    "csr.h5ad": write_csr,
    "dense.h5ad": write_dense,
    "csr.npz": write_npz,
    "x.h5": write_hdf5,
    "x5.mat": write_matlab_5,
    "x.zarr": write_zarr,
    "x.vcz": write_vcf_zarr,
    "x.pgen": write_pgen,
    "x.bgen": write_bgen,
    "x.vcf": write_vcf,
    "GSE1_series_matrix.txt.gz": write_series,
    "x.libsvm": write_libsvm,
    "x.arff": write_arff,
    "x.csv.gz": write_csv_gz,
    "x.parquet": write_parquet,
    "x.feather": write_feather,
    "x.nii.gz": write_nifti,
    "images": write_images,
}


def measure(path, allowed=ALLOWED):
    """What a child says of its ingest of a file."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), str(path.with_name("s.zarr")), str(allowed)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


# Read as another one above is.
SIMILAR = {
    "csc.h5ad": write_csc,
    "coo.npz": write_coo,
    "x73.mat": write_matlab_73,
    "dense.zarr": write_dense,
    "x.nii": write_nifti,
    "parquets": write_parquets,
}
LONG = [pytest.param(name, write, marks=pytest.mark.long) for name, write in SIMILAR.items()]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "write"), [*FORMATS.items(), *LONG])
def test_peak_memory_of_ingest(name, write, tmp_path):
    shape = write(tmp_path / name)
    measured = measure(tmp_path / name)
    assert measured["shape"] == shape
    assert measured["peak_mem"] <= ALLOWED


@pytest.mark.long
def test_peak_memory_of_all_sites_of_an_array(tmp_path):
    """450,000 CpG sites, whose names take most of the memory: 360 MB as numbers."""
    shape = write_series(tmp_path / "GSE2_series_matrix.txt.gz", 450_000, 100)
    measured = measure(tmp_path / "GSE2_series_matrix.txt.gz", 600_000_000)
    assert measured["shape"] == shape
    assert measured["peak_mem"] <= 600_000_000


@pytest.mark.slow
def test_a_wide_table_is_read_once(tmp_path):
    """Guards the promise of one pass: the file is opened to see whether it is a series matrix, to
    look at its first lines, and to read it, each time with a look at its encoding before."""
    values = np.random.default_rng(0).standard_normal((5, 50_000)).round(3)
    rows = [",".join(map(str, row)) + "\n" for row in values.tolist()]
    with gzip.open(tmp_path / "x.csv.gz", "wt", compresslevel=1) as file:
        file.write(",".join(f"g{i}" for i in range(50_000)) + "\n")
        file.writelines(rows[i % 5] for i in range(150))
    measured = measure(tmp_path / "x.csv.gz")
    assert measured["shape"] == [150, 50_000]
    assert measured["peak_mem"] <= ALLOWED
    assert measured["n_opened"] == 3 * 2
