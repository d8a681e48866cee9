"""500 open event streams while 4 jobs run: every stream sees the end, memory stays flat."""

from __future__ import annotations

import asyncio
import os
import resource
from collections.abc import Iterator
from time import perf_counter

import httpx
import psutil

from benchmarks.measure import Line
from benchmarks.service.serving import serving
from tests.service.server import Server, register, submit, wait_for

N_STREAMS, N_JOBS = 500, 4
SECONDS = float(os.environ.get("SRS_BENCH_STREAM_SECONDS", "600"))
MAX_GROWTH = 0.05  # of the memory at a tenth of the time


def run() -> Iterator[Line]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4_096), hard))
    with serving(2_000, 300, max_running=N_JOBS, threads=1) as server, server.client() as client:
        dataset_id = register(client, "data.zarr")
        wait_for(client, submit(client, dataset_id, max_trees=16))
        jobs = [
            submit(
                client,
                dataset_id,
                max_trees=2_000_000_000,
                max_seconds=SECONDS,
                seed=seed,
                patience=1_000_000_000,
            )
            for seed in range(N_JOBS)
        ]
        n_ended, n_events, sizes = asyncio.run(watch(server, jobs))
    yield Line(
        "streams that saw the end of their job", f"{n_ended}", f"{N_STREAMS}", n_ended == N_STREAMS
    )
    yield Line("events delivered", f"{n_events:,}")
    early, late = sizes[len(sizes) // 10], sizes[-1]
    yield Line(
        f"memory of the service, early and after {SECONDS:.0f} s",
        f"{early / 1e6:.0f} MB, {late / 1e6:.0f} MB",
        f"at most {MAX_GROWTH:.0%} more",
        late <= early * (1 + MAX_GROWTH),
    )
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def watch(server: Server, jobs: list[str]) -> tuple[int, int, list[int]]:
    """Follow all streams to their end; streams that saw it, events, and memory each second."""
    sizes: list[int] = []
    n_events = 0

    async def follow(client: httpx.AsyncClient, job_id: str) -> bool:
        nonlocal n_events
        ended = False
        async with client.stream("GET", f"/v1/jobs/{job_id}/events") as answer:
            async for line in answer.aiter_lines():
                n_events += line.startswith("id:")
                ended = ended or '"SUCCEEDED"' in line
        return ended

    async def weigh() -> None:
        process = psutil.Process(server.pid)
        started = perf_counter()
        while perf_counter() - started < SECONDS:
            sizes.append(process.memory_info().rss)
            await asyncio.sleep(1)

    headers = {"Authorization": f"Bearer {server.key}"}
    limits = httpx.Limits(max_connections=N_STREAMS + 10)
    async with httpx.AsyncClient(
        base_url=server.url, headers=headers, timeout=SECONDS + 300, limits=limits
    ) as client:
        streams = [follow(client, jobs[i % len(jobs)]) for i in range(N_STREAMS)]
        *ended, _ = await asyncio.gather(*streams, weigh())
    return sum(bool(e) for e in ended), n_events, sizes
