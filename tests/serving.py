"""A real service in a process of its own, for tests of the client and the page."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import pandas as pd

import srs

START_SECONDS = 60
HOSTILE_NAME = '<img src=x onerror="document.title=1"> & "x"'


@dataclass(frozen=True)
class Service:
    """Where it listens, and the key that it printed.

    url, key  address and first API key
    stores    the folder that users may register stores from
    """

    url: str
    key: str
    stores: Path


@contextmanager
def served(folder: Path, port: int = 0) -> Iterator[Service]:
    """`srs serve` on a free port, with its data in a folder."""
    stores = folder / "stores"
    stores.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "srs.cli", "serve", "--port", str(port),
               "--data-dir", str(folder / "data"), "--store-root", str(stores)]  # fmt: skip
    with (
        (folder / "log.txt").open("a") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True,
                         env={**os.environ, "SRS_RATE_LIMIT": "500"}) as process,
    ):  # fmt: skip
        try:
            said = dict(_read_lines(process))
            key = said["API key"].split()[0] if "API key" in said else ""
            wait_until_ready(said["address"])
            yield Service(said["address"], key, stores)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


def _read_lines(process: subprocess.Popen[str]) -> Iterator[tuple[str, str]]:
    assert process.stdout is not None
    for line in process.stdout:
        name, value = line[:10].strip(), line[10:].strip()
        yield name, value
        if name in ("keys", "API key"):
            return
    raise AssertionError("the service ended before it listened: see log.txt")


def wait_until_ready(url: str) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        try:
            if httpx.get(f"{url}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"{url} is not ready after {START_SECONDS} seconds")


def write_store(path: Path, n_features: int = 2_000) -> None:
    """300 samples; f7 and one whose name is HTML are relevant."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, n_features)).astype(np.float32)
    y = np.where(X[:, 3] + X[:, 7] > 0, "case", "control")
    names = [f"f{i}" for i in range(n_features)]
    names[3] = HOSTILE_NAME
    srs.ingest(pd.DataFrame(X, columns=names), path, target=y)
