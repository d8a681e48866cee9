"""A scheduler and workers as processes of their own, as an administrator starts them."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import sleep


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Supervised:
    """A process that is started again when it ends: `restart: always`."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command = list(command)
        self._wanted = True
        self.process = self._start()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _watch(self) -> None:
        while self._wanted:
            if self.process.poll() is not None:
                sleep(0.5)
                if self._wanted:
                    self.process = self._start()
            sleep(0.1)

    def stop(self) -> None:
        self._wanted = False
        self._thread.join()
        self.process.kill()
        self.process.wait()


def scheduler_command(host: str, port: int) -> list[str]:
    return [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--host",
        host,
        "--port",
        str(port),
        "--no-dashboard",
    ]


def worker_command(host: str, port: int, *options: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        f"tcp://{host}:{port}",
        "--nworkers",
        "1",
        "--nthreads",
        "1",
        "--no-dashboard",
        "--memory-limit",
        "0",
        *options,
    ]


@contextmanager
def running(*commands: Sequence[str]) -> Iterator[list[Supervised]]:
    """Processes that are kept running, and ended at the end."""
    started = [Supervised(command) for command in commands]
    try:
        yield started
    finally:
        for process in reversed(started):
            process.stop()
