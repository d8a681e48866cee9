"""Peak memory of a child that ingests a file larger than its budget leaves for data."""

import json
import os
import subprocess
import sys

import nibabel
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr
from bed_reader import create_bed
from scipy import sparse

CHILD = """
import json, sys
import srs
store = srs.ingest(sys.argv[1], sys.argv[2], memory=int(sys.argv[3]))
from srs.memory import peak_mem
print(json.dumps({"peak_mem": peak_mem(), "shape": [store.n_samples, store.n_features]}))
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


def write_sparse(path):
    import anndata

    matrix = make_sparse()
    obs = pd.DataFrame(index=pd.Index([f"c{i}" for i in range(6000)], dtype=object))
    var = pd.DataFrame(index=pd.Index([f"g{i}" for i in range(10_000)], dtype=object))
    anndata.AnnData(matrix, obs=obs, var=var).write_h5ad(path)
    return [6000, 10_000]


def write_npz(path):
    sparse.save_npz(path, make_sparse(), compressed=False)
    return [6000, 10_000]


def write_hdf5(path):
    """240 MB in chunks."""
    import h5py

    values = np.random.default_rng(0).standard_normal((6000, 100), dtype=np.float32)
    with h5py.File(path, "w") as file:
        data = file.create_dataset("x", (6000, 10_000), "f4", chunks=(500, 500))
        for first in range(0, 10_000, 500):
            data[:, first : first + 500] = np.tile(np.roll(values, first, axis=0), 5)
    return [6000, 10_000]


def write_zarr(path):
    """240 MB in chunks, compressed."""
    values = np.random.default_rng(0).standard_normal((6000, 100), dtype=np.float32)
    array = zarr.create_array(path, shape=(6000, 10_000), chunks=(500, 1000), dtype="f4")
    for first in range(0, 10_000, 1000):
        array[:, first : first + 1000] = np.tile(np.roll(values, first, axis=0), 10)
    return [6000, 10_000]


def write_vcf_zarr(path):
    """240 million alleles."""
    calls = (np.random.default_rng(0).random((500, 6000, 2)) < 0.3).astype(np.int8)
    group = zarr.create_group(path)
    array = group.create_array("call_genotype", shape=(20_000, 6000, 2), chunks=(500, 6000, 2),
                               dtype="i1")  # fmt: skip
    for first in range(0, 20_000, 500):
        array[first : first + 500] = np.roll(calls, first, axis=1)
    group.create_array("variant_contig", data=np.zeros(20_000, np.int8))
    group.create_array("variant_position", data=np.arange(20_000, dtype=np.int32))
    for name, texts in (("contig_id", ["1"]), ("sample_id", [f"s{i}" for i in range(6000)])):
        group.create_array(name, data=np.array(texts, np.dtypes.StringDType()))
    return [6000, 20_000]


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


def write_parquet(path):
    """240 MB as numbers."""
    values = np.random.default_rng(0).standard_normal((100, 6000), dtype=np.float32)
    columns = {f"g{i}": np.roll(values[i % 100], i) for i in range(10_000)}
    pq.write_table(pa.table(columns), path)
    return [6000, 10_000]


def write_nifti(path):
    """1000 images of 64,000 voxels, 256 MB as floats."""
    images = np.random.default_rng(0).normal(1000, 50, size=(40, 40, 40, 20)).astype(np.int16)
    nibabel.Nifti1Image(np.tile(images, 50), np.eye(4)).to_filename(path)
    return [1000, 64_000]


FORMATS = {
    "x.bed": write_bed, "x.h5ad": write_sparse, "x.npz": write_npz, "x.h5": write_hdf5,
    "x.zarr": write_zarr, "x.vcz": write_vcf_zarr, "x.libsvm": write_libsvm, "x.arff": write_arff,
    "x.parquet": write_parquet, "x.nii": write_nifti,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "write"), FORMATS.items())
def test_peak_memory_of_ingest(name, write, tmp_path):
    shape = write(tmp_path / name)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path / name), str(tmp_path / "s.zarr"), str(ALLOWED)],
        capture_output=True, text=True, check=False, env=os.environ,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout.splitlines()[-1])
    assert measured["shape"] == shape
    assert measured["peak_mem"] <= ALLOWED
