"""Stores in object storage and on a web server: real servers on loopback, the same bytes."""

from __future__ import annotations

import functools
import http.server
import json
import ssl
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest

import srs
from srs.errors import InputError, StoreError
from tests.certificates import make_certificates
from tests.executors.conftest import make_chunky, outcome_bytes
from tests.executors.processes import free_port

obstore = pytest.importorskip("obstore")
pytest.importorskip("moto.server")

SETTINGS = {"seed": 1, "max_passes": 2, "subspace_size": 64}
SECRET = "very-secret-key"


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_chunky(tmp_path_factory.mktemp("local") / "s.zarr", n=100, p=600)


@pytest.fixture(scope="module")
def bucket(local: Path):
    """The store in a bucket of a real S3 server; credentials are in the environment."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():
            patch.setenv(name, value)
        import boto3

        end = monotonic() + 60
        while True:
            try:
                boto3.client("s3").create_bucket(Bucket="stores", ACL="public-read")
                break
            except Exception:
                assert monotonic() < end
                sleep(0.2)
        upload(local, "s3://stores/wide.zarr")
        yield "s3://stores/wide.zarr"
    server.kill()
    server.wait()


def upload(folder: Path, url: str) -> None:
    from obstore.store import from_url

    objects = from_url(url)
    for file in folder.rglob("*"):
        if file.is_file():
            obstore.put(objects, str(file.relative_to(folder)), file.read_bytes())


def test_s3_gives_the_same_bytes(local, bucket, worker_of_s3):
    store = srs.open_store(bucket)
    assert store.location == bucket
    assert bucket in repr(store)
    ids = np.array([0, 5, 599])
    np.testing.assert_array_equal(store.read_codes(ids), srs.open_store(local).read_codes(ids))
    expected = outcome_bytes(srs.select(local, **SETTINGS))
    assert outcome_bytes(srs.select(bucket, **SETTINGS)) == expected
    assert outcome_bytes(srs.select(bucket, executor=worker_of_s3, **SETTINGS)) == expected


@pytest.fixture
def worker_of_s3(bucket):  # noqa: ARG001
    from tests.executors.conftest import running_cluster

    with running_cluster(1) as client:  # its workers inherit the credentials
        yield client


def test_missing_and_damaged_objects_are_named(local, bucket):  # noqa: ARG001
    from obstore.store import from_url

    upload(local, "s3://stores/bad.zarr")
    objects = from_url("s3://stores/bad.zarr")
    store = srs.open_store("s3://stores/bad.zarr")
    good = (local / "codes/c/1/0/0").read_bytes()
    obstore.put(objects, "codes/c/1/0/0", good[:-20] + bytes(16) + good[-4:])
    with pytest.raises(StoreError, match=r"s3://stores/bad.zarr/codes/c/1/0/0 is corrupted"):
        srs.select(store, **SETTINGS)
    obstore.delete(objects, "codes/c/1/0/0")
    with pytest.raises(StoreError, match=r"codes/c/1/0/0 is missing"):
        srs.select(store, **SETTINGS)
    with pytest.raises(StoreError, match=r"codes/c/1/0/0 is missing"):
        srs.open_store("s3://stores/bad.zarr")


def test_no_such_store(bucket):  # noqa: ARG001
    with pytest.raises(StoreError, match=r"s3://stores/none\.zarr"):
        srs.open_store("s3://stores/none.zarr")


def test_credentials_are_not_taken_from_addresses_nor_told(bucket, tmp_path):
    for url in (f"s3://key:{SECRET}@stores/wide.zarr", f"https://host/wide.zarr?sig={SECRET}"):
        with pytest.raises(InputError, match="must not contain credentials") as caught:
            srs.open_store(url)
        assert SECRET not in str(caught.value)
    srs.select(bucket, **SETTINGS).save(tmp_path)
    written = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    tables = {f"{name}.parquet" for name in ("features", "effects", "profiles", "pairs")}
    assert set(written) == {*tables, "report.html", "result.json"}
    assert b"stores/wide.zarr" in written["result.json"]
    assert [name for name, content in written.items() if SECRET.encode() in content] == []


def test_gs_gives_the_same_bytes(local, bucket, tmp_path, monkeypatch):
    """Through Google's client; its XML interface is that of S3, which the same server speaks."""
    import os

    import boto3

    for file in local.rglob("*"):
        if file.is_file():
            key = f"public.zarr/{file.relative_to(local)}"
            boto3.client("s3").put_object(
                Bucket="stores", Key=key, Body=file.read_bytes(), ACL="public-read"
            )
    account = {
        "gcs_base_url": os.environ["AWS_ENDPOINT_URL"],
        "disable_oauth": True,
        "client_email": "",
        "private_key": SECRET,
        "private_key_id": "",
    }
    (tmp_path / "account.json").write_text(json.dumps(account))
    monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT", str(tmp_path / "account.json"))
    for name in ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    url = bucket.replace("s3://stores/wide", "gs://stores/public")
    result = srs.select(url, **SETTINGS)
    assert outcome_bytes(result) == outcome_bytes(srs.select(local, **SETTINGS))
    with pytest.raises(StoreError, match=r"gs://stores/none\.zarr"):
        srs.open_store("gs://stores/none.zarr")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_web_server_is_read(local, scheme, tmp_path, monkeypatch):
    handler = functools.partial(_Quiet, directory=str(local.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        if scheme == "https":
            make_certificates(tmp_path)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"{scheme}://localhost:{server.server_port}/s.zarr"
        if scheme == "https":
            with pytest.raises(StoreError, match="localhost"):  # nobody vouches for it
                srs.open_store(url)
            monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        result = srs.select(url, **SETTINGS)
        server.shutdown()
    assert outcome_bytes(result) == outcome_bytes(srs.select(local, **SETTINGS))


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass
