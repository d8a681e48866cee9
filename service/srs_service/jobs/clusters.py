"""Whether the Dask scheduler of `SRS_SCHEDULER` answers and has workers, so that jobs say it.

A connection is opened and closed again, with the service's certificates where they are used. What
runs there, and what happens when it is lost on the way, is the matter of `srs.select`.
"""

from __future__ import annotations

import logging
import socket
import ssl
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from srs_service.jobs.children import Child, start_child
from srs_service.settings import Settings

log = logging.getLogger("srs_service")

CONNECT_SECONDS = 1.0
KNOWN_SECONDS = 2.0  # for which an answer holds: probes of orchestrators come often
FRESH_SECONDS = 8.0  # for which a number of workers holds
RESTART_SECONDS = 5.0  # until a watch that ended is started again
DEFAULT_PORT = 8786


class Scheduler:
    """The scheduler of the settings, or none at all."""

    def __init__(self, settings: Settings) -> None:
        self._address = settings.scheduler
        self._tls = settings.scheduler_tls
        self._lock = threading.Lock()
        self._known = True
        self._until = 0.0
        self._n_workers: int | None = None
        self._counted = -FRESH_SECONDS
        self._child: Child | None = None
        self._stopping = threading.Event()

    def start(self) -> None:
        """Watch it, if there is one."""
        if self._address is not None:
            threading.Thread(target=self._watch, name="cluster", daemon=True).start()

    def stop(self) -> None:
        self._stopping.set()
        if self._child is not None:
            self._child.end()

    @property
    def is_used(self) -> bool:
        """Whether there is one at all."""
        return self._address is not None

    @property
    def n_workers(self) -> int | None:
        """Workers that it has; None: not known."""
        if time.monotonic() - self._counted > FRESH_SECONDS:
            return None
        return self._n_workers

    @property
    def trouble(self) -> str | None:
        """What keeps selections from being worked on, in a few words; None: nothing known."""
        if not self.answers:
            return "waits: the scheduler does not answer"
        return "waits: the scheduler has no workers" if self.n_workers == 0 else None

    def _watch(self) -> None:
        order = {
            "work": "cluster",
            "scheduler": self._address,
            "scheduler_tls": None if self._tls is None else str(self._tls),
        }
        while not self._stopping.wait(RESTART_SECONDS if self._child else 0.0):
            try:
                self._child = start_child(order)
                while (message := self._child.receive()) is not None:
                    if message["event"] != "cluster":
                        break
                    self._n_workers, self._counted = message["n_workers"], time.monotonic()
                self._child.end()
            except (OSError, EOFError) as error:
                log.error("cluster: %s", type(error).__name__)

    @property
    def answers(self) -> bool:
        """True, too, if there is none: jobs run here."""
        if self._address is None:
            return True
        with self._lock:
            if time.monotonic() >= self._until:
                self._known = _connects(self._address, self._tls)
                self._until = time.monotonic() + KNOWN_SECONDS
            return self._known


def _connects(address: str, tls: Path | None) -> bool:
    parts = urlsplit(address)
    try:
        port = parts.port or DEFAULT_PORT
        with socket.create_connection((parts.hostname or "", port), CONNECT_SECONDS) as opened:
            if parts.scheme == "tls" and tls is not None:
                _context(tls).wrap_socket(opened).close()
    except (OSError, ValueError):
        return False
    return True


def _context(tls: Path) -> ssl.SSLContext:
    """As Dask does: the authority counts, not the names in certificates."""
    context = ssl.create_default_context(cafile=tls / "ca.pem")
    context.check_hostname = False
    context.load_cert_chain(tls / "cert.pem", tls / "key.pem")
    return context
