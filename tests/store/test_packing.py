"""Two bits a code: the same answers as bytes, for any mix of levels and missing values."""

import json

import numpy as np
import pandas as pd
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import srs
from srs.errors import StoreError
from srs.ingest import ingest
from srs.store import MISSING, layout, open_store
from srs.store.packing import pack_rows, tile_rows, unpack, unpack_rows
from srs.store.writing_plan import holds_codes
from tests.store.test_write import write

FEW = st.sampled_from([0, 1, 2, MISSING])
FULL = st.sampled_from([0, 1, 2, 3])


@given(
    arrays.arrays(np.uint8, st.tuples(st.integers(1, 5), st.integers(1, 19)), elements=FEW),
    st.booleans(),
)
def test_rows_come_back(codes, four):
    codes = np.where(codes == MISSING, 3, codes).astype(np.uint8) if four else codes
    packed = np.empty((len(codes), -(-codes.shape[1] // 4)), np.uint8)
    pack_rows(codes, packed)
    back = unpack_rows(packed, codes.shape[1], np.full(len(codes), four))
    np.testing.assert_array_equal(back, codes)


@given(st.integers(1, 23), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_tiles_are_turned_rows(n_samples, seed):
    codes = np.random.default_rng(seed).choice(np.array([0, 1, 2, 255], np.uint8), (128, n_samples))
    rows = np.empty((128, -(-n_samples // 4)), np.uint8)
    pack_rows(codes, rows)
    tiles, out = np.empty((2, n_samples, 16), np.uint8), np.empty((2, n_samples, 64), np.uint8)
    tile_rows(rows, tiles)
    unpack(tiles, out)
    np.testing.assert_array_equal(out, codes.reshape(2, 64, n_samples).transpose(0, 2, 1))


N = 1801  # samples: 700 features of as many bytes are more than a part of little memory


def few_codes(n_features=700, n_samples=N, fours=True):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, (n_features, n_samples)).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.05] = MISSING
    if fours:
        codes[::7] = rng.integers(0, 4, codes[::7].shape)
    return codes


@pytest.mark.parametrize("fours", [False, True])
@pytest.mark.parametrize("batches", [1, 5])
def test_stores_of_few_levels_are_packed(fours, batches, tmp_path):
    codes = few_codes(fours=fours)
    store = write(tmp_path / "a", codes, batches=batches, memory=4 << 20)
    assert store.manifest.code_bits == 2
    np.testing.assert_array_equal(store.read_codes(np.arange(700)), codes.T)
    size = sum(f.stat().st_size for f in (tmp_path / "a" / "codes" / "c").rglob("*/0/0"))
    assert size == store.n_chunks * (store.chunk_features * N // 4 + 4)


@pytest.mark.parametrize("memory", [1 << 30, 4 << 20], ids=["held", "spilled"])
@pytest.mark.parametrize(("n_wide", "bits"), [(1, 2), (43, 2), (44, 8)])
def test_some_features_of_more_levels_stand_aside(n_wide, bits, memory, tmp_path):
    """Guards covariates beside genotypes, and the change of mind when there are too many: what was
    packed or put aside before is read as it was."""
    assert holds_codes(N, 700, memory) == (memory == 1 << 30)
    codes = few_codes()
    rng = np.random.default_rng(n_wide)
    wide = rng.choice(700, n_wide, replace=False)
    codes[wide] = rng.integers(0, 200, (n_wide, N))
    codes[wide, :5] = [0, 1, 2, 3, MISSING]  # five codes are the fewest
    store = write(tmp_path / "a", codes, batches=6, memory=memory)
    assert store.manifest.code_bits == bits
    np.testing.assert_array_equal(store.read_codes(np.arange(700)), codes.T)
    ids = np.sort(rng.choice(700, 300, replace=False))
    view = store.view(features=ids)
    np.testing.assert_array_equal(view.read_codes(np.arange(300)), codes[ids].T)


def test_few_features_are_never_put_aside(tmp_path):
    codes = np.tile(np.arange(5, dtype=np.uint8), (15, 60))
    assert write(tmp_path / "a", codes).manifest.code_bits == 8


def test_damaged_wide_codes_are_told(tmp_path):
    codes = few_codes()
    codes[9] = np.arange(N) % 200
    write(tmp_path / "a", codes)
    group = zarr.open_group(tmp_path / "a", mode="r+")
    del group["wide/codes"]
    group.create_array("wide/codes", data=codes[:1, :-1])
    with pytest.raises(StoreError, match="wide/codes is damaged, ingest again"):
        open_store(tmp_path / "a").read_codes([3])


def test_covariates_leave_genotypes_packed(tmp_path, monkeypatch):
    rng = np.random.default_rng(6)
    dosage = rng.binomial(2, 0.4, size=(400, 600)).astype(np.int8)
    age = rng.normal(50, 10, 400)
    y = rng.random(400) < 1 / (1 + np.exp(-(age - 50) / 5 - dosage[:, 5] + 0.8))
    ids = [f"s{i}" for i in range(400)]
    table = pd.DataFrame({"case": y, "age": age}, index=ids)
    given = {"table": table, "target": "case", "covariates": ["age"], "sample_ids": ids}
    packed = ingest(dosage, tmp_path / "p.zarr", **given)
    monkeypatch.setattr("srs.store.writer.LAST_CODE", -1)
    plain = ingest(dosage, tmp_path / "b.zarr", **given)
    assert (packed.manifest.code_bits, plain.manifest.code_bits) == (2, 8)
    assert packed.fingerprint == plain.fingerprint
    one, other = (
        srs.select(s, max_trees=40, pinned=["age"], memory="400MB") for s in (packed, plain)
    )
    assert one.table.equals(other.table)


def test_packed_and_plain_stores_give_the_same_answer(tmp_path, monkeypatch):
    rng = np.random.default_rng(5)
    dosage = rng.binomial(2, 0.4, size=(300, 2000)).astype(np.float32)
    dosage[rng.random(dosage.shape) < 0.02] = np.nan
    y = np.nan_to_num(dosage[:, 3]) + np.nan_to_num(dosage[:, 9]) > 1
    packed = ingest(dosage, tmp_path / "p.zarr", target=y)
    inside = ingest(dosage, target=y)
    monkeypatch.setattr("srs.store.writer.LAST_CODE", -1)
    plain = ingest(dosage, tmp_path / "b.zarr", target=y)
    assert (packed.manifest.code_bits, plain.manifest.code_bits) == (2, 8)
    assert inside.fingerprint == packed.fingerprint == plain.fingerprint
    np.testing.assert_array_equal(packed.feature_ids, plain.feature_ids)
    one, other = (srs.select(s, max_trees=40, memory="400MB") for s in (packed, plain))
    assert one.table.equals(other.table)
    assert {"f3", "f9"} <= set(one.relevant_names)


@pytest.mark.parametrize("version", [1, 2])
def test_stores_of_older_versions_still_open(version, tmp_path):
    values = np.random.default_rng(0).normal(size=(50, 80))
    store = ingest(values, tmp_path / "s.zarr")
    metadata = tmp_path / "s.zarr" / "zarr.json"
    document = json.loads(metadata.read_text())
    manifest = document["attributes"]["srs"]
    assert manifest["schema_version"] == layout.SCHEMA_VERSION == 3
    if version == 1:
        del manifest["code_bits"]
    manifest["schema_version"] = version
    metadata.write_text(json.dumps(document))
    old = open_store(tmp_path / "s.zarr")
    np.testing.assert_array_equal(old.read_codes([7, 79]), store.read_codes([7, 79]))
