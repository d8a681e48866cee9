"""Whether the Dask scheduler of `SRS_SCHEDULER` answers, so that jobs are not sent into the void.

A connection is opened and closed again, with the service's certificates where they are used. What
runs there, and what happens when it is lost on the way, is the matter of `srs.select`.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from srs_service.settings import Settings

CONNECT_SECONDS = 1.0
KNOWN_SECONDS = 2.0  # for which an answer holds: probes of orchestrators come often
DEFAULT_PORT = 8786


class Scheduler:
    """The scheduler of the settings, or none at all."""

    def __init__(self, settings: Settings) -> None:
        self._address = settings.scheduler
        self._tls = settings.scheduler_tls
        self._lock = threading.Lock()
        self._known = True
        self._until = 0.0

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
