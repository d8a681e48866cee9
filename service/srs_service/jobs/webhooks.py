"""Tells of ended jobs: a signed POST to the address that the user gave, tried again with back-off.

The header `Srs-Signature: t=SECONDS,v1=HEX` holds the HMAC-SHA-256 of "SECONDS.BODY" under the
user's secret. Addresses are checked at every try, and redirects are not followed. Of the answer
only the status is read, within seconds: a receiver that dawdles holds up nobody else for long.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import httpx

from srs_service.data.addresses import Pinned, pin
from srs_service.database import JobStore
from srs_service.database.deliveries import Delivery
from srs_service.errors import ServiceError

log = logging.getLogger("srs_service")

LEASE_SECONDS = 60.0
POLL_SECONDS = 1.0
MAX_TRIES = 8
FIRST_PAUSE = 5.0  # then twice as long each time: 8 tries take some ten minutes
ANSWER_SECONDS = 10.0  # for one try, from the connection to the status
AT_ONCE = 4  # deliveries that are tried at the same time


def sign(secret: str, seconds: int, body: str) -> str:
    """The signature of a delivery.

    >>> sign("0123456789abcdef", 1, "{}")[:20]
    't=1,v1=2af693cb56b22'
    """
    digest = hmac.new(secret.encode(), f"{seconds}.{body}".encode(), hashlib.sha256).hexdigest()
    return f"t={seconds},v1={digest}"


class WebhookSender:
    """Delivers what is due: one thread looks for it, a few send it."""

    def __init__(
        self,
        store: JobStore,
        trusted: Sequence[str],
        first_pause: float = FIRST_PAUSE,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self._store = store
        self._trusted = trusted
        self._first_pause = first_pause
        self._answer_seconds = answer_seconds
        self._stopping = threading.Event()
        self._places = threading.BoundedSemaphore(AT_ONCE)
        self._thread = threading.Thread(target=self._run, name="webhook_sender", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(self._answer_seconds + 5)

    def _run(self) -> None:
        with ThreadPoolExecutor(AT_ONCE, "webhook_sender") as pool:
            while not self._stopping.is_set():
                self._places.acquire()
                delivery = self._take()
                if delivery is not None:
                    pool.submit(self._deliver, delivery)
                else:
                    self._places.release()
                    self._stopping.wait(POLL_SECONDS)

    def _take(self) -> Delivery | None:
        try:
            return self._store.deliveries.take(LEASE_SECONDS)
        except Exception as error:
            log.error("webhook_sender: %s", type(error).__name__)
            return None

    def _deliver(self, delivery: Delivery) -> None:
        try:
            self._note(delivery, self._post(delivery))
        except Exception as error:  # it is due again when its lease ends
            log.error("webhook_sender: %s", type(error).__name__)
        finally:
            self._places.release()

    def _note(self, delivery: Delivery, taken: bool) -> None:
        last = delivery.n_tries + 1 >= MAX_TRIES
        outcome = "delivered" if taken else "given up" if last else None
        pause = self._first_pause * 2**delivery.n_tries
        self._store.deliveries.note(delivery.job_id, outcome, pause)
        log.info(
            "webhook", extra={"job_id": delivery.job_id, "outcome": outcome or "to be tried again"}
        )

    def _post(self, delivery: Delivery) -> bool:
        try:
            pinned = pin(delivery.url, self._trusted)
            return asyncio.run(self._send(pinned, delivery))
        except (ServiceError, httpx.HTTPError, httpx.InvalidURL, TimeoutError):
            return False

    async def _send(self, pinned: Pinned, delivery: Delivery) -> bool:
        """Send it, and whether the receiver has it; asynchronous for the sake of its limit."""
        headers = {
            "Host": pinned.host,
            "Content-Type": "application/json",
            "User-Agent": "srs",
            "Srs-Signature": sign(delivery.secret, int(time.time()), delivery.body),
        }
        async with (
            asyncio.timeout(self._answer_seconds),
            httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=None) as client,
            client.stream(
                "POST",
                pinned.url,
                content=delivery.body.encode(),
                headers=headers,
                extensions={"sni_hostname": pinned.name},
            ) as response,
        ):
            return response.is_success
