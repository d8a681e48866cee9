"""A real `srs serve` in a process of its own, and what tests do with it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import BaseServer
from typing import Any, TypeVar

import httpx

from srs_service.database import open_job_store

S = TypeVar("S", bound=BaseServer)
ROOT = Path(__file__).resolve().parents[2]
ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")
QUICK = {"memory": "512MB", "max_trees": 40}


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


def python_path() -> str:
    """This checkout, then what the tests' own environment has."""
    there = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join([str(ROOT), str(ROOT / "service"), *filter(None, there)])


@contextmanager
def serving(server: S) -> Iterator[S]:
    """A server of the tests' own answers while the body runs."""
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Server:
    """One service; `start` and `kill` may be called again and again.

    site  a folder of further distributions that it finds
    """

    def __init__(
        self,
        folder: Path,
        open_files: int | None = None,
        site: Path | None = None,
        **settings: Any,
    ) -> None:
        self.folder = folder
        path = python_path() if site is None else f"{site}{os.pathsep}{python_path()}"
        self._limits = [] if open_files is None else ["prlimit", f"--nofile={open_files}"]
        self.port = int(settings.pop("port", None) or free_port())
        self.url = f"http://127.0.0.1:{self.port}"
        self.key = ""
        self.printed: list[str] = []  # by the last start
        self._process: subprocess.Popen[str] | None = None
        self._log = folder / "log"
        self.env = {
            **os.environ,
            "PYTHONPATH": path,
            "SRS_DATA_DIR": str(folder / "data"),
            "SRS_PORT": str(self.port),
            "SRS_RATE_LIMIT": "0",
            **{f"SRS_{name.upper()}": str(value) for name, value in settings.items()},
        }

    def start(self) -> Server:
        """Start it and wait until it answers."""
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                [*self._limits, sys.executable, "-m", "srs.cli", "serve"],
                env=self.env,
                text=True,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert self._process.stdout is not None
        self.printed = []
        for line in self._process.stdout:
            self.printed.append(line.rstrip("\n"))
            if match := re.search(r"srs_[0-9a-f]{12}_\S+", line):
                self.key = match[0]
            if line.startswith(("API key", "keys")):
                break
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{self.url}/healthz").status_code == 200:
                    return self
            except httpx.TransportError:
                time.sleep(0.05)
        raise AssertionError(f"the service did not start: {self.log()}")

    def log(self) -> str:
        return self._log.read_text()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        self.end(signal.SIGKILL)

    def stop(self) -> None:
        self.end(signal.SIGTERM)

    def end(self, number: int) -> int | None:
        """Send a signal and wait for the end; the exit code, None if it did not run."""
        if self._process is None:
            return None
        self._process.send_signal(number)
        code = self._process.wait(60)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process = None
        return code

    def run(self, *command: str) -> str:
        """A command of `srs` with the settings of this service."""
        return subprocess.run(
            [sys.executable, "-m", "srs.cli", *command],
            env=self.env,
            text=True,
            capture_output=True,
            check=True,
        ).stdout

    def client(self, key: str | None = None, **options: Any) -> httpx.Client:
        headers = {"Authorization": f"Bearer {key or self.key}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, **options)

    def new_key(
        self, user: str, scopes: tuple[str, ...] = ("read", "write"), days: float | None = None
    ) -> str:
        """What `srs keys create` does, without starting a program for it."""
        store = open_job_store(self.env.get("SRS_DATABASE_URL"), self.folder / "data", 2)
        try:
            return store.keys.create(user, "", scopes, days)[1]
        finally:
            store.close()


def register(client: httpx.Client, store: str) -> str:
    """Register a store; the id of the dataset."""
    answer = client.post("/v1/datasets", json={"name": store, "store": store})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def select_request(dataset_id: str, **settings: Any) -> dict[str, Any]:
    return {"kind": "select", "dataset_id": dataset_id, "settings": {**QUICK, **settings}}


def submit(client: httpx.Client, dataset_id: str, **settings: Any) -> str:
    """Submit a selection; its id."""
    answer = client.post("/v1/jobs", json=select_request(dataset_id, **settings))
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def wait_for(client: httpx.Client, job_id: str, *statuses: str, seconds: float = 90) -> Any:
    """The job, once it has one of the statuses (by default: has ended)."""
    deadline = time.monotonic() + seconds
    while True:
        job = client.get(f"/v1/jobs/{job_id}").json()
        if job["status"] in (statuses or ENDED):
            return job
        assert time.monotonic() < deadline, job
        time.sleep(0.05)


def without_measured(document: dict[str, Any]) -> dict[str, Any]:
    """What must be equal in equal runs."""
    return {name: value for name, value in document.items() if name != "measured"}
