"""Formats of a field of science: AnnData, PLINK, VCF Zarr, NIfTI."""
