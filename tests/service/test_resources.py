"""Datasets, uploads, jobs, plans and results over HTTP, as the OpenAPI document says."""

from __future__ import annotations

import csv
import io

import numpy as np
import pyarrow.parquet as pq
import pytest

import srs
from tests.service.server import QUICK, register, select_request, submit, wait_for, without_measured


@pytest.fixture(scope="module")
def done(client, dataset_id) -> str:
    """A selection that succeeded."""
    job_id = submit(client, dataset_id)
    assert wait_for(client, job_id)["status"] == "SUCCEEDED"
    return job_id


def npy(array: np.ndarray) -> bytes:
    written = io.BytesIO()
    np.save(written, array)
    return written.getvalue()


def upload(client, filename: str, content: bytes) -> str:
    answer = client.post("/v1/uploads", params={"filename": filename}, content=content)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def test_a_registered_store_is_ready(client, dataset_id):
    dataset = client.get(f"/v1/datasets/{dataset_id}").json()
    assert dataset["status"] == "READY"
    assert (dataset["n_features"], dataset["n_samples"]) == (60, 120)
    assert dataset["kinds"] == {"numeric": 60, "ordinal": 0, "categorical": 0}
    assert dataset["targets"][0]["kind"] == "classes"
    assert dataset["fingerprint"]
    assert dataset_id in [item["id"] for item in client.get("/v1/datasets").json()["items"]]


def test_a_job_is_accepted_runs_and_gives_what_srs_gives(client, dataset_id, done, root, tmp_path):
    answer = client.post("/v1/jobs", json=select_request(dataset_id))
    assert answer.status_code == 202
    assert answer.headers["location"] == f"/v1/jobs/{answer.json()['id']}"
    assert answer.headers["retry-after"] == "1"
    job = wait_for(client, done)
    served = client.get(f"/v1/jobs/{done}/result").json()
    assert served["measured"]["store"] == "small.zarr"
    assert str(root) not in client.get(f"/v1/jobs/{done}/report").text
    here = srs.select(root / "small.zarr", **QUICK)
    assert without_measured(served) == without_measured(dict(here.document))
    assert job["summary"]["n_trees"] == here.n_trees
    (tmp_path / "features.parquet").write_bytes(
        client.get(
            f"/v1/jobs/{done}/features", headers={"Accept": "application/vnd.apache.parquet"}
        ).content
    )
    assert pq.read_table(tmp_path / "features.parquet").equals(here.table)


def test_features_are_paged_sorted_and_filtered(client, done):
    path, seen, cursor = f"/v1/jobs/{done}/features", [], None
    while True:
        params = {"sort": "-importance", "limit": 25} | ({"cursor": cursor} if cursor else {})
        page = client.get(path, params=params).json()
        seen += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert page["n_total"] == len(seen) == 60
    assert len({row["feature_id"] for row in seen}) == 60
    importances = [row["importance"] for row in seen]
    assert importances == sorted(importances, reverse=True)
    only = client.get(path, params={"verdict": "RELEVANT"}).json()
    assert {row["name"] for row in only["items"]} == {"f3", "f7"}
    found = client.get(path, params={"search": "F3", "sort": "feature_id"}).json()
    assert [row["name"] for row in found["items"]][:2] == ["f3", "f30"]


def test_a_cursor_of_another_list_is_refused(client, done):
    path = f"/v1/jobs/{done}/features"
    cursor = client.get(path, params={"limit": 5}).json()["next_cursor"]
    assert client.get(path, params={"limit": 5, "cursor": cursor}).status_code == 200
    assert client.get(path, params={"sort": "name", "cursor": cursor}).status_code == 400
    assert client.get("/v1/jobs", params={"cursor": "AAAA"}).status_code == 400
    assert client.get("/v1/jobs", params={"cursor": cursor[:-2] + "AA"}).status_code == 400


def test_features_as_csv(client, done):
    answer = client.get(
        f"/v1/jobs/{done}/features", headers={"Accept": "text/csv"}, params={"sort": "p_value"}
    )
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert answer.headers["content-type"].startswith("text/csv")
    assert len(rows) == 60
    assert {rows[0]["name"], rows[1]["name"]} == {"f3", "f7"}


def test_a_link_says_the_form_in_its_address(client, service, done):
    """A browser's link sends no Accept of ours; with its cookie it gets a file to save."""
    import httpx

    path, key = f"/v1/jobs/{done}/features", {"Authorization": f"Bearer {service.key}"}
    with httpx.Client(base_url=service.url, headers={"Accept": "text/html,*/*;q=0.8"}) as browser:
        assert browser.post("/v1/session", headers=key).status_code == 201
        for form, kind in (("csv", "text/csv"), ("parquet", "application/vnd.apache.parquet")):
            got = browser.get(path, params={"format": form})
            assert got.content == client.get(path, headers={"Accept": kind}).content
            assert got.headers["content-disposition"] == f'attachment; filename="features.{form}"'
            assert got.headers["content-type"].startswith(kind)
        assert browser.get(path, params={"format": "json"}).json()["n_total"] == 60
    assert client.get(path, params={"format": "xlsx"}).status_code == 422


