"""The plan says what the run then does."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import srs
from srs.cli.commands.plan import pairs_text
from srs.errors import MemoryBudgetError, SettingsError
from srs.theory import expected_iterations
from tests.planted import make_planted


@pytest.fixture
def store(tmp_path):
    X, y = make_planted(n=300, p=8_000)
    return srs.ingest(X, tmp_path / "s.zarr", target=y)


def test_a_plan_is_what_the_run_does(store):
    planned = srs.plan(store, memory="600MB", threads=2, seed=3)
    result = srs.select(store, memory="600MB", threads=2, seed=3)
    assert planned.subspace_size == result.document["shape"]["subspace_size"]
    assert planned.n_probes == result.document["shape"]["n_probes"]
    assert planned.projected_mem == result.document["measured"]["projected_mem"]
    assert planned.trees_per_pass == pytest.approx(result.n_trees / result.n_passes)
    assert result.n_trees >= planned.least_trees
    assert planned.bytes_per_pass >= 300 * 8_000


def test_time_is_that_of_the_trees_until_the_run_may_end(monkeypatch):
    """Pairs that are not looked at are waited for: some 1,700 trees, which a plan foresees."""
    monkeypatch.setattr("srs.selection.planning.rehearsal.CALIBRATION_SECONDS", 0.1)
    X, y = make_planted(n=60, p=30)
    planned = srs.plan(srs.ingest(X, target=y), pairs="off")
    assert planned.least_trees > 1_000
    assert planned.seconds_per_tree > 0
    assert planned.seconds_per_pass == planned.seconds_per_tree * planned.trees_per_pass
    assert planned.seconds >= planned.seconds_per_tree * planned.least_trees


def test_expected_trees_are_those_of_the_theory(store):
    planned = srs.plan(store)
    q = planned.subspace_size
    assert planned.expected_trees("chain", 4) == expected_iterations("chain", 8_000, q, 4, True)
    assert planned.expected_trees("chain", 4, sequential=False) > 10 * planned.expected_trees(
        "chain", 4
    )
    with pytest.raises(SettingsError):
        planned.expected_trees("ring", 4)


def test_a_limit_does_not_end_a_rehearsal(store):
    """Guards plans of runs that end before their first round: they had nothing to measure."""
    assert srs.plan(store, max_seconds=0.0).seconds > 0


def test_what_cannot_fit_is_refused(store):
    with pytest.raises(MemoryBudgetError, match="allow at least"):
        srs.plan(store, memory="100MB")


def test_plan_and_check_take_what_select_takes(store):
    """The part of the store, pinned features and sets, and where a run is done."""
    part = {
        "samples": range(200),
        "features": [f"f{i}" for i in range(500)],
        "pinned": ["f600"],
        "feature_sets": {"two": ["f1", "f2"]},
        "carry_fraction": 0.3,
        "executor": 2,
        "task_timeout": 60.0,
        "threads": 1,
    }
    srs.check(store, **part)
    assert srs.plan(store, **part).n_features == 501
    for function in (srs.check, srs.plan, srs.select):
        for wrong, message in (
            ({"samples": ["nobody"]}, "nobody"),
            ({"feature_sets": {"two": ["nothing"]}}, "feature"),
            ({"executor": 0}, "number of workers must be at least 1"),
            ({"task_timeout": -1.0}, "above 0 seconds"),
            ({"resume": True}, "resume needs the folder"),
        ):
            with pytest.raises(srs.SRSError, match=message):
                function(store, **{**part, **wrong})


def test_a_plan_says_what_pairs_cost(monkeypatch):
    X, y = make_planted(n=300, p=800)
    store = srs.ingest(X, target=y)
    looked = srs.plan(store)
    assert looked.n_pairs == 800 * 799 // 2
    assert looked.pairs_left_out is None
    assert 0 < looked.pair_seconds < 60
    off = srs.plan(store, pairs="off")
    assert off.pairs_left_out == "pairs are off (pairs=)."
    assert 0 < off.pair_seconds < 60
    assert "among the kinds" in srs.plan(store, evidence=["used"]).pairs_left_out
    monkeypatch.setattr("srs.evidence.pairs.kind.AUTO_WORDS", 1e3)
    assert "times the time" in srs.plan(store).pairs_left_out
    assert srs.plan(store, pairs="all").pairs_left_out is None
    paper = srs.plan(store, mode="paper")
    assert (paper.pair_seconds, paper.pairs_left_out[:10]) == (None, "paper mode")


def test_pairs_of_a_plan_in_words(store):
    planned = srs.plan(store)
    looked = replace(planned, pairs_left_out=None, pair_seconds=12.0)
    assert pairs_text(looked) == "all 31,996,000 pairs of features are looked at first, about 12 s"
    unseen = replace(planned, pairs_left_out="pairs are off.", pair_seconds=7200.0)
    assert pairs_text(unseen) == (
        "not all are looked at: pairs are off. All would take about 2 hours (--pairs all)"
    )


def test_on_the_command_line(store):
    command = [sys.executable, "-m", "srs.cli", "plan", str(store.path), "--relevant", "3"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for word in ("subspaces", "memory", "time", "pairs", "a chain", "without carrying"):
        assert word in text
    raw = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout
    document = json.loads(raw)
    assert document["n_features"] == 8_000
    assert document["expected_trees"]["clique"]["not carried"] > 1_000
    assert np.isfinite(document["seconds"])


def test_the_folder_of_a_run_takes_no_more_disk_than_planned(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3_000)).astype(np.float32)
    store = srs.ingest(
        X, target=X[:, 0] > 0, names=[f"a rather long name {i}" for i in range(3000)]
    )
    folder, most = tmp_path / "run", 0

    def look(_: srs.Progress) -> None:
        nonlocal most
        here = (path.stat().st_size for path in folder.rglob("*") if path.is_file())
        most = max(most, sum(here))

    result = srs.select(store, folder=folder, max_trees=60, pairs="off", on_progress=look)
    result.save(folder)
    look(None)
    planned = srs.plan(store, max_trees=60, pairs="off", threads=1).disk_bytes
    assert most <= planned
    assert planned < 20 * most
