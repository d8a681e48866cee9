"""Requests that nobody sends by accident: each has its answer, and none is a 500."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import time

import httpx
import numpy as np
import pytest

import srs
from tests.service.server import select_request, submit, wait_for
from tests.service.test_resources import npy, upload

SELECT = '{"kind": "select", "dataset_id": "%s", "settings": %s}'


def post(client, body: str | bytes, kind: str = "application/json"):
    return client.post("/v1/jobs", content=body, headers={"Content-Type": kind})


def check_problem(answer, *statuses: int) -> dict:
    assert answer.status_code in statuses, (answer.status_code, answer.text[:300])
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert set(problem) >= {"type", "title", "status", "detail", "request_id"}
    assert problem["status"] == answer.status_code
    assert problem["request_id"] == answer.headers["x-request-id"]
    for secret in ("Traceback", "/tmp", "site-packages", ".py"):
        assert secret not in answer.text
    return problem


@pytest.mark.parametrize(
    "settings",
    [
        '{"fdr": NaN}',
        '{"fdr": Infinity}',
        '{"fdr": 1e999}',
        '{"fdr": true}',
        '{"fdr": "0.1"}',
        '{"fdr": 0}',
        '{"seed": -1}',
        '{"seed": 1.5}',
        '{"seed": true}',
        '{"seed": null}',
        '{"seed": 1' + "0" * 400 + "}",
        '{"max_trees": 1e400}',
        '{"max_trees": 2147483648}',
        '{"unknown": 1}',
        '{"executor": "tcp://10.0.0.1:8786"}',
        '{"memory": "lots"}',
        '{"memory": "0GB"}',
        '{"memory": 512}',
        '{"memory": "1e9GB"}',
        '{"mode": "os.system"}',
        '{"target": "\\ud800"}',
        '{"target": "a\\u0000b"}',
        '{"target": "a\\r\\nX: y"}',
        '{"pinned": [{"__class__": "os"}]}',
        '{"evidence": []}',
        '{"pinned": [-1]}',
        "[]",
        "7",
        '{"pinned": [' + "1," * 2000 + "1]}",
        '{"storage_options": {"endpoint": "http://x"}}',
    ],
)
def test_settings_out_of_bounds(client, dataset_id, settings):
    problem = check_problem(post(client, SELECT % (dataset_id, settings)), 422)
    assert problem["errors"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("{", 400),
        ("", 422),
        ("nul", 400),
        ("[" * 100_000 + "]" * 100_000, 400),
        ('{"a":' * 50_000 + "1" + "}" * 50_000, 400),
        (b"\xff\xfe", 400),
        ("9" * 5_000, 400),
        ('{"kind": "shell"}', 422),
        ("{}", 422),
        ("null", 422),
        ('"x"', 422),
    ],
)
def test_bodies_that_are_no_requests(client, body, status):
    check_problem(post(client, body), status)


def test_sizes_and_types_of_bodies(client, dataset_id):
    large = json.dumps({"kind": "select", "name": "x" * 10_000_000})
    assert check_problem(post(client, large), 413)["limit"] == 1_000_000

    def unannounced():
        for _ in range(30):
            yield b" " * 100_000

    check_problem(
        client.post(
            "/v1/jobs", content=unannounced(), headers={"Content-Type": "application/json"}
        ),
        413,
    )
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        check_problem(post(client, SELECT % (dataset_id, "{}"), kind), 415)


@pytest.mark.parametrize("name", ["a\r\nSet-Cookie: x=1", "\x1b[31mred", "a\nb", "", "x" * 201])
def test_names_that_are_no_names(client, dataset_id, name):
    check_problem(client.post("/v1/jobs", json={**select_request(dataset_id), "name": name}), 422)
    check_problem(client.post("/v1/datasets", json={"name": name, "store": "small.zarr"}), 422)


def test_headers_that_are_no_headers(client, dataset_id):
    for key in ("", "x" * 201, "a b"):
        check_problem(
            client.post(
                "/v1/jobs", json=select_request(dataset_id), headers={"Idempotency-Key": key}
            ),
            422,
        )
    answer = client.get("/v1/jobs", headers={"X-Request-ID": "bad id\x7f"})
    assert answer.headers["x-request-id"] != "bad id\x7f"
    assert client.get("/v1/jobs", headers={"X-Request-ID": "mine-1"}).headers["x-request-id"] == (
        "mine-1"
    )


@pytest.mark.parametrize(
    "path",
    [
        "file:///etc/passwd",
        "/etc",
        "/etc/passwd",
        "../",
        "../../etc",
        "small.zarr/../..",
        "%2e%2e/%2e%2e/etc",
        "/proc/self/root",
        "~",
        "//etc",
        "simplecache::file:///etc",
        "zip::file://small.zarr",
        "http://169.254.169.254/",
        "s3://bucket/x",
        "gs://x",
        "nothing",
        "small.zarr\\..",
        ".",
        "small.zarr/zarr.json",
    ],
)
def test_paths_out_of_the_open_folders(client, path):
    problem = check_problem(client.post("/v1/datasets", json={"name": "x", "store": path}), 422)
    assert "passwd" not in problem["detail"]


def test_links_out_of_the_open_folders(client, root, tmp_path):
    srs.ingest(np.eye(9), tmp_path / "private.zarr", target=[0, 1, 1] * 3)
    link = root / "link.zarr"
    link.symlink_to(tmp_path / "private.zarr")
    try:
        check_problem(client.post("/v1/datasets", json={"name": "x", "store": "link.zarr"}), 422)
        source = {"file": {"path": "link.zarr"}}
        check_problem(client.post("/v1/datasets", json={"name": "x", "source": source}), 422)
    finally:
        link.unlink()


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/X.npy",
        "http://127.0.0.1:1/X.npy",
        "http://localhost/X.npy",
        "http://[::1]/X.npy",
        "http://2130706433/X.npy",
        "file:///etc/passwd",
        "ftp://x/X.npy",
        "https://user:pass@example.org/X.npy",
    ],
)
def test_addresses_that_must_not_be_reached(client, dataset_id, url):
    answer = client.post("/v1/datasets", json={"name": "x", "source": {"file": {"url": url}}})
    assert check_problem(answer, 422)["type"] == "urn:srs:problem:out-of-reach"
    hook = {"url": url, "secret": "0123456789abcdef"}
    answer = client.post("/v1/jobs", json={**select_request(dataset_id), "webhook": hook})
    assert check_problem(answer, 422)["type"] == "urn:srs:problem:out-of-reach"


@pytest.mark.parametrize(
    "filename",
    ["../X.npy", "/etc/X.npy", "X.exe", "X", "a\nb.npy", "X.npy\r\nA: b", ".npy", "X.pkl", "X.doc"],
)
def test_names_of_uploads(client, filename):
    answer = client.post("/v1/uploads", params={"filename": filename}, content=b"x")
    check_problem(answer, 422)


def test_an_upload_over_the_limit_leaves_nothing(start_service):
    server = start_service(max_upload="1MB", max_user_data="1500KB", request_seconds=1)
    with server.client() as client:

        def send(size: int):
            return client.post("/v1/uploads", params={"filename": "X.npy"}, content=bytes(size))

        check_problem(send(1_000_001), 413)
        assert send(1_000_000).status_code == 201
        check_problem(send(600_000), 413)
        check_problem(send(0), 422)
        kept = list((server.folder / "data" / "uploads").iterdir())
        assert len(kept) == 1
        # A client that stops in the middle is given up, whatever it uploads.
        for path, kind in (("/v1/uploads?filename=X.npy", "x/y"), ("/v1/jobs", "application/json")):
            with socket.create_connection(("127.0.0.1", server.port), 20) as slow:
                head = (
                    f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n"
                    f"Content-Type: {kind}\r\nAuthorization: Bearer {server.key}\r\n\r\n"
                )
                slow.sendall(head.encode() + b"half")
                assert b" 408 " in slow.recv(1000)
        # So is one that sends a JSON body byte by byte, with pauses that are short enough.
        with socket.create_connection(("127.0.0.1", server.port), 20) as slow:
            slow.sendall(
                b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n"
                b"Content-Type: application/json\r\n\r\n"
            )
            slow.settimeout(0.1)
            answer = b""
            for _ in range(100):
                with contextlib.suppress(TimeoutError):
                    answer = slow.recv(1000)
                if answer:
                    break
                slow.sendall(b" ")
            assert b" 408 " in answer
        with socket.create_connection(("127.0.0.1", server.port), 20) as slow:
            slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ")
            assert slow.recv(1000) == b"", "a head that does not end is given up too"
        time.sleep(0.2)
        assert list((server.folder / "data" / "uploads").iterdir()) == kept


def test_an_npy_that_claims_terabytes_fails_as_the_users(client):
    header = npy(np.zeros((4, 4)))
    claimed = header.replace(b"(4, 4), }", b"(4000000, 4000000), }")[: len(header)]
    pickled = npy(np.array([{"a": 1}, None], dtype=object))
    for content in (claimed, pickled, b"\x93NUMPY", b"not numpy"):
        source = {"file": {"upload_id": upload(client, "X.npy", content)}}
        answer = client.post("/v1/datasets", json={"name": "x", "source": source})
        job = wait_for(client, answer.json()["job_id"])
        assert (job["status"], job["error"]["yours"]) == ("FAILED", True), job
        assert "/data/" not in job["error"]["detail"]


def test_names_of_features_are_defused(client):
    """HTML and formulas in names: escaped in the report, prefixed in CSV, plain in JSON."""
    names = ["=cmd|'/c calc'!A1", "<script>alert(1)</script>", "+1", "-1", "@x", "ok"]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    rows = [",".join(['"' + n.replace('"', '""') + '"' for n in names] + ["y"])]
    rows += [",".join([*(f"{v:.6f}" for v in x), str(int(x.sum() > 0))]) for x in X]
    source = {
        "file": {"upload_id": upload(client, "t.csv", "\n".join(rows).encode())},
        "target": {"column": "y"},
    }
    dataset = client.post("/v1/datasets", json={"name": "<b>x</b>", "source": source}).json()
    assert wait_for(client, dataset["job_id"])["status"] == "SUCCEEDED"
    job_id = submit(client, dataset["id"])
    assert wait_for(client, job_id)["status"] == "SUCCEEDED"
    path = f"/v1/jobs/{job_id}"
    found = {row["name"] for row in client.get(f"{path}/features").json()["items"]}
    assert found == set(names)
    text = client.get(f"{path}/features", headers={"Accept": "text/csv"}).text
    cells = [line.split(",")[1].strip('"') for line in text.splitlines()[1:]]
    defused = [f"'{name}" if name[0] in "=+-@" else name for name in names]
    assert sorted(cells) == sorted(defused)
    report = client.get(f"{path}/report").text
    assert "&lt;script&gt;alert(1)" in report
    assert "<script>alert(1)" not in report


def test_what_the_framework_answers_is_a_problem_too(client):
    known = check_problem(client.get(f"/v1/jobs/j_{'0' * 32}"), 404)
    for path in ("/nothing", "/v1/nothing", "/page/nothing.js", "/v1/jobs/"):
        found = check_problem(client.get(path), 404)
        assert (found["type"], found["title"]) == (known["type"], known["title"])
    check_problem(client.get("/v1/jobs/j_1"), 422)
    answer = client.put("/v1/jobs", json={})
    assert check_problem(answer, 405)["detail"] == "this path takes GET, HEAD, POST."
    assert set(answer.headers["allow"].split(", ")) >= {"GET", "POST"}
    check_problem(client.get("/v1/jobs", params={"limit": "0"}), 422)
    check_problem(client.get("/v1/jobs", params={"limit": "x"}), 422)
    check_problem(client.get("/v1/jobs", params={"cursor": "x" * 301}), 422)


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"x" * 100_000,
        b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
    ids=["no HTTP", "long head", "two hosts", "two lengths", "TLS"],
)
def test_what_is_no_http_gets_a_problem_too(service, sent):
    with socket.create_connection(("127.0.0.1", service.port), 20) as opened:
        opened.sendall(sent)
        answer = http.client.HTTPResponse(opened)
        answer.begin()
        body = answer.read()
    read = httpx.Response(answer.status, headers=answer.getheaders(), content=body)
    assert check_problem(read, 400)["type"] == "urn:srs:problem:malformed"


def test_pages_may_not_be_framed_or_read_from_elsewhere(client):
    answer = client.get("/v1/jobs", headers={"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in answer.headers
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    location = client.post(
        "/v1/datasets",
        json={"name": "x", "store": "small.zarr"},
        headers={"Host": "evil.example", "X-Forwarded-Host": "evil.example"},
    ).headers["location"]
    assert location.startswith("/v1/datasets/")


def test_the_log_names_no_secrets(client, service, dataset_id):
    client.get("/v1/jobs", params={"cursor": "token-in-query"})
    hook = {"url": "https://1.1.1.1/hook?sig=abc", "secret": "s3cr3t-0123456789"}
    answer = client.post(
        "/v1/jobs", json={**select_request(dataset_id, max_trees=16), "webhook": hook}
    )
    assert "s3cr3t" not in answer.text
    log = service.log()
    for secret in (service.key, "token-in-query", "s3cr3t", "sig=abc"):
        assert secret not in log
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert any(line.get("route") == "/v1/jobs" and line.get("request_id") for line in lines)
