"""What cannot become a store is refused with a sentence that says what, where and what to do."""

import gzip

import dask.array
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest
import zarr

from srs.errors import MemoryBudgetError, SettingsError, SourceError, StoreError
from srs.ingest import ingest

X = np.arange(20.0).reshape(5, 4)
Y = [0, 1, 0, 1, 1]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (np.zeros(7), r"shape \(7,\)"),
        (np.zeros((2, 3, 4)), r"shape \(2, 3, 4\)"),
        (np.zeros((0, 4)), r"shape \(0, 4\)"),
        (np.zeros((4, 0)), r"shape \(4, 0\)"),
        (np.zeros((1, 4)), "1 sample; at least 2"),
        (np.zeros((4, 4), complex), "dtype complex128"),
        (np.zeros((4, 4), "datetime64[s]"), "dtype datetime64"),
        (pd.DataFrame({"t": pd.date_range("2020", periods=3), "x": 1.0}), "'t' has dtype datetime"),
        (pd.DataFrame({"c": [1j, 2j], "x": ["a", "b"]}), "'c' has dtype complex128"),
        (pd.DataFrame({"c": [f"k{i}" for i in range(256)]}), "'c' has 256 categories .* most 255"),
        (pd.DataFrame({"c": [[1], [2, 3]]}), "'c' has dtype mixed"),
        ({"a": 1}, "a dict cannot be a source"),
        ("nowhere.npy", "nowhere.npy does not exist"),
        (dask.array.zeros((4, 4))[dask.array.arange(4) > 1], "compute_chunk_sizes"),
    ],
)
def test_sources_that_are_refused(source, message):
    with pytest.raises(SourceError, match=message):
        ingest(source)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["a", "b"]}, "2 names and the source has 4 features"),
        ({"sample_ids": ["a", "b"]}, "2 sample ids and the source has 5 samples"),
        ({"orientation": "rows"}, "'rows'; it must be"),
        ({"categorical": ["f9"]}, "'f9', and no feature"),
        ({"categorical": [9]}, r"feature 9; ids are 0\.\.3"),
        ({"target": [1, 2, 3]}, "has 3 values and the source has 5 samples"),
        ({"target": [0, 1, np.nan, 1, 0]}, "missing in 1 samples, the first is row 2"),
        ({"target": ["a", "b", "a", None, "b"]}, "missing in 1 samples, the first is row 3"),
        ({"target": [0.5, 1, 2, np.inf, 0]}, "infinite in 1 samples, the first is row 3"),
        ({"target": ["a"] * 5}, "only one class \\('a'\\)"),
        ({"target": [0.5] * 5}, "constant \\(0.5\\)"),
        ({"target": list("abcde")}, "5 classes for 5 samples"),
        ({"target": list("abcab"), "target_kind": "numbers"}, "not numeric"),
        ({"target": Y, "target_kind": "ranking"}, "'ranking'; it must be one of"),
        ({"target": np.zeros((5, 2))}, r"shape \(5, 2\)"),
        ({"target": np.zeros(5, complex)}, "dtype complex128"),
        ({"target": "outcome"}, "'outcome' names a column"),
        ({"target": {"a/b": Y}}, "'a/b' cannot name a target"),
    ],
)
def test_options_that_are_refused(options, message, tmp_path):
    with pytest.raises(SourceError, match=message):
        ingest(X, tmp_path / "s.zarr", **options)
    assert list(tmp_path.iterdir()) == []


def test_target_columns_that_are_not_there(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (tmp_path / "t.csv", tmp_path / "t.parquet"):
        with pytest.raises(SourceError, match="no file has it; did you mean 'a'"):
            ingest(source, target="aa")
    for source in (frame, tmp_path / "t.csv", tmp_path / "t.parquet"):
        with pytest.raises(SourceError, match="the target 'e': no column"):
            ingest(source, target="e")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3\n", "line 3: 1 fields instead of 2"),
        ("a,b\n1,2\n3,4,5\n", "line 3: 3 fields instead of 2"),
        (
            "a,b\n" + "1,2\n" * 1500 + "1,oops\n",
            r"line 1502: 'oops' in the numeric column 'b'.*categorical=\['b'\]",
        ),
        ("", "is empty"),
        ("a,b\n", "has a header but no samples"),
        ('a,b\n1,"2\n', "line 2: a quote is never closed"),
        (
            "a,b\n" + "".join(f"1,k{i}\n" for i in range(256)),
            "'b' has more than 255 categories.*'k255' in line 257",
        ),
        ("id,y\n1,2\n3,4\n", "no feature"),
    ],
)
def test_text_files_that_are_refused(content, message, tmp_path):
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(SourceError, match=message):
        ingest(tmp_path / "t.csv", target="y" if "y" in content else None)
    assert len(list(tmp_path.iterdir())) == 1


