"""HDF5 datasets and MATLAB files, in both orientations; files that lead elsewhere are refused."""

from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io
from scipy import sparse

from srs.errors import MemoryBudgetError, SourceError
from srs.ingest import ingest
from srs.ingest.values import read_values
from srs.store import open_store
from tests.cli.conftest import invoke
from tests.ingest.make import ORIENTATIONS

RNG = np.random.default_rng(5)
VALUES = RNG.normal(size=(23, 31))
VALUES[2, 3] = np.nan
TARGET = np.arange(23) % 2
EXPECTED = ingest(VALUES, target={"y": TARGET})


def write(path, orientation, matlab=False, **options):
    """A file as h5py writes it; MATLAB's has a block before it and matrices transposed."""
    values = VALUES if (orientation == "samples") != matlab else np.ascontiguousarray(VALUES.T)
    with h5py.File(path, "w", userblock_size=512 if matlab else 0) as file:
        file.create_dataset("data/x", data=values, **options)
        file["y"] = TARGET[None, :]
    if matlab:
        with path.open("r+b") as raw:
            raw.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116))


@pytest.mark.parametrize("options", [{}, {"chunks": (5, 7), "compression": "gzip"}])
@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("suffix", [".h5", ".mat"])
def test_datasets(suffix, orientation, options, tmp_path):
    path = tmp_path / f"x{suffix}"
    write(path, orientation, suffix == ".mat", **options)
    store = ingest(path, tmp_path / "s.zarr", target="y", orientation=orientation)
    assert store.fingerprint == EXPECTED.fingerprint
    np.testing.assert_array_equal(read_values(store, [30, 3]), VALUES[:, [30, 3]])


def test_a_file_of_hdf5storage(tmp_path):
    """MATLAB's v7.3 as hdf5storage 0.2.2 writes it: x is 7 samples x 5 features, y a column."""
    path = Path(__file__).parent / "files" / "x73.mat"
    store = ingest(path, tmp_path / "s.zarr", dataset="x", target="y")
    values = np.random.default_rng(4).normal(size=(7, 5)).round(3)
    np.testing.assert_array_equal(read_values(store, np.arange(5)), values)
    assert store.target().values.tolist() == [0, 1, 0, 1, 0, 1, 0]
    turned = ingest(path, dataset="x", orientation="features")
    assert (turned.n_samples, turned.n_features) == (5, 7)


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("compressed", [False, True])
def test_matlab_5(orientation, compressed, tmp_path):
    path = tmp_path / "x.mat"
    data = {"x": VALUES if orientation == "samples" else VALUES.T, "y": TARGET}
    scipy.io.savemat(path, data, do_compression=compressed)
    store = ingest(path, tmp_path / "s.zarr", target="y", orientation=orientation)
    assert store.fingerprint == EXPECTED.fingerprint
    np.testing.assert_array_equal(read_values(store, [30, 3]), VALUES[:, [30, 3]])
    with pytest.raises(SourceError, match="no variable 'z'; matrices are x"):
        ingest(path, dataset="z")


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("version", [5, 7.3])
def test_sparse_matrices_of_matlab(version, orientation, tmp_path):
    path = tmp_path / "x.mat"
    values = np.where(RNG.random((23, 31)) < 0.8, 0, VALUES)
    matrix = sparse.csc_matrix(values if orientation == "samples" else values.T)
    if version == 5:
        scipy.io.savemat(path, {"x": matrix})
    else:
        with h5py.File(path, "w", userblock_size=512) as file:
            group = file.create_group("x")
            group.attrs["MATLAB_sparse"] = matrix.shape[0]
            for name, part in (("data", "data"), ("ir", "indices"), ("jc", "indptr")):
                group[name] = getattr(matrix, part)
        with path.open("r+b") as raw:
            raw.write(b"MATLAB 7.3 MAT-file".ljust(116))
    assert ingest(path, orientation=orientation).fingerprint == ingest(values).fingerprint


