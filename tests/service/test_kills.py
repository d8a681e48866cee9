"""What `kill -9` does to a service under load: nothing is lost, doubled or different."""

from __future__ import annotations

import os
import signal
import time

import psutil
import pytest

import srs
from tests.service.load import count_ends, submit_many, wait_for_all
from tests.service.server import register, submit, wait_for, without_measured

pytestmark = pytest.mark.fault

SHORTER = {"memory": "512MB", "max_trees": 60}
LONGER = {"memory": "512MB", "max_trees": 3_000, "seed": 3, "patience": 10**6}


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str | None:
    return None if request.param == "sqlite" else request.getfixturevalue("postgres_url")


def start(start_service, database_url, **settings):
    given = {"lease_seconds": 2, "max_attempts": 50, **settings}
    if database_url is not None:
        given["database_url"] = database_url
    return start_service(**given)


def child_of(server, seconds: float = 30) -> int:
    """The process of the running job: a child of the template, which is one of the service."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for template in psutil.Process(server.pid).children():
            for child in template.children():
                return int(child.pid)
        time.sleep(0.02)
    raise AssertionError("no job runs")


@pytest.fixture(scope="module")
def undisturbed(root) -> dict:
    """What a run of LONGER gives where nothing happens to it."""
    return without_measured(dict(srs.select(root / "wide.zarr", **LONGER).document))


@pytest.fixture(scope="module")
def expected(root) -> list[dict]:
    """What the jobs of `submit_many` give, by seed."""
    runs = [srs.select(root / "small.zarr", **SHORTER, seed=seed) for seed in range(5)]
    return [without_measured(dict(run.document)) for run in runs]


def result(client, job_id: str) -> dict:
    return without_measured(client.get(f"/v1/jobs/{job_id}/result").json())


@pytest.mark.parametrize("n_jobs", [12, pytest.param(100, marks=pytest.mark.long)])
def test_kills_under_load(start_service, database_url, n_jobs, expected):
    """Jobs by 6 clients, each sent twice; the service is killed twice meanwhile."""
    server = start(start_service, database_url, max_running=2)
    with server.client() as client:
        dataset_id = register(client, "small.zarr")
        found = submit_many(server, dataset_id, n_jobs, 6, 2, settings=SHORTER)
        assert {len(ids) for ids in found.values()} == {1}, "a key made two jobs"
        job_ids = {job_id for ids in found.values() for job_id in ids}
        statuses = wait_for_all(client, job_ids, 240)
        assert len(statuses) == n_jobs
        assert set(statuses.values()) == {"SUCCEEDED"}
        assert count_ends(server, database_url, job_ids) == {1: n_jobs}
        for key, (job_id,) in found.items():
            assert result(client, job_id) == expected[int(key.split("-")[1]) % 5]


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def test_a_killed_service_goes_on_from_the_checkpoint(
    start_service, database, request, undisturbed
):
    url = None if database == "sqlite" else request.getfixturevalue("postgres_url")
    server = start(start_service, url)
    with server.client() as client:
        job_id = submit(client, register(client, "wide.zarr"), **LONGER)
        grown = wait_for_trees(client, job_id, 300)
        child = child_of(server)
        server.kill()
        wait_until_gone(child)
        server.start()
        job = wait_for(client, job_id, seconds=120)
        assert (job["status"], job["n_attempts"]) == ("SUCCEEDED", 2)
        assert first_trees_of_last_attempt(client, job_id) > grown / 4, "it began again"
        assert result(client, job_id) == undisturbed


def wait_for_trees(client, job_id: str, n_trees: int) -> int:
    """Wait until a job has grown so many trees."""
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        progress = client.get(f"/v1/jobs/{job_id}").json()["progress"] or {}
        if progress.get("n_trees", 0) >= n_trees:
            return progress["n_trees"]
        time.sleep(0.02)
    raise AssertionError("the job does not grow")


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("the job's process outlived its service")


def first_trees_of_last_attempt(client, job_id: str) -> int:
    from tests.service.test_events import read_stream

    grown = 0
    for event in reversed(read_stream(client, job_id)):
        if event["event"] == "progress":
            grown = event["data"]["n_trees"]
        elif event["data"]["status"] == "RUNNING":
            return grown
    raise AssertionError


def test_cancel_leaves_a_checkpoint_and_resume_gives_the_same_bytes(start_service, undisturbed):
    server = start(start_service, None)
    with server.client() as client:
        job_id = submit(client, register(client, "wide.zarr"), **LONGER)
        wait_for_trees(client, job_id, 200)
        assert client.post(f"/v1/jobs/{job_id}:cancel").json()["status"] == "CANCELLING"
        cancelled = wait_for(client, job_id)
        assert cancelled["status"] == "CANCELLED"
        assert client.get(f"/v1/jobs/{job_id}/result").status_code == 409
        grown = cancelled["progress"]["n_trees"]
        assert client.post(f"/v1/jobs/{job_id}:resume").json()["status"] == "QUEUED"
        assert wait_for(client, job_id)["status"] == "SUCCEEDED"
        assert first_trees_of_last_attempt(client, job_id) > grown / 2, "it began again"
        assert result(client, job_id) == undisturbed
        # The process of a job dies by itself: it is taken up again.
        job_id = submit(client, register(client, "wide.zarr"), **LONGER)
        wait_for_trees(client, job_id, 200)
        os.kill(child_of(server), signal.SIGKILL)
        job = wait_for(client, job_id)
        assert (job["status"], job["n_attempts"]) == ("SUCCEEDED", 2)
        assert result(client, job_id) == undisturbed
        # SIGTERM gives running jobs back, with their checkpoints.
        job_id = submit(client, register(client, "wide.zarr"), **LONGER)
        wait_for_trees(client, job_id, 200)
        server.stop()
        server.start()
        job = wait_for(client, job_id)
        assert (job["status"], job["n_attempts"]) == ("SUCCEEDED", 1)
        assert result(client, job_id) == undisturbed


@pytest.mark.long
def test_a_job_whose_process_always_dies_fails(start_service):
    server = start(start_service, None, max_attempts=1)
    with server.client() as client:
        job_id = submit(client, register(client, "wide.zarr"), **LONGER)
        for _ in range(2):
            os.kill(child_of(server), signal.SIGKILL)
            time.sleep(0.2)
            if client.get(f"/v1/jobs/{job_id}").json()["status"] == "FAILED":
                break
        job = wait_for(client, job_id)
        assert (job["status"], job["error"]["code"]) == ("FAILED", "attempts")
        assert not job["error"]["yours"]


@pytest.mark.long
def test_a_replica_that_was_frozen_cannot_write(start_service, postgres_url, tmp_path, undisturbed):
    """Two replicas, one database: the frozen one loses its job and leaves no trace of it."""
    shared = {"data_dir": tmp_path / "shared", "database_url": postgres_url, "lease_seconds": 2}
    first = start_service(**shared)
    with first.client() as client:
        job_id = submit(client, register(client, "wide.zarr"), **LONGER)
        wait_for_trees(client, job_id, 200)
    second = start_service(**shared)
    second.key = first.key
    child = child_of(first)
    os.kill(first.pid, signal.SIGSTOP)
    os.kill(child, signal.SIGSTOP)
    try:
        with second.client() as client:
            job = wait_for(client, job_id)
            assert (job["status"], job["n_attempts"]) == ("SUCCEEDED", 2)
            served = result(client, job_id)
            events = client.get(f"/v1/jobs/{job_id}/events").text
            os.kill(child, signal.SIGCONT)
            os.kill(first.pid, signal.SIGCONT)
            wait_until_gone(child)
            assert client.get(f"/v1/jobs/{job_id}/events").text == events
            assert result(client, job_id) == served == undisturbed
    finally:
        os.kill(first.pid, signal.SIGCONT)
    assert "lease lost" in first.log()
