"""scipy's .npz, libsvm and ARFF files: zeros are exact, nominal attributes are categories."""

import tempfile
from importlib import import_module
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import scipy.io.arff
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from benchmarks.measure import reference_folder
from srs.errors import SourceError
from srs.ingest import ingest
from srs.ingest.encode.transpose_sparse import SparseSpill
from srs.ingest.values import read_values
from tests.ingest.make import ORIENTATIONS
from tests.reference.encode_twin import encode_twin

RNG = np.random.default_rng(9)
VALUES = np.where(RNG.random((26, 34)) < 0.75, 0.0, RNG.normal(size=(26, 34)).round(4))
VALUES[0, -1] = 1.25  # the last feature is not empty
TARGET = np.arange(26) % 3


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("mem", ["1GB", "small"])
def test_npz(form, orientation, mem, tmp_path, monkeypatch):
    if mem == "small":  # bands of few items
        monkeypatch.setattr(import_module("srs.ingest.write"), "buffer_mem", lambda _: 2000)
    bands, add = [], SparseSpill.add
    monkeypatch.setattr(SparseSpill, "add", lambda *given: bands.append(given[1]) or add(*given))
    values = VALUES if orientation == "samples" else VALUES.T
    sparse.save_npz(tmp_path / "x.npz", sparse.csr_matrix(values).asformat(form))
    store = ingest(tmp_path / "x.npz", tmp_path / "s.zarr", orientation=orientation, target=TARGET)
    by_features = (form, orientation) in (("csc", "samples"), ("csr", "features"))
    assert (len(bands) > 0) == (not by_features)
    assert (len(bands) > 10) == (not by_features and mem == "small")
    assert store.fingerprint == ingest(VALUES, target=TARGET).fingerprint
    np.testing.assert_array_equal(read_values(store, [33, 2]), VALUES[:, [33, 2]])


