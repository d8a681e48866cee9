"""Jobs in every status, their events and their webhooks are as the published schemas say."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.schemas import check, spoiled, validator
from tests.service.server import Server, register, select_request, serving, submit, wait_for
from tests.service.test_events import read_stream
from tests.service.test_outside import SECRET, Outside


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    made = Outside()
    with serving(made.server):
        yield made


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[Server]:
    """One that may fetch from this machine, and tell it of ends."""
    folder = tmp_path_factory.mktemp("service")
    server = Server(folder, store_roots=root, max_running=1, trusted_networks="127.0.0.1/32")
    try:
        yield server.start()
    finally:
        server.stop()


def ingest(client: httpx.Client, outside: Outside, file: str, **options: Any) -> str:
    """Ask for a dataset of a file; the id of its job."""
    source = {
        "file": {"url": f"{outside.url}/{file}"},
        "target": {"file": {"url": f"{outside.url}/y.npy"}},
        **options,
    }
    answer = client.post("/v1/datasets", json={"name": file, "source": source})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["job_id"])


def check_job(client: httpx.Client, job_id: str, status: str) -> dict[str, Any]:
    """The document of a job that has a status by now or will have it, with all its events."""
    job: dict[str, Any] = wait_for(client, job_id, status)
    check(job, "job-1")
    check_events(read_stream(client, job_id))
    return job


def check_events(events: list[dict[str, Any]]) -> None:
    parts = {"status": "StatusEvent", "progress": "ProgressEvent"}
    for event in events:
        check(event["data"], "event-1")
        check(event["data"], "event-1", parts[event["event"]])


def test_a_selection_that_waits_runs_and_succeeds(client: httpx.Client, dataset_id: str) -> None:
    sets = {"signal": ["f3", "f7"], "noise": [20, 21]}
    answer = client.post("/v1/jobs", json=select_request(dataset_id, feature_sets=sets))
    waiting = answer.json()
    assert waiting["status"] == "QUEUED"
    check(waiting, "job-1")
    job = check_job(client, waiting["id"], "SUCCEEDED")
    assert job["summary"]["n_sets"] == 2
    events = read_stream(client, job["id"])
    assert {event["event"] for event in events} == {"status", "progress"}
    assert any("evidence" in event["data"] for event in events)
    for page in (client.get("/v1/jobs").json(), client.get("/v1/jobs?status=SUCCEEDED").json()):
        for listed in page["items"]:
            check(listed, "job-1")
    for name, document in (("job-1", job), ("event-1", events[-1]["data"])):
        tried = [(what, validator(name).is_valid(wrong)) for what, wrong in spoiled(name, document)]
        assert len(tried) > 12
        assert [what for what, valid in tried if valid] == []


def test_an_explanation(client: httpx.Client, dataset_id: str) -> None:
    features = {"names": ["f3", "f7", "f9"]}
    settings = {"analyses": [{"analysis": "mdi"}, {"analysis": "umfi"}], "n_trees": 10}
    request = {"kind": "explain", "dataset_id": dataset_id, "features": features}
    answer = client.post("/v1/jobs", json={**request, "settings": settings})
    job = check_job(client, answer.json()["id"], "SUCCEEDED")
    assert job["summary"]["analyses"] == ["mdi", "umfi"]
    check(client.get(f"/v1/jobs/{job['id']}/result").json(), "explanation-2")


def test_ingests(client: httpx.Client, outside: Outside) -> None:
    job = check_job(client, ingest(client, outside, "X.npy"), "SUCCEEDED")
    assert job["summary"]["n_features"] == 10
    job = check_job(client, ingest(client, outside, "gone.npy"), "FAILED")
    assert job["error"]["code"] == "invalid"


def test_a_selection_that_is_cancelled(client: httpx.Client) -> None:
    job_id = submit(client, register(client, "wide.zarr"), max_trees=50_000)
    check(wait_for(client, job_id, "RUNNING"), "job-1")
    cancelled = client.post(f"/v1/jobs/{job_id}:cancel").json()
    assert cancelled["status"] == "CANCELLING"
    check(cancelled, "job-1")
    check_job(client, job_id, "CANCELLED")


def test_results_of_jobs(client: httpx.Client, dataset_id: str) -> None:
    job_id = submit(client, dataset_id)
    wait_for(client, job_id, "SUCCEEDED")
    check(client.get(f"/v1/jobs/{job_id}/result").json(), "result-2")


def test_webhooks(client: httpx.Client, outside: Outside, dataset_id: str) -> None:
    hook = {"url": f"{outside.url}/hook", "secret": SECRET}
    request = {**select_request(dataset_id, max_trees=16), "webhook": hook}
    job_id = client.post("/v1/jobs", json=request).json()["id"]
    wait_for(client, job_id)
    deadline = time.monotonic() + 60
    while not outside.hooks:
        assert time.monotonic() < deadline, "the webhook was not sent"
        time.sleep(0.1)
    body = json.loads(outside.hooks[0][1])
    assert body["job_id"] == job_id
    check(body, "webhook-1")
    tried = [validator("webhook-1").is_valid(wrong) for _, wrong in spoiled("webhook-1", body)]
    assert len(tried) > 10
    assert not any(tried)


def test_a_job_that_does_not_fit(client: httpx.Client, outside: Outside) -> None:
    """Its error says how much it needs; it could not be shown at all once."""
    job = check_job(client, ingest(client, outside, "X.npy", memory="1KB"), "FAILED")
    assert job["error"]["code"] == "does-not-fit"
    assert job["error"]["needed_mem"] > job["error"]["allowed_mem"] == 1000
    dataset = client.get(f"/v1/datasets/{job['dataset_id']}").json()
    assert dataset["error"] == job["error"]
    assert job in client.get("/v1/jobs", params={"status": "FAILED"}).json()["items"]
