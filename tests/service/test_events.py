"""Event streams: from the first event or any other, live, to the end of the job."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx
import pytest

import srs
from srs.engine.state import Stage
from srs_service.jobs.many import figures_of
from srs_service.jobs.reporting import Throttle
from srs_service.schemas.jobs import Progress as Figured
from tests.service.server import register, submit, wait_for


def read_stream(client: httpx.Client, job_id: str, last: int | None = None) -> list[dict]:
    """All events of a stream, until the service ends it."""
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    events: list[dict] = []
    with client.stream("GET", f"/v1/jobs/{job_id}/events", headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            name, _, value = line.partition(": ")
            if name == "id":
                events.append({"id": int(value)})
            elif name in ("event", "data"):
                events[-1][name] = json.loads(value) if name == "data" else value
    return events


def test_a_stream_tells_all_and_ends_with_the_job(client, dataset_id):
    events = read_stream(client, submit(client, dataset_id))
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    statuses = [e["data"]["status"] for e in events if e["event"] == "status"]
    assert statuses == ["QUEUED", "RUNNING", "SUCCEEDED"]
    progress = [e["data"] for e in events if e["event"] == "progress"]
    assert progress
    assert {"n_trees", "n_relevant", "n_rounds", "n_passes", "peak_mem"} <= set(progress[0])
    evidence = progress[0]["evidence"]
    assert list(evidence) == ["used", "screened", "peak"]
    for counted in evidence.values():  # of 60 features, and of as many probes each
        assert sum(counted["features"]) == 60
        assert sum(counted["probes"]) == 60 * counted["n_probes"]
        assert len(counted["edges"]) == len(counted["features"]) + 1


def test_a_stream_goes_on_after_the_last_event(client, dataset_id):
    job_id = submit(client, dataset_id)
    whole = read_stream(client, job_id)
    for last in range(len(whole)):
        assert read_stream(client, job_id, last) == whole[last:]
    headers = {"Last-Event-ID": str(len(whole))}
    assert client.get(f"/v1/jobs/{job_id}/events", headers=headers).status_code == 204


@pytest.mark.parametrize(("last", "status"), [("99999", 400), ("-1", 422), ("x", 422), ("٣", 422)])
def test_a_forged_last_event_is_refused(client, dataset_id, last, status):
    job_id = submit(client, dataset_id)
    headers = {"Last-Event-ID": last.encode()}
    answer = client.get(f"/v1/jobs/{job_id}/events", headers=headers)
    assert answer.status_code == status


def test_a_resumed_job_has_more_events(client):
    job_id = submit(client, register(client, "wide.zarr"), max_trees=5_000)
    wait_for(client, job_id, "RUNNING")
    client.post(f"/v1/jobs/{job_id}:cancel")
    first = read_stream(client, job_id)
    assert first[-1]["data"]["status"] == "CANCELLED"
    assert client.post(f"/v1/jobs/{job_id}:resume").status_code == 202
    client.post(f"/v1/jobs/{job_id}:cancel")
    more = read_stream(client, job_id, first[-1]["id"])
    assert more[0]["id"] == first[-1]["id"] + 1
    assert more[0]["data"]["status"] == "QUEUED"
    assert read_stream(client, job_id) == first + more, "a new stream tells of both attempts"


def test_many_streams_of_one_job_see_its_end(client, service, dataset_id):
    job_id = submit(client, dataset_id)

    def follow(_: int) -> str:
        with service.client() as mine:
            return read_stream(mine, job_id)[-1]["data"]["status"]

    with ThreadPoolExecutor(30) as pool:
        assert set(pool.map(follow, range(30))) == {"SUCCEEDED"}


def test_streams_are_limited(start_service):
    """Those of a job that runs, so that closed ones are soon written to: then they are noticed."""
    server = start_service(max_streams_per_user=2, max_running=1)
    with server.client() as client:
        runs = submit(client, register(client, "wide.zarr"), max_trees=10**9, patience=10**9)
        wait_for(client, runs, "RUNNING")
        waits = submit(client, register(client, "small.zarr"))
        tag = client.get(f"/v1/jobs/{waits}").headers["etag"]

        def poll() -> int:
            asked = {"params": {"wait": 1}, "headers": {"If-None-Match": tag}}
            return client.get(f"/v1/jobs/{waits}", **asked).status_code

        path = f"/v1/jobs/{runs}/events"
        with client.stream("GET", path) as one, client.stream("GET", path) as two:
            assert (one.status_code, two.status_code) == (200, 200)
            refused = client.get(path)
            assert refused.status_code == 429
            assert "retry-after" in refused.headers
            assert poll() == 429
        for _ in range(300):
            if poll() != 429:
                break
            time.sleep(0.1)
        assert poll() == 304


def test_a_browser_follows_with_its_cookie(client, service, dataset_id):
    with httpx.Client(base_url=service.url) as browser:
        job_id = submit(client, dataset_id)
        assert browser.get(f"/v1/jobs/{job_id}/events").status_code == 401
        key = {"Authorization": f"Bearer {service.key}"}
        signed = browser.post("/v1/session", headers=key)
        assert signed.status_code == 201
        cookie = signed.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert read_stream(browser, job_id)[-1]["data"]["status"] == "SUCCEEDED"
        # A page of another site may not change anything with the cookie, ours may.
        path = f"/v1/jobs/{job_id}:resume"
        for headers, status in (
            ({"Sec-Fetch-Site": "cross-site"}, 401),
            ({"Origin": "https://evil.example"}, 401),
            ({}, 401),
            ({"Sec-Fetch-Site": "same-origin"}, 409),
            ({"Origin": service.url}, 409),
        ):
            assert browser.post(path, headers=headers).status_code == status, headers
        assert browser.delete("/v1/session", headers={"Origin": service.url}).status_code == 204
        assert browser.get("/v1/session").status_code == 401


def test_events_tell_the_stage_before_the_trees():
    """Guards what the page and the client show while all pairs are looked at."""
    now = srs.Progress(
        n_trees=0,
        n_passes=0.0,
        n_relevant=0,
        n_rounds=0,
        round_ended=False,
        seconds=10.0,
        remaining_seconds=None,
        stage=Stage("pairs", 40, 155),
    )
    told = figures_of(now, Throttle())
    assert told["doing"] == "looking at all pairs"
    assert told["stage"] == {"kind": "pairs", "n_done": 40, "n_steps": 155}
    assert Figured(**told).stage.n_steps == 155
    trees = figures_of(replace(now, stage=None, n_trees=5, remaining_seconds=10.0), Throttle())
    assert "stage" not in trees
    assert trees["share"] == 0.5
