"""Peak memory of a child that ingests a file larger than its budget leaves for data."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
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


def write_sparse(path):
    """60 million values, 240 MB dense."""
    import anndata

    matrix = sparse.random(6000, 10_000, 0.05, format="csr", dtype=np.float32, random_state=0)
    obs = pd.DataFrame(index=pd.Index([f"c{i}" for i in range(6000)], dtype=object))
    var = pd.DataFrame(index=pd.Index([f"g{i}" for i in range(10_000)], dtype=object))
    anndata.AnnData(matrix, obs=obs, var=var).write_h5ad(path)
    return [6000, 10_000]


def write_npz(path):
    matrix = sparse.random(6000, 10_000, 0.05, format="csr", dtype=np.float32, random_state=0)
    sparse.save_npz(path, matrix, compressed=False)
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "write"),
    [("x.bed", write_bed), ("x.h5ad", write_sparse), ("x.npz", write_npz), ("x.h5", write_hdf5)],
)
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