def test_pairs_are_a_table_like_features(client, dataset_id, done, root, tmp_path):
    """In all forms; empty where none was found, absent where pairs were not looked at."""
    path = f"/v1/jobs/{done}/pairs"
    assert client.get(f"/v1/jobs/{done}").json()["links"]["pairs"] == path
    assert client.get(path).json() == {"n_total": 0, "items": [], "next_cursor": None}
    unseen = submit(client, dataset_id, pairs="off")
    assert client.get(f"/v1/jobs/{unseen}/pairs").status_code in (404, 409)  # 409: not done yet
    assert "pairs" not in wait_for(client, unseen)["links"]
    answer = client.get(f"/v1/jobs/{unseen}/pairs")
    assert answer.status_code == 404
    assert "did not look at pairs" in answer.json()["detail"]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60))
    y = (X[:, 3] > 0) ^ (X[:, 8] > 0)
    srs.ingest(X, root / "xor.zarr", target=y.astype(int))
    found = submit(client, register(client, "xor.zarr"))
    job = wait_for(client, found)
    assert job["summary"]["n_pairs"] == 1
    path = job["links"]["pairs"]
    page = client.get(path, params={"sort": "-statistic", "limit": 1}).json()
    row = page["items"][0]
    assert (row["name"], row["partner"], row["kind"]) == ("f3", "f8", "crossing")
    assert row["mean_high_low"] - row["mean_low_low"] == pytest.approx(row["low"])
    for name, n_total in (("f8", 1), ("F3", 1), ("f5", 0)):
        assert client.get(path, params={"search": name}).json()["n_total"] == n_total
    rows = list(csv.DictReader(io.StringIO(client.get(path, params={"format": "csv"}).text)))
    assert [one["partner"] for one in rows] == ["f8"]
    (tmp_path / "pairs.parquet").write_bytes(client.get(path, params={"format": "parquet"}).content)
    table = pq.read_table(tmp_path / "pairs.parquet").to_pandas()
    own = srs.select(root / "xor.zarr", **QUICK).pairs
    assert table.drop(columns="cells").equals(own.drop(columns="cells"))
    cells, wanted = table["cells"][0], own["cells"][0]
    assert list(cells["levels"]) == list(wanted["levels"])
    assert client.get(path, params={"sort": "verdict"}).status_code == 422
    assert client.get(path, headers={"Accept": "image/png"}).status_code == 406


def test_features_say_what_found_them(client, done):
    page = client.get(
        f"/v1/jobs/{done}/features", params={"verdict": "RELEVANT", "sort": "-direction"}
    ).json()
    assert {row["found_by"] for row in page["items"]} <= set(srs.evidence_kinds())
    directions = [row["direction"] for row in page["items"]]
    assert directions == sorted(directions, reverse=True)


def test_all_analyses_are_told_and_accepted(client, dataset_id, done):
    """What `/v1/analyses` tells is what jobs take: each alone, with a value where it takes one."""
    told = client.get("/v1/analyses").json()["items"]
    assert [item["analysis"] for item in told] == list(srs.ANALYSES)
    request = {"kind": "explain", "dataset_id": dataset_id, "features": {"job_id": done}}

    def status(**asked):
        answer = client.post("/v1/jobs", json={**request, "settings": {"analyses": [asked]}})
        if answer.status_code == 202:
            client.post(f"/v1/jobs/{answer.json()['id']}:cancel")
        else:
            assert asked["analysis"] in answer.text, "the refusal names what it refuses"
        return answer.status_code

    for item in told:
        name, values = item["analysis"], item["choices"] or (["f3"] if item["value"] else [])
        assert status(analysis=name) == (422 if item["required"] else 202)
        assert {status(analysis=name, value=value) for value in values} <= {202}
        if item["choices"] or item["value"] is None:
            assert status(analysis=name, value="nothing") == 422
    assert {bool(item["choices"]) for item in told} == {True, False}
    assert {item["required"] for item in told} == {True, False}


def test_a_form_that_is_not_there_is_refused(client, done):
    answer = client.get(f"/v1/jobs/{done}/features", headers={"Accept": "image/png"})
    assert answer.status_code == 406
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_report_is_a_page_that_loads_nothing(client, done):
    answer = client.get(f"/v1/jobs/{done}/report")
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "f3" in answer.text


