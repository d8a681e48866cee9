"""NIfTI images: a sample an image, a feature a voxel inside the mask.

A source is one image of four dimensions, whose last are the samples, or a folder of images of
three, one a sample. nibabel reads headers; values are read as a stream, one volume at a time, so
that compressed images are not decompressed again for every volume. How relevant voxels are written
back is `srs.export.nifti`.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from srs.errors import SourceError
from srs.ingest.block import Wanted
from srs.ingest.formats.arrays.hdf5 import file_record
from srs.ingest.formats.arrays.in_memory import folder_mark
from srs.ingest.formats.folders import FolderSigns
from srs.ingest.formats.format import FILE, FOLDER, Format
from srs.ingest.readers.extras import require
from srs.ingest.readers.matrix import MatrixSource, rectangle
from srs.ingest.readers.size_guard import refuse_hollow
from srs.store.layout import Annotation

IMAGES = (".nii", ".nii.gz")


@dataclass(frozen=True)
class Image:
    """What the header of an image says.

    shape   voxels of a volume
    n       volumes
    dtype   of the stored values
    offset  where they start
    scale   slope and intercept, None if values are as stored
    affine  voxels to millimetres
    """

    path: Path
    shape: tuple[int, int, int]
    n: int
    dtype: np.dtype[Any]
    offset: int
    scale: tuple[float, float] | None
    affine: np.ndarray


def read_header(path: Path) -> Image:
    nibabel = require("nibabel", str(path))
    try:
        image = nibabel.load(path)
        stored = image.dataobj
        shape, dtype, offset = tuple(int(n) for n in image.shape), stored.dtype, int(stored.offset)
        slope, intercept = float(stored.slope), float(stored.inter)
    except Exception as error:
        raise SourceError(f"{path} cannot be read as NIfTI: {error}") from None
    if len(shape) not in (3, 4) or 0 in shape or dtype.kind not in "biuf":
        raise SourceError(f"{path} has shape {shape} and dtype {dtype}, which is not read.")
    n_bytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    refuse_hollow(n_bytes, path.stat().st_size, str(path))
    return Image(
        path=path,
        shape=(shape[0], shape[1], shape[2]),
        n=1 if len(shape) == 3 else shape[3],
        dtype=dtype,
        offset=offset,
        scale=None if (slope, intercept) == (1.0, 0.0) else (slope, intercept),
        affine=np.asarray(image.affine),
    )


class VolumeMatrix:
    """Images as rows of voxels; a row is always read whole."""

    in_memory = False

    def __init__(self, images: Sequence[Image], inside: np.ndarray) -> None:
        self._images, self._inside = images, inside
        self._rows = [(image, k) for image in images for k in range(image.n)]
        self.shape = (len(self._rows), len(inside))
        scaled = any(i.scale is not None or i.dtype != images[0].dtype for i in images)
        self.dtype = np.dtype(np.float32) if scaled else images[0].dtype.newbyteorder("=")
        self.grain = (1, self.shape[1])
        self.min_run = self.shape[1]
        self.held = 2 * self.dtype.itemsize
        n_voxels = int(np.prod(images[0].shape))
        self.fixed_mem = n_voxels * (images[0].dtype.itemsize + 2 * self.dtype.itemsize)
        self._open: tuple[Path, IO[bytes], int] | None = None  # and the volume that comes next

    def fetch(self, rows: slice, columns: slice, out: np.ndarray | None = None) -> np.ndarray:
        chosen = self._inside[columns]
        out = rectangle(rows, slice(0, len(chosen)), self.dtype, out)
        for at, row in enumerate(range(rows.start, rows.stop)):
            out[at] = self._volume(*self._rows[row])[chosen]
        return out

    def pick(self, lines: np.ndarray, axis: int) -> np.ndarray:
        assert axis == 1  # rows are samples
        chosen = self._inside[lines]
        return np.stack([self._volume(*row)[chosen] for row in self._rows], axis=1)

    def _volume(self, image: Image, number: int) -> np.ndarray:
        """All voxels of a volume, the first axis running fastest."""
        raw = np.empty(int(np.prod(image.shape)), image.dtype)
        file = self._at(image, number, raw.nbytes)
        view = raw.view(np.uint8).data
        while len(view):
            try:
                n_read = file.readinto(view)  # type: ignore[attr-defined]
            except (OSError, EOFError) as error:
                raise SourceError(f"{image.path} cannot be read: {error}") from None
            if not n_read:
                raise SourceError(f"{image.path} is truncated: volume {number} is incomplete.")
            view = view[n_read:]
        self._open = (image.path, file, number + 1)
        if image.scale is None:
            return raw
        slope, intercept = image.scale
        return (raw * slope + intercept).astype(np.float32)

    def _at(self, image: Image, number: int, n_bytes: int) -> IO[bytes]:
        """The file, where a volume starts."""
        if self._open is not None and self._open[0] == image.path and self._open[2] == number:
            return self._open[1]
        self.close()
        opener = gzip.open if image.path.name.lower().endswith(".gz") else open
        file: Any = opener(image.path, "rb")
        file.seek(image.offset + number * n_bytes)
        return file  # type: ignore[no-any-return]

    def close(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None


def open_nifti(path: Path, wanted: Wanted) -> MatrixSource:
    images = _read_images(path)
    inside = mask_voxels(wanted.mask, images[0])
    if path.is_dir():
        record: dict[str, Any] = {
            "kind": "nifti",
            "path": str(path.resolve()),
            **folder_mark(path),
            "orientation": "samples",
        }
    else:
        record = file_record("nifti", path, wanted)
    record["affine"] = images[0].affine.tolist()  # voxels to millimetres
    record["mask"] = None if wanted.mask is None else str(wanted.mask.resolve())
    source = MatrixSource(VolumeMatrix(images, inside), False, wanted, record)
    if path.is_dir():
        source.sample_ids = [image.path.name.partition(".nii")[0] for image in images]
    places = np.unravel_index(inside, images[0].shape, order="F")
    source.annotations = {
        axis: Annotation(at.astype(np.int32)) for axis, at in zip("ijk", places, strict=True)
    }
    return source


def first_image(path: Path) -> Image:
    """The header of a source's first image."""
    return _read_images(path)[0]


