"""The formats of `srs`, in the order in which they are offered and tried: one descriptor each.

A new format is one new file of `arrays`, `tables` or `domains`, which holds its reader and its
descriptor, and a name in the tuple here. Then

    make generate        # or: python -m srs.ingest.formats.catalogue

copies the descriptors to formats.json, where `registry` reads them without loading the readers.
"""

from __future__ import annotations

from srs.ingest.formats.arrays.hdf5 import HDF5_FORMAT
from srs.ingest.formats.arrays.in_memory import DASK_FORMAT, ZARR_ARRAY_FORMAT, ZARR_FORMAT
from srs.ingest.formats.arrays.matlab import MATLAB_FORMAT
from srs.ingest.formats.arrays.npy import NPY_FORMAT
from srs.ingest.formats.arrays.npz import NPZ_FORMAT
from srs.ingest.formats.arrays.objects import ANNDATA_OBJECT_FORMAT, NUMPY_FORMAT, SPARSE_FORMAT
from srs.ingest.formats.domains.anndata import ANNDATA_FORMAT
from srs.ingest.formats.domains.bgen import BGEN_FORMAT
from srs.ingest.formats.domains.nifti import NIFTI_FORMAT
from srs.ingest.formats.domains.pgen import PGEN_FORMAT
from srs.ingest.formats.domains.plink import PLINK_FORMAT
from srs.ingest.formats.domains.vcf import VCF_FORMAT
from srs.ingest.formats.domains.vcf_zarr import VCF_ZARR_FORMAT
from srs.ingest.formats.registry import INDEX, index_text
from srs.ingest.formats.tables.arff import ARFF_FORMAT
from srs.ingest.formats.tables.frames import FRAME_FORMAT
from srs.ingest.formats.tables.libsvm import LIBSVM_FORMAT
from srs.ingest.formats.tables.parquet import ARROW_FORMAT, PARQUET_FORMAT
from srs.ingest.formats.tables.text import TEXT_FORMAT

# AnnData and VCF in zarr before plain zarr: a folder is of the first format that fits.
FORMATS = (
    ANNDATA_OBJECT_FORMAT,
    ANNDATA_FORMAT,
    PLINK_FORMAT,
    PGEN_FORMAT,
    BGEN_FORMAT,
    VCF_FORMAT,
    VCF_ZARR_FORMAT,
    NIFTI_FORMAT,
    NUMPY_FORMAT,
    ZARR_ARRAY_FORMAT,
    DASK_FORMAT,
    SPARSE_FORMAT,
    NPY_FORMAT,
    NPZ_FORMAT,
    ZARR_FORMAT,
    HDF5_FORMAT,
    MATLAB_FORMAT,
    FRAME_FORMAT,
    TEXT_FORMAT,
    PARQUET_FORMAT,
    ARROW_FORMAT,
    LIBSVM_FORMAT,
    ARFF_FORMAT,
)

if __name__ == "__main__":
    INDEX.write_text(index_text(FORMATS))
