"""A real Slurm on this machine: controller, node and authentication, started by a test."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from time import monotonic, sleep

import pytest

from tests.executors.processes import free_port

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "sinfo")
SEARCH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"

needs_slurm = pytest.mark.skipif(
    sys.platform != "linux"
    or os.geteuid() != 0
    or not all(shutil.which(p, path=SEARCH) for p in PROGRAMS),
    reason="needs root and Debian's slurmctld, slurmd, slurm-client and munge",
)

CONFIG = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/d.pid
SlurmctldLogFile={folder}/ctld.log
SlurmdLogFile={folder}/d.log
SlurmctldPort={port}
SlurmdPort={other_port}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
ReturnToService=2
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000 State=UNKNOWN
PartitionName=normal Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""


@pytest.fixture
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment in which `sbatch` finds the cluster."""
    folder = tmp_path_factory.mktemp("slurm")
    folder.parent.chmod(0o755)  # munged refuses a socket below folders that others can write
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o400)
    host = socket.gethostname().partition(".")[0]
    (folder / "slurm.conf").write_text(
        CONFIG.format(folder=folder, host=host, port=free_port(), other_port=free_port())
    )
    environment = {**os.environ, "PATH": SEARCH, "SLURM_CONF": str(folder / "slurm.conf")}
    files = [
        f"--{name}={folder}/munge.{end}"
        for name, end in (
            ("key-file", "key"),
            ("socket", "socket"),
            ("pid-file", "pid"),
            ("log-file", "log"),
            ("seed-file", "seed"),
        )
    ]
    commands = (
        ["munged", "--foreground", "--force", *files],
        ["slurmctld", "-D", "-f", str(folder / "slurm.conf")],
        ["slurmd", "-D", "-f", str(folder / "slurm.conf"), "-N", host],
    )
    started = []
    try:
        for command in commands:
            started.append(
                subprocess.Popen(
                    command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
            )
            sleep(1.5)
        await_idle(environment)
        yield environment
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(timeout=30)


def await_idle(environment: dict[str, str]) -> None:
    end = monotonic() + 60
    while True:
        said = subprocess.run(
            ["sinfo", "-h", "-o", "%T"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        if said.strip() == "idle":
            return
        if monotonic() > end:
            pytest.skip(f"slurm does not start here: {said}")
        sleep(0.5)


def await_empty_queue(environment: dict[str, str], seconds: float) -> None:
    """Wait until no job is left."""
    end = monotonic() + seconds
    while subprocess.run(["squeue", "-h"], env=environment, capture_output=True, check=True).stdout:
        assert monotonic() < end, "jobs are left behind"
        sleep(0.5)
