"""A small source of every format, and the values that it has."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import bgen
import cyvcf2
import dask.array
import h5py
import nibabel
import numpy as np
import pandas as pd
import pgenlib
import pyarrow as pa
import scipy.io
import zarr
from bed_reader import to_bed
from scipy import sparse

RNG = np.random.default_rng(5)
VALUES = RNG.normal(size=(14, 6)).round(3)
VALUES[3, 1] = np.nan
DOSAGES = RNG.integers(0, 3, size=(14, 6)).astype(float)
DOSAGES[2, 4] = np.nan
COUNTS = np.where(RNG.random((14, 6)) < 0.4, 0.0, VALUES)
COUNTS[:, 0] = np.arange(1, 15)  # so that the first feature and the last are named
COUNTS[:, 5] = np.arange(14, 0, -1)
FRAME = pd.DataFrame(VALUES, [f"s{i}" for i in range(14)], [f"gene {i}" for i in range(6)])
VCF = Path(__file__).parents[1] / "files" / "calls.vcz.zip"

Made = tuple[Any, np.ndarray | None]  # a source, and its values; None: not known beforehand
Make = Callable[[Path], Made]


def plain(write: Callable[[Path], object], name: str, values: np.ndarray = VALUES) -> Make:
    """A file that a function writes."""

    def make(folder: Path) -> Made:
        write(folder / name)
        return folder / name, values

    return make


def cells() -> anndata.AnnData:
    named = {"obs": FRAME.index.astype(object), "var": FRAME.columns.astype(object)}
    return anndata.AnnData(VALUES, **{k: pd.DataFrame(index=v) for k, v in named.items()})


def write_zarr(path: Path) -> None:
    zarr.create_array(path, shape=VALUES.shape, chunks=(5, 4), dtype=float)[...] = VALUES


def write_hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["x"] = VALUES


def write_arrow(path: Path) -> None:
    table = pa.Table.from_pandas(FRAME)
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)


def write_arff(path: Path) -> None:
    names = "".join(f"@attribute f{i} numeric\n" for i in range(6))
    rows = (",".join("?" if np.isnan(v) else str(v) for v in row) for row in VALUES)
    path.write_text(f"@relation x\n{names}@data\n" + "\n".join(rows) + "\n")


def write_libsvm(path: Path) -> None:
    lines = (
        " ".join(["1", *(f"{i + 1}:{v}" for i, v in enumerate(row) if v != 0)])
        for row in np.nan_to_num(COUNTS)
    )
    path.write_text("\n".join(lines) + "\n")


def write_parquets(path: Path) -> None:
    path.mkdir()
    for at in (0, 7):
        FRAME.iloc[at : at + 7].to_parquet(path / f"part-{at}.parquet")


def write_bed(path: Path) -> None:
    to_bed(path, DOSAGES, properties={"iid": list(FRAME.index), "sid": list(FRAME.columns)})


def write_pgen(path: Path, dosages: np.ndarray = DOSAGES) -> None:
    with pgenlib.PgenWriter(
        bytes(path), len(dosages), variant_ct=dosages.shape[1], dosage_present=True
    ) as writer:
        for column in np.nan_to_num(dosages, nan=-9).T.astype(np.float32):
            writer.append_dosages(np.ascontiguousarray(column))
    lines = [f"1\t{100 * i + 1}\tv{i}\tA\tC" for i in range(dosages.shape[1])]
    path.with_suffix(".pvar").write_text("#CHROM\tPOS\tID\tREF\tALT\n" + "\n".join(lines) + "\n")
    path.with_suffix(".psam").write_text("#IID\n" + "\n".join(FRAME.index) + "\n")


def write_bgen(path: Path, dosages: np.ndarray = DOSAGES, bits: int = 8) -> None:
    """Probabilities of two neighbouring genotypes, so that their mean is the dosage."""
    names = list(FRAME.index)
    with bgen.BgenWriter(path, len(dosages), samples=names[: len(dosages)]) as writer:
        for i, column in enumerate(dosages.T):
            chances = np.array([np.clip(1 - np.abs(column - k), 0, 1) for k in range(3)]).T
            place = {"chrom": "1", "pos": 100 * i + 1, "alleles": ["A", "C"]}
            writer.add_variant(f"id{i}", f"v{i}", genotypes=chances, bit_depth=bits, **place)


def vcf_text(dosages: np.ndarray = DOSAGES) -> str:
    calls = {0.0: "0/0", 1.0: "0|1", 2.0: "1/1"}
    kind = '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">'
    head = f"##fileformat=VCFv4.2\n##contig=<ID=1>\n{kind}\n"
    names = "CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT"
    rows = ["\t".join([f"#{names}", *FRAME.index])]
    for i, column in enumerate(dosages.T):
        fields = ["1", str(100 * i + 1), f"v{i}", "A", "C", ".", ".", ".", "GT"]
        rows.append("\t".join([*fields, *(calls.get(v, "./.") for v in column.tolist())]))
    return head + "\n".join(rows) + "\n"


def write_bcf(path: Path) -> None:
    plain = path.with_name("plain.vcf")
    plain.write_text(vcf_text())
    read = cyvcf2.VCF(str(plain))
    writer = cyvcf2.Writer(str(path), read, mode="wb")
    for variant in read:
        writer.write_record(variant)
    writer.close()
    read.close()
    plain.unlink()


def write_series(path: Path) -> None:
    """A series matrix of GEO."""
    ids = "\t".join(f'"{one}"' for one in FRAME.index)
    rows = (
        f'"{name}"\t' + "\t".join("" if np.isnan(v) else str(v) for v in column)
        for name, column in zip(FRAME.columns, VALUES.T, strict=True)
    )
    ages = "\t".join(f'"age: {20 + i}"' for i in range(14))
    with gzip.open(path, "wt") as file:
        file.write(f'!Series_title\t"A series"\n!Sample_characteristics_ch1\t{ages}\n')
        file.write(f'!series_matrix_table_begin\n"ID_REF"\t{ids}\n' + "\n".join(rows) + "\n")
        file.write("!series_matrix_table_end\n")


def write_images(path: Path) -> None:
    path.mkdir()
    for i, row in enumerate(np.nan_to_num(VALUES).astype(np.float32)):
        nibabel.save(
            nibabel.Nifti1Image(row.reshape(1, 2, 3, order="F"), np.eye(4)),
            path / f"sub-{i:02}.nii.gz",
        )


def unpack_vcf(folder: Path) -> Made:
    with zipfile.ZipFile(VCF) as archive:
        archive.extractall(folder)
    return folder / "calls.vcz", None


def image(path: Path) -> None:
    stacked = np.nan_to_num(VALUES).astype(np.float32).T.reshape(1, 2, 3, 14, order="F")
    nibabel.save(nibabel.Nifti1Image(stacked, np.eye(4)), path)


IMAGES = np.nan_to_num(VALUES).astype(np.float32)
EXAMPLES: dict[str, dict[str, Make]] = {
    "numpy": {"array": lambda _: (VALUES, VALUES), "lists": lambda _: (VALUES.tolist(), VALUES)},
    "zarr-array": {"array": lambda _: (zarr.array(VALUES), VALUES)},
    "dask": {"array": lambda _: (dask.array.from_array(VALUES, chunks=(5, 4)), VALUES)},
    "sparse": {"csr": lambda _: (sparse.csr_matrix(COUNTS), COUNTS)},
    "frame": {"frame": lambda _: (FRAME, VALUES)},
    "anndata-object": {"object": lambda _: (cells(), VALUES)},
    "npy": {"file": plain(lambda p: np.save(p, VALUES), "x.npy")},
    "npz": {"csc": plain(lambda p: sparse.save_npz(p, sparse.csc_matrix(COUNTS)), "x.npz", COUNTS)},
    "zarr": {"folder": plain(write_zarr, "x.zarr")},
    "hdf5": {"file": plain(write_hdf5, "x.h5")},
    "matlab": {"v5": plain(lambda p: scipy.io.savemat(p, {"x": VALUES}), "x.mat")},
    "text": {
        "csv": plain(FRAME.to_csv, "x.csv"),
        "tsv.gz": plain(lambda p: FRAME.to_csv(p, sep="\t"), "x.tsv.gz"),
        "series": plain(write_series, "GSE1_series_matrix.txt.gz"),
    },
    "parquet": {
        "file": plain(FRAME.to_parquet, "x.parquet"),
        "folder": plain(write_parquets, "parts"),
    },
    "arrow": {"feather": plain(write_arrow, "x.feather")},
    "libsvm": {"file": plain(write_libsvm, "x.libsvm", np.nan_to_num(COUNTS))},
    "arff": {"file": plain(write_arff, "x.arff")},
    "anndata": {
        "h5ad": plain(lambda p: cells().write_h5ad(p), "x.h5ad"),
        "zarr": plain(lambda p: cells().write_zarr(p), "cells.zarr"),
    },
    "plink": {"bed": plain(write_bed, "x.bed", DOSAGES)},
    "pgen": {"pgen": plain(write_pgen, "x.pgen", DOSAGES)},
    "bgen": {"bgen": plain(write_bgen, "x.bgen", DOSAGES)},
    "vcf": {
        "vcf": plain(lambda p: p.write_text(vcf_text()), "x.vcf", DOSAGES),
        "bcf": plain(write_bcf, "x.bcf", DOSAGES),
    },
    "vcf-zarr": {"folder": unpack_vcf},
    "nifti": {
        "file": plain(image, "x.nii", IMAGES),
        "folder": plain(write_images, "images", IMAGES),
    },
}
