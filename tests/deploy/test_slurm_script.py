"""The batch script of `deploy/slurm`, run by a real Slurm on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

import srs
from srs.executors.batch_systems import JobCluster
from tests.cli.test_commands import outcome
from tests.deploy.tools import DEPLOY, ROOT, run_script
from tests.executors.conftest import make_chunky
from tests.executors.slurm import await_empty_queue, needs_slurm, slurm  # noqa: F401

SETTINGS = {"max_passes": 40, "subspace_size": 64, "memory": "600MB", "seed": 1}
OPTIONS = [f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items()]


def test_the_example_is_what_the_command_takes():
    cluster = JobCluster.read("slurm", DEPLOY / "slurm" / "slurm.toml")
    assert (cluster.minimum, cluster.maximum) == (2, 20)
    assert cluster.options["walltime"] == "04:00:00"


def test_only_its_own_folder_is_removed(tmp_path: Path):
    """Guards the folder that SRS_TLS names: it may hold anything."""
    kept = tmp_path / "home" / "thesis.tex"
    kept.parent.mkdir()
    kept.write_text("years of work")
    programs = write_programs(tmp_path)
    # srs select STORE --out OUT --cluster slurm --config FILE --tls FOLDER
    (programs / "srs").write_text('#!/bin/sh\nls "${10}" >"$4"\n')
    run_script(
        DEPLOY / "slurm" / "select.sbatch",
        "s.zarr",
        tmp_path / "listed",
        SLURM_JOB_ID="7",
        SRS_TLS=str(kept.parent),
        PATH=f"{programs}:{os.environ['PATH']}",
        SRS_MAKE_CERTIFICATES=str(DEPLOY / "tls" / "make-certificates"),
    )
    assert list(kept.parent.iterdir()) == [kept]
    assert (tmp_path / "listed").read_text().split() == ["ca.pem", "cert.pem", "key.pem"]


@pytest.mark.long
@needs_slurm
def test_a_stopped_script_goes_on_by_itself_to_the_same_result(slurm, tmp_path):  # noqa: F811
    """Guards the whole way: TLS, workers as jobs, a checkpoint, the queue, and no keys left."""
    store = make_chunky(tmp_path / "s.zarr")
    (tmp_path / "slurm.toml").write_text(
        (DEPLOY / "slurm" / "slurm.toml").read_text().replace("maximum = 20", "maximum = 2")
    )
    work = tmp_path / "work"
    work.mkdir()
    environment = {
        **slurm,
        "PATH": f"{write_programs(tmp_path)}:{slurm['PATH']}",
        "PYTHONPATH": str(ROOT),
        "SRS_CLUSTER_CONFIG": str(tmp_path / "slurm.toml"),
        "SRS_MAKE_CERTIFICATES": str(DEPLOY / "tls" / "make-certificates"),
    }
    srs.select(store, **SETTINGS).save(tmp_path / "threads")
    submitted = subprocess.run(
        [
            "sbatch",
            "--parsable",
            DEPLOY / "slurm" / "select.sbatch",
            store,
            tmp_path / "out",
            *OPTIONS,
        ],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert submitted.returncode == 0, submitted.stderr
    job = submitted.stdout.strip()
    log = work / f"srs-{job}.log"
    await_file(tmp_path / "out" / "checkpoint.npz", log)
    subprocess.run(["scancel", "--signal=TERM", "--batch", job], env=environment, check=True)
    await_file(tmp_path / "out" / "result.json", log)
    await_empty_queue(environment, 600)
    shown = subprocess.run(
        ["scontrol", "show", "job", job],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "Restarts=1 " in shown, shown + log.read_text()
    assert outcome(tmp_path / "out") == outcome(tmp_path / "threads")
    assert not list(work.glob(".srs-tls-*"))


def write_programs(folder: Path) -> Path:
    """`srs` of this tree, as a batch script finds it in PATH."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "srs").write_text(f'#!/bin/sh\nexec {sys.executable} -m srs.cli "$@"\n')
    (programs / "srs").chmod(0o755)
    return programs


def await_file(path: Path, log: Path, seconds: float = 900) -> None:
    end = monotonic() + seconds
    while not path.exists():
        assert monotonic() < end, log.read_text() if log.exists() else "no log"
        sleep(0.2)