@st.composite
def stored_items(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    """Items in any order, some places twice: mostly counts, now and then what has no short way."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(1, 40)), draw(st.integers(1, 9))
    n_items = draw(st.integers(0, 2 * shape[0] * shape[1]))
    odd = draw(st.sampled_from([0.0, -1.0, 0.5, 254.0, 255.0, np.nan, np.inf]))
    values = rng.choice(
        [0.0, 1.0, 2.0, 7.0, 100.0, odd], n_items, p=[0.1, 0.5, 0.2, 0.1, 0.05, 0.05]
    )
    return rng.integers(0, shape[0], n_items), rng.integers(0, shape[1], n_items), values, shape


# An explicit zero before the value of the same place.
ZEROS = (np.array([0, 0, 1, 2, 2]), np.zeros(5, int), np.array([0.0, 7, 2, 0, 7]), (4, 1))


@example(ZEROS, True, np.float32)
@given(stored_items(), st.booleans(), st.sampled_from([np.float32, np.float64]))
def test_counts_are_coded_as_dense_values(items, in_file, dtype):
    """Guards the short way of counts: bands in memory and in the file, one and many, items that
    are stored in two parts; the twin codes the dense sums."""
    rows, columns, values, (n, p) = items
    dense = np.zeros((p, n), dtype)
    np.add.at(dense, (columns, rows), values.astype(dtype))
    spill = SparseSpill(Path(tempfile.gettempdir()), np.dtype(dtype), 0 if in_file else 1 << 20)
    half = len(values) // 2
    for part in (slice(None, half), slice(half, None)):
        order = np.argsort(rows[part], kind="stable")
        starts = np.searchsorted(rows[part][order], np.arange(n + 1))
        spill.add(0, p, starts, columns[part][order], values[part][order])
    block = spill.read(0, p, n)
    np.testing.assert_array_equal(block[0:p], dense)
    codes, n_levels = np.empty((p, n), np.uint8), np.empty(p, np.uint8)
    wholes = bool(np.isin(values, np.arange(255)).all() and (dense < 255).all())
    assert block.encode_wholes(slice(0, p), codes, n_levels) == wholes
    spill.close()
    for line in range(p if wholes else 0):
        expected, n_expected = encode_twin(dense[line].tolist())
        assert codes[line].tolist() == expected
        assert n_levels[line] == n_expected


def test_npz_that_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    for content, message in (
        ({"a": VALUES}, "not contain a scipy sparse matrix"),
        ({"format": "bsr", "shape": (2, 2)}, "is a 'bsr' matrix"),
        ({"format": "csr", "shape": (2, 2)}, "indptr is missing"),
        (
            {
                "format": "csr",
                "shape": (2, 2),
                "indptr": [0, 1, 2],
                "indices": [0, 9],
                "data": [1.0, 2.0],
            },
            "index outside its shape",
        ),
        (
            {
                "format": "csr",
                "shape": (2, 2),
                "indptr": [0, 1, 5],
                "indices": [0, 1],
                "data": [1.0, 2.0],
            },
            "is truncated",
        ),
        (
            {"format": "coo", "shape": (2, 2), "row": [0, 7], "col": [0, 1], "data": [1.0, 2.0]},
            "index outside its shape",
        ),
        (
            {
                "format": "csr",
                "shape": (2, 2),
                "indptr": np.array([0, {}, 2], object),
                "indices": [0, 1],
                "data": [1.0, 2.0],
            },
            "not a vector of numbers",
        ),
    ):
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
    monkeypatch.setattr(import_module("srs.ingest.formats.tables.libsvm"), "LEAST_PIECE", piece)
    if piece == 300:
        monkeypatch.setattr(import_module("srs.ingest.formats.tables.libsvm"), "TEXT_COPIES", 10**9)
    store = ingest(path, tmp_path / "s.zarr", target="label")
    names = None if zero_based else [f"f{i + 1}" for i in range(34)]
    expected = ingest(VALUES, names=names, target={"label": TARGET})
    assert store.fingerprint == expected.fingerprint
    assert store.feature_names == expected.feature_names
    np.testing.assert_array_equal(read_values(store, [3]), VALUES[:, [3]])


@pytest.mark.parametrize("zero_based", [True, False])
def test_features_of_libsvm_have_the_numbers_of_the_file(zero_based, tmp_path):
    """Guards names: a file that counts from 0 may never use the 0."""
    values = VALUES.copy()
    values[:, 0] = 0
    dump_svmlight_file(values, TARGET, str(tmp_path / "x.svm"), zero_based=zero_based)
    store = ingest(tmp_path / "x.svm", tmp_path / "s.zarr")
    lines = [line.split() for line in (tmp_path / "x.svm").read_text().splitlines()]
    expected = [dict(item.split(":") for item in line[1:]).get("5", "0") for line in lines]
    at = store.feature_names.index("f5")
    assert read_values(store, [at])[:, 0].tolist() == [float(value) for value in expected]


def test_queries_of_libsvm(tmp_path, monkeypatch):
    monkeypatch.setattr(import_module("srs.ingest.formats.tables.libsvm"), "LEAST_PIECE", 300)
    monkeypatch.setattr(import_module("srs.ingest.formats.tables.libsvm"), "TEXT_COPIES", 10**9)
    path, queries = tmp_path / "x.svm", 700 + np.arange(26) // 4
    dump_svmlight_file(VALUES, TARGET, str(path), query_id=queries, comment="1 qid:3 no sample")
    store = ingest(path, tmp_path / "s.zarr", target={"label": "label", "qid": "qid"})
    target = store.target("qid")
    assert [target.labels[v] for v in target.values] == [str(q) for q in queries]
    assert store.n_features == VALUES.shape[1]
    path.write_text("1 3:2.5\n0 qid:7 4:1\n1 3:1\n")
    with pytest.raises(SourceError, match="has a qid in 1 of 3 lines"):
        ingest(path, target={"label": "label", "qid": "qid"})


def test_libsvm_with_lines_of_comments(tmp_path, monkeypatch):
    """Guards that pieces do not overlap: one may end before, in or after such lines."""
    monkeypatch.setattr(import_module("srs.ingest.formats.tables.libsvm"), "LEAST_PIECE", 100)
    monkeypatch.setattr(import_module("srs.ingest.formats.tables.libsvm"), "TEXT_COPIES", 10**9)
    path, labels = tmp_path / "x.svm", np.repeat(np.arange(26), 2)
    dump_svmlight_file(VALUES.repeat(2, axis=0), labels, str(path), zero_based=False)
    lines = path.read_text().splitlines()
    path.write_text("".join(f"{line}\n# {'-' * 17 * (i % 9)}\n\n" for i, line in enumerate(lines)))
    store = ingest(path, tmp_path / "s.zarr", target="label")
    assert store.target().values.tolist() == labels.tolist()
    np.testing.assert_array_equal(read_values(store, [7])[::2, 0], VALUES[:, 7])


def test_libsvm_that_is_refused(tmp_path):
    path = tmp_path / "x.svm"
    for line, message in (
        ("0 oops", "line 2: 'oops' is not the number of a feature and a value"),
        ("0 2:x", "line 2: '2:x' is not the number"),
        ("0 -1:2", "line 2: '-1:2' is not the number"),
        ("0 3:1 2:1", "line 2: '2:1' is out of order"),
        ("0 99999999999:1", "line 2: '99999999999:1' is out of order, or its number is too"),
        ("yes 3:1", "line 2: the label 'yes' is not a number"),
    ):
        path.write_text(f"1 qid:1 3:2.5 # first\n{line}\n")
        with pytest.raises(SourceError, match=message):
            ingest(path)
    path.write_text("1 3:2.5\n0 4:1\n1 3:1\n")
    with pytest.raises(SourceError, match="has only 'label' and 'qid'"):
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


def test_labels_of_arff_are_categories_whatever_they_say(tmp_path):
    levels = ["None", "NA", "nan", "mild"]
    rows = [f"{levels[i % 4]},{i % 40},{i}" for i in range(200)]
    rows[3], rows[5] = "?,3,3", "NA,?,5"
    path = tmp_path / "x.arff"
    path.write_text(
        f"@relation r\n@attribute sev {{None,NA,nan,mild}} % how bad it is\n"
        f"@attribute site {{{','.join(map(str, range(40)))}}}\n"
        f"@attribute x real % 5 is 'five'\n@data\n" + "\n".join(rows)
    )
    store = ingest(path, tmp_path / "s.zarr", target="site")
    assert store.kinds.tolist() == [2, 0]
    assert store.labels(0) == ("NA", "None", "mild", "nan")
    target = store.target()
    assert (target.kind, len(target.labels), store.n_samples) == ("classes", 40, 199)
    expected = [0 if i == 5 else 255 if i == 3 else (1, 0, 3, 2)[i % 4] for i in range(200)]
    assert store.read_codes([0])[:, 0].tolist() == expected[:5] + expected[6:]
    severe = ingest(path, target="sev").target()
    assert severe.labels == ("NA", "None", "mild", "nan")
    assert np.bincount(severe.values).tolist() == [50, 50, 49, 50]
    numbers = tmp_path / "numbers.arff"
    numbers.write_text("@attribute a {1,NA}\n@attribute b real\n@data\n1,1\nNA,2\n1,3\n")
    assert ingest(numbers).labels(0) == ("1", "NA")


@pytest.mark.skipif(reference_folder() is None, reason="no reference data (SRS_REFERENCE_DATA)")
def test_a_real_arff_file():
    """Primary tumor of the UCI repository, compared with scipy's own reading of it."""
    path = reference_folder() / "data" / "primary_tumor" / "primary.tumor.arff"
    known, about = scipy.io.arff.loadarff(path)
    store = ingest(path, target="class")
    assert store.feature_names == about.names()[:-1]
    codes = store.read_codes(np.arange(17))
    for i, name in enumerate(store.feature_names):
        labels = {code: label.encode() for code, label in enumerate(store.labels(i))}
        assert [labels.get(code, b"?") for code in codes[:, i].tolist()] == known[name].tolist()
    target = store.target()
    assert [target.labels[v].encode() for v in target.values] == known["class"].tolist()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("@relation r\n@attribute a real\n", "has no @data"),
        ("@relation r\n@data\n1\n", "has no attribute"),
        ("@attribute a date\n@data\n1\n", "line 1: attributes of type 'date'"),
        ("@attribute a real\nhello\n@data\n", "line 2: 'hello' is not an attribute"),
        ("@attribute a real\n@data\n{0 1}\n", "line 3: sparse ARFF"),
        ("@attribute a real\n@attribute b real\n@data\n1\n", "line 4: 1 fields instead of 2"),
    ],
)
def test_arff_that_is_refused(content, message, tmp_path):
    (tmp_path / "x.arff").write_text(content)
    with pytest.raises(SourceError, match=message):
        ingest(tmp_path / "x.arff")
