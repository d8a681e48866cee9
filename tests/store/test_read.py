"""Reading: chunks, codes, names, labels and targets of a whole store."""

import numpy as np
import pandas as pd
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st

from srs.errors import InputError
from srs.ingest import ingest
from srs.ingest.encode.codes import encode_numeric
from srs.store import MISSING, open_store
from srs.store.layout import CHUNK_BYTES, TILE, chunk_features, pack_strings, unpack_strings

VALUES = np.random.default_rng(0).normal(size=(3000, 900)).astype(np.float32)
VALUES[::7, ::3] = np.nan


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "s.zarr"
    target = {"group": np.arange(3000) % 3, "size": np.arange(3000) / 7}
    ingest(VALUES, path, target=target, keep_values=False)
    return path


def test_read_chunk_equals_zarr(path):
    store = open_store(path)
    codes = zarr.open_group(path, mode="r")["codes"]
    assert store.n_chunks > 2
    assert store.n_features % store.chunk_features
    n_tiles = store.chunk_features // TILE
    out = store.empty_chunks(1)[0]
    for chunk in range(store.n_chunks):
        store.read_chunk(chunk, out)
        expected = codes[chunk * n_tiles : (chunk + 1) * n_tiles]
        np.testing.assert_array_equal(out[: len(expected)], expected)
        assert (out[len(expected) :] == MISSING).all()
    n_last = store.n_features - (store.n_chunks - 1) * store.chunk_features
    features = out.transpose(0, 2, 1).reshape(store.chunk_features, store.n_samples)
    assert (features[n_last:] == MISSING).all()
    assert (features[:n_last] != MISSING).any(axis=1).all()


def test_codes_by_id_and_by_place(path):
    store = open_store(path)
    expected = encode_numeric(np.ascontiguousarray(VALUES.T))[0].T
    ids = np.array([899, 0, 17, 17])
    np.testing.assert_array_equal(store.read_codes(ids), expected[:, ids])
    places = store.places_of(ids)
    np.testing.assert_array_equal(store.feature_ids[places], ids)
    np.testing.assert_array_equal(store.read_places(places), expected[:, ids])
    assert store.manifest.any_missing
    with pytest.raises(InputError, match=r"ids must be 0\.\.899"):
        store.read_codes([900])


def test_memory_store_reads_like_disk(path):
    store, memory = open_store(path), ingest(VALUES)
    out, other = store.empty_chunks(2)
    for chunk in range(store.n_chunks):
        store.read_chunk(chunk, out)
        memory.read_chunk(chunk, other)
        np.testing.assert_array_equal(out, other)
    assert "memory" in repr(memory)
    assert str(path) in repr(store)


def test_targets(path):
    store = open_store(path)
    assert store.target_names == ("group", "size")
    assert store.target().name == "group"
    assert store.target("group").n_classes == 3
    np.testing.assert_array_equal(store.target("size").values, np.arange(3000) / 7)
    with pytest.raises(InputError, match="no target 'weight'; the store has group, size"):
        store.target("weight")
    with pytest.raises(InputError, match="has no target"):
        ingest(np.eye(3)).target()


def test_names_ids_and_labels():
    frame = pd.DataFrame({"ä": [1.0, 2.0], "b": ["x", "y"], "": [3, 4]}, index=["s 1", "s 2"])
    store = ingest(frame)
    assert store.feature_names == ["ä", "b", ""]
    assert store.sample_ids == ["s 1", "s 2"]
    assert [store.labels(i) for i in range(3)] == [(), ("x", "y"), ()]
    plain = ingest(np.eye(2))
    assert (plain.feature_names, plain.sample_ids) == (["f0", "f1"], ["0", "1"])
    assert plain.labels(0) == ()


def test_find_ids():
    store = ingest(np.eye(4), names=["a", "b", "a", "c"])
    assert store.find_ids(["c", 1, "a", np.int64(3)]).tolist() == [3, 1, 0, 2, 3]
    assert store.find_ids([]).tolist() == []
    with pytest.raises(InputError, match="the store has no feature named 'd'\\."):
        store.find_ids(["d"])
    with pytest.raises(InputError, match="no feature named 'aa'; did you mean 'a'"):
        store.find_ids(["aa"])
    for unknown in (4, -1):
        with pytest.raises(InputError, match=rf"no feature {unknown}: ids are 0\.\.3"):
            store.find_ids([unknown])


@given(st.lists(st.text(max_size=20), max_size=30))
def test_strings_survive_packing(strings):
    assert unpack_strings(*pack_strings(strings)) == strings


def test_what_is_no_text_is_packed_as_its_escape():
    assert unpack_strings(*pack_strings(["a\ud800b"])) == ["a\\ud800b"]


@given(st.integers(1, 10**8), st.integers(1, 10**8))
def test_chunks_are_near_their_size(n_samples, n_features):
    width = chunk_features(n_samples, n_features)
    assert width % TILE == 0
    assert TILE <= width < n_features + TILE
    assert width == TILE or width * n_samples <= 1.5 * CHUNK_BYTES
    assert width >= n_features or width * n_samples >= 0.5 * CHUNK_BYTES