def test_the_data_must_be_named_where_there_is_a_choice(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a"], file["b/c"], file["empty"] = VALUES, VALUES[:, :9], np.zeros((0, 4))
    with pytest.raises(SourceError, match=r"2 matrices of numbers.*--dataset.*/a, /b/c"):
        ingest(tmp_path / "x.h5")
    assert ingest(tmp_path / "x.h5", dataset="b/c").n_features == 9
    with pytest.raises(SourceError, match="no dataset 'd'; there are /a, /b/c"):
        ingest(tmp_path / "x.h5", dataset="d")
    with pytest.raises(SourceError, match=r"shape \(0, 4\)"):
        ingest(tmp_path / "x.h5", dataset="empty")
    (tmp_path / "no.h5").write_bytes(b"something else")
    with pytest.raises(SourceError, match=r"no.h5 cannot be opened as HDF5"):
        ingest(tmp_path / "no.h5")
    (tmp_path / "no.mat").write_bytes(b"something else" * 30)
    with pytest.raises(SourceError, match=r"no.mat cannot be read as a MATLAB file"):
        ingest(tmp_path / "no.mat")


def test_targets_of_texts(tmp_path):
    texts = [f"caf\u00e9 {i % 3}" for i in range(23)]
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["x"] = VALUES
        file.create_dataset("y", data=texts, dtype=h5py.string_dtype())
        file.create_dataset("raw", data=[b"\xff\xfe"] * 23, dtype=h5py.string_dtype())
        file.create_dataset("link", data=[file["x"].ref] * 23, dtype=h5py.ref_dtype)
    assert ingest(tmp_path / "x.h5", target="y").target("y").labels == tuple(sorted(set(texts)))
    for name in ("raw", "link"):
        with pytest.raises(SourceError, match=rf"x.h5: /{name} holds neither numbers nor texts"):
            ingest(tmp_path / "x.h5", target=name)


def write_matlab_labels(path, labels):
    """A v7.3 file as MATLAB writes it: cells are references into #refs#, texts are columns of
    UTF-16 codes, char matrices are padded."""
    with h5py.File(path, "w", userblock_size=512) as file:
        file["x"] = VALUES.T
        inside = file.create_group("#refs#")
        references = np.empty((1, 23), h5py.ref_dtype)
        for i, label in enumerate(labels):
            is_text = isinstance(label, str)
            codes = np.array([[ord(c)] for c in label], "u2") if is_text else np.array([[label]])
            one = inside.create_dataset(f"c{i}", data=codes if codes.size else np.zeros(2, "u8"))
            one.attrs["MATLAB_class"] = np.bytes_("char" if is_text else "double")
            if not codes.size:
                one.attrs["MATLAB_empty"] = np.uint8(1)
            references[0, i] = one.ref
        file.create_dataset("cells", data=references, dtype=h5py.ref_dtype)
        file["cells"].attrs["MATLAB_class"] = np.bytes_("cell")
        padded = [str(label).ljust(9) for label in labels]
        file["chars"] = np.array([[ord(c) for c in text] for text in padded], "u2").T
        file["chars"].attrs["MATLAB_class"] = np.bytes_("char")
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116))


@pytest.mark.parametrize("version", [5, 7.3])
def test_labels_of_matlab(version, tmp_path):
    labels = [("caf\u00e9", "control")[i % 2] for i in range(23)]
    labels[4] = ""

    def write(labels):
        if version == 7.3:
            write_matlab_labels(tmp_path / "x.mat", labels)
        else:
            cells = np.empty((23, 1), object)
            cells[:, 0] = labels
            chars = np.array([str(label).ljust(9) for label in labels])
            scipy.io.savemat(tmp_path / "x.mat", {"x": VALUES, "cells": cells, "chars": chars})
        return tmp_path / "x.mat"

    for name in ("cells", "chars"):
        store = ingest(write(labels), target=name)  # the one matrix of numbers is x
        target = store.target(name)
        assert store.n_features == 31
        assert [target.labels[v] for v in target.values] == [one for one in labels if one]
        assert any("missing in 1 sample, which was" in said for said in store.manifest.notices)
    numbers = ingest(write([float(i % 3) for i in range(23)]), target="cells").target("cells")
    assert numbers.labels == ("0", "1", "2")
    lengths = ingest(write([i / 4 for i in range(23)]), target="cells").target("cells")
    assert lengths.kind == "numbers"
    assert lengths.values.tolist() == [i / 4 for i in range(23)]
    with pytest.raises(SourceError, match=r"x.mat: /?chars"):
        ingest(tmp_path / "x.mat", dataset="chars")


