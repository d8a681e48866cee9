"""scipy's .npz, libsvm and ARFF files: zeros are exact, nominal attributes are categories."""

from importlib import import_module
from io import StringIO

import numpy as np
import pytest
import scipy.io.arff
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from srs.errors import SourceError
from srs.ingest import ingest
from srs.ingest.values import read_values
from tests.ingest.make import ORIENTATIONS

RNG = np.random.default_rng(9)
VALUES = np.where(RNG.random((26, 34)) < 0.75, 0.0, RNG.normal(size=(26, 34)).round(4))
VALUES[0, -1] = 1.25  # the last feature is not empty
TARGET = np.arange(26) % 3


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("mem", ["1GB", "small"])
def test_npz(form, orientation, mem, tmp_path, monkeypatch):
    if mem == "small":  # bands of few items
        monkeypatch.setattr(import_module("srs.ingest.writing"), "buffer_mem", lambda _: 2000)
    values = VALUES if orientation == "samples" else VALUES.T
    sparse.save_npz(tmp_path / "x.npz", sparse.csr_matrix(values).asformat(form))
    store = ingest(tmp_path / "x.npz", tmp_path / "s.zarr", orientation=orientation, target=TARGET)
    assert store.fingerprint == ingest(VALUES, target=TARGET).fingerprint
    np.testing.assert_array_equal(read_values(store, [33, 2]), VALUES[:, [33, 2]])


def test_npz_that_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    for content, message in (
        ({"a": VALUES}, "no sparse matrix of scipy"),
        ({"format": "bsr", "shape": (2, 2)}, "is a 'bsr' matrix"),
        ({"format": "csr", "shape": (2, 2)}, "indptr is missing"),
        ({"format": "csr", "shape": (2, 2), "indptr": [0, 1, 2], "indices": [0, 9],
          "data": [1.0, 2.0]}, "index out of its shape"),
        ({"format": "csr", "shape": (2, 2), "indptr": [0, 1, 5], "indices": [0, 1],
          "data": [1.0, 2.0]}, "is truncated"),
        ({"format": "coo", "shape": (2, 2), "row": [0, 7], "col": [0, 1], "data": [1.0, 2.0]},
         "index out of its shape"),
        ({"format": "csr", "shape": (2, 2), "indptr": np.array([0, {}, 2], object),
          "indices": [0, 1], "data": [1.0, 2.0]}, "no vector of numbers"),
    ):  # fmt: skip
        np.savez(path, **{k: np.asarray(v) for k, v in content.items()})
        with pytest.raises(SourceError, match=message):
            ingest(path)
    path.write_bytes(b"PK not a zip")
    with pytest.raises(SourceError, match=r"cannot be read as \.npz"):
        ingest(path)


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("piece", [1 << 16, 300])
def test_libsvm(zero_based, piece, tmp_path, monkeypatch):
    path = tmp_path / "x.libsvm"
    dump_svmlight_file(VALUES, TARGET, str(path), zero_based=zero_based)
    monkeypatch.setattr(import_module("srs.ingest.libsvm"), "LEAST_PIECE", piece)
    if piece == 300:
        monkeypatch.setattr(import_module("srs.ingest.libsvm"), "TEXT_COPIES", 10**9)
    values = VALUES
    if zero_based and not VALUES[:, 0].any():
        values = VALUES[:, 1:]
    store = ingest(path, tmp_path / "s.zarr", target="label")
    assert store.fingerprint == ingest(values, target={"label": TARGET}).fingerprint
    np.testing.assert_array_equal(read_values(store, [3]), values[:, [3]])


def test_libsvm_that_is_refused(tmp_path):
    path = tmp_path / "x.svm"
    path.write_text("1 3:2.5\n0 oops\n")
    with pytest.raises(SourceError, match="cannot be read as libsvm"):
        ingest(path)
    path.write_text("1 3:2.5\n0 4:1\n1 3:1\n")
    with pytest.raises(SourceError, match="has only 'label'"):
        ingest(path, target="y")


ARFF = """% a comment
@RELATION weather

@ATTRIBUTE 'out look' {sunny, overcast, 'very rainy'}
@attribute temperature real
@attribute humidity NUMERIC
@attribute play {yes,no}
@DATA
sunny,85,85.5,no
% another
'very rainy',80,?,yes
overcast, 83,86,yes
?,70,96,no
"""


def test_arff(tmp_path):
    path = tmp_path / "weather.arff"
    path.write_text(ARFF)
    store = ingest(path, tmp_path / "s.zarr", target="play")
    assert store.feature_names == ["out look", "temperature", "humidity"]
    assert store.kinds.tolist() == [2, 0, 0]
    assert store.labels(0) == ("overcast", "sunny", "very rainy")
    codes = store.read_codes([0])[:, 0].tolist()
    assert codes == [1, 2, 0, 255]
    known, _ = scipy.io.arff.loadarff(StringIO(ARFF.replace("'very rainy'", "rainy")))
    np.testing.assert_array_equal(read_values(store, [1])[:, 0], known["temperature"])
    np.testing.assert_array_equal(read_values(store, [2])[:, 0], known["humidity"])
    target = store.target()
    assert [target.labels[v].encode() for v in target.values] == known["play"].tolist()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("@relation r\n@attribute a real\n", "has no @data"),
        ("@relation r\n@data\n1\n", "has no attribute"),
        ("@attribute a date\n@data\n1\n", "line 1: attributes of type 'date'"),
        ("@attribute a real\nhello\n@data\n", "line 2: 'hello' is no attribute"),
        ("@attribute a real\n@data\n{0 1}\n", "line 3: sparse ARFF"),
        ("@attribute a real\n@attribute b real\n@data\n1\n", "line 4: 1 fields instead of 2"),
    ],
)
def test_arff_that_is_refused(content, message, tmp_path):
    (tmp_path / "x.arff").write_text(content)
    with pytest.raises(SourceError, match=message):
        ingest(tmp_path / "x.arff")
