"""Writing: order of places, spill files, overwriting, and what must not be overwritten."""

from dataclasses import replace

import numpy as np
import pytest
import zarr

from srs.errors import StoreError
from srs.store import (
    CATEGORICAL,
    NUMERIC,
    ORDINAL,
    Target,
    layout,
    open_store,
    writer,
    writing_plan,
)
from srs.store.content import look_at
from srs.store.writer import StoreWriter


def write(path, codes, *, memory=1 << 30, batches=1, overwrite=False, order=None):
    n_features, n_samples = codes.shape
    order = np.arange(n_features) if order is None else order
    with StoreWriter(path, n_samples, n_features, memory, overwrite) as writer:
        writer.describe(names=None, sample_ids=None, targets=[])
        for ids in np.array_split(order, batches):
            writer.add(ids, codes[ids], look_at(codes[ids], None))
        writer.finish(
            kinds=np.full(n_features, NUMERIC),
            n_levels=np.full(n_features, 9),
            labels={},
            source={},
            notices=[],
            srs_version="test",
        )
    return open_store(path)


@pytest.fixture
def codes():
    return np.random.default_rng(0).integers(0, 200, size=(1500, 2500)).astype(np.uint8)


def test_memory_batches_and_order_do_not_matter(codes, tmp_path):
    plain = write(tmp_path / "a", codes)
    spilled = write(tmp_path / "b", codes, memory=4 << 20, batches=7)
    shuffled = write(tmp_path / "c", codes, order=np.random.default_rng(1).permutation(1500))
    assert plain.fingerprint == spilled.fingerprint == shuffled.fingerprint
    np.testing.assert_array_equal(plain.feature_ids, spilled.feature_ids)
    np.testing.assert_array_equal(spilled.read_codes(np.arange(1500)), codes.T)


def test_places_do_not_follow_columns(codes, tmp_path):
    places = write(tmp_path / "a", codes).feature_ids
    assert abs(np.corrcoef(places, np.arange(1500))[0, 1]) < 0.2
    assert sorted(places) == list(range(1500))


def test_long_features_have_chunks_of_one_tile(tmp_path):
    codes = np.zeros((70, 200_000), np.uint8)
    codes[np.arange(70), np.arange(70)] = 1
    store = write(tmp_path / "a", codes)
    assert (store.chunk_features, store.n_chunks) == (64, 2)
    np.testing.assert_array_equal(store.read_codes(np.arange(70)), codes.T)


def test_features_that_are_not_all_there(codes, tmp_path):
    with pytest.raises(StoreError, match="of 1500 features were written"):
        write(tmp_path / "a", codes, order=np.arange(1499))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("n_buffers", [2, 4])
def test_many_chunks_on_their_way(n_buffers, tmp_path, monkeypatch):
    codes = np.random.default_rng(2).integers(0, 200, size=(1500, 300)).astype(np.uint8)
    plain = write(tmp_path / "a", codes)
    monkeypatch.setattr(layout, "CHUNK_BYTES", 64 * 300)
    monkeypatch.setattr(writing_plan, "SMALL_CHUNK", 64 * 300 if n_buffers == 4 else 0)
    assert writer.chunk_buffers(300, 1500) == n_buffers
    store = write(tmp_path / "b", codes)
    assert (store.chunk_features, store.n_chunks) == (64, 24)
    np.testing.assert_array_equal(store.feature_ids, plain.feature_ids)
    np.testing.assert_array_equal(store.read_codes(np.arange(1500)), codes.T)
    assert store.fingerprint == plain.fingerprint


def test_the_fingerprint_tells_other_data_apart(tmp_path):
    codes = np.random.default_rng(3).integers(0, 200, size=(20, 300)).astype(np.uint8)
    target = Target("y", "classes", np.arange(300, dtype=np.int32) % 2, ("a", "b"))
    kinds = np.full(20, CATEGORICAL)
    same = {
        "codes": codes,
        "names": [f"g{i}" for i in range(20)],
        "targets": [target],
        "sample_ids": [f"s{i}" for i in range(300)],
        "kinds": kinds,
        "labels": {3: ("x", "y")},
    }
    changed = codes.copy()
    changed[7, 200] ^= 1
    swapped = codes.copy()
    swapped[5, [10, 20]] = swapped[5, [20, 10]]
    others = [
        {"codes": changed},
        {"codes": swapped},
        {"names": [f"g{i}" for i in range(19)] + ["h"]},
        {"sample_ids": [f"t{i}" for i in range(300)]},
        {"targets": [replace(target, values=target.values[::-1].copy())]},
        {"targets": [replace(target, labels=("a", "c"))]},
        {"kinds": np.where(np.arange(20) == 3, ORDINAL, kinds)},
        {"labels": {3: ("x", "z")}},
        {"labels": {4: ("x", "y")}},
    ]
    known = {fingerprint(tmp_path / f"{i}", **same | other) for i, other in enumerate(others)}
    known |= {fingerprint(tmp_path / "a", **same), fingerprint(tmp_path / "b", **same)}
    assert len(known) == len(others) + 1


def fingerprint(path, *, codes, names, sample_ids, targets, kinds, labels):
    with StoreWriter(path, codes.shape[1], len(codes), 1 << 30) as writer:
        writer.describe(names=names, sample_ids=sample_ids, targets=targets)
        writer.add(np.arange(len(codes)), codes, look_at(codes, names))
        writer.finish(
            kinds=kinds,
            n_levels=np.full(len(codes), 9),
            labels=labels,
            source={},
            notices=[],
            srs_version="test",
        )
    return open_store(path).fingerprint


@pytest.mark.parametrize("part", ["_write_chunks", "_describe"])
def test_what_fails_in_a_thread_leaves_nothing(part, codes, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(StoreWriter, part, fail)
    with pytest.raises(OSError, match="No space left"):
        write(tmp_path / "a", codes)
    assert list(tmp_path.iterdir()) == []


def test_overwriting_a_feature_store(codes, tmp_path):
    path = tmp_path / "a"
    write(path, codes)
    with pytest.raises(StoreError, match="exists already"):
        write(path, codes[:10])
    assert open_store(path).n_features == 1500
    assert write(path, codes[:10], overwrite=True).n_features == 10
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("kind", ["folder", "file", "group", "array"])
def test_what_is_no_feature_store_is_not_overwritten(kind, codes, tmp_path):
    path = tmp_path / "precious"
    if kind == "folder":
        path.mkdir()
    elif kind == "file":
        path.write_text("precious")
    elif kind == "group":
        zarr.create_group(path)
    else:
        zarr.create_array(path, shape=(2, 2), dtype="f4")
    with pytest.raises(StoreError, match="is not a feature store and is not overwritten"):
        write(path, codes, overwrite=True)
    assert list(tmp_path.iterdir()) == [path]


def test_folder_that_cannot_be_written(codes, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        write(tmp_path / "file" / "a", codes)
