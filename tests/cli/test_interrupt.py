"""Interrupted runs of the real program continue to the very same result."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.cli.conftest import run_srs, start_srs
from tests.cli.test_commands import outcome

pytestmark = pytest.mark.fault


def interrupt(process: subprocess.Popen[str], folder: Path, n_files: int, number: int) -> str:
    """Send a signal when the run has written some trees; returns stderr."""
    end = monotonic() + 60
    while len(list((folder / "trees").glob("*"))) < n_files:
        assert process.poll() is None, f"the run ended early: {process.communicate()}"
        assert monotonic() < end
        sleep(0.01)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    return errors


@pytest.mark.parametrize(
    ("mode", "number"),
    [("paper", signal.SIGINT), ("default", signal.SIGTERM)],
    ids=["paper-SIGINT", "default-SIGTERM"],
)
def test_interrupted_run_continues_to_the_same_result(
    mode: str, number: int, store: Path, wide_store: Path, tmp_path: Path
) -> None:
    options = {
        "paper": [store, "--mode", "paper", "--max-trees", 500, "--subspace-size", 40],
        "default": [wide_store, "--holdout", 0.1],
    }[mode]
    arguments = ["select", *options, "--keep-trees", "--memory", "1GB"]
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    run_srs(*arguments, "--out", whole, "--threads", 1)
    command = [*arguments, "--out", broken, "--threads", 2]
    errors = interrupt(start_srs(command), broken, 3, number)
    assert "repeat the command with --resume" in errors
    assert "Traceback" not in errors
    assert not (broken / "result.json").exists()
    run_srs(*command, "--resume")
    assert outcome(broken) == outcome(whole)
    assert not (broken / "checkpoint.npz").exists()
    kept = [sorted(p.name for p in (f / "trees").iterdir()) for f in (whole, broken)]
    assert kept[0] == kept[1]
