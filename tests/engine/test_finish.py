"""A run that is asked to finish, or out of time, ends soon with what it has found."""

import os
import signal
import subprocess
import sys
import threading

import pytest

import srs
from srs.evidence.pairs.kind import PAIRS
from tests.planted import make_planted, make_store


@pytest.fixture
def store():
    X, y = make_planted(p=900)
    return make_store(X, y)


@pytest.mark.parametrize("round_size", [None, 4])
def test_it_ends_after_the_batch_that_it_is_at(store, round_size):
    finish, seen = threading.Event(), []

    def note(now):
        seen.append(now.n_trees)
        if now.n_trees >= 60:
            finish.set()

    settings = {"seed": 1, "patience": 10**6, "round_size": round_size, "subspace_size": 90}
    result = srs.select(store, on_progress=note, finish=finish, **settings)
    assert result.stop_reason == "the run was asked to finish"
    assert result.n_trees < 100
    assert {3, 11} <= set(result.relevant_ids.tolist())
    assert result.document["outcome"]["history"][-1]["n_trees"] == result.n_trees


def test_one_that_was_asked_before_it_began_grows_a_batch(store):
    finish = threading.Event()
    finish.set()
    result = srs.select(store, finish=finish, seed=1)
    assert 0 < result.n_trees < 100
    assert "asked to finish" in result.stop_reason


def test_steps_are_broken_off_and_that_is_said(store, monkeypatch):
    """What a kind has not seen to the end says nothing of any feature."""
    monkeypatch.setattr("srs.evidence.pairs.steps.LEAST_BLOCK", 128)
    finish = threading.Event()

    def note(now):
        if now.stage is not None and now.stage.kind == PAIRS.name:
            finish.set()

    result = srs.select(store, on_progress=note, finish=finish, seed=1)
    assert "asked to finish" in result.stop_reason
    if "before the evidence" in result.stop_reason:
        assert "pairs" in result.stop_reason
    assert result.n_trees > 0


def test_a_limit_of_time_ends_it_within_a_round(store):
    result = srs.select(store, seed=1, max_seconds=0.0, round_size=1_000)
    assert result.stop_reason.startswith("the limit of 0 seconds was reached")
    assert 0 < result.n_trees < 1_000


def test_a_day_is_the_limit_if_nothing_is_said(store):
    assert srs.plan(store).max_seconds == 86_400
    assert srs.plan(store, max_seconds=60.0).max_seconds == 60
    assert srs.plan(store, mode="paper").max_seconds is None


def test_a_signal_asks_the_command_to_finish(tmp_path):
    X, y = make_planted(p=900)
    srs.ingest(X, tmp_path / "s.zarr", target=y)
    command = [sys.executable, "-m", "srs.cli", "select", str(tmp_path / "s.zarr")]
    command += ["--out", str(tmp_path / "run"), "--patience", "1000000"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "round 3," in line:
                os.kill(process.pid, signal.SIGUSR1)
                break
        rest = process.stderr.read()
        assert process.wait(60) == 0, rest
    assert "finishing after the present batch" in rest
    result = srs.load_result(tmp_path / "run")
    assert result.stop_reason == "the run was asked to finish"
