"""Reach or start a Dask cluster, with limits that leave our memory promise to us."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
from distributed import Client, LocalCluster, Security

from srs.errors import ClusterError, SettingsError
from srs.executors.batch_systems import LIMIT_FACTOR, JobCluster
from srs.memory import format_bytes

CONNECT_SECONDS = 10
LOOP_TRIES = 3  # Dask waits 10 s for the thread of its event loop, which a busy machine may miss
# Dask spills from 70 % of a worker's limit on, pauses at 80 % and kills at 95 %. A worker may hold
# what `--memory` allows, so the limit is set where that is half of it: none of these happens.
LEAST_FACTOR = 1.0 / 0.7
# What Dask watches itself by takes time, which scheduler, nannies and workers on one machine miss:
# without tasks 7 % of a core with two workers, 1 % so. Nobody looks at these profiles, and they
# take memory, too (see `srs.executors.dask_memory`).
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "1s",
}

log = logging.getLogger("srs")


def connect(address: str, tls: Path | None = None) -> Client:
    """A client of the scheduler at `address`, such as tcp://10.0.0.1:8786."""
    security = read_security(tls)
    try:
        return _with_event_loop(
            lambda: Client(
                address,
                timeout=CONNECT_SECONDS,
                set_as_default=False,
                name="srs",
                security=security,
            )
        )
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise ClusterError(f"no scheduler answers at {address}: {error}") from None


def _with_event_loop(start: Callable[[], Any]) -> Any:
    """What `start` gives; Dask's assertion that its event loop runs is tried again."""
    for _ in range(LOOP_TRIES - 1):
        try:
            return start()
        except AssertionError:
            log.warning("the event loop of Dask did not start in 10 s; trying again.")
    return start()


def read_security(tls: Path | None) -> Security | None:
    """Certificates for all sides from one folder: ca.pem, cert.pem and key.pem."""
    if tls is None:
        return None
    files = {name: tls / f"{name}.pem" for name in ("ca", "cert", "key")}
    for file in files.values():
        if not file.is_file():
            raise SettingsError(f"{file} is missing: TLS needs ca.pem, cert.pem and key.pem.")
    sides = {
        f"tls_{side}_{part}": str(files[part])
        for side in ("client", "scheduler", "worker")
        for part in ("cert", "key")
    }
    return Security(tls_ca_file=str(files["ca"]), require_encryption=True, **sides)


@contextmanager
def open_jobs(
    jobs: JobCluster, threads: int, worker_mem: int, tls: Path | None
) -> Iterator[Client]:
    """Workers that a batch system or Kubernetes starts, ended with the run."""
    with (
        jobs.start(threads, worker_mem, read_security(tls)) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        if jobs.minimum == jobs.maximum:
            cluster.scale(jobs.maximum)
        else:
            cluster.adapt(minimum=jobs.minimum, maximum=jobs.maximum)
        yield client


@contextmanager
def open_cluster(
    n_workers: int, threads: int, worker_mem: int | None, tls: Path | None = None
) -> Iterator[Client]:
    """Worker processes on this machine, ended when they are not needed any more."""
    limit = 0 if worker_mem is None else int(LIMIT_FACTOR * worker_mem)
    security = read_security(tls)
    with dask.config.set(QUIET):
        cluster = _with_event_loop(
            lambda: LocalCluster(
                n_workers=n_workers,
                threads_per_worker=threads,
                processes=True,
                memory_limit=limit,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
                preload=["srs.executors.ignore_sigint"],
                security=security,
                protocol=None if tls is None else "tls",
            )
        )
        try:
            with Client(cluster, set_as_default=False) as client:
                yield client
        finally:
            _close(cluster)


def _close(cluster: LocalCluster) -> None:
    """Stop the workers. A run that has its result does not fail because one is slow to leave."""
    try:
        cluster.close()
    except TimeoutError:
        log.warning("a Dask worker did not stop in time; it will stop with this process.")


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
