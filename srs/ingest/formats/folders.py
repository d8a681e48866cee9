"""What a folder is, by what it holds: asked before anything that reads data is imported.

The client of the service asks too, where nothing that reads data is installed. So these functions
stand here, and not beside the readers.
"""

from __future__ import annotations

from pathlib import Path

METADATA = ("zarr.json", ".zarray", ".zgroup")  # one of them is in every zarr folder
IMAGES = (".nii", ".nii.gz")


def is_zarr(folder: Path) -> bool:
    """Whether a folder is zarr, by its name or by what is in it."""
    return folder.suffix.lower() == ".zarr" or any((folder / n).is_file() for n in METADATA)


def is_anndata(folder: Path) -> bool:
    return is_zarr(folder) and (folder / "obs").is_dir() and (folder / "var").is_dir()


def is_vcf_zarr(folder: Path) -> bool:
    inside = ("call_genotype", "variant_position")
    return is_zarr(folder) and any((folder / name).is_dir() for name in inside)


def holds_images(folder: Path) -> bool:
    return not is_zarr(folder) and _holds(folder, IMAGES)


def holds_parquet(folder: Path) -> bool:
    return _holds(folder, (".parquet",))


def _holds(folder: Path, ends: tuple[str, ...]) -> bool:
    return any(path.name.lower().endswith(ends) for path in folder.rglob("*"))
