"""Views: a part of a store reads, selects and resumes as a store does, without a copy."""

import numpy as np
import pytest

import srs
from srs.errors import CheckpointError, InputError, RunInterrupted
from srs.ingest import ingest
from srs.ingest.values import read_values
from srs.selection.feature_sets import find_sets
from srs.store import MISSING

N, P = 300, 900
RNG = np.random.default_rng(11)
VALUES = RNG.normal(size=(N, P)).astype(np.float32)
VALUES[:, 40] = RNG.integers(0, 4, N)
VALUES[5, 3] = np.nan
Y = (VALUES[:, 10] + VALUES[:, 700] > 0).astype(int)
SAMPLES = np.sort(RNG.choice(N, 200, replace=False))
FEATURES = np.sort(np.append(RNG.choice(np.delete(np.arange(P), [10, 700]), 398), [10, 700]))
FEATURES = np.unique(FEATURES)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("view") / "s.zarr"
    names = [f"g{i}" for i in range(P)]
    return ingest(
        VALUES,
        path,
        target={"y": Y, "z": VALUES[:, 1]},
        names=names,
        sample_ids=[f"s{i}" for i in range(N)],
        categorical=["g40"],
        keep_values=True,
    )


@pytest.mark.parametrize(
    ("samples", "features"), [(SAMPLES, None), (None, FEATURES), (SAMPLES, FEATURES)]
)
def test_a_view_reads_as_its_part(store, samples, features):
    view = store.view(samples, features)
    rows = np.arange(N) if samples is None else samples
    ids = np.arange(P) if features is None else features
    assert (view.n_samples, view.n_features) == (len(rows), len(ids))
    codes = store.read_codes(ids)[rows]
    np.testing.assert_array_equal(view.read_codes(np.arange(len(ids))), codes)
    assert view.feature_names == [f"g{i}" for i in ids]
    assert view.sample_ids == [f"s{i}" for i in rows]
    np.testing.assert_array_equal(view.target("z").values, store.target("z").values[rows])
    np.testing.assert_array_equal(view.source_ids, ids)
    np.testing.assert_array_equal(view.kinds, store.kinds[ids])
    np.testing.assert_array_equal(read_values(view, [2, 7]), VALUES[rows][:, ids[[2, 7]]])
    tops = [max(np.bincount(c[c != MISSING])) / (c != MISSING).sum() for c in codes.T]
    np.testing.assert_allclose(view.top_shares, tops, atol=1 / 255)
    last = view.empty_chunks(1)[0]
    view.read_chunk(view.n_chunks - 1, last)
    n_last = view.n_features - (view.n_chunks - 1) * view.chunk_features
    assert (last.transpose(0, 2, 1).reshape(-1, len(rows))[n_last:] == MISSING).all()
    assert store.view(rows, ids).fingerprint == view.fingerprint
    again = view.view(samples=[1, 4], features=[f"g{ids[6]}"])
    np.testing.assert_array_equal(again.read_codes([0]), codes[[1, 4]][:, [6]])


def test_views_of_packed_stores(tmp_path):
    dosage = np.random.default_rng(1).integers(0, 3, size=(70, 300)).astype(float)
    store = ingest(dosage, tmp_path / "s.zarr")
    assert store.manifest.code_bits == 2
    view = store.view(samples=np.arange(0, 70, 3), features=np.arange(0, 300, 7))
    np.testing.assert_array_equal(view.read_codes(np.arange(43)), dosage[::3, ::7])


def test_selecting_on_a_part(store):
    names = [f"g{i}" for i in FEATURES]
    ids = [f"s{i}" for i in SAMPLES]
    result = srs.select(store, samples=ids, features=names, max_trees=120, seed=1)
    assert result.relevant_names == ["g10", "g700"]
    assert result.relevant_ids.tolist() == [10, 700]
    assert result.features["feature_id"].tolist() == FEATURES.tolist()
    assert result.document["data"]["n_samples"] == 200
    view = store.view(SAMPLES, FEATURES)
    assert result.document["data"]["fingerprint"] == view.fingerprint != store.fingerprint
    small = srs.select(view, seed=1, memory="330MB", max_trees=120)
    assert small.table.equals(result.table)
    planned = srs.plan(store, samples=ids, features=names)
    assert planned.n_features == len(FEATURES)


def test_checkpoints_belong_to_their_part(store, tmp_path):
    def stop(progress):
        if progress.n_trees > 20:
            raise KeyboardInterrupt

    options = {"folder": tmp_path, "max_trees": 60, "samples": SAMPLES}
    with pytest.raises(RunInterrupted):
        srs.select(store, on_progress=stop, **options)
    with pytest.raises(CheckpointError, match="the data changed"):
        srs.select(store, resume=True, **{**options, "samples": SAMPLES[1:]})
    resumed = srs.select(store, resume=True, **options)
    straight = srs.select(store, **{**options, "folder": None})
    assert resumed.table.equals(straight.table)


def test_workers_see_the_same_part(store):
    options = {"samples": SAMPLES, "features": FEATURES, "max_trees": 30, "seed": 3}
    here = srs.select(store, **options)
    there = srs.select(store, executor=1, memory="600MB", **options)
    assert srs.select(store, memory="600MB", **options).table.equals(there.table)
    assert here.document["data"] == there.document["data"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": ["nobody"]}, "no sample 'nobody'"),
        ({"samples": [N]}, f"no sample {N}"),
        ({"features": ["gene"]}, "no feature named 'gene'"),
        ({"samples": [4]}, "1 samples were chosen"),
        ({"features": []}, "0 features"),
    ],
)
def test_parts_that_are_not_there(store, options, message):
    with pytest.raises(InputError, match=message):
        store.view(**options)
    view = store.view(features=[1, 2, 3])
    with pytest.raises(InputError, match="'g9' is not among the chosen"):
        srs.select(view, pinned=["g9"])


def test_a_name_stands_for_all_that_have_it(tmp_path):
    """Genes of repeated symbols, samples of repeated ids, sets in two lines."""
    names, samples = ["a", "b", "a", "c"], ["s", "t", "s", "u", "v"]
    values = np.random.default_rng(0).normal(size=(5, 4))
    store = srs.ingest(values, names=names, sample_ids=samples, target=[0, 1, 0, 1, 1])
    assert store.find_ids(["a", "c", 1]).tolist() == [0, 2, 3, 1]
    view = store.view(samples=["s", "v"], features=["a"])
    assert (view.samples.tolist(), view.source_ids.tolist()) == ([0, 2, 4], [0, 2])
    part = store.view(features=[1, 2])
    assert part.find_ids(["a"]).tolist() == [1]
    with pytest.raises(InputError, match="'c' is not among the chosen"):
        part.find_ids(["a", "c"])
    (tmp_path / "sets.gmt").write_text("one\t-\ta\ntwo\t-\tb\nnothing\t-\tx\none\t-\tc\n")
    found = find_sets(tmp_path / "sets.gmt", store)
    ids = [sorted(store.feature_ids[places].tolist()) for places in found.places]
    assert (found.names, ids, found.unknown) == (("one", "two"), [[0, 2, 3], [1]], 1)
