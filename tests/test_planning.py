"""The plan says what the run then does."""

import json
import subprocess
import sys

import numpy as np
import pytest

import srs
from srs.errors import MemoryBudgetError, SettingsError
from srs.theory import expected_iterations
from tests.planted import make_planted


@pytest.fixture
def store(tmp_path):
    X, y = make_planted(n=300, p=8_000)
    return srs.ingest(X, tmp_path / "s.zarr", target=y)


def test_a_plan_is_what_the_run_does(store):
    planned = srs.plan(store, memory="600MB", workers=2, seed=3)
    result = srs.select(store, memory="600MB", threads=2, seed=3)
    assert planned.subspace_size == result.document["shape"]["subspace_size"]
    assert planned.n_probes == result.document["shape"]["n_probes"]
    assert planned.projected_mem == result.document["measured"]["projected_mem"]
    assert planned.trees_a_pass == pytest.approx(result.n_trees / result.n_passes)
    assert result.n_trees >= planned.least_trees
    assert planned.bytes_a_pass >= 300 * 8_000
    assert planned.seconds > planned.seconds_a_pass > planned.seconds_a_tree / 2 > 0


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


def test_on_the_command_line(store):
    command = [sys.executable, "-m", "srs.cli", "plan", str(store.path), "--relevant", "3"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for word in ("subspaces", "memory", "time", "a chain", "without carrying"):
        assert word in text
    raw = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout
    document = json.loads(raw)
    assert document["n_features"] == 8_000
    assert document["expected_trees"]["clique"]["not carried"] > 1_000
    assert np.isfinite(document["seconds"])
