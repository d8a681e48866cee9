"""A service with the database and files of the released version: all that was there is there.

The jobs had ended in every way, one was waiting, and one was cancelled on its way.
"""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

from tests.released.compare import present_names, same_outcome
from tests.released.conftest import unpack
from tests.released.runs import HERE
from tests.service.server import Server, wait_for

SAID = json.loads((HERE / "service.json").read_text(encoding="utf-8"))
JOBS: dict[str, str] = SAID["job_ids"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The released data folder, moved: paths in its database follow."""
    folder = tmp_path_factory.mktemp("home")
    unpack("service.zip", folder)
    unpack("stores/classes.zip", folder / "stores")
    with sqlite3.connect(folder / "data" / "service.sqlite3") as database:
        database.execute(
            "UPDATE datasets SET location = replace(location, ?, ?)", (SAID["home"], str(folder))
        )
    database.close()
    return folder


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Server]:
    started = Server(home, store_roots=home / "stores", max_running=1, threads=1).start()
    try:
        started.key = SAID["key"]
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    """With the released key."""
    with server.client() as opened:
        yield opened


def get(client: httpx.Client, path: str, **query: Any) -> httpx.Response:
    answer = client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer


def attempt(home: Path, job: str) -> Path:
    return home / "data" / "jobs" / JOBS[job] / "attempt-1"


def test_no_new_key_is_made(server: Server) -> None:
    assert not any("srs_" in line for line in server.printed)


@pytest.mark.parametrize("name", ["ingest", "select", "explain", "failed"])
def test_jobs_that_had_ended(name: str, client: httpx.Client) -> None:
    same_outcome(get(client, f"/v1/jobs/{JOBS[name]}").json(), SAID["jobs"][name])


def test_events_tell_no_path_of_the_server(client: httpx.Client) -> None:
    events = get(client, f"/v1/jobs/{JOBS['ingest']}/events").text
    assert '"summary": {"about": ' in events
    assert "location" not in events


def test_jobs_are_listed(client: httpx.Client) -> None:
    listed = {job["id"] for job in get(client, "/v1/jobs").json()["items"]}
    assert listed >= set(JOBS.values())


@pytest.mark.parametrize("name", ["classes.zarr", "uploaded"])
def test_datasets(name: str, client: httpx.Client) -> None:
    said = SAID["datasets"][name]
    same_outcome(get(client, f"/v1/datasets/{said['id']}").json(), said)


def test_the_result_and_its_features(client: httpx.Client, home: Path) -> None:
    here, files = f"/v1/jobs/{JOBS['select']}", attempt(home, "select")
    document = json.loads((files / "result.json").read_text(encoding="utf-8"))
    same_outcome(get(client, f"{here}/result").json(), document)
    rows = pq.read_table(files / "features.parquet").to_pylist()
    page = get(client, f"{here}/features", limit=1000).json()
    assert page["n_total"] == len(rows) == 45
    same_outcome(page["items"], rows)
    relevant = get(client, f"{here}/features", verdict="RELEVANT", sort="p_value").json()["items"]
    named = {row["name"]: row["p_value"] for row in document["outcome"]["relevant"]}
    assert {row["name"]: row["p_value"] for row in relevant} == named
    assert len(named) == SAID["jobs"]["select"]["summary"]["n_relevant"] > 0
    table = list(csv.DictReader(get(client, f"{here}/features", format="csv").text.splitlines()))
    assert [row["name"] for row in table] == [row["name"] for row in rows]
    assert [row["verdict"] for row in table] == [row["verdict"] for row in rows]


def test_reports(client: httpx.Client, home: Path) -> None:
    for job, file in (("select", "report.html"), ("explain", "explain.html")):
        shown = get(client, f"/v1/jobs/{JOBS[job]}/report").text
        assert shown == (attempt(home, job) / file).read_text(encoding="utf-8")


def test_the_explanation_and_its_tables(client: httpx.Client, home: Path) -> None:
    here, files = f"/v1/jobs/{JOBS['explain']}", attempt(home, "explain")
    document = json.loads((files / "explain.json").read_text(encoding="utf-8"))
    same_outcome(get(client, f"{here}/result").json(), document)
    assert [a["name"] for a in document["analyses"]] == ["mdi", "per-class", "umfi"]
    for analysis in document["analyses"]:
        rows = get(client, f"{here}/analyses/{analysis['name']}").json()["items"]
        same_outcome(rows, analysis["rows"])


def test_events(client: httpx.Client) -> None:
    told = get(client, f"/v1/jobs/{JOBS['select']}/events").text
    same_outcome(events_of(told), events_of(SAID["events"]["select"]))


def events_of(stream: str) -> list[dict[str, Any]]:
    return [
        json.loads(line.removeprefix("data: "))
        for line in stream.splitlines()
        if line.startswith("data: ")
    ]


def test_a_waiting_job_is_run(client: httpx.Client) -> None:
    job = wait_for(client, JOBS["waiting"])
    assert job["status"] == "SUCCEEDED", job
    same_outcome(job["settings"], SAID["jobs"]["waiting"]["settings"])
    result_is(client, "waiting")


def test_a_cancelled_job_is_resumed(client: httpx.Client, server: Server) -> None:
    """Anew: a checkpoint of another rule is left aside, and the log says so."""
    job = get(client, f"/v1/jobs/{JOBS['cancelled']}").json()
    same_outcome(job, SAID["jobs"]["cancelled"])
    assert job["progress"]["n_trees"] >= 400
    assert client.post(f"/v1/jobs/{JOBS['cancelled']}:resume").status_code == 202
    assert wait_for(client, JOBS["cancelled"])["status"] == "SUCCEEDED"
    assert "checkpoint not used" in server.log()
    assert "by an earlier version" in server.log()
    result_is(client, "cancelled")


def result_is(client: httpx.Client, name: str) -> None:
    """The result of a job has what the released service found, by the present rule."""
    folder = HERE / "results" / f"service-{name}"
    released = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    found = get(client, f"/v1/jobs/{JOBS[name]}/result").json()
    same_outcome(found["data"]["fingerprint"], released["data"]["fingerprint"])
    surest = min(released["outcome"]["relevant"], key=lambda row: row["q_value"])
    assert surest["name"] in {row["name"] for row in found["outcome"]["relevant"]}
    rows = get(client, f"/v1/jobs/{JOBS[name]}/features", limit=1000).json()["items"]
    before = pq.read_table(folder / "features.parquet").to_pylist()
    assert [row["name"] for row in rows] == [row["name"] for row in before]


def test_the_released_selection_is_explained_anew(client: httpx.Client) -> None:
    said = SAID["jobs"]["explain"]
    request = {
        "kind": "explain",
        "dataset_id": said["dataset_id"],
        "settings": said["settings"],
        "features": {"job_id": JOBS["select"]},
    }
    again = client.post("/v1/jobs", json=request)
    assert again.status_code == 202, again.text
    assert wait_for(client, again.json()["id"])["status"] == "SUCCEEDED"
    new = get(client, f"/v1/jobs/{again.json()['id']}/result").json()
    old = get(client, f"/v1/jobs/{JOBS['explain']}/result").json()
    for document in (new, old):  # umfi is mended for features of few values since
        document["analyses"] = [a for a in document["analyses"] if a["name"] != "umfi"]
    same_outcome(new, old)


def test_the_upload_becomes_the_same_dataset(client: httpx.Client) -> None:
    source = present_names(SAID["jobs"]["ingest"]["settings"])
    made = client.post("/v1/datasets", json={"name": "again", "source": source})
    assert made.status_code == 202, made.text
    job = wait_for(client, made.json()["job_id"])
    new, old = (dict(one["summary"]) for one in (job, SAID["jobs"]["ingest"]))
    assert new.pop("n_bytes") > 0  # it depends on the length of paths
    assert old.pop("n_bytes") > 0
    same_outcome(new, old)
