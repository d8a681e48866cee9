"""Very many event streams at once: each is told all, or refused with a sentence, and requests of
others are answered meanwhile."""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from dataclasses import dataclass, field

import httpx
import pytest

from tests.service.server import Server, register, submit, wait_for


@dataclass
class Watched:
    """What streams of jobs were told.

    opened   streams that were accepted so far
    refused  status and body of those that were not
    told     numbers of the events of each stream that ended
    last     how many streams ended with which status of their job
    """

    opened: int = 0
    refused: list[tuple[int, dict]] = field(default_factory=list)
    told: list[list[int]] = field(default_factory=list)
    last: Counter[str] = field(default_factory=Counter)


async def follow(client: httpx.AsyncClient, key: str, job_id: str, seen: Watched) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    async with client.stream("GET", f"/v1/jobs/{job_id}/events", headers=headers) as answer:
        if answer.status_code != 200:
            await answer.aread()
            seen.refused.append((answer.status_code, answer.json()))
            return
        seen.opened += 1
        numbers, data = [], ""
        async for line in answer.aiter_lines():
            if line.startswith("id: "):
                numbers.append(int(line[4:]))
            data = line if line.startswith("data: ") else data
        seen.told.append(numbers)
        seen.last[next(s for s in ("SUCCEEDED", "CANCELLED", "FAILED", "none") if s in data)] += 1


async def watch(server: Server, streams: list[tuple[str, str]], n_refused: int) -> Watched:
    """Open all streams (key, job), ask for other things meanwhile, then cancel the jobs."""
    seen = Watched()
    keys = {job_id: key for key, job_id in streams}
    limits = httpx.Limits(max_connections=len(streams) + 10)
    async with httpx.AsyncClient(base_url=server.url, timeout=300, limits=limits) as client:
        following = [
            asyncio.create_task(follow(client, key, job_id, seen)) for key, job_id in streams
        ]
        while seen.opened + len(seen.refused) < len(streams):
            await asyncio.sleep(0.1)
            assert not any(task.done() and task.exception() for task in following)
        assert len(seen.refused) == n_refused
        for _ in range(20):
            for job_id, key in keys.items():
                headers = {"Authorization": f"Bearer {key}"}
                assert (await client.get(f"/v1/jobs/{job_id}", headers=headers)).status_code == 200
            assert (await client.get("/readyz")).status_code == 200
        for job_id, key in reversed(keys.items()):  # first those that wait
            headers = {"Authorization": f"Bearer {key}"}
            answer = await client.post(f"/v1/jobs/{job_id}:cancel", headers=headers)
            assert answer.status_code == 202
        await asyncio.gather(*following)
    return seen


def check_whole(seen: Watched) -> None:
    assert len(seen.told) == seen.opened
    assert min(map(len, seen.told)) >= 2  # QUEUED, CANCELLED
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in seen.told)
    assert seen.last == {"CANCELLED": seen.opened}
    for status, problem in seen.refused:
        assert (status, problem["type"]) == (429, "urn:srs:problem:too-many")
        assert f"and the limit is {problem['limit']}" in problem["detail"]


def test_streams_leave_files_for_the_rest(start_service):
    """Guards accept(): a process that streams have taken all files of answers nobody."""
    server = start_service(open_files=320, max_running=0)
    with server.client() as client:
        job_id = submit(client, register(client, "small.zarr"))
    seen = asyncio.run(watch(server, [(server.key, job_id)] * 80, n_refused=16))
    assert seen.opened == 64
    check_whole(seen)


@pytest.mark.long
def test_a_thousand_streams(start_service):
    """1,000 streams of two users while a job runs, and 50 more than may be open."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2_500:
        pytest.skip(f"a process may open {hard} files here (ulimit -Hn), and 2,500 are needed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    server = start_service(max_running=1, max_streams=1_000, max_streams_per_user=600)
    bob = server.new_key("bob")
    with server.client() as client, server.client(bob) as bobs:
        runs = submit(client, register(client, "wide.zarr"), max_trees=10**9, patience=10**9)
        wait_for(client, runs, "RUNNING")
        waits = submit(bobs, register(bobs, "small.zarr"))
        streams = [(server.key, runs)] * 600 + [(bob, waits)] * 450
        seen = asyncio.run(watch(server, streams, n_refused=50))
        assert wait_for(client, runs)["status"] == "CANCELLED"
    assert seen.opened == len(seen.told) == 1_000
    check_whole(seen)
    lengths = Counter(len(numbers) for numbers in seen.told)
    assert lengths.pop(2) == 400  # QUEUED, CANCELLED
    assert min(lengths) > 4, "progress came to all of them"
