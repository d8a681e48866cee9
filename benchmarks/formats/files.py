"""The same kinds of data as files of each format, written by its own library."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.io
import zarr
from scipy import sparse

N_SAMPLES = 1000


def dense(n_features: int, n_samples: int = N_SAMPLES) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n_samples, n_features), dtype=np.float32)


def counts(n_features: int, n_samples: int = N_SAMPLES) -> sparse.csr_matrix:
    """As of single cells: a tenth are not zero."""
    rng = np.random.default_rng(0)
    matrix = sparse.random(n_samples, n_features, 0.1, format="csr", random_state=0)
    matrix.data = rng.geometric(0.3, matrix.nnz).astype(np.float32)
    return matrix.astype(np.float32)


def write_anndata(path: Path, values: object, **options: object) -> None:
    import anndata

    shape = values.shape  # type: ignore[attr-defined]
    obs = pd.DataFrame(index=pd.Index([f"c{i}" for i in range(shape[0])], dtype=object))
    var = pd.DataFrame(index=pd.Index([f"g{i}" for i in range(shape[1])], dtype=object))
    cells = anndata.AnnData(values, obs=obs, var=var)
    if path.suffix == ".zarr":
        cells.write_zarr(path)
    else:
        cells.write_h5ad(path, **options)


def dosages(n_samples: int, seed: int = 0) -> np.ndarray:
    """1000 variants of different frequencies, int8 (1000, n_samples), -127 missing."""
    rng = np.random.default_rng(seed)
    block = rng.binomial(2, rng.uniform(0.05, 0.5, (1000, 1)), (1000, n_samples)).astype(np.int8)
    block[rng.random(block.shape, np.float32) < 0.01] = -127
    return block


def write_bed(path: Path, n_features: int, n_samples: int) -> None:
    """Blocks are the same variants with other samples: drawing each anew would take minutes."""
    from bed_reader import create_bed

    rng = np.random.default_rng(0)
    block = dosages(n_samples)
    with create_bed(path, iid_count=n_samples, sid_count=n_features) as bed:
        for _ in range(0, n_features, len(block)):
            for row in block[:, rng.permutation(n_samples)]:
                bed.write(row)


def write_vcf_zarr(path: Path, n_variants: int, n_samples: int) -> None:
    rng = np.random.default_rng(0)
    group = zarr.create_group(path)
    calls = (rng.random((n_variants, n_samples, 2)) < 0.3).astype(np.int8)
    calls[rng.random((n_variants, n_samples)) < 0.01] = -1
    group.create_array("call_genotype", data=calls, chunks=(1000, n_samples, 2))
    group.create_array("variant_contig", data=np.zeros(n_variants, np.int8))
    group.create_array("variant_position", data=np.arange(n_variants, dtype=np.int32))
    for name, texts in (("contig_id", ["1"]), ("sample_id", [f"s{i}" for i in range(n_samples)])):
        array = group.create_array(name, shape=len(texts), dtype=np.dtypes.StringDType())
        array[:] = np.array(texts, np.dtypes.StringDType())


def write_hdf5(path: Path, n_features: int, **options: object) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=dense(n_features), **options)


def write_csv_gz(path: Path, n_features: int, n_samples: int) -> None:
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write(",".join(f"g{i}" for i in range(n_features)) + "\n")
        for row in dense(n_features, n_samples):
            file.write(",".join([f"{value:.4f}" for value in row]) + "\n")


def make_table(n_features: int) -> pa.Table:
    values = dense(n_features)
    return pa.table({f"g{i}": values[:, i] for i in range(n_features)})


def write_arff(path: Path, n_features: int, n_samples: int) -> None:
    values = dense(n_features, n_samples).round(4)
    lines = ["@relation r", *(f"@attribute g{i} numeric" for i in range(n_features)), "@data"]
    lines += [",".join(map(str, row)) for row in values.tolist()]
    path.write_text("\n".join(lines) + "\n")


def write_nifti(path: Path) -> None:
    import nibabel

    rng = np.random.default_rng(0)
    images = rng.normal(1000, 50, size=(30, 36, 30, 200)).astype(np.int16)
    nibabel.Nifti1Image(images, np.eye(4)).to_filename(path)


def write_mat(path: Path) -> None:
    scipy.io.savemat(path, {"x": dense(10_000)}, do_compression=True)


def write_series(path: Path, n_rows: int, n_samples: int) -> None:
    """A series matrix of GEO with values between 0 and 1."""
    values = np.random.default_rng(0).beta(0.5, 0.5, size=(200, n_samples)).round(6)
    rows = ["\t".join(map(str, row)) + "\n" for row in values.tolist()]
    names = "\t".join(f'"GSM{i}"' for i in range(n_samples))
    with gzip.open(path, "wt", compresslevel=4) as file:
        file.write(f'!Series_title\t"x"\n!series_matrix_table_begin\n"ID_REF"\t{names}\n')
        file.writelines(f'"cg{i:08}"\t{rows[i % 200]}' for i in range(n_rows))
        file.write("!series_matrix_table_end\n")


def read_series(path: Path) -> pd.DataFrame:
    """As GEOparse and its like do: pandas below the lines that begin with `!`."""
    return pd.read_csv(path, sep="\t", comment="!", index_col=0)
