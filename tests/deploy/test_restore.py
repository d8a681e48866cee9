"""A backup that is restored to another folder works there, with the old folder gone."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from srs_service.database import open_job_store
from srs_service.database.connection import open_database
from srs_service.database.migrations import STEPS, migrate
from tests.deploy.test_backup import BACKUP, RESTORE, other_url, settings, url
from tests.deploy.tools import run_script
from tests.service.conftest import root, start_service
from tests.service.server import Server, submit, wait_for, without_measured
from tests.service.test_resources import npy, upload

__all__ = ["other_url", "root", "start_service", "url"]  # fixtures


def table() -> bytes:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 12)).round(3)
    lines = [",".join([*(f"f{i}" for i in range(12)), "y"])]
    y = X[:, 3] + rng.normal(size=90) > 0
    lines += [",".join([*map(str, row), str(int(one))]) for row, one in zip(X, y, strict=True)]
    return gzip.compress("\n".join(lines).encode())


def explain(client, dataset_id: str) -> dict:
    """An analysis that goes back to the values of the source."""
    request = {
        "kind": "explain",
        "dataset_id": dataset_id,
        "features": {"names": [3, 4]},
        "settings": {"analyses": [{"analysis": "umfi"}], "n_trees": 20},
    }
    answer = client.post("/v1/jobs", json=request)
    assert answer.status_code == 202, answer.text
    job = wait_for(client, answer.json()["id"])
    assert job["status"] == "SUCCEEDED", job
    return client.get(f"/v1/jobs/{job['id']}/result").json()


@pytest.mark.fault
def test_a_service_goes_on_in_another_folder(
    start_service: Callable[..., Server], url: str | None, other_url: str | None, tmp_path: Path
):
    old, new = tmp_path / "old", tmp_path / "elsewhere" / "new"
    where = {} if url is None else {"database_url": url}
    server = start_service(data_dir=old, max_running=1, **where)
    with server.client() as client:
        # One source that is unpacked into the folder of its job, one that is read as it was sent.
        packed = {"file": {"upload_id": upload(client, "T.csv.gz", table())}}
        rng = np.random.default_rng(1)
        X = rng.normal(size=(120, 2_000)).astype(np.float32)
        plain = {
            "file": {"upload_id": upload(client, "X.npy", npy(X))},
            "target": {
                "file": {"upload_id": upload(client, "y.npy", npy((X[:, 3] > 0).astype(int)))}
            },
        }
        datasets = []
        for source in (packed | {"target": {"column": "y"}}, plain):
            made = client.post("/v1/datasets", json={"name": "x", "source": source}).json()
            assert wait_for(client, made["job_id"])["status"] == "SUCCEEDED"
            datasets.append(made["id"])
        done = submit(client, datasets[0], seed=3)
        wait_for(client, done)
        before = client.get(f"/v1/jobs/{done}/result").json()
        why = explain(client, datasets[0])
        long = submit(client, datasets[1], max_trees=800, patience=10**9, seed=5)
        wait_for(client, long, "RUNNING")
        client.post(f"/v1/jobs/{long}:cancel")
        assert wait_for(client, long)["status"] == "CANCELLED"
    server.stop()
    made = run_script(BACKUP, tmp_path / "backups", **settings(old, url)).stdout.strip()
    shutil.rmtree(old)
    run_script(RESTORE, made, **settings(new, other_url))
    where = {} if other_url is None else {"database_url": other_url}
    again = start_service(data_dir=new, max_running=1, **where)
    again.key = server.key
    with again.client() as client:
        assert client.get(f"/v1/jobs/{done}/result").json() == before
        repeated = submit(client, datasets[0], seed=3)
        assert wait_for(client, repeated)["status"] == "SUCCEEDED"
        found = client.get(f"/v1/jobs/{repeated}/result").json()
        assert without_measured(found) == without_measured(before)
        same = without_measured(explain(client, datasets[0]))
        assert same == without_measured(why)
        client.post(f"/v1/jobs/{long}:resume")
        assert wait_for(client, long, seconds=120)["status"] == "SUCCEEDED"
        for dataset_id in datasets:
            assert client.get(f"/v1/datasets/{dataset_id}").json()["status"] == "READY"
        assert str(old) not in again.log()


def test_paths_of_earlier_versions_become_relative(url: str | None, tmp_path: Path):
    """Of stores that the service wrote; those that users registered stay as they are."""
    database = open_database(url, tmp_path, 2)
    migrate(database, STEPS[:5])
    rows = (
        ("d_1", 1, "/srv/datasets/srs/datasets/d_1/3.zarr"),
        ("d_2", 0, "/data/datasets/d_2/1.zarr"),
        ("d_3", 1, ""),
    )
    with database.transaction() as change:
        for dataset_id, managed, location in rows:
            change.run(
                "INSERT INTO datasets (id, owner, name, status, location, managed, created_at) "
                "VALUES (:id, 'ann', 'x', 'READY', :location, :managed, 1)",
                id=dataset_id,
                managed=managed,
                location=location,
            )
    database.close()
    store = open_job_store(url, tmp_path, 2)
    found = {one.id: one.location for one in store.datasets.list("ann", limit=9)}
    store.close()
    assert found == {"d_1": "datasets/d_1/3.zarr", "d_2": "/data/datasets/d_2/1.zarr", "d_3": ""}