def _read_images(path: Path) -> list[Image]:
    if not path.is_dir():
        image = read_header(path)
        if image.n < 2:
            raise SourceError(
                f"{path} is one image, which is one sample: give a folder of images, or an image "
                f"of four dimensions."
            )
        return [image]
    paths = sorted(p for p in path.iterdir() if p.name.lower().endswith(IMAGES))
    images = [read_header(one) for one in paths]
    for image in images:
        if image.n != 1 or image.shape != images[0].shape:
            raise SourceError(
                f"{image.path} has {image.n} volumes of {image.shape} voxels and "
                f"{images[0].path} one of {images[0].shape}: all images must have the same shape."
            )
        if not _same_place(image, images[0]):
            raise SourceError(
                f"{image.path} has another position in space than {images[0].path}: a voxel would "
                f"not be the same place in both. Resample the images to one space."
            )
    if not images:
        raise SourceError(f"the folder {path} contains no image: put .nii files into it.")
    return images


def _same_place(one: Image, other: Image) -> bool:
    return bool(np.allclose(one.affine, other.affine, atol=1e-3))


def mask_voxels(mask: Path | None, image: Image) -> np.ndarray:
    """Numbers of the voxels that are features, the first axis running fastest; NaN is outside."""
    if mask is None:
        return np.arange(int(np.prod(image.shape)))
    header = read_header(mask)
    if header.n != 1 or header.shape != image.shape:
        raise SourceError(
            f"the mask {mask} has {header.shape} voxels and the images {image.shape}: resample it."
        )
    if not _same_place(header, image):
        raise SourceError(f"the mask {mask} has another position in space than {image.path}.")
    matrix = VolumeMatrix([header], np.arange(int(np.prod(header.shape))))
    try:
        values = matrix.fetch(slice(0, 1), slice(None))[0]
    finally:
        matrix.close()
    inside = np.flatnonzero((values != 0) & ~np.isnan(values))
    if not len(inside):
        raise SourceError(f"the mask {mask} is empty: no voxel is a feature.")
    return inside


NIFTI_FORMAT = Format(
    name="nifti",
    title="NIfTI",
    help="one feature per voxel (of `mask`, if given); an image with four dimensions, or a folder",
    open=open_nifti,
    kinds=(FILE, FOLDER),
    suffixes=IMAGES,
    signs=FolderSigns(zarr=False, one_of=tuple(f"*{end}" for end in IMAGES)),
    options=("mask",),
    extra="formats",
    safe=True,
)