def test_text_that_is_not_text(tmp_path):
    (tmp_path / "latin.csv").write_bytes("a,b\n1,caf\xe9\n".encode("latin-1"))
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 99)[:-9])
    (tmp_path / "fake.csv.gz").write_bytes(b"a,b\n1,2\n")
    for name in ("latin.csv", "cut.csv.gz", "fake.csv.gz"):
        with pytest.raises(SourceError, match=f"{name} cannot be read"):
            ingest(tmp_path / name)
    with pytest.raises(SourceError, match="it is not in UTF-8, perhaps in Latin-1; save it as"):
        ingest(tmp_path / "latin.csv")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_with_a_mark_are_read(tmp_path, encoding):
    text = "é,b\n1,2\n3,5\n".encode(encoding)
    (tmp_path / "x.csv").write_bytes(text)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(text))
    for name in ("x.csv", "x.csv.gz"):
        store = ingest(tmp_path / name)
        assert store.feature_names == ["é", "b"]
        assert store.read_codes([0, 1]).tolist() == [[0, 0], [1, 1]]


@pytest.mark.filterwarnings("ignore:Feather V1")
def test_forms_of_arrow_that_are_not_files(tmp_path):
    table = pa.table({"a": [1.0, 2.0], "b": [3.0, 5.0]})
    with pa.ipc.new_stream(tmp_path / "t.arrow", table.schema) as stream:
        stream.write_table(table)
    with pytest.raises(SourceError, match=r"it is a stream; write it in the file format"):
        ingest(tmp_path / "t.arrow")
    pyarrow.feather.write_feather(table, tmp_path / "t.feather", version=1)
    with pytest.raises(SourceError, match=r"it is Feather version 1; write it as version 2"):
        ingest(tmp_path / "t.feather")
    (tmp_path / "t.arrow").write_bytes(b"")
    with pytest.raises(SourceError, match=r"t\.arrow cannot be read as an Arrow file"):
        ingest(tmp_path / "t.arrow")


def test_npy_files_that_are_refused(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, X)
    whole = path.read_bytes()
    path.write_bytes(whole[:-8])
    size = len(whole)
    with pytest.raises(SourceError, match=f"promises {size} bytes and it has {size - 8}"):
        ingest(path)
    path.write_bytes(b"not numpy at all")
    with pytest.raises(SourceError, match=r"not a \.npy file"):
        ingest(path)
    np.save(path, np.array([[1, "a"], [None, 2]], dtype=object), allow_pickle=True)
    with pytest.raises(SourceError, match="holds Python objects"):
        ingest(path)


def test_other_files_that_are_refused(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 but no more")
    with pytest.raises(SourceError, match="cannot be read as Parquet"):
        ingest(tmp_path / "t.parquet")
    (tmp_path / "t.xyz").write_text("1")
    with pytest.raises(SourceError, match=r"t\.xyz is unknown"):
        ingest(tmp_path / "t.xyz")
    group = zarr.create_group(tmp_path / "g.zarr")
    group.create_array("inside", shape=(2, 2), dtype="f4")
    with pytest.raises(SourceError, match=r"zarr group, not an array.*\(inside\)"):
        ingest(tmp_path / "g.zarr")


def test_features_as_rows_have_no_target_column(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.to_csv(tmp_path / "t.csv")
    frame.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        with pytest.raises(SourceError, match="columns are samples"):
            ingest(tmp_path / name, orientation="features", target="a")


def test_memory_that_is_not_enough(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((200_000, 3)))
    with pytest.raises(MemoryBudgetError, match=r"needs .*MB of memory and 100MB are") as caught:
        ingest(tmp_path / "x.npy", tmp_path / "s.zarr", memory="100MB")
    assert caught.value.needed_mem > caught.value.allowed_mem == 100_000_000
    needed = caught.value.needed_mem
    ingest(tmp_path / "x.npy", tmp_path / "s.zarr", memory=needed)
    with pytest.raises(MemoryBudgetError, match="or give a path, so that the store is not kept"):
        ingest(np.zeros((1000, 20_000), np.int8), memory=250_000_000)
    with pytest.raises(SettingsError, match="amount of memory"):
        ingest(X, memory="much")


def test_destinations_that_are_refused(tmp_path):
    path = tmp_path / "s.zarr"
    ingest(X, path)
    with pytest.raises(StoreError, match="exists already"):
        ingest(X, path)
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(StoreError, match="not a feature store and is not overwritten"):
        ingest(X, tmp_path / "x.npy", overwrite=True)
    with pytest.raises(SourceError, match="the source itself"):
        ingest(path, path, overwrite=True)
    assert ingest(X[:, :2], path, overwrite=True).n_features == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [("x.mat", "cannot be read as a MATLAB file"), ("x.libsvm", "has no samples: it is empty")],
)
def test_empty_files(tmp_path, name, said):
    (tmp_path / name).touch()
    with pytest.raises(SourceError, match=said):
        ingest(tmp_path / name)
