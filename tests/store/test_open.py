"""Opening: what is not a whole feature store is refused, and the message says what is wrong."""

import json
import shutil

import numpy as np
import pytest
import zarr

from srs.errors import StoreError
from srs.ingest import ingest
from srs.store import open_store


@pytest.fixture
def path(tmp_path):
    values = np.random.default_rng(0).normal(size=(4000, 700)).astype(np.float32)
    ingest(values, tmp_path / "s.zarr", target=np.arange(4000) % 2, keep_values=False)
    return tmp_path / "s.zarr"


def chunk_file(path, chunk):
    return path / "codes" / "c" / str(chunk) / "0" / "0"


def edit_manifest(path, **changes):
    document = json.loads((path / "zarr.json").read_text())
    manifest = document["attributes"]["srs"]
    for key, value in changes.items():
        if value is None:
            del manifest[key]
        else:
            manifest[key] = value
    (path / "zarr.json").write_text(json.dumps(document))


def test_what_is_not_there(tmp_path):
    with pytest.raises(StoreError, match=r"no\.zarr does not exist"):
        open_store(tmp_path / "no.zarr")


def test_empty_folder(tmp_path):
    with pytest.raises(StoreError, match=r"is not a feature store: .*zarr\.json is missing"):
        open_store(tmp_path)


def test_file_in_place_of_a_folder(tmp_path):
    (tmp_path / "s.zarr").write_text("no folder")
    with pytest.raises(StoreError, match="is a file, not a feature store: make one of it with"):
        open_store(tmp_path / "s.zarr")


@pytest.mark.parametrize("wrong", [3, None, np.eye(3)])
def test_what_is_no_path(wrong):
    with pytest.raises(StoreError, match="a feature store or its path is needed, not a"):
        open_store(wrong)


def test_foreign_zarr_group(tmp_path):
    zarr.create_group(tmp_path / "g.zarr")
    with pytest.raises(StoreError, match="a zarr group but not a feature store"):
        open_store(tmp_path / "g.zarr")


def test_foreign_zarr_array(tmp_path):
    zarr.create_array(tmp_path / "a.zarr", shape=(3, 3), dtype="f4")
    with pytest.raises(StoreError, match="cannot be opened as zarr"):
        open_store(tmp_path / "a.zarr")


def test_metadata_that_are_not_json(path):
    (path / "zarr.json").write_text("{")
    with pytest.raises(StoreError, match="cannot be opened as zarr"):
        open_store(path)


def test_newer_schema(path):
    edit_manifest(path, schema_version=99)
    with pytest.raises(StoreError, match="schema version 99, and this srs reads version 3"):
        open_store(path)


def test_manifest_that_lacks_a_field(path):
    edit_manifest(path, n_samples=None)
    with pytest.raises(StoreError, match="the manifest lacks 'n_samples'"):
        open_store(path)


def test_manifest_and_arrays_that_differ(path):
    edit_manifest(path, n_features=699)
    with pytest.raises(StoreError, match=r"feature_id has shape \(700,\) instead of \(699,\)"):
        open_store(path)


def test_missing_array(path):
    shutil.rmtree(path / "kind")
    with pytest.raises(StoreError, match="kind cannot be read"):
        open_store(path)


def test_missing_chunk(path):
    (chunk_file(path, 1)).unlink()
    with pytest.raises(StoreError, match="c/1/0/0 is missing"):
        open_store(path)


@pytest.mark.parametrize("change", [-1, 1])
def test_chunk_of_the_wrong_size(path, change):
    file = chunk_file(path, 1)
    content = file.read_bytes()
    file.write_bytes(content[:-1] if change < 0 else content + b"x")
    with pytest.raises(StoreError, match=f"c/1/0/0 has {len(content) + change} bytes instead of"):
        open_store(path)


@pytest.mark.parametrize("at", [0, 1000, -1])
def test_flipped_byte_is_found_when_read(path, at):
    file = chunk_file(path, 1)
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(bytes(content))
    store = open_store(path)
    out = store.empty_chunks(1)[0]
    store.read_chunk(0, out)
    with pytest.raises(StoreError, match=r"c/1/0/0 is corrupted \(checksum differs\)"):
        store.read_chunk(1, out)


def test_chunk_lost_or_cut_after_opening(path):
    store = open_store(path)
    out = store.empty_chunks(1)[0]
    file = chunk_file(path, 0)
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(StoreError, match="c/0/0/0 is truncated"):
        store.read_chunk(0, out)
    file.unlink()
    with pytest.raises(StoreError, match="c/0/0/0 is missing"):
        store.read_chunk(0, out)
