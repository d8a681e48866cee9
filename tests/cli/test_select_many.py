"""`srs select --targets`: names, all, a table; the folder, the log, what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import srs
from srs.cli.app import app

N = 80


@pytest.fixture
def store(tmp_path):
    X = np.random.default_rng(5).normal(size=(N, 20))
    ids = [f"s{i}" for i in range(N)]
    srs.ingest(X, tmp_path / "x.zarr", sample_ids=ids, target={"a": X[:, 2], "b": X[:, 6] > 0})
    frame = pd.DataFrame({"id": ids, "c": X[:, 9], "a": X[:, 2]})
    frame.loc[5:9, "c"] = np.nan
    frame.to_csv(tmp_path / "t.tsv", sep="\t", index=False)
    return tmp_path / "x.zarr"


def run(command, code=0):
    done = CliRunner().invoke(app, [*command.split(), "--max-trees", "30"])
    assert done.exit_code == code, done.output
    return done


def test_targets_of_a_store(store, tmp_path):
    out = tmp_path / "many"
    done = run(f"select {store} --targets all --out {out} --json")
    rows = json.loads(done.stdout)["targets"]
    assert [(row["target"], row["relevant"]) for row in rows] == [("a", ["f2"]), ("b", ["f6"])]
    events = [json.loads(line) for line in done.stderr.splitlines()]
    assert [one["n_done"] for one in events if one["event"] == "target"] == [1, 2]
    alone = tmp_path / "alone"
    run(f"select {store} --target b --out {alone}")
    assert srs.load_result(out / "b").digest == srs.load_result(alone).digest
    said = run(f"select {store} --targets a,b --out {out}", code=2).output
    assert "already contains results: continue with --resume" in said
    said = run(f"select {store} --targets a,b --out {out} --resume").stdout
    assert "2 targets in" in said
    assert "a: 1 relevant feature (f2)" in said
    assert "overview.html" in said


def test_a_table_of_targets(store, tmp_path):
    run(f"select {store} --targets {tmp_path}/t.tsv --out {tmp_path}/many")
    many = srs.load_many(tmp_path / "many")
    assert list(many) == ["c", "a"]
    assert "f9" in many["c"].relevant_names
    assert many["c"].document["data"]["n_samples"] == N - 5
    assert srs.open_store(store).target_names == ("a", "b", "c")
    other = pd.read_csv(tmp_path / "t.tsv", sep="\t").assign(a=1.5)
    other.to_csv(tmp_path / "other.csv", index=False)
    said = run(f"select {store} --targets {tmp_path}/other.csv", code=2).output
    assert "other values of the target 'a'" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--targets z", "no target 'z'"),
        ("--targets ,", "names no target"),
        ("--targets a --target b", "choose one"),
    ],
)
def test_what_is_refused(store, tmp_path, words, message):
    out = tmp_path / "none"
    assert message in run(f"select {store} {words} --out {out}", code=2).output
    assert not (out / "targets.json").exists()
