"""Several targets of a store: missing values of each, targets that are added and removed."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import srs
from srs.cli.app import app
from srs.errors import InputError, SourceError

N = 60
IDS = [f"s{i}" for i in range(N)]
X = np.random.default_rng(3).normal(size=(N, 8))
CASE = np.where(X[:, 1] > 0, "yes", "no")


@pytest.fixture
def table():
    frame = pd.DataFrame({"IID": IDS, "case": CASE, "ldl": X[:, 2] * 2})
    frame.loc[3:8, "case"] = None
    frame.loc[6:11, "ldl"] = np.nan
    frame["site"] = np.where(np.arange(N) % 3, "a", "b")
    return frame.sample(frac=1, random_state=1)


def test_samples_without_one_of_several_targets_stay(table):
    store = srs.ingest(X, sample_ids=IDS, table=table, target={"case": "case", "ldl": "ldl"})
    missing = {name: np.flatnonzero(store.target(name).missing) for name in ("case", "ldl")}
    kept = [i for i in range(N) if i not in (6, 7, 8)]  # these have neither
    assert store.sample_ids == [IDS[i] for i in kept]
    assert [kept[i] for i in missing["case"]] == [3, 4, 5]
    assert [kept[i] for i in missing["ldl"]] == [9, 10, 11]
    assert "'ldl' is missing in 6 samples: runs that use it leave these out" in " ".join(
        store.manifest.notices
    )
    about = {target["name"]: target for target in store.describe()["targets"]}
    assert about["case"]["missing"] == about["ldl"]["missing"] == 3
    assert sum(about["case"]["classes"].values()) == N - 6


def test_a_run_leaves_out_what_its_own_columns_lack(table):
    store = srs.ingest(X, sample_ids=IDS, table=table, target={"case": "case", "ldl": "ldl"})
    known = np.flatnonzero(~store.target("ldl").missing)
    run = srs.select(store, target="ldl", max_trees=30)
    assert run.digest == srs.select(store, target="ldl", samples=known, max_trees=30).digest
    assert run.relevant_ids.tolist() == [2]
    assert run.document["data"]["n_samples"] == N - 6
    notices = run.document["data"]["notices"]
    assert "'ldl' is missing in 3 samples of the store, which this run leaves out." in notices
    adjusted = srs.select(store, target="ldl", confounders=("case",), max_trees=30)
    assert adjusted.document["data"]["n_samples"] == N - 9
    why = srs.explain(store, features=run, analyses=["mdi"])
    assert why.to_json()["data"]["target"] == "ldl"


def test_targets_are_added_to_a_store(table, tmp_path):
    store = srs.ingest(X, tmp_path / "x.zarr", sample_ids=IDS, target=CASE)
    before = store.fingerprint
    path = tmp_path / "t.tsv"
    table.drop(columns="site").to_csv(path, sep="\t", index=False, na_rep="NA")
    srs.add_targets(tmp_path / "x.zarr", path)
    opened = srs.open_store(tmp_path / "x.zarr")
    assert opened.target_names == ("target", "case", "ldl")
    assert opened.fingerprint == before
    np.testing.assert_array_equal(np.flatnonzero(opened.target("ldl").missing), range(6, 12))
    assert srs.select(opened, target="ldl", max_trees=30).relevant_ids.tolist() == [2]
    again = srs.open_store(tmp_path / "x.zarr")
    with pytest.raises(InputError, match="has a target 'case' already"):
        srs.add_targets(again, path, ["case"])
    table["case"] = 1.5 * table["ldl"]
    srs.add_targets(again, table, ["case"], overwrite=True)
    assert again.target_names == ("target", "case", "ldl")
    assert srs.open_store(tmp_path / "x.zarr").target("case").kind == "numbers"
    assert srs.remove_targets(again, ["case"]).target_names == ("target", "ldl")
    assert not (tmp_path / "x.zarr" / "targets" / "case").exists()


def test_targets_of_a_store_in_memory(table):
    store = srs.ingest(X, sample_ids=IDS, target=CASE)
    assert srs.add_targets(store, table, ["ldl"]).target("ldl").missing.sum() == 6
    part = store.view(samples=range(20))
    assert part.target("ldl").missing.sum() == 6
    with pytest.raises(InputError, match="to a whole store"):
        srs.add_targets(part, table, ["site"])


def test_a_checkpoint_is_not_continued_with_other_values(table, tmp_path):
    """Guards what the fingerprint does not tell: a target that was replaced."""
    from threading import Event

    store = srs.ingest(X, tmp_path / "x.zarr", sample_ids=IDS, target=CASE)
    srs.add_targets(store, table, ["ldl"])

    def interrupt(now):
        if now.round_ended:
            raise KeyboardInterrupt

    asked = {"target": "ldl", "folder": tmp_path / "run", "finish": Event()}
    with pytest.raises(srs.errors.RunInterrupted):
        srs.select(store, on_progress=interrupt, **asked)
    table["ldl"] = -(table["ldl"] ** 3)
    srs.add_targets(store, table, ["ldl"], overwrite=True)
    with pytest.raises(srs.errors.CheckpointError, match="the values of the target changed"):
        srs.select(store, resume=True, **asked)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda t: t.assign(IID="z" + t["IID"]), {}, "no sample of the store is in the table"),
        (lambda t: t, {"columns": ["hdl"]}, "has no column 'hdl'; it has"),
        (lambda t: t, {"id_column": "who"}, "has no column 'who' to join by"),
        (lambda t: t.assign(ldl=np.nan), {}, "'ldl' has no value for any sample"),
        (lambda t: t[["IID"]], {}, "no column beside its ids"),
        (lambda t: t, {"target_kind": "colours"}, "must be one of"),
    ],
)
def test_what_cannot_be_added(table, change, options, message):
    store = srs.ingest(X, sample_ids=IDS, target=CASE)
    with pytest.raises(SourceError, match=message):
        srs.add_targets(store, change(table), **options)
    assert store.target_names == ("target",)


def test_from_the_shell(table, tmp_path):
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "ids.txt").write_text("\n".join(IDS))
    table.to_csv(tmp_path / "t.csv", index=False)
    store = str(tmp_path / "x.zarr")

    def run(*words):
        done = CliRunner().invoke(app, list(map(str, words)))
        assert done.exit_code == 0, done.output
        return done.stdout

    files = ("ingest", tmp_path / "x.npy", store, "--sample-ids", tmp_path / "ids.txt", "--json")
    named = ("--table", tmp_path / "t.csv", "--target", "case", "--target", "ldl")
    about = json.loads(run(*files, *named))
    assert [target["name"] for target in about["targets"]] == ["case", "ldl"]
    added = ("targets", "add", store, tmp_path / "t.csv", "--column", "site")
    listed = run(*added)
    assert "ldl, numbers" in listed
    assert "missing in 3 samples" in listed
    assert "site, classes, 2 classes" in listed
    run("targets", "remove", store, "ldl")
    left = json.loads(run("targets", "list", store, "--json"))
    assert [target["name"] for target in left] == ["case", "site"]
