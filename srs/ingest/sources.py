"""Choose the kind of a source by its type or by the suffix of its path.

Each kind has its own module and is imported only when it is used.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import zarr
from scipy import sparse

from srs.errors import SourceError
from srs.ingest.arrays import check_shape, is_dask, open_dask, open_numpy, open_zarr
from srs.ingest.block import Source, Wanted, check_orientation
from srs.ingest.npy import find_npy, open_npy
from srs.ingest.objects import is_anndata, open_anndata, open_sparse
from srs.ingest.zarr_checks import check_folder

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
IMAGE_SUFFIXES = (".nii", ".nii.gz")
HDF_SUFFIXES = (".h5ad", ".h5", ".hdf5", ".hdf", ".mat")
KINDS = (
    "a numpy, zarr or dask array, a DataFrame, a sparse matrix, an AnnData object, or a path to "
    ".npy, .csv, .tsv, .txt (also .gz), .parquet, .arrow, .feather, .zarr, .h5ad, .h5, .mat, .bed, "
    ".npz, .libsvm, .arff, or .nii"
)


def open_source(source: Any, wanted: Wanted) -> Source:
    """The Source of whatever the user gave; SourceError if it is of no known kind."""
    check_orientation(wanted.orientation)
    if isinstance(source, (str, os.PathLike)):
        return open_path(Path(source), wanted)
    _refuse_unused(wanted, "the source", has_arrays=is_anndata(source))
    if isinstance(source, pd.DataFrame):
        from srs.ingest.frames import open_frame

        return open_frame(source, wanted)
    if isinstance(source, zarr.Array):
        return open_zarr(source, wanted)
    if is_dask(source):
        return open_dask(source, wanted)
    if isinstance(source, np.memmap) and (path := find_npy(source)) is not None:
        return open_npy(path, wanted)
    if isinstance(source, (np.ndarray, list, tuple)):
        return _open_array(np.asarray(source), wanted)
    if sparse.issparse(source):
        return open_sparse(source, wanted)
    if is_anndata(source):
        return open_anndata(source, wanted)
    raise SourceError(f"a {type(source).__name__} cannot be a source: give {KINDS}.")


def _refuse_unused(
    wanted: Wanted, where: str, has_voxels: bool = False, has_arrays: bool = False
) -> None:
    """A mask or the name of an array must not be ignored: the user expects other features."""
    if wanted.mask is not None and not has_voxels:
        raise SourceError(f"a mask chooses voxels, and {where} is no image: leave it out (--mask).")
    if wanted.dataset is not None and not has_arrays:
        raise SourceError(
            f"{where} is no file of several arrays: leave out the name {wanted.dataset!r} "
            f"(--dataset)."
        )


def _open_array(array: np.ndarray, wanted: Wanted) -> Source:
    if array.dtype.kind not in "OUST":
        return open_numpy(array, wanted)
    check_shape(array.shape, "the array")
    from srs.ingest.frames import open_frame

    frame = pd.DataFrame(array if wanted.orientation == "samples" else array.T)
    return open_frame(frame.infer_objects(), _as_samples(wanted))


def _as_samples(wanted: Wanted) -> Wanted:
    return replace(wanted, orientation="samples")


def open_path(path: Path, wanted: Wanted) -> Source:
    """The Source of a file or of a zarr folder."""
    if not path.exists():
        raise SourceError(f"{path} does not exist.")
    name = path.name.lower()
    suffixes = [suffix.lower() for suffix in path.suffixes]
    last = suffixes[-1] if suffixes else ""
    is_zarr = path.is_dir() and (last == ".zarr" or _is_zarr(path))
    is_hdf = last in HDF_SUFFIXES
    is_image = not is_zarr and (
        name.endswith(IMAGE_SUFFIXES) or (path.is_dir() and _holds(path, *IMAGE_SUFFIXES))
    )
    _refuse_unused(wanted, str(path), is_image, is_zarr or is_hdf)
    if is_zarr:
        return _open_zarr_folder(path, wanted)
    if is_hdf:
        return _open_hdf(path, last, wanted)
    if last in (".bed", ".bim", ".fam"):
        from srs.ingest.plink import open_plink

        return open_plink(path.with_suffix(".bed"), wanted)
    if last == ".npy":
        return open_npy(path, wanted)
    if (opened := _open_sparse_text(path, last, wanted)) is not None:
        return opened
    if is_image:
        from srs.ingest.nifti import open_nifti

        return open_nifti(path, wanted)
    if last in (".parquet", ".arrow", ".feather") or (path.is_dir() and _holds(path, ".parquet")):
        from srs.ingest.parquet import open_arrow, open_parquet

        return (open_arrow if last in (".arrow", ".feather") else open_parquet)(path, wanted)
    inner = suffixes[-2] if last == ".gz" and len(suffixes) > 1 else last
    if inner in TEXT_SUFFIXES:
        from srs.ingest.text import open_text

        return open_text(path, wanted)
    raise SourceError(f"the kind of {path} is not known: give {KINDS}.")


def _open_sparse_text(path: Path, suffix: str, wanted: Wanted) -> Source | None:
    if suffix == ".npz":
        from srs.ingest.npz import open_npz

        return open_npz(path, wanted)
    if suffix in (".svm", ".libsvm", ".svmlight"):
        from srs.ingest.libsvm import open_libsvm

        return open_libsvm(path, wanted)
    if suffix == ".arff":
        from srs.ingest.arff import open_arff

        return open_arff(path, wanted)
    return None


def _holds(folder: Path, *suffixes: str) -> bool:
    return any(path.name.lower().endswith(suffixes) for path in folder.rglob("*"))


def _is_zarr(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("zarr.json", ".zarray", ".zgroup"))


def _open_zarr_folder(folder: Path, wanted: Wanted) -> Source:
    """AnnData, VCF Zarr, or an array: by what is inside."""
    check_folder(folder)
    if (folder / "obs").is_dir() and (folder / "var").is_dir():
        from srs.ingest.anndata import open_zarr_anndata

        return open_zarr_anndata(folder, wanted)
    from srs.ingest.vcf_zarr import is_vcf_zarr, open_vcf_zarr

    if is_vcf_zarr(folder):
        _refuse_unused(wanted, str(folder))
        return open_vcf_zarr(folder, wanted)
    return open_zarr(folder if wanted.dataset is None else folder / wanted.dataset, wanted)


def _open_hdf(path: Path, suffix: str, wanted: Wanted) -> Source:
    if suffix == ".h5ad":
        from srs.ingest.anndata import open_h5ad

        return open_h5ad(path, wanted)
    if suffix == ".mat":
        from srs.ingest.matlab import open_mat

        return open_mat(path, wanted)
    from srs.ingest.hdf5 import open_hdf5

    return open_hdf5(path, wanted)
