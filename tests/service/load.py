"""Many clients that submit jobs and do not give up while the service is killed."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from srs_service.database import open_job_store
from tests.service.server import ENDED, Server, select_request

RETRIED = (409, 429, 503)


def submit_surely(server: Server, body: dict[str, Any], key: str, deadline: float) -> str:
    """Send until it is answered, as a client that follows the conventions does."""
    headers = {"Idempotency-Key": key}
    while time.monotonic() < deadline:
        try:
            with server.client() as client:
                answer = client.post("/v1/jobs", json=body, headers=headers)
        except httpx.TransportError:
            time.sleep(0.1)
            continue
        if answer.status_code == 202:
            return str(answer.json()["id"])
        assert answer.status_code in RETRIED, answer.text
        time.sleep(0.2)
    raise AssertionError("the service did not take the job in time")


def submit_many(
    server: Server,
    dataset_id: str,
    n_jobs: int,
    n_clients: int,
    n_kills: int,
    *,
    settings: dict[str, Any],
    repeats: int = 2,
    seconds: float = 300.0,
    seed: int = 0,
    on_kill: Callable[[int], None] = lambda _n_answered: None,
) -> dict[str, set[str]]:
    """Submit `n_jobs` keys, each `repeats` times, while the service is killed; key -> job ids.

    Kills come when so many requests have been answered, chosen at random, and others are on the
    way; `on_kill` is told how many.
    """
    deadline = time.monotonic() + seconds
    rng = random.Random(seed)
    keys = [f"key-{i}" for i in range(n_jobs) for _ in range(repeats)]
    rng.shuffle(keys)
    found: dict[str, set[str]] = {f"key-{i}": set() for i in range(n_jobs)}
    lock, sent = threading.Lock(), Counter[str]()

    def send(key: str) -> None:
        number = int(key.split("-")[1])
        body = select_request(dataset_id, **settings, seed=number % 5)
        job_id = submit_surely(server, body, key, deadline)
        with lock:
            found[key].add(job_id)
            sent["all"] += 1

    moments = sorted(rng.sample(range(len(keys) // 10, len(keys) * 8 // 10), n_kills))

    def disturb() -> None:
        for moment in moments:
            while sent["all"] < moment:
                time.sleep(0.001)
            server.kill()
            assert sent["all"] < len(keys), "the kill came too late"
            on_kill(sent["all"])
            server.start()

    with ThreadPoolExecutor(n_clients + 1) as pool:
        killer = pool.submit(disturb)
        list(pool.map(send, keys))
        killer.result()
    return found


def wait_for_all(client: httpx.Client, job_ids: set[str], seconds: float) -> dict[str, str]:
    """The status of every job, once all have ended."""
    deadline = time.monotonic() + seconds
    while True:
        statuses: dict[str, str] = {}
        cursor: str | None = None
        while True:
            params = {"limit": "200"} | ({"cursor": cursor} if cursor else {})
            page = client.get("/v1/jobs", params=params).json()
            statuses |= {job["id"]: job["status"] for job in page["items"]}
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert job_ids <= set(statuses), "accepted jobs were lost"
        if all(status in ENDED for status in statuses.values()):
            return statuses
        assert time.monotonic() < deadline, Counter(statuses.values())
        time.sleep(0.5)


def count_ends(server: Server, database_url: str | None, job_ids: set[str]) -> Counter[int]:
    """How many jobs have so many events that say SUCCEEDED."""
    store = open_job_store(database_url, server.folder / "data", 2)
    try:
        ends = Counter[int]()
        for job_id in job_ids:
            events = store.events.read(job_id, 0, 100_000)
            assert [event.number for event in events] == list(range(1, len(events) + 1))
            ends[sum('"status": "SUCCEEDED"' in event.data for event in events)] += 1
        return ends
    finally:
        store.close()
