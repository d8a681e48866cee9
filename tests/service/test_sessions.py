"""Sessions of browsers end with what opened them, everywhere, and can be listed and ended."""

from __future__ import annotations

import time

import httpx
import pytest

from srs_service.database import JobStore
from srs_service.database.keys import Caller
from tests.service.server import Server, register, submit, wait_for


def sign_in(browser: httpx.Client, key: str) -> None:
    answer = browser.post("/v1/session", headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 201, answer.text


def test_a_cookie_opens_no_further_session(service: Server) -> None:
    key = service.new_key("ann")
    with httpx.Client(base_url=service.url) as browser:
        sign_in(browser, key)
        minted = browser.post("/v1/session", headers={"Origin": service.url})
        assert minted.status_code == 401
        assert "set-cookie" not in minted.headers


def test_sessions_end_with_their_key(store: JobStore) -> None:
    """Revoked or expired, for every replica at once: the database is asked each time."""
    key, text = store.keys.create("ann", "", ("read",))
    caller = store.keys.find(text)
    assert caller == Caller("ann", ("read",), key_id=key.id)
    session, token = store.sessions.open(caller, 3600, "a browser")
    inside = store.sessions.find(token)
    assert inside is not None
    assert (inside.owner, inside.scopes, inside.session_id) == ("ann", ("read",), session.id)
    assert store.sessions.counting({key.id}, {session.id}) == {key.id, session.id}
    store.keys.revoke(key.id)
    assert store.sessions.find(token) is None
    assert store.sessions.counting({key.id}, {session.id}) == set()

    _, text = store.keys.create("ann", "", ("read",), days=0.5 / 86_400)
    short = store.keys.find(text)
    assert short is not None
    session, token = store.sessions.open(short, 3600, "")
    assert session.expires_at == pytest.approx(short.expires_at)
    time.sleep(0.6)
    assert store.sessions.find(token) is None
    assert store.sessions.list("ann") == []


def test_sessions_end_with_their_token(store: JobStore) -> None:
    """A session that a token of an issuer opened lasts no longer than the token."""
    until = time.time() + 100
    session, _ = store.sessions.open(Caller("oidc:ann", ("read",), expires_at=until), 3600, "")
    assert session.expires_at == pytest.approx(until)
    session, _ = store.sessions.open(Caller("oidc:ann", ("read",), expires_at=until), 10, "")
    assert session.expires_at == pytest.approx(session.created_at + 10)


def test_a_session_whose_key_was_revoked_behind_its_back(store: JobStore) -> None:
    """`srs keys revoke` of an older version would leave the row of the session."""
    key, text = store.keys.create("ann", "", ("read",))
    caller = store.keys.find(text)
    assert caller is not None
    _, token = store.sessions.open(caller, 3600, "")
    with store._database.transaction() as change:
        change.run("UPDATE api_keys SET revoked_at = {now} WHERE id = :id", id=key.id)
    assert store.sessions.find(token) is None


def test_sessions_are_listed_and_ended(service: Server) -> None:
    key = service.new_key("lena")
    agents = ("Firefox", "Chromium", "Safari")
    browsers = [
        httpx.Client(base_url=service.url, headers={"User-Agent": agent}) for agent in agents
    ]
    for browser in browsers:
        sign_in(browser, key)
    first, second, third = browsers
    listed = first.get("/v1/sessions").json()["items"]
    assert [one["browser"] for one in listed] == list(reversed(agents))
    assert [one["current"] for one in listed] == [False, False, True]
    assert {one["key_id"] for one in listed} == {key.split("_")[1]}
    origin = {"Origin": service.url}
    assert first.delete(f"/v1/sessions/{listed[0]['id']}", headers=origin).status_code == 204
    assert third.get("/v1/session").status_code == 401
    with service.client(service.new_key("eve")) as eve:
        assert eve.delete(f"/v1/sessions/{listed[1]['id']}").status_code == 404
    assert first.delete("/v1/sessions", headers=origin).status_code == 204
    assert second.get("/v1/session").status_code == 401
    assert first.get("/v1/session").json()["user"] == "lena"
    for browser in browsers:
        browser.close()


def test_streams_and_waits_end_with_the_key(service: Server, client: httpx.Client) -> None:
    owner = client.get("/v1/session").json()["user"]
    job_id = submit(client, register(client, "wide.zarr"), max_trees=10**9, patience=10**9)
    wait_for(client, job_id, "RUNNING")
    key = service.new_key(owner)
    with httpx.Client(base_url=service.url, timeout=70) as browser:
        sign_in(browser, key)
        tag = browser.get(f"/v1/jobs/{job_id}").headers["etag"]
        with browser.stream("GET", f"/v1/jobs/{job_id}/events") as stream:
            lines = stream.iter_lines()
            assert next(lines).startswith("retry")
            service.run("keys", "revoke", key.split("_")[1])
            for _ in lines:
                pass  # until the service ends it
        assert browser.get(f"/v1/jobs/{job_id}", headers={"If-None-Match": tag}).status_code == 401
    assert client.get(f"/v1/jobs/{job_id}").json()["status"] == "RUNNING"  # it was not the job
    client.post(f"/v1/jobs/{job_id}:cancel")
    wait_for(client, job_id, "CANCELLED")


def test_behind_https_the_cookie_is_bound_to_the_host(start_service) -> None:
    server = start_service(base_url="https://srs.example.org", max_running=0)
    key = {"Authorization": f"Bearer {server.key}"}
    answer = httpx.post(f"{server.url}/v1/session", headers=key)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-srs_session=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=strict"} <= set(cookie.split("; "))
    assert "Domain" not in cookie
    assert answer.headers["strict-transport-security"] == "max-age=31536000"
    pair = cookie.split(";")[0]
    for sent, status in ((pair, 200), (pair.removeprefix("__Host-"), 401)):
        found = httpx.get(f"{server.url}/v1/session", headers={"Cookie": sent})
        assert found.status_code == status
