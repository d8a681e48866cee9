"""What the service does beyond its walls: sources by their address, webhooks; and tidying up."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import socketserver
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from srs_service.data.layout import DataFolder
from srs_service.database import open_job_store
from srs_service.jobs.webhooks import WebhookSender
from tests.service.server import register, select_request, serving, wait_for
from tests.service.test_resources import npy

SECRET = "0123456789abcdef"


class Outside:
    """A server of somebody else: gives files, takes webhooks, refuses the first of them."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(50, 10))
        self.files = {"/X.npy": npy(X), "/y.npy": npy((X[:, 1] > 0).astype(int))}
        self.hooks: list[tuple[str, bytes]] = []
        outside = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = outside.files.get(self.path)
                self.send_response(404 if body is None else 200)
                self.end_headers()
                self.wfile.write(body or b"")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outside.hooks.append((self.headers["Srs-Signature"], body))
                self.send_response(500 if len(outside.hooks) == 1 else 204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def outside() -> Iterator[Outside]:
    made = Outside()
    with serving(made.server):
        yield made


def test_sources_and_webhooks_of_a_trusted_network(start_service, outside):
    server = start_service(trusted_networks="127.0.0.1/32")
    with server.client() as client:
        source = {
            "file": {"url": f"{outside.url}/X.npy"},
            "target": {"file": {"url": f"{outside.url}/y.npy"}},
        }
        answer = client.post("/v1/datasets", json={"name": "far", "source": source})
        assert wait_for(client, answer.json()["job_id"])["status"] == "SUCCEEDED"
        dataset = client.get(answer.headers["location"]).json()
        assert (dataset["n_features"], dataset["n_samples"]) == (10, 50)
        gone = {"file": {"url": f"{outside.url}/gone.npy"}}
        answer = client.post("/v1/datasets", json={"name": "gone", "source": gone})
        job = wait_for(client, answer.json()["job_id"])
        assert job["error"] == {
            "code": "invalid",
            "detail": "the server of the address answered 404.",
            "yours": True,
        }
        hook = {"url": f"{outside.url}/hook", "secret": SECRET}
        request = {**select_request(dataset["id"]), "webhook": hook}
        job_id = client.post("/v1/jobs", json=request).json()["id"]
        wait_for(client, job_id)
        deadline = time.monotonic() + 60
        while len(outside.hooks) < 2:
            assert time.monotonic() < deadline, "the webhook was not tried again"
            time.sleep(0.1)
    for signature, body in outside.hooks:
        seconds = signature.split(",")[0].removeprefix("t=")
        digest = hmac.new(SECRET.encode(), f"{seconds}.".encode() + body, hashlib.sha256)
        assert signature == f"t={seconds},v1={digest.hexdigest()}"
        assert json.loads(body)["job_id"] == job_id
        assert json.loads(body)["status"] == "SUCCEEDED"


def test_a_webhook_that_is_never_taken_is_given_up(store, monkeypatch):
    from tests.service.test_job_store import LIMITS, wanted

    hook = {"url": "http://127.0.0.1:1/", "secret": SECRET}
    job, _ = store.jobs.submit(replace(wanted(), webhook=hook), LIMITS)
    store.jobs.cancel(job.id, "ann")
    monkeypatch.setattr("srs_service.jobs.webhooks.POLL_SECONDS", 0.01)
    webhook_sender = WebhookSender(store, (), first_pause=0.0)
    webhook_sender.start()
    deadline = time.monotonic() + 30
    while store.deliveries.outcome(job.id) != ("given up", 8):
        assert time.monotonic() < deadline, store.deliveries.outcome(job.id)
        time.sleep(0.05)
    webhook_sender.stop()


class Dawdler(socketserver.ThreadingTCPServer):
    """Answers without end, a byte at a time, and so is never silent for long."""

    daemon_threads = True

    class RequestHandlerClass(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                self.request.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                while True:
                    self.request.sendall(b"x")
                    time.sleep(0.05)

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), self.RequestHandlerClass)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


def test_a_receiver_that_dawdles_is_given_up_and_holds_up_nobody(store, outside):
    from tests.service.test_job_store import LIMITS, wanted

    outside.hooks.append(("", b""))  # it takes those after the first

    def end_with_hook(url: str) -> str:
        hook = {"url": url, "secret": SECRET}
        job, _ = store.jobs.submit(replace(wanted(), webhook=hook), LIMITS)
        return store.jobs.cancel(job.id, "ann").id

    with serving(Dawdler()) as dawdler:
        slow = [end_with_hook(dawdler.url) for _ in range(3)]
        quick = end_with_hook(outside.url)
        webhook_sender = WebhookSender(store, ("127.0.0.1/32",), first_pause=3600, answer_seconds=2)
        webhook_sender.start()
        deadline = time.monotonic() + 60
        while [store.deliveries.outcome(job_id) for job_id in slow] != [(None, 1)] * 3:
            assert time.monotonic() < deadline, "the first tries did not end"
            time.sleep(0.05)
        webhook_sender.stop()
    assert store.deliveries.outcome(quick) == ("delivered", 1)


def test_a_key_that_is_under_way_is_refused(start_service):
    """The first request with a key is still being planned when the second comes: 409."""
    server = start_service(max_running=0)
    with server.client() as client:
        dataset_id = register(client, "wide.zarr")

    def send(_: int) -> tuple[int, str | None]:
        with server.client() as mine:
            answer = mine.post(
                "/v1/jobs", json=select_request(dataset_id), headers={"Idempotency-Key": "k"}
            )
            return answer.status_code, answer.json().get("id")

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(8)))
    assert {status for status, _ in answers} == {202, 409}
    assert len({job_id for status, job_id in answers if status == 202}) == 1


def test_what_kills_left_is_swept(tmp_path):
    folder = DataFolder(tmp_path)
    folder.prepare()
    store = open_job_store(None, tmp_path, 2)
    upload = store.uploads.add("u_known", "ann", "X.npy", 1, "")
    for name in (upload.id, "u_old", "u_young"):
        folder.upload(name).mkdir()
    for name in (upload.id, "u_old"):
        os.utime(folder.upload(name), (0, 0))
    assert folder.sweep(store.known_ids) == 1
    assert {entry.name for entry in folder.uploads.iterdir()} == {upload.id, "u_young"}
    store.close()
