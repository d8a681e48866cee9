"""What every list and file can be asked for: parts, heads, filters, order, waiting, comparisons."""

from __future__ import annotations

import pytest

from tests.service.server import select_request, submit, wait_for


@pytest.fixture(scope="module")
def done(client, dataset_id) -> str:
    """A selection that succeeded."""
    job_id = submit(client, dataset_id)
    assert wait_for(client, job_id)["status"] == "SUCCEEDED"
    return job_id


def test_parts_of_files(client, done):
    """One plain range is answered; what is none is answered with the whole."""
    path = f"/v1/jobs/{done}/result"
    whole = client.get(path, headers={"Accept-Encoding": "identity"})
    assert whole.headers["accept-ranges"] == "bytes"
    for asked, wanted in (("bytes=0-9", slice(0, 10)), ("bytes=5-", slice(5, None))):
        answer = client.get(path, headers={"Range": asked})
        assert (answer.status_code, answer.content) == (206, whole.content[wanted])
    for asked in ("bytes=x", "bytes=9-1,5-6", "lines=1-2", "bytes=0-1,3-4"):
        answer = client.get(path, headers={"Range": asked})
        assert (answer.status_code, answer.json()["format"]) == (200, "srs-result")
    beyond = client.get(path, headers={"Range": f"bytes={len(whole.content)}-"})
    assert (beyond.status_code, beyond.headers["content-type"]) == (422, "application/problem+json")
    packed = client.get(path, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == whole.content  # httpx has unpacked it


def test_heads_are_answers_without_bodies(client, done):
    for path in ("/v1/jobs", f"/v1/jobs/{done}", f"/v1/jobs/{done}/report", "/healthz", "/"):
        head, get = client.head(path), client.get(path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-type"] == get.headers["content-type"]
    assert client.head(f"/v1/jobs/{done}/events").status_code == 200  # and does not stream
    assert client.head("/v1/jobs/j_" + "0" * 32).status_code == 404


def test_parameters_that_there_are_not_are_refused(client, done):
    for path in ("/v1/jobs", f"/v1/jobs/{done}", "/v1/datasets", f"/v1/jobs/{done}/features"):
        answer = client.get(path, params={"statuss": "FAILED"})
        assert answer.status_code == 422, path
        assert "'statuss'" in answer.json()["detail"]
    assert "did you mean 'status'?" in client.get("/v1/jobs?statuss=x").json()["detail"]


def test_jobs_are_filtered_and_sorted(client, dataset_id):
    ids = []
    for number in range(3):
        request = {**select_request(dataset_id), "name": f"Trial {number}"}
        answer = client.post("/v1/jobs", json={**request, "labels": {"study": "7"}})
        ids.append(answer.json()["id"])
        assert answer.json()["labels"] == {"study": "7"}
    for job_id in ids:
        wait_for(client, job_id)

    def found(**params):
        return [job["id"] for job in client.get("/v1/jobs", params=params).json()["items"]]

    assert found(name="trial") == ids[::-1]
    assert found(name="trial", sort="created_at") == ids
    assert sorted(found(name="trial", sort="-finished_at")) == sorted(ids)
    assert found(status=["FAILED", "CANCELLED"], name="trial") == []
    assert found(status=["FAILED", "SUCCEEDED"], kind=["select", "ingest"], name="trial 1") == [
        ids[1]
    ]
    middle = client.get(f"/v1/jobs/{ids[1]}").json()["created_at"]
    assert found(name="trial", created_after=middle) == [ids[2], ids[1]]
    assert found(name="trial", created_before=middle) == [ids[0]]
    page = client.get("/v1/jobs", params={"name": "trial", "sort": "created_at", "limit": 2}).json()
    more = {"name": "trial", "sort": "created_at", "cursor": page["next_cursor"]}
    assert [job["id"] for job in page["items"]] + found(**more) == ids
    changed = client.patch(f"/v1/jobs/{ids[0]}", json={"name": "other", "labels": {}})
    assert (changed.json()["name"], changed.json()["labels"]) == ("other", {})
    assert found(name="trial") == ids[:0:-1]
    assert client.patch(f"/v1/jobs/{ids[0]}", json={"status": "FAILED"}).status_code == 422
    named = client.patch(f"/v1/datasets/{dataset_id}", json={"name": "renamed"})
    assert named.json()["name"] == "renamed"


def test_wait_waits_for_the_end(client, dataset_id):
    job_id = submit(client, dataset_id)
    job = client.get(f"/v1/jobs/{job_id}", params={"wait": 60}).json()
    assert job["status"] == "SUCCEEDED"


def test_two_selections_are_compared(client, dataset_id, done):
    other = submit(client, dataset_id, seed=3)
    wait_for(client, other)
    same = client.get("/v1/compare", params={"a": done, "b": done}).json()
    assert (same["overlap"], same["n_changed"], same["n_shared"]) == (1.0, 0, 60)
    assert set(same["both"]) == {"f3", "f7"}
    found = client.get("/v1/compare", params={"a": done, "b": other}).json()
    tables = [
        {
            row["name"]: row["verdict"]
            for row in client.get(f"/v1/jobs/{one}/features", params={"limit": 100}).json()["items"]
        }
        for one in (done, other)
    ]
    changed = [name for name in tables[0] if tables[0][name] != tables[1][name]]
    assert [one["name"] for one in found["changed"]] == changed
    for one in found["changed"]:
        assert (one["a"], one["b"]) == (tables[0][one["name"]], tables[1][one["name"]])
    missing = client.get("/v1/compare", params={"a": done, "b": "j_" + "0" * 32})
    assert missing.status_code == 404


def test_the_reference_shows_all_operations(client):
    """Of the document, without a script, and with nothing from elsewhere."""
    page = client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    document = client.get("/openapi.json").json()
    operations = [one for methods in document["paths"].values() for one in methods.values()]
    for operation in operations:
        assert f'id="{operation["operationId"]}"' in page.text
    for name in document["components"]["schemas"]:
        assert f'id="schema-{name}"' in page.text
    assert "<script" not in page.text
    assert "http://" not in page.text.replace("http://127.0.0.1", "")
    known = {"If-None-Match": page.headers["etag"]}
    assert client.get("/docs", headers=known).status_code == 304


def test_answers_say_what_is_left_of_the_limit(start_service):
    server = start_service(rate_limit=50, max_running=0)
    with server.client() as client:
        answers = [client.get("/v1/jobs") for _ in range(2)]
    assert answers[0].headers["ratelimit-policy"] == '"requests";q=200;w=4'
    left = [int(a.headers["ratelimit"].split("r=")[1].split(";")[0]) for a in answers]
    assert left[0] == 199
    assert left[1] <= 199
