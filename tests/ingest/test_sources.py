"""Every kind of source in both orientations becomes the same store as the plain array."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from srs.ingest import ingest
from srs.ingest.values import read_values
from tests.ingest import make


@pytest.fixture
def values():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(31, 45)).round(3)
    values[:, 5] = rng.integers(0, 3, 31)
    values[rng.random((31, 45)) < 0.05] = np.nan
    return values


TARGET = np.arange(31) % 3


@pytest.mark.parametrize("orientation", make.ORIENTATIONS)
@pytest.mark.parametrize("kind", make.PLAIN_KINDS)
def test_plain_sources_give_the_same_store(kind, orientation, values, tmp_path):
    expected = ingest(values, target=TARGET)
    source = make.make_plain(kind, values, orientation, tmp_path)
    store = ingest(source, tmp_path / "s.zarr", target=TARGET, orientation=orientation)
    assert store.fingerprint == expected.fingerprint
    assert not store.has_names
    np.testing.assert_array_equal(store.feature_ids, expected.feature_ids)
    np.testing.assert_array_equal(read_values(store, np.arange(45)), values)


@pytest.mark.parametrize("orientation", make.ORIENTATIONS)
@pytest.mark.parametrize("kind", make.NAMED_KINDS)
def test_named_sources_give_the_same_store(kind, orientation, values, tmp_path):
    names, ids = make.names_of(values), make.ids_of(values)
    expected = ingest(values, target=TARGET, names=names, sample_ids=ids)
    source = make.make_named(kind, values, orientation, tmp_path)
    store = ingest(source, tmp_path / "s.zarr", target=TARGET, orientation=orientation)
    assert store.fingerprint == expected.fingerprint
    assert store.feature_names == names
    assert store.sample_ids == ids
    np.testing.assert_array_equal(read_values(store, [44, 0, 7]), values[:, [44, 0, 7]])


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", ">f8", "<f4", ">i2"]
)
def test_dtypes(dtype, tmp_path):
    rng = np.random.default_rng(1)
    values = rng.integers(0, 2 if dtype == "bool" else 90, size=(20, 6)).astype(dtype)
    np.save(tmp_path / "x.npy", values)
    expected = ingest(values.astype(np.float64))
    assert ingest(tmp_path / "x.npy").fingerprint == expected.fingerprint
    assert ingest(values).fingerprint == expected.fingerprint


@pytest.fixture
def mixed():
    """A table with numbers, text, booleans, categories and missing values."""
    n = 24
    return pd.DataFrame(
        {
            "x": np.arange(n) / 7,
            "colour": pd.Series(["red", "green", None, "blue"] * 6, dtype=object),
            "flag": np.arange(n) % 2 == 0,
            "count": np.arange(n) % 5,
            "site": np.arange(n) % 4,
            "y": ["case", "control", "control"] * 8,
        }
    )


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "parquet", "frame"])
def test_tables_with_text(kind, mixed, tmp_path):
    path = tmp_path / f"t.{kind}"
    if kind == "parquet":
        mixed.to_parquet(path, index=False)
    elif kind != "frame":
        mixed.astype({"flag": int}).to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    source = mixed if kind == "frame" else path
    store = ingest(source, tmp_path / "s.zarr", target="y", categorical=["site"])
    assert store.feature_names == ["x", "colour", "flag", "count", "site"]
    assert store.kinds.tolist() == [0, 2, 0, 0, 2]
    assert store.n_levels.tolist() == [24, 3, 2, 5, 4]
    assert store.labels(1) == ("blue", "green", "red")
    assert store.labels(4) == ("0", "1", "2", "3")
    assert store.labels(0) == ()
    assert store.read_codes([1])[:4, 0].tolist() == [2, 1, 255, 0]
    assert store.target().labels == ("case", "control")
    assert store.target().name == "y"
    assert store.fingerprint == ingest(mixed, target="y", categorical=[4]).fingerprint
    back = read_values(store, [1, 3])
    np.testing.assert_array_equal(back[:4, 0], [2, 1, np.nan, 0])
    np.testing.assert_array_equal(back[:, 1], mixed["count"])


def test_ordered_categories_keep_their_order():
    grade = pd.Categorical(
        ["mid", "low", None, "high"], categories=["low", "mid", "high", "never"], ordered=True
    )
    plain = pd.Categorical([10, 9, 10, 100])
    store = ingest(pd.DataFrame({"grade": grade, "plain": plain}), target=[0, 1, 0, 1])
    assert store.kinds.tolist() == [1, 2]
    assert store.labels(0) == ("low", "mid", "high")
    assert store.labels(1) == ("9", "10", "100")
    assert store.read_codes([0, 1]).T.tolist() == [[1, 0, 255, 2], [1, 0, 1, 2]]


def test_nullable_and_object_columns():
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None, 3], dtype="Int64"),
            "b": pd.array([True, None, False], dtype="boolean"),
            "o": pd.Series([1, None, 2.5], dtype=object),
            "t": pd.Series([True, None, False], dtype=object),
            "d": pd.Series([Decimal("1.5"), None, Decimal(2)], dtype=object),
            "s": pd.array(["u", None, "v"], dtype="string"),
        }
    )
    store = ingest(frame, target=[0, 1, 1])
    assert store.kinds.tolist() == [0, 0, 0, 0, 0, 2]
    assert store.read_codes(range(6))[1].tolist() == [255] * 6
    assert store.n_levels.tolist() == [2] * 6


def test_whole_maps_are_read_as_their_files_and_parts_are_not(tmp_path):
    values = np.random.default_rng(0).normal(size=(9, 6))
    np.save(tmp_path / "x.npy", values)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert ingest(mapped).manifest.source["kind"] == "npy"
    part = ingest(mapped[2:, ::2])
    assert part.manifest.source["kind"] == "array"
    assert part.fingerprint == ingest(values[2:, ::2]).fingerprint


def test_arrays_of_text():
    array = np.array([["a", "x"], ["b", "x"], ["a", "y"]])
    for source, orientation in ((array, "samples"), (array.T, "features")):
        store = ingest(source, orientation=orientation)
        assert store.kinds.tolist() == [2, 2]
        assert store.labels(0) == ("a", "b")
        assert not store.has_names


def test_permuted_columns_give_the_same_codes_by_place(values):
    order = np.random.default_rng(2).permutation(values.shape[1])
    store, permuted = ingest(values, target=TARGET), ingest(values[:, order], target=TARGET)
    assert store.fingerprint == permuted.fingerprint
    np.testing.assert_array_equal(store.feature_ids, order[permuted.feature_ids])


def test_duplicates_are_spread():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(16, 4000)).astype(np.float32)
    values[:, :1000] = values[:, :1]
    store = ingest(values)
    places = np.sort(store.places_of(np.arange(1000)))
    gaps = np.diff(places)
    assert gaps.max() < 80
    assert (gaps == 1).mean() < 0.5


def test_memory_and_disk_stores_are_equal(values, tmp_path):
    inside, outside = ingest(values), ingest(values, tmp_path / "s.zarr")
    assert inside.fingerprint == outside.fingerprint
    ids = np.arange(values.shape[1])
    np.testing.assert_array_equal(inside.read_codes(ids), outside.read_codes(ids))
