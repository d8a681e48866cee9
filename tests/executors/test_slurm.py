"""A run whose workers are jobs of a real Slurm."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import run_srs
from tests.cli.test_commands import outcome
from tests.executors.slurm import await_empty_queue, needs_slurm, slurm  # noqa: F401

pytestmark = [pytest.mark.long, needs_slurm]


def test_a_run_on_slurm(chunky: Path, slurm: dict[str, str], tmp_path: Path) -> None:  # noqa: F811
    """Guards the whole way: jobs are queued, start workers, and end with the run."""
    pytest.importorskip("dask_jobqueue")
    (tmp_path / "slurm.toml").write_text(
        'n_workers = 2\n[options]\nqueue = "normal"\nwalltime = "00:30:00"\n'
        f'log_directory = "{tmp_path / "logs"}"\nlocal_directory = "{tmp_path}"\n'
    )
    options = ["select", chunky, "--max-passes", 3, "--subspace-size", 64, "--memory", "600MB"]
    run_srs(*options, "--out", tmp_path / "threads")
    run_srs(
        *[
            *options,
            "--out",
            tmp_path / "slurm",
            "--cluster",
            "slurm",
            "--config",
            tmp_path / "slurm.toml",
        ],
        env=slurm,
    )
    assert outcome(tmp_path / "slurm") == outcome(tmp_path / "threads")
    assert list((tmp_path / "logs").iterdir()), "workers ran as jobs"
    await_empty_queue(slurm, 30)
