"""What a store may make the service read: its own source, and nothing of others."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import httpx
import numpy as np
import pytest

import srs
from srs_service.jobs.many import open_checked
from tests.service.server import Server, wait_for


@pytest.fixture
def forged(root: Path, tmp_path: Path) -> Path:
    """A store whose manifest names a file that is not its own as source, table and mask."""
    store = Path(shutil.copytree(root / "small.zarr", tmp_path / "forged.zarr"))
    secret = tmp_path / "data" / "uploads" / "u_other" / "secret.csv"
    secret.parent.mkdir(parents=True)
    secret.write_text("id,age\n1,2\n")
    _name(store, str(secret))
    return store


def _name(store: Path, secret: str) -> None:
    raw = json.loads((store / "zarr.json").read_text())
    raw["attributes"]["srs"]["source"] = {
        "path": secret,
        "mask": secret,
        "orientation": "samples",
        "table": {"path": secret, "id_column": None},
    }
    (store / "zarr.json").write_text(json.dumps(raw))


def _zip(folder: Path, into: Path) -> Path:
    with zipfile.ZipFile(into, "w") as archive:
        for file in folder.rglob("*"):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    return into


def _send(client: httpx.Client, file: Path) -> str:
    sent = client.post("/v1/uploads", params={"filename": file.name}, content=file.read_bytes())
    assert sent.status_code == 201, sent.text
    return str(sent.json()["id"])


def _ingest(client: httpx.Client, source: dict[str, object]) -> str:
    """The dataset of a source that was ingested."""
    made = client.post("/v1/jobs", json={"kind": "ingest", "name": "x", "source": source})
    assert made.status_code == 202, made.text
    job = wait_for(client, made.json()["id"])
    assert job["status"] == "SUCCEEDED", job
    return str(job["dataset_id"])


def test_the_source_of_a_store_that_is_sent_is_dropped(
    service: Server, client: httpx.Client, forged: Path, tmp_path: Path
) -> None:
    upload = _send(client, _zip(forged, tmp_path / "forged.zip"))
    dataset = _ingest(client, {"file": {"upload_id": upload}})
    (kept,) = (service.folder / "data" / "datasets" / dataset).glob("*.zarr")
    assert srs.open_store(kept).manifest.source == {}
    before, after = srs.open_store(forged), srs.open_store(kept)
    assert before.fingerprint == after.fingerprint


@pytest.mark.parametrize("named", ["path", "mask", "table"])
def test_the_data_folder_as_a_whole_is_not_readable(forged: Path, tmp_path: Path, named: str):
    """A registered store, whose manifest stays as it is, names an upload of somebody else."""
    source = dict(srs.open_store(forged).manifest.source)
    raw = json.loads((forged / "zarr.json").read_text())
    raw["attributes"]["srs"]["source"] = {named: source[named], "orientation": "samples"}
    (forged / "zarr.json").write_text(json.dumps(raw))
    limits = {"max_features": 10**6, "readable": [str(tmp_path / "open")]}
    assert open_checked({"location": str(forged), "limits": limits}).manifest.source == {}
    limits["readable"] = [str(tmp_path / "data" / "uploads" / "u_other")]
    assert open_checked({"location": str(forged), "limits": limits}).manifest.source != {}


def test_an_analysis_still_reads_the_source_of_its_own_dataset(
    client: httpx.Client, tmp_path: Path
) -> None:
    """Transport wants the values, which only the upload of the dataset has."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12)).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", (X[:, 3] > 0).astype(np.int64))
    source = {
        "file": {"upload_id": _send(client, tmp_path / "X.npy")},
        "target": {"file": {"upload_id": _send(client, tmp_path / "y.npy")}},
    }
    dataset = _ingest(client, source)
    request = {
        "kind": "explain",
        "dataset_id": dataset,
        "features": {"names": ["f3", "f4"]},
        "settings": {"analyses": [{"analysis": "umfi"}], "n_trees": 20},
    }
    made = client.post("/v1/jobs", json=request)
    assert made.status_code == 202, made.text
    assert wait_for(client, made.json()["id"])["status"] == "SUCCEEDED"
