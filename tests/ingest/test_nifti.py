"""NIfTI images that nibabel wrote: one of four dimensions or a folder, with and without a mask."""

import nibabel
import numpy as np
import pytest

from srs.errors import SourceError
from srs.ingest import ingest
from srs.ingest.values import read_values

N, SHAPE = 14, (5, 4, 3)
RNG = np.random.default_rng(10)
IMAGES = RNG.normal(size=(*SHAPE, N)).astype(np.float32)
AFFINE = np.diag([2.0, 2.0, 3.0, 1.0])
MASK = RNG.random(SHAPE) < 0.4
TARGET = np.arange(N) % 2


def save(path, values, affine=AFFINE):
    nibabel.Nifti1Image(values, affine).to_filename(path)
    return path


def write(kind, folder):
    if kind == "folder":
        (folder / "images").mkdir()
        for i in range(N):
            suffix = ".nii.gz" if i % 2 else ".nii"
            save(folder / "images" / f"sub-{i:02}{suffix}", IMAGES[..., i])
        return folder / "images"
    return save(folder / f"all{kind}", IMAGES)


@pytest.mark.parametrize("kind", [".nii", ".nii.gz", "folder"])
def test_voxels_of_a_mask(kind, tmp_path):
    path = write(kind, tmp_path)
    mask = save(tmp_path / "mask.nii.gz", MASK.astype(np.uint8))
    store = ingest(path, tmp_path / "s.zarr", mask=mask, target=TARGET)
    values = IMAGES.reshape(-1, N, order="F")[MASK.reshape(-1, order="F")].T
    np.testing.assert_array_equal(read_values(store, np.arange(store.n_features)), values)
    assert store.n_features == MASK.sum()
    ijk = store.annotations()
    at = tuple(ijk[axis].values[7] for axis in "ijk")
    np.testing.assert_array_equal(values[:, 7], IMAGES[at])
    expected = ["sub-00", "sub-01"] if kind == "folder" else ["0", "1"]
    assert store.sample_ids[:2] == expected


def test_all_voxels_and_scaled_values(tmp_path):
    image = nibabel.Nifti1Image(IMAGES, AFFINE)
    image.header.set_data_dtype(np.int16)
    image.to_filename(tmp_path / "x.nii")
    known = np.asarray(nibabel.load(tmp_path / "x.nii").dataobj)
    store = ingest(tmp_path / "x.nii", tmp_path / "s.zarr")
    read = read_values(store, np.arange(60))
    np.testing.assert_allclose(read.T, known.reshape(60, N, order="F"), rtol=1e-6)


def test_nan_is_outside_of_a_mask(tmp_path):
    mask = save(tmp_path / "mask.nii", np.where(MASK, 1.0, np.nan).astype(np.float32))
    store = ingest(write(".nii", tmp_path), mask=mask)
    assert store.n_features == MASK.sum()


@pytest.mark.parametrize("other", ["shifted", "flipped"])
def test_images_at_other_places_are_refused(other, tmp_path):
    """Guards voxels: without it they would be other places of the body in other samples."""
    folder = write("folder", tmp_path)
    affine = AFFINE.copy()
    if other == "shifted":
        affine[1, 3] = 8
    else:
        affine[0, 0] *= -1
    save(folder / "sub-05.nii.gz", IMAGES[..., 5], affine)
    with pytest.raises(
        SourceError, match=r"sub-05.nii.gz has another position in space than .*sub-00.nii"
    ):
        ingest(folder)


def test_a_mask_or_dataset_is_never_ignored(tmp_path):
    image = write(".nii", tmp_path)
    np.save(tmp_path / "x.npy", IMAGES[0, 0])
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4\n")
    for source in (tmp_path / "x.npy", tmp_path / "x.csv", np.eye(4)):
        with pytest.raises(SourceError, match="is not an image: leave it out"):
            ingest(source, mask=image)
    for source in (tmp_path / "x.npy", tmp_path / "x.csv", np.eye(4), image):
        with pytest.raises(SourceError, match="leave out the name 'layers/counts'"):
            ingest(source, dataset="layers/counts")


def test_what_is_refused(tmp_path):
    path = write(".nii", tmp_path)
    one = save(tmp_path / "one.nii", IMAGES[..., 0])
    for source, mask, message in (
        (one, None, "is one image, which is one sample"),
        (path, save(tmp_path / "a.nii", np.ones((2, 2, 2), np.uint8)), "resample it"),
        (path, save(tmp_path / "b.nii", np.zeros(SHAPE, np.uint8)), "is empty"),
        (path, save(tmp_path / "c.nii", np.ones(SHAPE, np.uint8), 3 * AFFINE), "another position"),
    ):
        with pytest.raises(SourceError, match=message):
            ingest(source, mask=mask)
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(SourceError, match="truncated"):
        ingest(path)
    path.write_bytes(b"no image")
    with pytest.raises(SourceError, match="cannot be read as NIfTI"):
        ingest(path)
    folder = write("folder", tmp_path)
    save(folder / "odd.nii", IMAGES[:2, ..., 0])
    with pytest.raises(SourceError, match="images must have the same shape"):
        ingest(folder)
