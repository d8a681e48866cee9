"""Stores and archives of strangers: what must not be opened is refused before it is."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
import zarr

from srs_service.data.sources import prepare_source
from srs_service.data.store_checks import check_folder, check_zarr
from srs_service.errors import Invalid, TooLarge

LIMIT = 10_000_000
LIMITS = {"max_upload": 1_000_000, "max_features": 1_000_000, "trusted_networks": ()}


@pytest.fixture
def store(root, tmp_path) -> Path:
    """A copy of a good feature store, to be spoilt."""
    import shutil

    return Path(shutil.copytree(root / "small.zarr", tmp_path / "s.zarr"))


def spoil(file: Path, **changes: object) -> None:
    raw = json.loads(file.read_text())
    file.write_text(json.dumps({**raw, **changes}))


def test_good_stores_pass(store, tmp_path):
    check_zarr(store, LIMIT)
    values = np.arange(400, dtype=np.float64).reshape(20, 20)
    for version in (2, 3):
        made = tmp_path / f"v{version}.zarr"
        zarr.save_array(str(made), values, zarr_format=version)
        check_zarr(made, LIMIT)


def test_links_are_refused(store, tmp_path):
    secret = tmp_path / "secret"
    chunk = next(p for p in (store / "codes").rglob("*") if p.is_file() and "zarr" not in p.name)
    secret.write_bytes(chunk.read_bytes())  # of equal size, as a leak would need
    chunk.unlink()
    chunk.symlink_to(secret)
    with pytest.raises(Invalid, match="link"):
        check_zarr(store, LIMIT)


def test_a_linked_folder_and_a_pipe_are_refused(store, tmp_path):
    (tmp_path / "other").mkdir()
    (store / "more").symlink_to(tmp_path / "other")
    with pytest.raises(Invalid, match="link"):
        check_zarr(store, LIMIT)
    (store / "more").unlink()
    os.mkfifo(store / "pipe")
    with pytest.raises(Invalid, match="not a file"):
        check_zarr(store, LIMIT)


@pytest.mark.parametrize(
    "codec", ["pickle", "vlen-utf8", "numcodecs.pickle", "sharding_indexed", 7]
)
def test_unknown_codecs_are_refused(store, codec):
    spoil(store / "codes" / "zarr.json", codecs=[{"name": "bytes"}, {"name": codec}])
    with pytest.raises(Invalid, match="codec"):
        check_zarr(store, LIMIT)


@pytest.mark.parametrize("dtype", ["string", "r8", "variable_length_bytes", {"name": "structured"}])
def test_objects_are_refused(store, dtype):
    spoil(store / "kind" / "zarr.json", data_type=dtype)
    with pytest.raises(Invalid):
        check_zarr(store, LIMIT)


@pytest.mark.parametrize(
    "changes",
    [
        {"dtype": "|O"},
        {"dtype": [["a", "<i4"]]},
        {"dtype": "<U9"},
        {"filters": [{"id": "vlen-utf8"}, {"id": "pickle"}]},
        {"compressor": {"id": "pickle"}},
        {"compressor": {"id": "msgpack2"}},
        {"shape": [-1, 2]},
        {"chunks": [0, 1]},
        {"shape": [True, 1]},
        {"chunks": [1]},
        {"shape": "x"},
    ],
)
def test_zarr_of_version_2_is_judged_too(tmp_path, changes):
    made = tmp_path / "v2.zarr"
    zarr.save_array(str(made), np.zeros((4, 4)), zarr_format=2)
    spoil(made / ".zarray", **changes)
    with pytest.raises(Invalid):
        check_zarr(made, LIMIT)


@pytest.mark.parametrize(
    "changes",
    [
        {"dtype": "|O"},
        {"dtype": "|O", "filters": [{"id": "pickle"}]},
        {"dtype": "|O", "filters": [{"id": "vlen-utf8"}, {"id": "pickle"}]},
        {"dtype": "|O", "filters": [{"id": "vlen-utf8"}], "compressor": {"id": "pickle"}},
        {"dtype": "|O", "filters": [{"id": "vlen-utf8"}], "shape": [10**12, 4]},
        {"dtype": "|O", "filters": [{}]},
    ],
)
def test_texts_of_sources_are_judged_too(tmp_path, changes):
    """Ids of samples are texts, which one codec writes; no other object is let in with them."""
    made = tmp_path / "v2.zarr"
    zarr.save_array(str(made), np.zeros((4, 4)), zarr_format=2)
    spoil(made / ".zarray", dtype="|O", filters=[{"id": "vlen-utf8"}])
    check_zarr(made, LIMIT, texts=True)
    check_folder(made, LIMIT)
    with pytest.raises(Invalid):
        check_zarr(made, LIMIT)
    spoil(made / ".zarray", **{"filters": None, **changes})
    with pytest.raises(Invalid):
        check_zarr(made, LIMIT, texts=True)


def test_a_feature_store_may_have_no_texts(store):
    check_folder(store, LIMIT)
    spoil(store / "kind" / "zarr.json", data_type="string", codecs=[{"name": "vlen-utf8"}])
    with pytest.raises(Invalid):
        check_folder(store, LIMIT)


def test_links_in_folders_of_files_are_refused(tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "a.nii").write_bytes(b"")
    check_folder(folder, LIMIT)
    (folder / "b.nii").symlink_to("/etc/passwd")
    with pytest.raises(Invalid, match="link"):
        check_folder(folder, LIMIT)


def test_claims_are_compared_with_what_is_stored(store, tmp_path):
    manifest = json.loads((store / "zarr.json").read_text())
    manifest["attributes"]["srs"]["n_features"] = 10**15
    (store / "zarr.json").write_text(json.dumps(manifest))
    with pytest.raises(Invalid, match="claims 1000000000000000 features"):
        check_zarr(store, LIMIT)
    made = tmp_path / "petabyte.zarr"
    zarr.create_array(str(made), shape=(10**9, 10**6), chunks=(1000, 1000), dtype="u1")
    with pytest.raises(Invalid, match="claims"):
        check_zarr(made, LIMIT)
    huge = tmp_path / "chunk.zarr"
    zarr.create_array(str(huge), shape=(10**6, 10**6), chunks=(10**6, 10**4), dtype="u1")
    with pytest.raises(Invalid, match="chunks of"):
        check_zarr(huge, LIMIT)


@pytest.mark.parametrize(
    ("version", "codec"), [(3, "zstd"), (3, "gzip"), (3, "blosc"), (2, "zlib")]
)
def test_a_chunk_that_inflates_to_more_than_it_should_is_refused(tmp_path, version, codec):
    import numcodecs
    from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec

    made, bomb = tmp_path / "bomb.zarr", np.zeros(50_000_000, np.uint8)
    known = {
        "zstd": ZstdCodec(),
        "gzip": GzipCodec(),
        "blosc": BloscCodec(),
        "zlib": numcodecs.Zlib(),
    }
    encoders = {
        "zstd": numcodecs.Zstd(),
        "gzip": numcodecs.GZip(),
        "blosc": numcodecs.Blosc(),
        "zlib": numcodecs.Zlib(),
    }
    array = zarr.create_array(
        str(made),
        shape=(100, 100),
        chunks=(100, 100),
        dtype="u1",
        zarr_format=version,
        compressors=known[codec],
    )
    array[:] = 1
    check_zarr(made, LIMIT)
    chunk = next(
        p for p in made.rglob("*") if p.is_file() and not p.name.startswith((".z", "zarr"))
    )
    honest = chunk.read_bytes()
    for spoilt in (encoders[codec].encode(bomb), honest + encoders[codec].encode(bomb)):
        if codec == "blosc" and spoilt.startswith(honest):
            continue  # it reads no further than its header says
        chunk.write_bytes(spoilt)
        with pytest.raises(Invalid, match="may inflate"):
            check_zarr(made, LIMIT)


@pytest.mark.parametrize("codec", ["ZstdCodec", "GzipCodec"])
def test_a_checksum_behind_a_compressed_chunk_is_no_second_member(tmp_path, codec):
    import zarr.codecs

    made = tmp_path / "sum.zarr"
    array = zarr.create_array(
        str(made),
        shape=(1_000, 1_000),
        chunks=(1_000, 1_000),
        dtype="u1",
        compressors=[getattr(zarr.codecs, codec)(), zarr.codecs.Crc32cCodec()],
    )
    array[:] = np.random.default_rng(0).integers(0, 250, (1_000, 1_000), np.uint8)
    check_zarr(made, LIMIT)


def test_metadata_that_is_no_metadata_is_refused(store):
    for text in ("[]", "{", "[" * 100_000, '{"node_type": "array"}', '"x"'):
        (store / "codes" / "zarr.json").write_text(text)
        with pytest.raises(Invalid):
            check_zarr(store, LIMIT)


def prepare(path: Path, folder: Path) -> Path:
    file = {"path": str(path), "url": None, "as": "source"}
    return prepare_source(file, folder, LIMITS, lambda _n: None)


@pytest.mark.parametrize(
    "name", ["../out", "/etc/out", "a/../../out", "..\\out", "C:\\out", "a\0b"]
)
def test_archives_stay_in_their_folder(tmp_path, name):
    packed = tmp_path / "x.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        entry = zipfile.ZipInfo("x")
        entry.filename = name
        archive.writestr(entry, b"out")
    (tmp_path / "in").mkdir()
    with pytest.raises(Invalid):
        prepare(packed, tmp_path / "in")
    assert not (tmp_path / "out").exists()
    assert not Path("/etc/out").exists()


def test_links_in_archives_are_refused(tmp_path):
    packed = tmp_path / "x.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        entry = zipfile.ZipInfo("zarr.json")
        entry.external_attr = 0o120777 << 16
        archive.writestr(entry, "/etc/passwd")
    (tmp_path / "in").mkdir()
    with pytest.raises(Invalid, match="link"):
        prepare(packed, tmp_path / "in")


def test_bombs_are_counted_as_they_inflate(tmp_path):
    packed = tmp_path / "x.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zarr.json", bytes(50_000_000))
    squeezed = tmp_path / "table.csv.gz"
    squeezed.write_bytes(gzip.compress(bytes(50_000_000)))
    for number, bomb in enumerate((packed, squeezed)):
        folder = tmp_path / f"in{number}"
        folder.mkdir()
        with pytest.raises(TooLarge):
            prepare(bomb, folder)
        assert sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) <= 2_000_000


def test_damaged_archives_are_refused(tmp_path):
    for name in ("x.zip", "x.csv.gz"):
        (tmp_path / name).write_bytes(b"PK\x03\x04 not really")
        folder = tmp_path / f"in-{name}"
        folder.mkdir()
        with pytest.raises(Invalid):
            prepare(tmp_path / name, folder)
