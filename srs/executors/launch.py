"""Reach or start a Dask cluster, with limits that leave our memory promise to us."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from distributed import Client, LocalCluster

from srs.errors import ClusterError
from srs.memory import format_bytes

CONNECT_SECONDS = 10
# Dask spills from 70 % of a worker's limit on, pauses at 80 % and kills at 95 %. A worker may hold
# what `--memory` allows, so the limit is set where that is half of it: none of these happens.
LIMIT_FACTOR = 2.0
LEAST_FACTOR = 1.0 / 0.7


def connect(address: str) -> Client:
    """A client of the scheduler at `address`, such as tcp://10.0.0.1:8786."""
    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False, name="srs")
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(f"no scheduler answers at {address}: {error}") from None


@contextmanager
def open_cluster(n_workers: int, threads: int, worker_mem: int | None) -> Iterator[Client]:
    """Worker processes on this machine, ended when they are not needed any more."""
    limit = 0 if worker_mem is None else int(LIMIT_FACTOR * worker_mem)
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=threads, processes=True, memory_limit=limit,
            host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL,
            preload=["srs.executors.undisturbed"],
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):  # fmt: skip
        yield client


def check_limits(client: Client, worker_mem: int | None) -> None:
    """Refuse workers that Dask would pause or kill before they hold what they are allowed."""
    if worker_mem is None:
        return
    for address, worker in client.scheduler_info()["workers"].items():
        limit = worker["memory_limit"]
        if limit and limit < LEAST_FACTOR * worker_mem:
            raise ClusterError(
                f"Dask would pause worker {address} at less than the {format_bytes(worker_mem)} "
                f"that it may hold: start workers with --memory-limit "
                f"{format_bytes(LIMIT_FACTOR * worker_mem)}, or allow at most "
                f"{format_bytes(limit / LEAST_FACTOR)} (--memory)."
            )
