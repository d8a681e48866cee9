"""Who may do what: keys, scopes, expiry, other users, tokens of an issuer, limits."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import time

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.service.server import ROOT, register, select_request, serving, submit


def test_every_refusal_is_the_same(service, client):
    expired = service.new_key("ann", days=0)
    revoked = service.new_key("ann")
    service.run("keys", "revoke", revoked.split("_")[1])
    good = service.key
    none = jwt.encode({"sub": "ann"}, key="", algorithm="none")
    bodies = set()
    for header in (
        None,
        "Bearer",
        "Bearer x",
        f"Basic {good}",
        f"Bearer {good}x",
        f"Bearer {good[:-1]}",
        f"Bearer {good.replace('srs_', 'xxx_')}",
        f"Bearer {expired}",
        f"Bearer {revoked}",
        f"Bearer {none}",
        "Bearer srs_000000000000_abc",
        "Bearer srs_%00_x",
    ):
        headers = {} if header is None else {"Authorization": header}
        answer = httpx.get(f"{service.url}/v1/jobs", headers=headers)
        assert answer.status_code == 401, header
        assert answer.headers["www-authenticate"] == "Bearer"
        problem = answer.json()
        problem.pop("request_id")
        bodies.add(json.dumps(problem))
    assert len(bodies) == 1
    in_query = httpx.get(f"{service.url}/v1/jobs", params={"key": good, "access_token": good})
    assert in_query.status_code == 401
    assert client.get("/v1/jobs").status_code == 200


def test_scopes(service, dataset_id):
    with service.client(service.new_key("admin", ("read",))) as reader:
        assert reader.get(f"/v1/datasets/{dataset_id}").status_code == 200
        assert reader.post("/v1/jobs", json=select_request(dataset_id)).status_code == 403
        assert reader.get("/metrics").status_code == 403
    with service.client(service.new_key("prometheus", ("metrics",))) as measurer:
        assert measurer.get("/metrics").status_code == 200
        assert measurer.get("/v1/jobs").status_code == 403


def test_things_of_others_do_not_exist(service, client, dataset_id):
    job_id = submit(client, dataset_id)
    upload = client.post("/v1/uploads", params={"filename": "a.csv"}, content=b"a\n1\n").json()
    with service.client(service.new_key("eve")) as eve:
        for method, path in (
            ("GET", f"/v1/jobs/{job_id}"),
            ("GET", f"/v1/jobs/{job_id}/events"),
            ("GET", f"/v1/jobs/{job_id}/result"),
            ("GET", f"/v1/jobs/{job_id}/features"),
            ("GET", f"/v1/jobs/{job_id}/report"),
            ("POST", f"/v1/jobs/{job_id}:cancel"),
            ("POST", f"/v1/jobs/{job_id}:resume"),
            ("DELETE", f"/v1/jobs/{job_id}"),
            ("GET", f"/v1/datasets/{dataset_id}"),
            ("DELETE", f"/v1/datasets/{dataset_id}"),
            ("GET", f"/v1/uploads/{upload['id']}"),
            ("DELETE", f"/v1/uploads/{upload['id']}"),
        ):
            mine, unknown = eve.request(method, path), re.sub(r"_[0-9a-f]{32}", f"_{0:032}", path)
            assert mine.status_code == 404, (method, path)
            assert eve.request(method, unknown).json()["detail"] == mine.json()["detail"]
        assert eve.post("/v1/jobs", json=select_request(dataset_id)).status_code == 404
        source = {"kind": "ingest", "name": "x", "source": {"file": {"upload_id": upload["id"]}}}
        assert eve.post("/v1/jobs", json=source).status_code == 404
        assert eve.get("/v1/jobs").json()["items"] == []
        assert eve.get("/v1/datasets").json()["items"] == []


def test_keys_of_users_are_independent(service, client, dataset_id):
    headers = {"Idempotency-Key": "shared"}
    first = client.post("/v1/jobs", json=select_request(dataset_id), headers=headers)
    with service.client(service.new_key("bob")) as bob:
        theirs = register(bob, "small.zarr")
        second = bob.post("/v1/jobs", json=select_request(theirs), headers=headers)
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json()["id"] != second.json()["id"]


def test_keys_are_kept_as_hashes(service):
    key = service.run(*["keys", "create", "ann", "--name", "laptop", "--days", "90"]).strip()
    listed = json.loads(service.run("keys", "list", "--json"))
    mine = next(entry for entry in listed if entry["id"] == key.split("_")[1])
    assert (mine["owner"], mine["name"]) == ("ann", "laptop")
    assert mine["expires_at"] == pytest.approx(time() + 90 * 86_400, abs=100)
    stored = b"".join(p.read_bytes() for p in (service.folder / "data").glob("service.sqlite3*"))
    assert mine["id"].encode() in stored
    assert key.split("_", 2)[2].encode() not in stored
    assert key.split("_", 2)[2] not in service.log()


def test_a_revoked_key_ends_its_sessions(service):
    key = service.new_key("ann")
    with httpx.Client(base_url=service.url) as browser:
        browser.post("/v1/session", headers={"Authorization": f"Bearer {key}"})
        assert browser.get("/v1/session").json()["user"] == "ann"
        service.run("keys", "revoke", key.split("_")[1])
        assert browser.get("/v1/session").status_code == 401


def test_keys_of_a_database_that_is_not_there_are_refused(tmp_path):
    """In another folder `srs keys` would make a new database, and a key that opens nothing."""
    ended = subprocess.run(
        [sys.executable, "-m", "srs.cli", "keys", "create", "ann"],
        cwd=tmp_path,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"srs: {tmp_path / 'srs-data'} has no database of the service")
    assert "SRS_DATA_DIR" in ended.stderr
    assert not list(tmp_path.iterdir())


def test_without_keys_only_on_loopback(start_service):
    from pydantic import ValidationError

    from srs_service.settings import Settings

    with pytest.raises(ValidationError, match="only on loopback"):
        Settings(auth=False, host="0.0.0.0")
    server = start_service(auth="false", max_running=0)
    assert httpx.get(f"{server.url}/v1/jobs").status_code == 200
    # A page of another site, or a name that was pointed at this machine, gets nothing.
    for headers in ({"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert httpx.get(f"{server.url}/v1/jobs", headers=headers).status_code == 403


def test_requests_are_limited(start_service):
    server = start_service(rate_limit=5, max_running=0)
    with server.client() as client:
        answers = [client.get("/v1/jobs") for _ in range(40)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert int(refused[0].headers["retry-after"]) >= 1
    assert httpx.get(f"{server.url}/healthz").status_code == 200
    with server.client(server.new_key("bob")) as bob:
        assert bob.get("/v1/jobs").status_code == 200


def test_waiting_jobs_are_limited(start_service):
    server = start_service(max_queued_per_user=2, max_running=0)
    with server.client() as client:
        dataset_id = register(client, "small.zarr")
        for _ in range(2):
            submit(client, dataset_id)
        refused = client.post("/v1/jobs", json=select_request(dataset_id))
    assert (refused.status_code, refused.json()["limit"]) == (429, 2)


class Issuer:
    """An OpenID Connect issuer."""

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(65537, 2048)
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self._key.public_key()))
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                about = {"jwks_uri": f"{issuer.url}/keys"}
                keys = {"keys": [{**public, "kid": "k1", "use": "sig", "alg": "RS256"}]}
                body = json.dumps(keys if self.path == "/keys" else about).encode()
                self.send_response(200)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def token(self, key: object = None, kid: str = "k1", alg: str = "RS256", **claims: object):
        known = {"iss": self.url, "aud": "srs", "sub": "ann", "exp": time() + 60}
        said = {k: v for k, v in {**known, **claims}.items() if v is not None}
        return jwt.encode(said, key or self._key, alg, headers={"kid": kid})


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    made = Issuer()
    with serving(made.server):
        yield made


def test_tokens_of_the_issuer_count_and_others_do_not(start_service, issuer):
    server = start_service(oidc_issuer=issuer.url, oidc_audience="srs", max_running=0)

    def ask(token: str) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.get(f"{server.url}/v1/session", headers=headers).status_code

    assert ask(issuer.token()) == 200
    assert ask(server.key) == 200
    other = rsa.generate_private_key(65537, 2048)
    for wrong in (
        issuer.token(exp=time() - 60),
        issuer.token(aud="other"),
        issuer.token(iss="https://x.org"),
        issuer.token(key=other),
        issuer.token(kid="k2"),
        issuer.token(sub=None),
        issuer.token(exp=None),
        jwt.encode({"sub": "ann"}, key="", algorithm="none"),
        issuer.token(key="a" * 40, alg="HS256"),
        "a.b.c",
        "x" * 9_000,
    ):
        assert ask(wrong) == 401, wrong[:30]
