"""Original values read back: kept in the store, from the source, or refused."""

import os

import numpy as np
import pandas as pd
import pytest

from srs.errors import InputError, SourceError
from srs.ingest import ingest
from srs.ingest.values import read_values

X = np.random.default_rng(0).normal(size=(30, 12)).astype(np.float32)


def test_arrays_are_kept_only_on_disk(tmp_path):
    store = ingest(X, tmp_path / "s.zarr")
    values = read_values(store, [3, 0])
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values, X[:, [3, 0]])
    with pytest.raises(SourceError, match="its source was in memory"):
        read_values(ingest(X), [0])
    np.testing.assert_array_equal(read_values(ingest(X, keep_values=True), [1]), X[:, [1]])


def test_files_are_read_again(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, X)
    store = ingest(path, tmp_path / "s.zarr")
    assert store.kept_values(np.array([0])) is None
    np.testing.assert_array_equal(read_values(store, [11, 2]), X[:, [11, 2]])
    assert read_values(store, []).shape == (30, 0)
    with pytest.raises(InputError, match="ids must be"):
        read_values(store, [12])


def test_wide_files_are_read_value_by_value(tmp_path):
    wide = np.random.default_rng(0).normal(size=(3, 20_000))
    np.save(tmp_path / "x.npy", wide)
    store = ingest(tmp_path / "x.npy", tmp_path / "s.zarr")
    np.testing.assert_array_equal(read_values(store, [19_999]), wide[:, [19_999]])


def test_kept_values_need_no_file(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, X)
    store = ingest(path, tmp_path / "s.zarr", keep_values=True)
    path.unlink()
    np.testing.assert_array_equal(read_values(store, np.arange(12)), X)


@pytest.mark.parametrize("kind", ["npy", "zarr"])
def test_changed_or_lost_files_are_refused(kind, tmp_path):
    path = tmp_path / f"x.{kind}"
    if kind == "npy":
        np.save(path, X)
        inside = path
    else:
        import zarr

        array = zarr.create_array(path, shape=X.shape, chunks=(5, 5), dtype=X.dtype)
        array[...] = X
        inside = path / "c" / "0" / "0"
    store = ingest(path, tmp_path / "s.zarr")
    np.testing.assert_array_equal(read_values(store, [4]), X[:, [4]])
    os.utime(inside, ns=(2 * 10**18, 2 * 10**18))
    with pytest.raises(SourceError, match=rf"x\.{kind} has changed"):
        read_values(store, [0])
    path.rename(tmp_path / "elsewhere")
    with pytest.raises(SourceError, match=rf"x\.{kind} is missing"):
        read_values(store, [0])


def test_kept_values_of_mixed_tables(tmp_path):
    frame = pd.DataFrame(
        {
            "small": np.array([1, 2, 3], np.float32),
            "large": [1e300, 2.0, np.nan],
            "text": ["b", "a", None],
            "site": [7, 9, 7],
        }
    )
    store = ingest(frame, tmp_path / "s.zarr", categorical=["site"])
    expected = [[1, 1e300, 1, 0], [2, 2, 0, 1], [3, np.nan, np.nan, 0]]
    np.testing.assert_array_equal(read_values(store, range(4)), expected)
