"""Ingest of one file a format, against its own library reading it into memory and nothing more.

Both find the file in the page cache. Files are large enough that opening them, and the 25 ms that
an empty store takes, do not count: dense ones have 200 MB. Stores stay until the end: on
ext4 a new file took 0.5 ms instead of 0.02 just after others had been removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import scipy.io
import scipy.io.arff
import zarr
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import srs
from benchmarks.formats import files, genotype_files
from benchmarks.measure import Line, temporary_folder

BAR = 3.0
REPEATS = 3


def read_bed(path: Path) -> Any:
    from bed_reader import open_bed

    with open_bed(path) as bed:
        return bed.read(dtype="int8")


def read_anndata(path: Path) -> Any:
    import anndata

    return anndata.read_zarr(path) if path.suffix == ".zarr" else anndata.read_h5ad(path)


def read_hdf5(path: Path) -> Any:
    import h5py

    with h5py.File(path) as file:
        return file["x"][:]


def read_nifti(path: Path) -> Any:
    import nibabel

    return np.asarray(nibabel.load(path).dataobj)


def read_csv(path: Path) -> Any:
    options = pyarrow.csv.ReadOptions(block_size=1 << 26)
    return pyarrow.csv.read_csv(path, read_options=options)


def write_csr(path: Path) -> None:
    files.write_anndata(path, files.counts(50_000), compression="gzip")


# format -> (file name, how it is written, how its own library reads it)
FORMATS: dict[str, tuple[str, Callable[[Path], Any], Callable[[Path], Any]]] = {
    "h5ad": ("x.h5ad", lambda p: files.write_anndata(p, files.dense(50_000)), read_anndata),
    "h5ad-csr": ("sparse.h5ad", write_csr, read_anndata),
    "anndata-zarr": (
        "cells.zarr",
        lambda p: files.write_anndata(p, files.dense(50_000)),
        read_anndata,
    ),
    "vcf-zarr": (
        "calls.vcz",
        lambda p: files.write_vcf_zarr(p, 60_000, 1000),
        lambda p: zarr.open_group(p, mode="r")["call_genotype"][:],
    ),
    "bed": ("x.bed", lambda p: files.write_bed(p, 100_000, 2000), read_bed),
    "pgen": (
        "x.pgen",
        lambda p: genotype_files.write_pgen(p, 100_000, 2000, imputed=False),
        lambda p: genotype_files.read_pgen(p, imputed=False),
    ),
    "pgen-dosages": (
        "imputed.pgen",
        lambda p: genotype_files.write_pgen(p, 30_000, 2000, imputed=True),
        lambda p: genotype_files.read_pgen(p, imputed=True),
    ),
    "bgen": (
        "x.bgen",
        lambda p: genotype_files.write_bgen(p, 30_000, 2000),
        genotype_files.read_bgen,
    ),
    "vcf.gz": (
        "x.vcf.gz",
        lambda p: genotype_files.write_vcf(p, 30_000, 2000),
        genotype_files.read_vcf,
    ),
    "bcf": (
        "x.bcf",
        lambda p: genotype_files.write_vcf(p, 30_000, 2000),
        genotype_files.read_vcf,
    ),
    "geo": (
        "GSE1_series_matrix.txt.gz",
        lambda p: files.write_series(p, 40_000, 300),
        files.read_series,
    ),
    "hdf5": ("x.h5", lambda p: files.write_hdf5(p, 50_000), read_hdf5),
    "hdf5-gzip": ("gzip.h5", lambda p: files.write_hdf5(p, 10_000, compression="gzip"), read_hdf5),
    "mat": ("x.mat", files.write_mat, scipy.io.loadmat),
    "parquet": ("x.parquet", lambda p: pq.write_table(files.make_table(8000), p), pq.read_table),
    "feather": (
        "x.feather",
        lambda p: pyarrow.feather.write_feather(files.make_table(50_000), p),
        lambda p: pyarrow.feather.read_table(p, memory_map=False),
    ),
    "csv.gz": ("x.csv.gz", lambda p: files.write_csv_gz(p, 50_000, 40), read_csv),
    "npz": ("x.npz", lambda p: sparse.save_npz(p, files.counts(50_000)), sparse.load_npz),
    "libsvm": (
        "x.libsvm",
        lambda p: dump_svmlight_file(files.counts(5000), np.arange(1000) % 2, str(p)),
        lambda p: load_svmlight_file(str(p)),
    ),
    "arff": ("x.arff", lambda p: files.write_arff(p, 2000, 300), scipy.io.arff.loadarff),
    "nifti": ("x.nii.gz", files.write_nifti, read_nifti),
}


def run(names: list[str] | None = None) -> Iterator[Line]:
    for name in names or FORMATS:
        file, write, read = FORMATS[name]
        with temporary_folder() as folder:
            path = folder / file
            write(path)
            own, ours = [], []
            for i in range(REPEATS + 1):  # the first of each warms up
                store = folder / f"s{i}.zarr"
                own.append(_seconds(lambda path=path, read=read: read(path)))
                ours.append(_seconds(lambda path=path, store=store: srs.ingest(path, store)))
        (slow, slow_cpu), (fast, fast_cpu) = min(ours[1:]), min(own[1:])
        yield Line(
            f"ingest of {name}: seconds against its library reading",
            f"{slow:.2f} s against {fast:.2f} s: {slow / fast:.1f} x "
            f"(CPU {slow_cpu / fast_cpu:.1f} x)",
            f"at most {BAR:.0f} x",
            slow <= BAR * fast,
        )


def _seconds(call: Callable[[], Any]) -> tuple[float, float]:
    """Wall time and CPU time."""
    start, cpu = perf_counter(), process_time()
    call()
    return perf_counter() - start, process_time() - cpu
