"""Workers elsewhere: `SRS_SCHEDULER` with real processes, and what is seen when it is away."""

from __future__ import annotations

import re
import time

import httpx
import pytest

import srs
from srs.errors import ClusterError
from srs_service.database.jobs import QueueLimits, Submission
from srs_service.job import JobKind, JobStatus
from srs_service.jobs.clusters import Scheduler
from srs_service.jobs.work import explain_error
from srs_service.settings import Settings
from tests.executors.processes import free_port, running, scheduler_command, worker_command
from tests.service.server import QUICK, register, submit, wait_for, without_measured
from tests.service.test_resources import upload

HOST = "127.0.0.1"


def test_a_kind_that_cannot_run_is_not_claimed(store):
    """Selections wait without a scheduler; other jobs, and what is to be cancelled, do not."""
    ids = {}
    for kind in (JobKind.SELECT, JobKind.EXPLAIN):
        wanted = Submission("ann", kind, "", {"settings": {}}, "d_1")
        ids[kind] = store.jobs.submit(wanted, QueueLimits(9, 9))[0].id
    taken = store.jobs.claim("a", 60, JobKind.SELECT)
    assert taken.id == ids[JobKind.EXPLAIN]
    assert store.jobs.claim("a", 60, JobKind.SELECT) is None
    taken = store.jobs.claim("a", 0.01)
    assert taken.id == ids[JobKind.SELECT]
    store.jobs.cancel(taken.id, "ann")
    time.sleep(0.05)
    again = store.jobs.claim("b", 60, JobKind.SELECT)
    assert (again.id, again.status) == (taken.id, JobStatus.CANCELLING)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:{port}", "tcp://nowhere.invalid:8786"])
def test_nobody_listens(address, tmp_path):
    settings = Settings(data_dir=tmp_path, scheduler=address.format(port=free_port()))
    assert not Scheduler(settings).answers
    assert Scheduler(Settings(data_dir=tmp_path)).answers, "none is needed"


def test_what_users_are_told_of_a_lost_cluster():
    told = explain_error(ClusterError("no scheduler answers at tcp://10.0.0.1:8786: x"), {})
    assert not told["yours"]
    assert "resume the job" in told["detail"]
    assert "10.0.0.1" not in told["detail"]


def test_selections_wait_for_a_scheduler(start_service):
    server = start_service(scheduler=f"tcp://{HOST}:{free_port()}")
    ready = httpx.get(f"{server.url}/readyz")
    assert (ready.status_code, ready.json()["failing"]) == (503, ["scheduler"])
    assert ready.json()["detail"] == "scheduler failing."
    with server.client() as client:
        waiting = submit(client, register(client, "small.zarr"))
        source = {"file": {"upload_id": upload(client, "X.csv", b"a,b\n1,2\n3,4\n5,6\n")}}
        answer = client.post("/v1/datasets", json={"name": "x", "source": source})
        assert wait_for(client, answer.json()["job_id"])["status"] == "SUCCEEDED"
        job = client.get(f"/v1/jobs/{waiting}").json()
        assert (job["status"], job["n_attempts"], job["error"]) == ("QUEUED", 0, None)
        assert client.post(f"/v1/jobs/{waiting}:cancel").json()["status"] == "CANCELLED"


