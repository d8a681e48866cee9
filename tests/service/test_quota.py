"""Quotas count what is on disk, whatever way it came there, and deleting frees it."""

from __future__ import annotations

import gzip
import io
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import pytest

from srs_service.data.layout import DataFolder, folder_size
from srs_service.database.jobs import QueueLimits, Submission
from srs_service.errors import OverQuota
from srs_service.job import JobKind, JobStatus
from srs_service.jobs.tidying import drop_old
from srs_service.settings import Settings
from tests.service.server import Server, register, submit, wait_for
from tests.service.test_resources import npy, upload

KEPT = ("uploads", "datasets", "jobs", "exports")
LIMITS = QueueLimits(99, 99)


def on_disk(server: Server) -> int:
    return sum(folder_size(server.folder / "data" / name) for name in KEPT)


def usage(client: httpx.Client) -> dict:
    return client.get("/v1/usage").json()


def ingest(client: httpx.Client, upload_id: str, **source: object) -> dict:
    """Ingest an upload to its end; the job."""
    body = {"kind": "ingest", "name": "x", "source": {"file": {"upload_id": upload_id}, **source}}
    answer = client.post("/v1/jobs", json=body)
    assert answer.status_code == 202, answer.text
    return wait_for(client, answer.json()["id"])


def zeros_csv(n_bytes: int) -> bytes:
    """A table of zeros that packs very well."""
    line = ",".join("0" * 50) + "\n"
    head = ",".join(f"f{i}" for i in range(50)) + "\n"
    return gzip.compress((head + line * (n_bytes // len(line))).encode(), 9)


def test_uploads_at_the_same_time_do_not_share_the_last_bytes(start_service):
    """Ten of 100 kB where there is room for three; with and without a promised length."""
    server = start_service(max_user_data="350KB", max_running=0)

    def send(number: int) -> int:
        def parts():
            for _ in range(10):
                yield bytes(10_000)

        content = parts() if number % 2 else bytes(100_000)
        with server.client() as own:
            answer = own.post("/v1/uploads", params={"filename": "X.npy"}, content=content)
        return answer.status_code

    with ThreadPoolExecutor(10) as pool:
        statuses = list(pool.map(send, range(10)))
    assert sorted(statuses)[:3] == [201] * 3
    assert set(statuses[3:]) <= {201, 413}
    assert statuses.count(201) == 3
    assert on_disk(server) == 300_000
    with server.client() as client:
        assert usage(client)["n_bytes"] == usage(client)["uploads"] == 300_000
        kept = client.get("/v1/uploads", params={"limit": 2}).json()
        more = client.get("/v1/uploads", params={"cursor": kept["next_cursor"]}).json()
        assert len({one["id"] for one in kept["items"] + more["items"]}) == 3
        refused = client.post("/v1/uploads", params={"filename": "X.npy"}, content=bytes(60_000))
        assert refused.json()["type"] == "urn:srs:problem:over-quota"
        assert client.delete(f"/v1/uploads/{kept['items'][0]['id']}").status_code == 204
        assert usage(client)["n_bytes"] == on_disk(server) == 200_000


def test_what_a_small_file_inflates_to_counts(start_service):
    """9 kB that become 8 MB: counted while it is there, refused where it does not fit."""
    packed = zeros_csv(8_000_000)
    assert len(packed) < 30_000
    server = start_service(max_user_data="20MB", max_running=1)
    with server.client() as client:
        job = ingest(client, upload(client, "X.csv.gz", packed))
        assert job["status"] == "SUCCEEDED", job
        assert usage(client)["jobs"] > 7_000_000
        assert usage(client)["n_bytes"] == on_disk(server)
        # There is no room for a second one: it fails, says why, and leaves nothing.
        before = usage(client)
        again = upload(client, "X.csv.gz", zeros_csv(16_000_000))
        job2 = ingest(client, again)
        assert (job2["status"], job2["error"]["code"]) == ("FAILED", "over-quota")
        assert job2["error"]["yours"]
        after = usage(client)
        assert after["jobs"] == before["jobs"]
        assert after["n_bytes"] == on_disk(server)
        # The dataset goes with its source and its upload.
        assert client.delete(f"/v1/datasets/{job['dataset_id']}").status_code == 204
        assert [one["id"] for one in client.get("/v1/uploads").json()["items"]] == [again]
        assert usage(client)["n_bytes"] == on_disk(server) == usage(client)["uploads"]


def test_an_archive_that_does_not_fit_fails_alone(start_service):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.csv", "a,b\n" + "1,2\n" * 4_000_000)
    server = start_service(max_user_data="10MB", max_running=1)
    with server.client() as client:
        job = ingest(client, upload(client, "X.zip", content.getvalue()))
        assert (job["status"], job["error"]["code"]) == ("FAILED", "over-quota")
        assert usage(client)["n_bytes"] == on_disk(server) == usage(client)["uploads"]


def test_repeated_and_failed_ingests_and_results_count(start_service):
    server = start_service(max_running=1)
    rng = np.random.default_rng(0)
    with server.client() as client:
        X, y = rng.normal(size=(80, 400)), rng.integers(0, 2, 80)
        ids = upload(client, "X.npy", npy(X)), upload(client, "y.npy", npy(y))
        target = {"target": {"file": {"upload_id": ids[1]}}}
        jobs = [ingest(client, ids[0], **target) for _ in range(3)]
        assert {job["status"] for job in jobs} == {"SUCCEEDED"}
        bad = ingest(client, upload(client, "X.csv", b"a,b\n1,x\n2\n"))
        assert bad["status"] == "FAILED"
        assert usage(client)["datasets"] > 3 * 80 * 400
        assert usage(client)["n_bytes"] == on_disk(server)
        done = submit(client, jobs[0]["dataset_id"])
        assert wait_for(client, done)["status"] == "SUCCEEDED"
        assert usage(client)["jobs"] > 10_000
        assert usage(client)["n_bytes"] == on_disk(server)
        # Uploads stay while another dataset is made of them.
        for n_left, job in zip((2, 1, 0), jobs, strict=True):
            assert client.delete(f"/v1/datasets/{job['dataset_id']}").status_code == 204
            kept = {one["id"] for one in client.get("/v1/uploads").json()["items"]}
            assert (set(ids) <= kept) == (n_left > 0)
        client.delete(f"/v1/jobs/{done}")
        client.delete(f"/v1/datasets/{bad['dataset_id']}")
        assert usage(client) == {**usage(client), "n_bytes": 0, "uploads": 0}
        assert on_disk(server) == 0


def test_who_has_nothing_left_starts_nothing(start_service):
    server = start_service(max_user_data="100KB", max_running=1)
    with server.client() as client:
        dataset_id = register(client, "small.zarr")
        upload(client, "X.npy", bytes(100_000))
        answer = client.post("/v1/jobs", json={"kind": "select", "dataset_id": dataset_id})
        assert (answer.status_code, answer.json()["limit"]) == (413, 100_000)


# -- the store ------------------------------------------------------------------------------


def test_reservations_hold_in_any_order(store):
    def reserve(number: int) -> bool:
        try:
            store.space.reserve_upload(f"u_{number}", "ann", 10, 35)
        except OverQuota:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(reserve, range(20))) == 3
    assert store.space.usage("ann").total == 30
    assert store.space.usage("bob").total == 0
    wanted = Submission("ann", JobKind.SELECT, "", {"settings": {}}, "d_1")
    job, _ = store.jobs.submit(wanted, LIMITS)
    store.space.reserve_job(job.id, "ann", 5, 35)
    with pytest.raises(OverQuota):
        store.space.reserve_job(job.id, "ann", 6, 35)
    assert store.space.usage("ann").jobs == 5


def test_what_is_kept_for_some_days(store, tmp_path):
    """Uploads that a dataset was made of stay, and ingests whose dataset is there."""
    folder = DataFolder(tmp_path / "data")
    folder.prepare()
    for upload_id in ("u_used", "u_loose"):
        store.uploads.add(upload_id, "ann", "X.npy", 3, "0")
        folder.upload(upload_id).mkdir()
    spec = {"source": {"file": {"upload_id": "u_used"}}}
    wanted = Submission("ann", JobKind.INGEST, "x", spec, "")
    job, dataset, _ = store.datasets.submit_ingest(wanted, LIMITS)
    claimed = store.jobs.claim("a", 60)
    found = {"about": {"n_features": 3}, "n_bytes": 9}
    store.jobs.finish(job.id, claimed.fence, JobStatus.SUCCEEDED, summary=found, location="x")
    other, _ = store.jobs.submit(replace(wanted, kind=JobKind.SELECT, spec={}), LIMITS)
    store.jobs.cancel(other.id, "ann")
    waiting, _ = store.jobs.submit(replace(wanted, kind=JobKind.SELECT, spec={}), LIMITS)
    kept = Settings(data_dir=tmp_path / "data", keep_uploads_days=1, keep_jobs_days=1)
    drop_old(kept, store, folder)
    assert len(store.uploads.list("ann", limit=9)) == 2
    moment = kept.model_copy(update={"keep_uploads_days": 1e-9, "keep_jobs_days": 1e-9})
    drop_old(moment, store, folder)
    assert [one.id for one in store.uploads.list("ann", limit=9)] == ["u_used"]
    assert [entry.name for entry in folder.uploads.iterdir()] == ["u_used"]
    left = {one.id for one in store.jobs.list("ann", limit=9, filters={})}
    assert left == {job.id, waiting.id}
    store.datasets.delete(dataset.id, "ann")
    drop_old(moment, store, folder)
    assert [one.id for one in store.jobs.list("ann", limit=9, filters={})] == [waiting.id]


def test_links_count_once(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "x").write_bytes(bytes(10))
    (tmp_path / "b" / "x").hardlink_to(tmp_path / "a" / "x")
    (tmp_path / "b" / "y").write_bytes(bytes(5))
    assert folder_size(tmp_path / "b") == 5
