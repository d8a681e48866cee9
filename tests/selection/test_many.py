"""Many targets of one store: each result is that of a run of its own, to the byte."""

from threading import Event

import numpy as np
import pandas as pd
import pytest

import srs
from srs.errors import CheckpointError, InputError, RunInterrupted, SettingsError
from srs.results.many import folders_of

N, P = 120, 60
TREES = {"max_trees": 40, "seed": 3}


def phenotypes(seed=0):
    """Four targets of two kinds, two of which some samples lack, and a batch."""
    rng = np.random.default_rng((seed, 21))
    X = rng.normal(size=(N, P))
    ldl = 2 * X[:, 4] + 0.5 * rng.normal(size=N)
    ldl[:15] = np.nan
    case = np.where(X[:, 7] + X[:, 8] > 0, "case", "control").astype(object)
    case[10:30] = None
    grade = np.digitize(X[:, 9], [-0.5, 0.5])
    targets = {
        "grade": grade,
        "ldl": ldl,
        "case": pd.Series(case),
        "HbA1c (%)": X[:, 4] + rng.normal(size=N),
        "batch": rng.integers(0, 3, N).astype(str),
    }
    return X, targets


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    X, targets = phenotypes()
    return srs.ingest(X, tmp_path_factory.mktemp("many") / "x.zarr", target=targets)


def test_each_result_is_that_of_a_run_of_its_own(store, tmp_path):
    """Guards the bytes: of the document, and of the files."""
    many = srs.select_many(store, confounders=("batch",), folder=tmp_path / "many", **TREES)
    assert list(many) == ["grade", "ldl", "case", "HbA1c (%)"]
    for name, result in many.items():
        alone = srs.select(store, target=name, confounders=("batch",), **TREES)
        assert result.digest == alone.digest
        folder = alone.save(tmp_path / "alone")
        here = tmp_path / "many" / folders_of(list(many))[name]
        for file in ("features.parquet", "effects.parquet", "profiles.parquet"):
            assert (here / file).read_bytes() == (folder / file).read_bytes()
    n_samples = {name: result.document["data"]["n_samples"] for name, result in many.items()}
    assert n_samples == {"grade": N, "ldl": N - 15, "case": N - 20, "HbA1c (%)": N}
    assert many["ldl"].relevant_ids.tolist() == [4]


@pytest.mark.parametrize("options", [{"threads": 2}, {"memory": "279MB"}, {"executor": 2}])
def test_wherever_it_runs(store, options):
    """Guards codes and workers that runs share: threads, little memory, worker processes."""
    many = srs.select_many(store, ["ldl", "grade", "case"], **TREES, **options)
    for name, result in many.items():
        memory = {key: value for key, value in options.items() if key == "memory"}
        assert result.digest == srs.select(store, target=name, **TREES, **memory).digest


def test_the_overview(store, tmp_path):
    many = srs.select_many(store, ["ldl", "grade", "HbA1c (%)"], folder=tmp_path, **TREES)
    loaded = srs.load_many(tmp_path)
    frame = loaded.overview
    union = sorted({int(i) for result in many.values() for i in result.relevant_ids})
    assert sorted(frame["feature_id"].unique()) == union
    assert len(frame) == len(many) * len(union)
    for name, result in loaded.items():
        mine = frame[frame["target"] == name].set_index("feature_id")
        whole = result.features.set_index("feature_id").loc[union]
        for column in ("p_value", "q_value", "verdict", "importance"):
            assert (mine[column] == whole[column]).all()
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "overview.csv")[["target", "feature_id", "verdict"]],
        frame[["target", "feature_id", "verdict"]],
        check_dtype=False,
    )
    page = (tmp_path / "overview.html").read_text()
    assert 'href="HbA1c-3/report.html"' in page
    assert page.count('class="relevant"') == (frame["verdict"] == "RELEVANT").sum()
    assert "http" not in page


def test_results_in_memory_are_saved_later(store, tmp_path):
    many = srs.select_many(store, ["ldl", "grade"], **TREES)
    assert [row["folder"] for row in many.summary()] == [None, None]
    many.save(tmp_path)
    assert {name: one.digest for name, one in srs.load_many(tmp_path).items()} == {
        name: one.digest for name, one in many.items()
    }


def test_what_is_done_is_not_done_again(store, tmp_path):
    """Guards the checkpoint of each target: an interruption loses nothing."""
    whole = srs.select_many(store, ["ldl", "grade", "case"], seed=3)
    seen = []

    def interrupt(now):
        seen.append((now.target, now.n_done, now.n_targets))
        if now.target == "grade" and now.run is not None and now.run.round_ended:
            raise KeyboardInterrupt

    asked = {"folder": tmp_path, "seed": 3}
    with pytest.raises(RunInterrupted, match="--resume"):
        srs.select_many(store, ["ldl", "grade", "case"], on_progress=interrupt, **asked)
    assert seen[0] == ("ldl", 0, 3)
    assert (tmp_path / "ldl" / "result.json").exists()
    assert (tmp_path / "grade" / "checkpoint.npz").exists()
    before = (tmp_path / "ldl" / "result.json").stat().st_mtime_ns
    with pytest.raises(CheckpointError, match="belongs to another run"):
        srs.select_many(store, ["ldl", "grade", "case"], resume=True, folder=tmp_path, seed=4)
    many = srs.select_many(store, ["ldl", "grade", "case"], resume=True, **asked)
    assert (tmp_path / "ldl" / "result.json").stat().st_mtime_ns == before
    assert {n: one.digest for n, one in many.items()} == {n: o.digest for n, o in whole.items()}
    assert not (tmp_path / "grade" / "checkpoint.npz").exists()


def test_a_target_that_cannot_be_learned_leaves_the_others(tmp_path):
    X, _ = phenotypes()
    lonely = np.where(np.arange(N) < 4, 1.5, np.nan)
    targets = {"a": X[:, 3], "few": lonely, "same": np.ones(N), "b": X[:, 5] > 0}
    store = srs.ingest(X, target=targets)
    many = srs.select_many(store, folder=tmp_path, **TREES)
    assert list(many) == ["a", "b"]
    assert "only 4 samples to learn from" in many.failed["few"]
    assert "single value" in many.failed["same"]
    assert srs.load_many(tmp_path).failed == many.failed
    assert "no result: " in (tmp_path / "overview.html").read_text()


def test_a_run_that_is_asked_to_finish_begins_no_more_targets(store):
    finish = Event()
    many = srs.select_many(
        store, ["ldl", "grade", "case"], finish=finish, on_progress=lambda _: finish.set(), seed=3
    )
    assert list(many) == ["ldl"]
    assert set(many.failed) == {"grade", "case"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"targets": ["hdl"]}, "no target 'hdl'; the store has grade, ldl"),
        ({"targets": "ldl"}, 'a list of names or "all"'),
        ({"targets": []}, "no targets to select features for"),
        ({"depth": 3}, "no argument 'depth'"),
        ({"target": "ldl"}, "no argument 'target'"),
        ({"resume": True}, "resume needs the folder"),
    ],
)
def test_what_cannot_be_is_refused(store, given, message):
    with pytest.raises((InputError, SettingsError), match=message):
        srs.select_many(store, **given)