def test_a_plan_says_what_it_costs(client, dataset_id):
    request = {"dataset_id": dataset_id, "settings": {"memory": "512MB"}}
    plan = client.post("/v1/jobs:plan", json=request)
    assert plan.status_code == 200
    assert plan.json()["projected_mem"] < plan.json()["allowed_mem"] == 512_000_000


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/jobs:plan"])
def test_what_cannot_fit_is_refused_with_both_numbers(client, dataset_id, path):
    request = {"dataset_id": dataset_id, "settings": {"memory": "50MB"}}
    answer = client.post(path, json=request if "plan" in path else {"kind": "select", **request})
    assert answer.status_code == 422
    problem = answer.json()
    assert problem["type"] == "urn:srs:problem:does-not-fit"
    assert problem["allowed_mem"] == 50_000_000 < problem["needed_mem"]
    too_much = {"dataset_id": dataset_id, "settings": {"memory": "900GB"}}
    answer = client.post(path, json=too_much if "plan" in path else {"kind": "select", **too_much})
    assert (answer.status_code, answer.json()["allowed_mem"]) == (422, 4_000_000_000)


def test_settings_that_do_not_fit_the_data_are_refused_at_once(client, dataset_id):
    for settings in ({"target": "nothing"}, {"pinned": ["nothing"]}, {"criterion": "variance"}):
        answer = client.post("/v1/jobs", json=select_request(dataset_id, **settings))
        assert answer.status_code == 422, settings
        assert "/" not in answer.json()["detail"].replace("n/a", "")


def test_an_unchanged_job_is_not_sent_again(client, done):
    answer = client.get(f"/v1/jobs/{done}")
    tag = answer.headers["etag"]
    for known in (tag, f"W/{tag}", f'"0", {tag}', "*"):  # proxies make tags weak
        answer = client.get(f"/v1/jobs/{done}", headers={"If-None-Match": known})
        assert (answer.status_code, answer.headers["etag"], answer.content) == (304, tag, b"")
    assert client.get(f"/v1/jobs/{done}", headers={"If-None-Match": '"0"'}).status_code == 200


def test_a_long_poll_answers_when_something_changes(client, dataset_id):
    answer = client.post("/v1/jobs", json=select_request(dataset_id))
    job, tags = answer.json(), [answer.headers["etag"]]
    while job["status"] not in ("SUCCEEDED", "FAILED"):
        answer = client.get(
            f"/v1/jobs/{job['id']}", params={"wait": 30}, headers={"If-None-Match": tags[-1]}
        )
        assert answer.status_code == 200
        job = answer.json()
        tags.append(answer.headers["etag"])
    assert job["status"] == "SUCCEEDED"
    assert len(set(tags)) == len(tags) > 1, "each answer tells of a change"


def test_jobs_are_listed_by_kind_status_and_dataset(client, dataset_id, done):
    found = client.get("/v1/jobs", params={"status": "SUCCEEDED", "kind": "select"}).json()
    assert done in [job["id"] for job in found["items"]]
    assert client.get("/v1/jobs", params={"kind": "ingest", "dataset_id": dataset_id}).json() == {
        "items": [],
        "next_cursor": None,
    }


def test_an_upload_becomes_a_dataset(client, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 20))
    y = (X[:, 2] > 0).astype(int)
    source = {
        "file": {"upload_id": upload(client, "X.npy", npy(X))},
        "target": {"file": {"upload_id": upload(client, "y.npy", npy(y))}},
    }
    answer = client.post("/v1/datasets", json={"name": "mine", "source": source})
    assert answer.status_code == 202
    assert wait_for(client, answer.json()["job_id"])["status"] == "SUCCEEDED"
    dataset = client.get(answer.headers["location"]).json()
    here = srs.ingest(X, tmp_path / "here.zarr", target=y)
    assert (dataset["status"], dataset["fingerprint"]) == ("READY", here.fingerprint)
    assert client.delete(f"/v1/datasets/{dataset['id']}").status_code == 204
    assert client.get(f"/v1/datasets/{dataset['id']}").status_code == 404


def test_a_bad_source_fails_with_a_sentence(client):
    source = {"file": {"upload_id": upload(client, "X.csv", b"a,b\n1,x\n2\n")}}
    answer = client.post("/v1/jobs", json={"kind": "ingest", "name": "bad", "source": source})
    assert answer.status_code == 202
    job = wait_for(client, answer.json()["id"])
    assert (job["status"], job["error"]["yours"]) == ("FAILED", True)
    assert "/tmp" not in job["error"]["detail"]
    dataset = client.get(f"/v1/datasets/{job['dataset_id']}").json()
    assert (dataset["status"], dataset["error"]) == ("FAILED", job["error"])
    refused = client.post("/v1/jobs", json=select_request(job["dataset_id"]))
    assert refused.status_code == 409