def test_cells_that_are_no_labels_are_refused(tmp_path):
    """Guards secrets, too: a group that holds itself stays in the file when its name is gone, and
    is not seen by the look at links."""
    path = tmp_path / "x.mat"
    (tmp_path / "secret").write_bytes(VALUES.tobytes())
    for kind in ("matrix", "group", "outside"):
        write_matlab_labels(path, ["a", "b"] * 11 + ["a"])
        with h5py.File(path, "r+") as file:
            hidden = file.create_group("hidden")
            hidden["itself"] = hidden
            outside = [(str(tmp_path / "secret"), 0, 8)]
            hidden.create_dataset("outside", (1, 1), "f8", external=outside)
            known = {"matrix": file["x"], "group": hidden, "outside": hidden["outside"]}
            file["cells"][0, 3] = known[kind].ref
            del file["hidden"]
        with pytest.raises(SourceError, match=r"x.mat: /cells has a cell"):
            ingest(path, target="cells")


def test_small_datasets_and_targets_in_groups(tmp_path):
    """HDF5 stores at most 64 KB beside the description of a dataset (compact)."""
    layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    layout.set_layout(h5py.h5d.COMPACT)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        space = h5py.h5s.create_simple(VALUES.shape)
        found = h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_DOUBLE, space, layout)
        h5py.Dataset(found)[...] = VALUES
        file["about/y"], file["about/site"] = TARGET, np.arange(23) % 4
    store = ingest(tmp_path / "x.h5", tmp_path / "s.zarr", target="about/y")
    assert store.fingerprint == EXPECTED.fingerprint
    np.testing.assert_array_equal(read_values(store, [30, 3]), VALUES[:, [30, 3]])
    invoke(
        *[
            "ingest",
            tmp_path / "x.h5",
            tmp_path / "t.zarr",
            "--target",
            "about/y",
            "--sample-column",
            "about/site",
        ],
    )
    assert open_store(tmp_path / "t.zarr").target_names == ("y", "site")


def test_targets_of_another_shape_are_refused(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["x"], file["short"], file["matrix"] = VALUES, TARGET[:9], VALUES[:, :2]
    scipy.io.savemat(
        tmp_path / "x.mat", {"x": VALUES, "short": TARGET[:9], "matrix": VALUES[:, :2]}
    )
    for suffix in (".h5", ".mat"):
        for name, shape in (("short", r"\(9,\)"), ("matrix", r"\(23, 2\)")):
            with pytest.raises(SourceError, match=rf"'{name}'.* has shape {shape}"):
                ingest(tmp_path / f"x{suffix}", dataset="x", target=name)


def test_files_that_lead_elsewhere_are_refused(tmp_path):
    """Guards secrets: a file must not make us read what its owner may not."""
    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["x"] = VALUES
    (tmp_path / "raw.bin").write_bytes(VALUES.tobytes())
    with h5py.File(tmp_path / "link.h5", "w") as file:
        file["deep/x"] = h5py.ExternalLink(str(secret), "x")
    with h5py.File(tmp_path / "external.h5", "w") as file:
        outside = [(str(tmp_path / "raw.bin"), 0, VALUES.nbytes)]
        file.create_dataset("x", VALUES.shape, "f8", external=outside)
    with h5py.File(tmp_path / "virtual.h5", "w") as file:
        layout = h5py.VirtualLayout(VALUES.shape, "f8")
        layout[:] = h5py.VirtualSource(secret, "x", VALUES.shape)
        file.create_virtual_dataset("x", layout)
    for name in ("link", "external", "virtual"):
        for copy in (f"{name}.h5", f"{name}.h5ad"):
            (tmp_path / copy).write_bytes((tmp_path / f"{name}.h5").read_bytes())
            with pytest.raises(SourceError, match=r"another file|in other files"):
                ingest(tmp_path / copy)


def test_hollow_and_large_files_are_refused(tmp_path):
    with h5py.File(tmp_path / "hollow.h5", "w") as file:
        file.create_dataset("x", (10**6, 10**6), "f8", chunks=(1000, 1000))
    with pytest.raises(SourceError, match="claims 8TB of values and stores 0B"):
        ingest(tmp_path / "hollow.h5")
    scipy.io.savemat(tmp_path / "x.mat", {"x": np.zeros((3000, 3000))}, do_compression=True)
    with pytest.raises(MemoryBudgetError, match="takes 144MB while it is read"):
        ingest(tmp_path / "x.mat", memory="320MB")
