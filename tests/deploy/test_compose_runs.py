"""What the compose file starts, started as processes of this machine: same commands, settings and
health checks, TLS inside, PostgreSQL; names of hosts and folders are replaced.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import pytest

import srs
from srs_service.database import open_job_store
from tests.deploy.test_compose import SERVICES, interpolate, read_env
from tests.deploy.tools import ENVIRONMENT, run_script
from tests.executors.conftest import make_chunky
from tests.executors.processes import free_port
from tests.service.server import register, wait_for, without_measured

pytestmark = pytest.mark.long
SETTINGS = {"memory": "512MB", "subspace_size": 64, "max_passes": 4, "seed": 3}


class Composed:
    """Processes in the place of containers."""

    def __init__(self, copied: Path, folder: Path, certificates: Path, url: str) -> None:
        run_script(copied / "compose" / "prepare", "--memory", "512MB")
        self._values = read_env(copied / "compose" / ".env")
        self._folder = folder
        self.ports = {
            port: str(free_port()) for port in ("8000", "8786", "8787", "8788", "9000", "9001")
        }
        self._replaced = {
            r"=/tmp$": f"={folder}",
            r"/tls/(?=\w)": f"{certificates}/",
            r"^/stores$": str(folder),
            r"tls://scheduler": "tls://127.0.0.1",
            **{rf"\b{port}\b": free for port, free in self.ports.items()},
        }
        self._url = url
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def resolve(self, text: str) -> str:
        text = interpolate(text, self._values)
        for old, new in self._replaced.items():
            text = re.sub(old, new, text)
        assert "${" not in text, text
        return text

    def environment(self, name: str) -> dict[str, str]:
        given = SERVICES[name].get("environment", {})
        settings = {n: self.resolve(value) for n, value in given.items()}
        if name == "service":
            settings |= {
                "SRS_DATABASE_URL": self._url,
                "SRS_PORT": self.ports["8000"],
                "SRS_DATA_DIR": f"{self._folder}/data",
            }
        return {**ENVIRONMENT, **settings, "PATH": f"{self._folder}/bin:{os.environ['PATH']}"}

    def start(self, name: str) -> None:
        command = [self.resolve(word) for word in SERVICES[name]["command"]]
        with (self._folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                command, env=self.environment(name), stdout=log, stderr=log, cwd=self._folder
            )

    def is_healthy(self, name: str) -> bool:
        """What the health check of the file says."""
        command = [self.resolve(word) for word in SERVICES[name]["healthcheck"]["test"][1:]]
        done = subprocess.run(command, env=self.environment(name), capture_output=True, check=False)
        return done.returncode == 0

    def await_health(self, name: str) -> None:
        end = monotonic() + 600
        while not self.is_healthy(name):
            log = (self._folder / f"{name}.log").read_text()
            assert self.processes[name].poll() is None, log
            assert monotonic() < end, log
            sleep(0.5)

    def stop(self) -> None:
        for process in reversed(self.processes.values()):
            process.terminate()
        for process in self.processes.values():
            process.wait(60)


@pytest.fixture
def composed(
    copied: Path, tmp_path: Path, certificates: Path, postgres_url: str
) -> Iterator[Composed]:
    (tmp_path / "bin").mkdir()
    for name, module in (("srs", "srs.cli"), ("dask", "dask")):
        program = tmp_path / "bin" / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m {module} "$@"\n')
        program.chmod(0o755)
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    made = Composed(copied, tmp_path, certificates, postgres_url)
    try:
        yield made
    finally:
        made.stop()


def test_scheduler_and_worker_talk_by_tls_only(composed: Composed, certificates: Path) -> None:
    """Guards the cluster: a stranger gets nowhere, the service's certificate opens it."""
    assert not composed.is_healthy("scheduler")
    for name in ("scheduler", "worker"):
        composed.start(name)
        composed.await_health(name)
    port = composed.ports["8786"]
    assert ask(f"tcp://127.0.0.1:{port}") == "refused"
    assert ask(f"tls://127.0.0.1:{port}", certificates / "service") == composed.resolve(
        "1 ${WORKER_LIMIT}"
    )


def test_a_job_on_what_the_file_starts(
    composed: Composed, tmp_path: Path, postgres_url: str
) -> None:
    """Guards the file: its commands start, its checks see it, a job gets its result."""
    for name in ("scheduler", "worker", "service"):
        composed.start(name)
    for name in ("scheduler", "worker", "service"):
        composed.await_health(name)
    store = open_job_store(postgres_url, tmp_path, 2)
    key = store.keys.create("ann", "", ("read", "write"))[1]
    store.close()
    make_chunky(tmp_path / "s.zarr")
    with httpx.Client(
        base_url=f"http://127.0.0.1:{composed.ports['8000']}",
        timeout=60,
        headers={"Authorization": f"Bearer {key}"},
    ) as client:
        request = {"kind": "select", "dataset_id": register(client, "s.zarr"), "settings": SETTINGS}
        job_id = client.post("/v1/jobs", json=request).json()["id"]
        job = wait_for(client, job_id, seconds=900)
        assert job["status"] == "SUCCEEDED", job
        found = client.get(f"/v1/jobs/{job_id}/result").json()
    expected: Any = srs.select(tmp_path / "s.zarr", threads=1, **SETTINGS).document  # type: ignore[arg-type]
    assert without_measured(found)["outcome"] == without_measured(expected)["outcome"]


ASK = """
import sys
from pathlib import Path
from distributed import Client
from srs.executors.launch import read_security

security = read_security(Path(sys.argv[2])) if len(sys.argv) > 2 else None
try:
    with Client(sys.argv[1], timeout=20, security=security) as client:
        client.wait_for_workers(1)
        workers = client.scheduler_info()["workers"].values()
        print(len(workers), *(worker["memory_limit"] for worker in workers))
except OSError:
    print("refused")
"""


def ask(address: str, tls: Path | None = None) -> str:
    """Workers and their limits as a client with these certificates sees them."""
    done = subprocess.run(
        [sys.executable, "-c", ASK, address, *([] if tls is None else [str(tls)])],
        capture_output=True,
        text=True,
        check=True,
        env=ENVIRONMENT,
    )
    return done.stdout.strip()
