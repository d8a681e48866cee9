"""1,000 submissions by 50 clients, each key sent twice, the service killed twice on the way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from time import perf_counter

from benchmarks.measure import Line
from benchmarks.service.serving import serving
from tests.service.load import count_ends, submit_many, wait_for_all
from tests.service.postgres import running_cluster
from tests.service.server import register

N_JOBS = int(os.environ.get("SRS_BENCH_JOBS", "1000"))
N_CLIENTS, N_KILLS = 50, 2
SECONDS = 4 * 3600  # to give up after; what counts is how jobs end, on however busy a machine


def run() -> Iterator[Line]:
    yield from measure("SQLite", None)
    with running_cluster() as url:
        yield from measure("PostgreSQL", url)


def measure(name: str, url: str | None) -> Iterator[Line]:
    given = {} if url is None else {"database_url": url}
    started, kills = perf_counter(), list[int]()
    with serving(max_running=2, threads=1, lease_seconds=2, max_attempts=50, **given) as server:
        with server.client() as client:
            dataset_id = register(client, "data.zarr")
            found = submit_many(
                server,
                dataset_id,
                N_JOBS,
                N_CLIENTS,
                N_KILLS,
                settings={"max_trees": 16},
                seconds=SECONDS,
                on_kill=kills.append,
            )
            taken = perf_counter() - started
            job_ids = {job_id for ids in found.values() for job_id in ids}
            statuses = wait_for_all(client, job_ids, SECONDS)
        ends = count_ends(server, url, job_ids)
    once = ends == {1: N_JOBS} and len(statuses) == N_JOBS
    yield Line(
        f"{name}: jobs of {N_JOBS} keys sent twice, {N_KILLS} kills",
        f"{len(statuses)} jobs",
        f"{N_JOBS}, each ended once",
        once,
    )
    moments = " and ".join(f"{n:,}" for n in kills)
    yield Line(f"{name}: killed after", f"{moments} of {2 * N_JOBS:,} answers")
    yield Line(f"{name}: all accepted after", f"{taken:.0f} s")
    yield Line(f"{name}: all ended after", f"{perf_counter() - started:.0f} s")