@pytest.mark.long
@pytest.mark.fault
def test_replicas_share_a_database_and_a_cluster(start_service, postgres_url, tmp_path, root):
    """Two replicas, one PostgreSQL, one scheduler that comes late, one worker: all jobs end once,
    with the bytes of a run here, wherever they were submitted and taken."""
    port = free_port()
    shared = {
        "data_dir": tmp_path / "shared",
        "database_url": postgres_url,
        "scheduler": f"tcp://{HOST}:{port}",
        "max_running": 1,
    }
    first, second = start_service(**shared), start_service(**shared)
    second.key = first.key
    for server in (first, second):
        ready = httpx.get(f"{server.url}/readyz")
        assert (ready.status_code, ready.json()["failing"]) == (503, ["scheduler"])
    with first.client() as one, second.client() as two:
        dataset_id = register(one, "small.zarr")
        jobs = {}
        for seed in range(6):
            client = one if seed % 2 else two
            jobs[submit(client, dataset_id, seed=seed)] = seed
        time.sleep(3)  # three looks of each runner
        assert {job["status"] for job in one.get("/v1/jobs").json()["items"]} == {"QUEUED"}
        with running(scheduler_command(HOST, port), worker_command(HOST, port)):
            for job_id, seed in jobs.items():
                job = wait_for(two, job_id, seconds=240)
                assert (job["status"], job["n_attempts"]) == ("SUCCEEDED", 1), job
                served = without_measured(one.get(f"/v1/jobs/{job_id}/result").json())
                here = srs.select(root / "small.zarr", **QUICK, seed=seed)
                assert served == without_measured(dict(here.document))
            assert httpx.get(f"{first.url}/readyz").status_code == 200
    taken = {
        name: re.findall(r"job taken.*?(j_[0-9a-f]{32})|(j_[0-9a-f]{32}).*?job taken", server.log())
        for name, server in (("first", first), ("second", second))
    }
    assert all(taken.values()), "both replicas took jobs"
    assert sum(map(len, taken.values())) == len(jobs)


def gauges(client: httpx.Client) -> dict[str, float]:
    lines = [line for line in client.get("/metrics").text.splitlines() if line[:1] != "#"]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def says(client: httpx.Client, job_id: str, text: str, seconds: float = 30) -> None:
    """Wait until a job says that it waits for something."""
    deadline = time.monotonic() + seconds
    while True:
        progress = client.get(f"/v1/jobs/{job_id}").json()["progress"] or {}
        if text in (progress.get("doing") or ""):
            return
        assert time.monotonic() < deadline, progress
        time.sleep(0.1)


@pytest.mark.fault
def test_what_is_missing_of_a_cluster_is_said(start_service):
    """No scheduler, no workers, scheduler lost: in the job, its events, /readyz and the figures."""
    port = free_port()
    server = start_service(scheduler=f"tcp://{HOST}:{port}", max_running=1)
    ready = f"{server.url}/readyz"
    with server.client() as client:
        first, second = (submit(client, register(client, "wide.zarr"), seed=s) for s in (1, 2))
        says(client, first, "the scheduler does not answer")
        says(client, second, "the scheduler does not answer")
        assert httpx.get(ready).json()["failing"] == ["scheduler"]
        assert gauges(client)["srs_scheduler_up"] == 0
        assert gauges(client)['srs_waiting{reason="scheduler"}'] == 2
        with running(scheduler_command(HOST, port)):
            says(client, first, "no workers")
            assert httpx.get(ready).json()["failing"] == ["workers"]
            assert gauges(client)["srs_workers"] == 0
            assert client.get(f"/v1/jobs/{first}").json()["status"] == "RUNNING"
            with running(worker_command(HOST, port)):
                assert wait_for(client, first, seconds=120)["status"] == "SUCCEEDED"
                assert wait_for(client, second, seconds=120)["status"] == "SUCCEEDED"
                assert httpx.get(ready).status_code == 200
                found = gauges(client)
                assert (found["srs_scheduler_up"], found["srs_workers"]) == (1, 1)
                assert found["srs_queue_oldest_seconds"] == 0
                assert found['srs_job_seconds_count{kind="select",outcome="done"}'] == 2
                assert found["srs_disk_free_bytes"] > 0
                assert found['srs_webhooks{outcome="delivered"}'] == 0
        says_lost = submit(client, register(client, "wide.zarr"), seed=3)
        says(client, says_lost, "the scheduler does not answer")
        events = client.get(f"/v1/jobs/{first}/events").text
        assert "the scheduler does not answer" in events
