"""Tells of ended jobs: a signed POST to the address that the user gave, tried again with back-off.

The header `Srs-Signature: t=SECONDS,v1=HEX` holds the HMAC-SHA-256 of "SECONDS.BODY" under the
user's secret. Addresses are checked at every try, and redirects are not followed.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import threading
import time
from collections.abc import Sequence

import httpx

from service.addresses import pin
from service.errors import ServiceError
from service.job_store import JobStore
from service.job_store.deliveries import Delivery

log = logging.getLogger("service")

LEASE_SECONDS = 60.0
POLL_SECONDS = 1.0
MAX_TRIES = 8
FIRST_PAUSE = 5.0  # then twice as long each time: 8 tries take some ten minutes


def sign(secret: str, seconds: int, body: str) -> str:
    """The signature of a delivery.

    >>> sign("0123456789abcdef", 1, "{}")[:20]
    't=1,v1=9fab9eb12ed9b'
    """
    digest = hmac.new(secret.encode(), f"{seconds}.{body}".encode(), hashlib.sha256).hexdigest()
    return f"t={seconds},v1={digest}"


class Courier:
    """One thread that delivers what is due."""

    def __init__(
        self, store: JobStore, trusted: Sequence[str], first_pause: float = FIRST_PAUSE
    ) -> None:
        self._store = store
        self._trusted = trusted
        self._first_pause = first_pause
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="courier", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(15)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                delivery = self._store.deliveries.take(LEASE_SECONDS)
                if delivery is not None:
                    self._deliver(delivery)
                    continue
            except Exception as error:
                log.error("courier: %s", type(error).__name__)
            self._stopping.wait(POLL_SECONDS)

    def _deliver(self, delivery: Delivery) -> None:
        taken = self._post(delivery)
        last = delivery.n_tries + 1 >= MAX_TRIES
        outcome = "delivered" if taken else "given up" if last else None
        pause = self._first_pause * 2**delivery.n_tries
        self._store.deliveries.note(delivery.job_id, outcome, pause)
        log.info(
            "webhook", extra={"job_id": delivery.job_id, "outcome": outcome or "to be tried again"}
        )

    def _post(self, delivery: Delivery) -> bool:
        seconds = int(time.time())
        try:
            pinned = pin(delivery.url, self._trusted)
            with httpx.Client(timeout=10, trust_env=False, follow_redirects=False) as client:
                response = client.post(
                    pinned.url, content=delivery.body.encode(),
                    headers={
                        "Host": pinned.host, "Content-Type": "application/json",
                        "User-Agent": "srs",
                        "Srs-Signature": sign(delivery.secret, seconds, delivery.body),
                    },
                    extensions={"sni_hostname": pinned.name},
                )  # fmt: skip
        except (ServiceError, httpx.HTTPError, httpx.InvalidURL):
            return False
        return response.is_success
