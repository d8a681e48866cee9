"""Out-of-core transposition: tiny memory gives the same blocks as plenty."""

import contextlib
import sys
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srs.errors import MemoryBudgetError
from srs.ingest.block import Wanted
from srs.ingest.encode.transpose import FeatureSpill, feature_major, transpose_into
from srs.ingest.formats.registry import open_source
from tests.ingest import make


def wanted(folder: Path, mem: int, orientation: str = "samples") -> Wanted:
    return Wanted(orientation, (), frozenset(), mem, folder)


def read_all(source, block_features: int) -> np.ndarray:
    """Values are taken when the next block is there, as by ingest."""
    parts: list[np.ndarray] = []
    with contextlib.closing(source):
        before = None
        for block in chain(source.blocks(block_features), [None]):
            if before is not None:
                assert before.first == sum(map(len, parts))
                parts.append(np.array(before.values))
            before = block
    assert max(map(len, parts)) <= block_features
    return np.concatenate(parts).T


@given(st.integers(1, 200), st.integers(1, 3000), st.sampled_from(["f4", "f8", "i2", ">i4"]))
def test_tiles_equal_a_plain_transpose(n_rows, n_columns, dtype):
    rows = np.arange(n_rows * n_columns).astype(dtype).reshape(n_rows, n_columns)
    out = np.empty((n_columns, n_rows), np.float64)
    transpose_into(rows, out)
    np.testing.assert_array_equal(out, rows.T)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1"])
def test_kernels_get_features_in_order_and_writeable(dtype):
    rows = np.arange(70 * 90).reshape(70, 90).astype(dtype)
    fixed = np.ascontiguousarray(rows.T)
    fixed.flags.writeable = False
    for values in (rows.T, rows.T.copy(), fixed, rows.T[3:50], rows.T[::2]):
        given = feature_major(values)
        assert given.flags.carray
        np.testing.assert_array_equal(given, values)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(1, 12), st.data())
def test_spill_gives_back_any_range_of_features(band_sizes, n_features, data):
    values = np.random.default_rng(0).normal(size=(sum(band_sizes), n_features))
    spill = FeatureSpill(Path("/tmp"), n_features, values.dtype)
    with contextlib.closing(spill):
        for n_rows in band_sizes:
            start = spill.n_samples
            spill.write(spill.add_band(n_rows), 0, values[start : start + n_rows])
        first = data.draw(st.integers(0, n_features - 1))
        out = np.empty((data.draw(st.integers(1, n_features - first)), len(values)))
        spill.read(first, out)
    np.testing.assert_array_equal(out, values[:, first : first + len(out)].T)


@pytest.mark.parametrize("block_features", [1, 4, 12, 100])
@pytest.mark.parametrize("mem", [6_000, 20_000, 10**8])
@pytest.mark.parametrize("orientation", make.ORIENTATIONS)
@pytest.mark.parametrize("kind", ["npy", "npy_fortran", "zarr_path", "dask", "txt"])
def test_little_memory_equals_plenty(kind, orientation, mem, block_features, tmp_path):
    values = np.random.default_rng(0).normal(size=(53, 37))
    path = make.make_plain(kind, values, orientation, tmp_path)
    source = open_source(path, wanted(tmp_path, mem, orientation))
    source.fixed_mem = 0  # which is more than the memory of this test
    np.testing.assert_array_equal(read_all(source, block_features), values)
    assert len(list(tmp_path.iterdir())) == (kind != "dask")


def test_named_tables_in_blocks(tmp_path):
    values = np.random.default_rng(0).normal(size=(20, 9))
    for orientation in make.ORIENTATIONS:
        for kind in make.NAMED_KINDS:
            path = make.make_named(kind, values, orientation, tmp_path)
            source = open_source(path, wanted(tmp_path, 5_000, orientation))
            np.testing.assert_array_equal(read_all(source, 4), values)


def test_text_categories_over_several_bands(tmp_path):
    colours = ["red", "green", "blue", None, "red"] * 30
    pd.DataFrame({"x": range(150), "c": colours}).to_csv(tmp_path / "t.csv", index=False)
    with contextlib.closing(open_source(tmp_path / "t.csv", wanted(tmp_path, 700))) as source:
        (block,) = source.blocks(10)
    assert block.labels == {1: ("blue", "green", "red")}
    np.testing.assert_array_equal(block.values[1], [2, 1, 0, np.nan, 2] * 30)


def test_chunks_larger_than_the_memory_are_refused(tmp_path):
    path = make.make_plain("zarr_path", np.zeros((50, 50)), "samples", tmp_path)
    with pytest.raises(MemoryBudgetError, match="a chunk of 7 samples x 11 features needs"):
        read_all(open_source(path, wanted(tmp_path, 3_000)), 4)


@pytest.mark.parametrize(
    ("kind", "orientation", "mem", "n_bands"),
    [
        ("npy", "samples", 6_000, 6),
        ("npy", "samples", 20_000, 2),
        ("npy", "samples", 10**8, 1),
        ("zarr_path", "features", 6_000, 5),
        ("dask", "samples", 6_000, 6),
    ],
)
def test_bands_follow_from_the_memory(kind, orientation, mem, n_bands, tmp_path, monkeypatch):
    bands, add_band = [], FeatureSpill.add_band
    monkeypatch.setattr(
        FeatureSpill, "add_band", lambda self, n: bands.append(n) or add_band(self, n)
    )
    path = make.make_plain(kind, np.zeros((53, 37)), orientation, tmp_path)
    source = open_source(path, wanted(tmp_path, mem, orientation))
    source.fixed_mem = 0
    read_all(source, 4)
    assert (len(bands), sum(bands)) == (n_bands, 53)


def nameless_files(folder: Path) -> list[str]:
    """Files of a folder that this process has open and that have no name on disk."""
    held = []
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # what lists the folder is gone by now
            held.append(str(link.readlink()))
    return [file for file in held if file.startswith(str(folder)) and file.endswith("(deleted)")]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_leaving_early_gives_the_temporary_file_back(tmp_path):
    path = make.make_plain("npy", np.zeros((50, 5000)), "samples", tmp_path)
    with contextlib.closing(open_source(path, wanted(tmp_path, 20 << 20))) as source:
        blocks = source.blocks(100)
        next(blocks)
        assert len(nameless_files(tmp_path)) == 1
        blocks.close()
        assert nameless_files(tmp_path) == []
    assert list(tmp_path.iterdir()) == [path]
