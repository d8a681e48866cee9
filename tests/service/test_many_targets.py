"""Selections for many targets over the service: the same answers as here, also after a break."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

import srs
from srs.client import Client
from srs_service.data.layout import folder_size
from srs_service.data.wording import hide_paths
from tests.service.server import QUICK, register, select_request, wait_for, without_measured

TARGETS = ["ldl", "case", "HbA1c (%)"]


@pytest.fixture(scope="module")
def store(root):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 60))
    ldl = X[:, 4] + 0.1 * rng.normal(size=120)
    ldl[:9] = np.nan
    targets = {"case": (X[:, 3] + X[:, 7] > 0).astype(int), "ldl": ldl, "HbA1c (%)": X[:, 8]}
    few = np.where(np.arange(120) < 4, 1.0, np.nan)
    path = root / "many.zarr"
    srs.ingest(X, path, target={**targets, "few": few, "batch": rng.integers(0, 3, 120)})
    return path


@pytest.fixture(scope="module")
def many_id(client, store):
    return register(client, store.name)


@pytest.fixture(scope="module")
def job(client, many_id):
    asked = {**select_request(many_id), "targets": [*TARGETS, "few"]}
    answer = client.post("/v1/jobs", json=asked)
    assert answer.status_code == 202, answer.text
    return wait_for(client, answer.json()["id"])


def test_results_are_those_of_runs_here(client, store, job):
    assert job["status"] == "SUCCEEDED", job
    assert (job["summary"]["n_targets"], job["summary"]["n_failed"]) == (4, 1)
    here = f"/v1/jobs/{job['id']}"
    rows = client.get(f"{here}/targets").json()["items"]
    assert [row["target"] for row in rows] == [*TARGETS, "few"]
    assert "only 4 samples to learn from" in rows[-1]["error"]
    for name in TARGETS:
        served = client.get(f"{here}/result", params={"target": name}).json()
        alone = srs.select(store, target=name, **QUICK)
        assert without_measured(served) == without_measured(dict(alone.document))
        assert served["measured"]["store"] == "many.zarr"
        page = client.get(f"{here}/features", params={"target": name, "limit": 7}).json()
        assert page["n_total"] == 60
        more = {"target": name, "limit": 7, "cursor": page["next_cursor"]}
        assert client.get(f"{here}/features", params=more).status_code == 200
        other = {**more, "target": "case" if name != "case" else "ldl"}
        assert client.get(f"{here}/features", params=other).status_code == 400
    page = client.get(f"{here}/report").text
    assert "report?target=HbA1c%20%28%25%29" in page
    assert "<h1" in client.get(f"{here}/report", params={"target": "HbA1c (%)"}).text


def test_the_overview(client, job):
    here = f"/v1/jobs/{job['id']}"
    found = client.get(f"{here}/overview", params={"verdict": "RELEVANT", "sort": "target"}).json()
    assert {row["target"] for row in found["items"]} == set(TARGETS)
    text = client.get(f"{here}/overview", params={"format": "csv"}).text
    frame = pd.read_csv(io.StringIO(text))
    assert len(frame) == 3 * frame["feature_id"].nunique()
    for path in ("features", "pairs", "effects", "profiles"):
        answer = client.get(f"{here}/{path}")
        assert answer.status_code == 404
        assert "many targets: say which" in answer.json()["detail"]
    assert client.get(f"{here}/features", params={"target": "../x"}).status_code == 404


def test_two_targets_are_compared(client, job):
    here = f"/v1/jobs/{job['id']}"
    asked = {"a": job["id"], "b": job["id"], "target_a": "ldl", "target_b": "case"}
    found = client.get("/v1/compare", params=asked).json()
    params = {"verdict": "RELEVANT"}
    lists = [
        {row["name"] for row in client.get(f"{here}/features", params=params | of).json()["items"]}
        for of in ({"target": "ldl"}, {"target": "case"})
    ]
    assert (found["n_shared"], found["n_both"]) == (60, len(lists[0] & lists[1]))
    assert set(found["only_b"]) == lists[1] - lists[0] != set()
    del asked["target_b"]
    assert "say which" in client.get("/v1/compare", params=asked).json()["detail"]


def test_files_of_targets_are_compressed_and_sent_in_parts(client, job):
    here = f"/v1/jobs/{job['id']}"
    for path, params in (("overview", {}), ("features", {"target": "ldl"})):
        plain, packed = (
            client.get(
                f"{here}/{path}",
                params=params | {"format": "csv"},
                headers={"Accept-Encoding": encoding},
            )
            for encoding in ("identity", "gzip")
        )
        assert packed.headers["content-encoding"] == "gzip"
        assert plain.text == packed.text
        assert client.get(f"{here}/{path}", params=params | {"targett": "x"}).status_code == 422
    of = {"target": "ldl"}
    whole = client.get(f"{here}/result", params=of).content
    part = client.get(f"{here}/result", params=of, headers={"Range": "bytes=5-9"})
    assert (part.status_code, part.content) == (206, whole[5:10])


def test_targets_that_do_not_fit_the_quota_end_early(start_service, root):
    """Guards quotas: what the first target took says what all will take."""
    X = np.random.default_rng(5).normal(size=(60, 30))
    srs.ingest(X, root / "twenty.zarr", target={f"t{i}": X[:, i] for i in range(20)})
    server = start_service(max_user_data="1200KB", max_running=1)
    with server.client() as client:
        asked = {**select_request(register(client, "twenty.zarr")), "targets": "all"}
        made = wait_for(client, client.post("/v1/jobs", json=asked).json()["id"])
        assert (made["status"], made["error"]["code"]) == ("FAILED", "over-quota")
        kept = folder_size(server.folder / "data" / "jobs" / made["id"])
        assert 0 < kept < 1_000_000
        assert client.get("/v1/usage").json()["jobs"] == kept


def test_one_target_has_no_list(client, many_id):
    done = client.post("/v1/jobs", json=select_request(many_id)).json()
    done = wait_for(client, done["id"])
    assert done["targets"] is None
    for path in ("targets", "overview", "features?target=case"):
        assert client.get(f"/v1/jobs/{done['id']}/{path}").status_code == 404


def test_the_client(service, job, store, tmp_path):
    with Client(service.url, service.key) as connected:
        mine = connected.jobs.get(job["id"])
        assert mine.result("ldl").digest == srs.select(store, target="ldl", **QUICK).digest
        with pytest.raises(srs.errors.InputError, match="many targets: say which"):
            mine.result()
        assert set(mine.overview()["target"]) == set(TARGETS)
        many = srs.load_many(mine.save(tmp_path / "out"))
        assert list(many) == TARGETS
        assert list(many.failed) == ["few"]
        asked = {"targets": "all", "confounders": ["batch"]}
        again = connected.jobs.submit(mine.dataset_id, **asked, **QUICK).wait(timeout=90)
        assert [row["target"] for row in again.targets()] == ["case", "ldl", "HbA1c (%)", "few"]
        why = connected.jobs.submit(
            mine.dataset_id, "explain", features={"job_id": mine.id, "target": "ldl"}, target="ldl"
        )
        assert why.wait(timeout=90).explanation()["data"]["target"] == "ldl"


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"targets": ["hdl"]}, "no target 'hdl'"),
        ({"targets": []}, "at least 1 item"),
        ({"targets": "some"}, "all"),
        ({"targets": ["ldl"], "settings": {**QUICK, "target": "case"}}, "either settings.target"),
    ],
)
def test_what_is_refused(client, many_id, asked, text):
    answer = client.post("/v1/jobs", json={**select_request(many_id), **asked})
    assert answer.status_code == 422, answer.text
    assert text in answer.text


def test_a_resumed_job_keeps_what_is_done(start_service, store):
    """Guards targets that are done: a cancelled job continues with the next one."""
    server = start_service()
    with server.client() as client:
        dataset = register(client, store.name)
        settings = {"memory": "512MB", "patience": 400}
        asked = {"kind": "select", "dataset_id": dataset, "settings": settings}
        made = client.post("/v1/jobs", json={**asked, "targets": ["ldl", "case"]}).json()
        while True:
            now = client.get(f"/v1/jobs/{made['id']}").json()
            if "case (2 of 2)" in ((now["progress"] or {}).get("doing") or ""):
                break
            assert now["status"] in ("QUEUED", "RUNNING"), now
        client.post(f"/v1/jobs/{made['id']}:cancel")
        assert wait_for(client, made["id"])["status"] == "CANCELLED"
        attempts = sorted((server.folder / "data" / "jobs" / made["id"]).glob("attempt-*"))
        finished = (attempts[-1] / "ldl" / "result.json").read_bytes()
        client.post(f"/v1/jobs/{made['id']}:resume")
        assert wait_for(client, made["id"])["status"] == "SUCCEEDED"
        served = client.get(f"/v1/jobs/{made['id']}/result", params={"target": "ldl"}).content
        assert served == finished  # with its times: it was not run again


def test_sentences_name_neither_paths_nor_options_of_the_shell():
    order = {"location": "/data/d_1.zarr", "folder": "/data/jobs/j_1"}
    said = hide_paths("/data/d_1.zarr has no target (--target); see /data/jobs/j_1.", order)
    assert said == "the dataset has no target (`target`); see the job."
