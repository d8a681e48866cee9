"""A disk without space is the service's fault and is said; a clock that jumps ends no lease."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from srs_service.database import JobStore
from srs_service.database.jobs import QueueLimits, Submission
from srs_service.errors import LeaseLost
from srs_service.job import JobKind
from srs_service.jobs.work import explain_error
from tests.service.server import wait_for
from tests.service.test_quota import ingest, usage, zeros_csv
from tests.service.test_resources import upload

LIMITS = QueueLimits(99, 99)
HOUR = 3600.0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here (needs root)")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.fault
def test_a_full_disk_is_the_fault_of_the_service(start_service, small_disk):
    server = start_service(data_dir=small_disk / "data", min_free="2MB", max_running=1)
    ready = f"{server.url}/readyz"
    assert httpx.get(ready).status_code == 200
    with server.client() as client:
        upload_id = upload(client, "X.csv.gz", zeros_csv(40_000_000))
        job = ingest(client, upload_id)
        assert job["status"] == "FAILED"
        assert (job["error"]["code"], job["error"]["yours"]) == ("disk-full", False)
        assert str(small_disk) not in job["error"]["detail"]
        assert usage(client)["n_bytes"] == usage(client)["uploads"], "nothing is left behind"
        assert not list((small_disk / "data" / "datasets").rglob("*.zarr"))
        assert httpx.get(ready).status_code == 200
        # Full from outside: said, nothing new is taken, and what runs out of space leaves nothing.
        filler = small_disk / "filler"
        filler.write_bytes(bytes(shutil.disk_usage(small_disk).free - 1_500_000))
        answer = httpx.get(ready)
        assert (answer.status_code, answer.json()["failing"]) == (503, ["disk"])
        sent = client.post("/v1/uploads", params={"filename": "X.npy"}, content=bytes(100))
        assert (sent.status_code, sent.json()["type"]) == (503, "urn:srs:problem:disk-full")
        filler.unlink()
        assert httpx.get(ready).status_code == 200
        # The job succeeds once there is space.
        small = upload(client, "X.csv.gz", zeros_csv(1_000_000))
        assert ingest(client, small)["status"] == "SUCCEEDED"
        client.post(f"/v1/jobs/{job['id']}:resume")
        assert wait_for(client, job["id"])["error"]["code"] == "disk-full"


@pytest.mark.fault
def test_an_upload_that_fills_the_disk_leaves_nothing(start_service, small_disk):
    server = start_service(data_dir=small_disk / "data", min_free="1MB", max_running=0)
    with server.client() as client:
        sent = client.post("/v1/uploads", params={"filename": "X.npy"}, content=bytes(30_000_000))
        assert (sent.status_code, sent.json()["type"]) == (503, "urn:srs:problem:disk-full")
        assert not list((small_disk / "data" / "uploads").iterdir())
        assert usage(client)["n_bytes"] == 0
        assert '"status": 500' not in server.log()


def test_an_error_that_comes_from_a_full_disk():
    try:
        try:
            raise OSError(28, "No space left on device")
        except OSError as inner:
            raise RuntimeError("the block could not be written") from inner
    except RuntimeError as error:
        told = explain_error(error, {"work": "select"})
    assert (told["code"], told["yours"]) == ("disk-full", False)


# -- clocks ---------------------------------------------------------------------------------


def held(store: JobStore, lease: float) -> tuple[str, int]:
    wanted = Submission("ann", JobKind.SELECT, "", {"settings": {}}, "d_1")
    job_id = store.jobs.submit(wanted, LIMITS)[0].id
    job = store.jobs.claim("a", lease)
    assert job is not None
    return job_id, job.fence


def jump(store: JobStore, seconds: float) -> None:
    """All times that are stored, as they look after the clock was set."""
    with store._database.transaction() as change:
        change.run(
            "UPDATE jobs SET lease_until = lease_until - :s, queued_at = queued_at - :s, "
            "created_at = created_at - :s",
            s=seconds,
        )


def test_a_clock_that_is_put_back_prolongs_no_lease(store: JobStore):
    """The runner is dead, and its lease seems to last an hour."""
    job_id, fence = held(store, 0.05)
    jump(store, -HOUR)
    time.sleep(0.1)
    again = store.jobs.claim("b", 60)
    assert again is not None
    assert (again.id, again.fence) == (job_id, fence + 1)


def test_a_clock_that_is_put_forward_ends_no_lease(store: JobStore):
    job_id, fence = held(store, 60)
    jump(store, HOUR)
    assert store.jobs.claim("b", 60) is None
    store.jobs.heartbeat(job_id, fence, 60)


def test_another_process_waits_for_one_lease_after_it_first_looked(store: JobStore):
    job_id, fence = held(store, 0.1)
    other = JobStore(store._database)  # that has seen nothing yet
    assert other.jobs.claim("b", 60) is None
    deadline = time.monotonic() + 1.0
    while time.monotonic() < deadline:
        store.jobs.heartbeat(job_id, fence, 0.1)  # its runner lives
        assert other.jobs.claim("b", 60) is None
        time.sleep(0.02)
    time.sleep(0.15)
    taken = other.jobs.claim("b", 60)
    assert taken is not None
    with pytest.raises(LeaseLost):
        store.jobs.heartbeat(job_id, fence, 60)


def test_webhooks_that_wait_for_a_time_that_was_put_back(store: JobStore):
    wanted = Submission(
        "ann",
        JobKind.SELECT,
        "",
        {"settings": {}},
        "d_1",
        webhook={"url": "https://x", "secret": "0" * 16},
    )
    job, _ = store.jobs.submit(wanted, LIMITS)
    store.jobs.cancel(job.id, "ann")
    assert store.deliveries.take(60) is not None
    assert store.deliveries.take(60) is None
    with store._database.transaction() as change:
        change.run(
            "UPDATE deliveries SET lease_until = {now} + :s, next_try = {now} + :s", s=3 * HOUR
        )
    assert store.deliveries.take(60) is not None