def test_an_explanation_of_a_selection(client, dataset_id, done):
    answer = client.post(
        "/v1/jobs",
        json={
            "kind": "explain",
            "dataset_id": dataset_id,
            "features": {"job_id": done},
            "settings": {"analyses": [{"analysis": "mdi"}], "n_trees": 20},
        },
    )
    job = wait_for(client, answer.json()["id"])
    assert job["status"] == "SUCCEEDED", job
    table = client.get(f"/v1/jobs/{job['id']}/analyses/mdi", params={"sort": "feature"}).json()
    assert [row["feature"] for row in table["items"]] == ["f3", "f7"]
    document = client.get(f"/v1/jobs/{job['id']}/result").json()
    assert document["format"] == "srs-explanation"
    assert client.get(f"/v1/jobs/{job['id']}/analyses/mda").status_code == 404
    assert client.get(f"/v1/jobs/{job['id']}/features").status_code == 404
    wrong = {"kind": "explain", "dataset_id": dataset_id, "features": {"job_id": job["id"]}}
    assert client.post("/v1/jobs", json=wrong).status_code == 422


def test_a_deleted_job_is_gone_with_its_files(client, service, dataset_id):
    job_id = submit(client, dataset_id)
    wait_for(client, job_id)
    folder = service.folder / "data" / "jobs" / job_id
    assert folder.is_dir()
    assert client.delete(f"/v1/jobs/{job_id}").status_code == 204
    assert not folder.exists()
    assert client.get(f"/v1/jobs/{job_id}").status_code == 404


def test_the_same_key_gives_the_same_job(client, dataset_id):
    headers = {"Idempotency-Key": "one"}
    first = client.post("/v1/jobs", json=select_request(dataset_id), headers=headers)
    again = client.post("/v1/jobs", json=select_request(dataset_id), headers=headers)
    assert first.json()["id"] == again.json()["id"]
    other = client.post("/v1/jobs", json=select_request(dataset_id, seed=1), headers=headers)
    assert (other.status_code, other.json()["title"]) == (422, "The request is not valid")


def test_the_same_key_gives_the_same_dataset(client):
    headers, body = {"Idempotency-Key": "store"}, {"name": "once", "store": "small.zarr"}
    first = client.post("/v1/datasets", json=body, headers=headers)
    again = client.post("/v1/datasets", json=body, headers=headers)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert again.headers["location"] == first.headers["location"]
    items = client.get("/v1/datasets").json()["items"]
    assert [item["name"] for item in items].count("once") == 1
    other = client.post("/v1/datasets", json={**body, "name": "twice"}, headers=headers)
    assert (other.status_code, other.json()["title"]) == (422, "The request is not valid")
    job = client.post("/v1/jobs", json=select_request(first.json()["id"]), headers=headers)
    assert job.status_code == 422, "one key is one request"


def test_a_store_in_an_archive_is_taken_as_it_is(client, root):
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in (root / "small.zarr").rglob("*"):
            archive.write(file, f"small.zarr/{file.relative_to(root / 'small.zarr')}")
    source = {"file": {"upload_id": upload(client, "small.zip", packed.getvalue())}}
    answer = client.post("/v1/datasets", json={"name": "packed", "source": source})
    job = wait_for(client, answer.json()["job_id"])
    assert job["status"] == "SUCCEEDED", job
    found = client.get(answer.headers["location"]).json()
    known = client.get(f"/v1/datasets/{register(client, 'small.zarr')}").json()
    assert found["fingerprint"] == known["fingerprint"]


def test_health_and_figures(client, service):
    import httpx

    assert httpx.get(f"{service.url}/healthz").json() == {"status": "ok"}
    assert httpx.get(f"{service.url}/readyz").json() == {"status": "ok"}
    text = client.get("/metrics").text
    assert 'srs_jobs{status="SUCCEEDED"}' in text
    assert 'srs_requests_total{method="GET",route="/readyz",status="200"}' in text


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("jobs", '{"kind": "dance"}', "'kind' must be one of 'select', 'explain', 'ingest', not"),
        ("jobs", "{}", "'kind' is missing."),
        ("jobs", "nothing", "the body is not JSON ("),
        ("datasets", '{"name": "x"}', "give either a store or a source"),
        (
            "datasets",
            '{"name": "x", "source": {"files": 3}}',
            "/source/files: must be a list, not 3.",
        ),
    ],
)
def test_wrong_bodies_are_answered_in_a_sentence(client, path, body, said):
    headers = {"Content-Type": "application/json"}
    answer = client.post(f"/v1/{path}", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    assert answer.json()["detail"].startswith(said)
