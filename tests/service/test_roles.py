"""Administrators, teams, keys of users' own, the audit log, and shares of the runners."""

from __future__ import annotations

import httpx
import pytest

from srs_service.database import JobStore
from srs_service.database.jobs import QueueLimits, Submission
from srs_service.errors import Invalid, NotFound
from srs_service.job import JobKind, JobStatus
from tests.service.server import Server, register, select_request, submit, wait_for
from tests.service.test_sessions import sign_in

LIMITS = QueueLimits(999, 999)


def wanted(owner: str, kind: JobKind = JobKind.SELECT, priority: int = 0) -> Submission:
    return Submission(owner, kind, "", {"settings": {}}, "d_1", priority=priority)


def administrator(server: Server) -> httpx.Client:
    return server.client(server.new_key("root", ("read", "write", "admin")))


def test_only_administrators_administer(service: Server, client: httpx.Client) -> None:
    dataset_id = register(client, "small.zarr")
    job_id = submit(client, dataset_id)
    with service.client(service.new_key("eve")) as eve:
        for method, path in (
            ("GET", "/v1/admin/users"),
            ("GET", "/v1/admin/jobs"),
            ("GET", "/v1/admin/audit"),
            ("POST", f"/v1/admin/jobs/{job_id}:cancel"),
        ):
            assert eve.request(method, path).status_code == 403
        assert eve.patch("/v1/admin/users/admin", json={"disabled": True}).status_code == 403
    with service.client(service.new_key("rita", ("read",))) as reader:
        assert reader.get("/v1/jobs").status_code == 200
        assert reader.post("/v1/jobs", json=select_request(dataset_id)).status_code == 403


def test_an_administrator_sees_and_stops_jobs_of_all(service: Server) -> None:
    with service.client(service.new_key("ann")) as ann, administrator(service) as root:
        job_id = submit(ann, register(ann, "wide.zarr"), max_trees=10**9, patience=10**9)
        assert root.get(f"/v1/jobs/{job_id}").status_code == 404  # not as a user
        found = root.get("/v1/admin/jobs", params={"owner": "ann"}).json()["items"]
        assert [(one["owner"], one["job"]["id"]) for one in found] == [("ann", job_id)]
        changed = root.patch(f"/v1/admin/jobs/{job_id}", json={"priority": 7}).json()
        assert changed["job"]["priority"] == 7
        assert root.post(f"/v1/admin/jobs/{job_id}:cancel").status_code == 202
        assert wait_for(ann, job_id)["status"] == "CANCELLED"
        user = root.get("/v1/admin/users/ann").json()
        assert (user["n_running"], user["share"], user["teams"]) == (0, 1.0, [])
        usage = root.get("/v1/admin/users/ann/usage").json()
        assert usage == ann.get("/v1/usage").json()
        assert user["n_bytes"] == usage["n_bytes"]
        names, after = [], ""
        while after is not None:
            page = root.get("/v1/admin/users", params={"limit": 1, "after": after}).json()
            names += [one["name"] for one in page["items"]]
            after = page["next_name"]
        assert names == sorted(set(names))
        assert {"ann", "root", "admin"} <= set(names)
        assert root.get("/v1/admin/users/nobody").status_code == 404


def test_who_is_disabled_is_out_at_once(service: Server) -> None:
    """Keys, sessions and open streams; and back again when it is undone."""
    key = service.new_key("mia")
    with (
        service.client(key) as mia,
        httpx.Client(base_url=service.url, timeout=30) as browser,
        administrator(service) as root,
    ):
        sign_in(browser, key)
        job_id = submit(mia, register(mia, "wide.zarr"), max_trees=10**9, patience=10**9)
        wait_for(mia, job_id, "RUNNING")
        with mia.stream("GET", f"/v1/jobs/{job_id}/events") as stream:
            lines = stream.iter_lines()
            next(lines)
            changed = root.patch("/v1/admin/users/mia", json={"disabled": True}).json()
            assert changed["disabled_at"] is not None
            for _ in lines:
                pass  # until the service ends it
        assert mia.get("/v1/jobs").status_code == 401
        assert browser.get("/v1/session").status_code == 401
        root.post(f"/v1/admin/jobs/{job_id}:cancel")
        root.patch("/v1/admin/users/mia", json={"disabled": False})
        assert mia.get("/v1/jobs").status_code == 200
        assert browser.get("/v1/session").status_code == 401  # that session is over


def test_a_team_shares_datasets_and_results(service: Server) -> None:
    clients = {name: service.client(service.new_key(name)) for name in ("ida", "ben", "zoe")}
    ida, ben, zoe = clients.values()
    with administrator(service) as root:
        for name in ("ida", "ben"):
            body = {"teams": ["genomics"]}
            assert root.patch(f"/v1/admin/users/{name}", json=body).json()["teams"] == ["genomics"]
    assert ben.get("/v1/session").json()["teams"] == ["genomics"]
    dataset_id = register(ida, "small.zarr")
    job_id = submit(ida, dataset_id)
    wait_for(ida, job_id)
    paths = (
        f"/v1/datasets/{dataset_id}",
        f"/v1/jobs/{job_id}",
        f"/v1/jobs/{job_id}/result",
        f"/v1/jobs/{job_id}/features",
        f"/v1/jobs/{job_id}/events",
    )
    assert {ben.get(path).status_code for path in paths} == {404}
    shared = {"team": "genomics"}
    assert ida.patch(f"/v1/datasets/{dataset_id}", json=shared).json()["team"] == "genomics"
    assert ida.patch(f"/v1/jobs/{job_id}", json=shared).json()["team"] == "genomics"
    assert {ben.get(path).status_code for path in paths} == {200}
    assert {zoe.get(path).status_code for path in paths} == {404}
    assert [one["id"] for one in ben.get("/v1/jobs", params=shared).json()["items"]] == [job_id]
    assert [one["id"] for one in ben.get("/v1/datasets", params=shared).json()["items"]] == [
        dataset_id
    ]
    assert zoe.get("/v1/jobs", params=shared).json()["items"] == []
    assert ben.get("/v1/jobs").json()["items"] == []
    # Who reads may work with it, and change nothing of it.
    own = submit(ben, dataset_id)
    assert wait_for(ben, own)["status"] == "SUCCEEDED"
    assert ben.delete(f"/v1/datasets/{dataset_id}").status_code == 404
    assert ben.post(f"/v1/jobs/{job_id}:cancel").status_code == 404
    assert ben.patch(f"/v1/jobs/{job_id}", json={"name": "mine"}).status_code == 404
    assert zoe.post("/v1/jobs", json=select_request(dataset_id)).status_code == 404
    foreign = ida.patch(f"/v1/datasets/{dataset_id}", json={"team": "physics"})
    assert foreign.status_code == 422
    assert ida.patch(f"/v1/datasets/{dataset_id}", json={"team": None}).json()["team"] is None
    assert ben.get(paths[0]).status_code == 404
    for one in clients.values():
        one.close()


def test_users_make_keys_that_end_with_theirs(service: Server) -> None:
    with service.client(service.new_key("kim")) as kim:
        made = kim.post("/v1/keys", json={"name": "laptop", "scopes": ["read"]}).json()
        assert made["about"]["scopes"] == ["read"]
        beyond = kim.post("/v1/keys", json={"name": "x", "scopes": ["read", "admin"]})
        assert beyond.status_code == 403
        with service.client(made["key"]) as laptop:
            assert laptop.get("/v1/jobs").status_code == 200
            assert laptop.post("/v1/keys", json={"name": "x"}).status_code == 403
        second = kim.post("/v1/keys", json={"name": "server", "days": 1}).json()
        with service.client(second["key"]) as server:
            third = server.post("/v1/keys", json={"name": "child", "days": 30}).json()
            assert third["about"]["expires_at"] == second["about"]["expires_at"]
        with service.client(service.new_key("eve")) as eve:
            assert eve.delete(f"/v1/keys/{made['about']['id']}").status_code == 404
        assert kim.delete(f"/v1/keys/{second['about']['id']}").status_code == 204
        with service.client(third["key"]) as child:
            assert child.get("/v1/jobs").status_code == 401
        listed = kim.get("/v1/keys").json()["items"]
        assert [one["revoked_at"] is None for one in listed] == [True, True, False, False]


def test_the_audit_log_says_who_did_what(start_service) -> None:
    server = start_service(max_running=0, trusted_proxies="127.0.0.0/8")
    with server.client(server.new_key("ann")) as ann, administrator(server) as root:
        dataset_id = register(ann, "small.zarr")
        forged = {"X-Forwarded-For": "198.51.100.7, 203.0.113.9", "X-Request-ID": "abc"}
        answer = ann.post("/v1/jobs", json=select_request(dataset_id), headers=forged)
        job_id = answer.json()["id"]
        ann.get(f"/v1/jobs/{job_id}")
        assert ann.delete(f"/v1/jobs/{job_id}").status_code == 409  # nothing was done
        root.post(f"/v1/admin/jobs/{job_id}:cancel")
        ann.patch("/v1/admin/users/ann", json={"share": 5})
        found = root.get("/v1/admin/audit", params={"limit": 3}).json()
        entries = found["items"]
        more = root.get("/v1/admin/audit", params={"cursor": found["next_cursor"]}).json()["items"]
        seen = [(e["actor"], e["action"], e["thing"], e["status"]) for e in entries + more]
        assert seen == [
            ("ann", "admin_change_user", "ann", 403),
            ("root", "admin_cancel_job", job_id, 202),
            ("ann", "jobs_submit", job_id, 202),
            ("ann", "datasets_create", dataset_id, 201),
        ]
        submitted = entries[2]
        assert (submitted["address"], submitted["request_id"]) == ("203.0.113.9", "abc")
        assert entries[1]["address"] == "127.0.0.1"
        of_job = root.get("/v1/admin/audit", params={"thing": job_id, "actor": "root"}).json()
        assert [one["action"] for one in of_job["items"]] == ["admin_cancel_job"]


# -- places and turns -----------------------------------------------------------------------


def test_a_user_may_run_some_at_once(store: JobStore) -> None:
    for _ in range(3):
        store.jobs.submit(wanted("ann"), LIMITS)
    store.jobs.submit(wanted("bob"), LIMITS)
    taken = [store.jobs.claim("a", 60, per_user=1) for _ in range(3)]
    assert [None if job is None else job.owner for job in taken] == ["ann", "bob", None]


def test_priorities_hold_among_the_jobs_of_one_user(store: JobStore) -> None:
    ids = [
        store.jobs.submit(wanted(owner, priority=priority), LIMITS)[0].id
        for owner, priority in (("ann", 0), ("ann", 9), ("bob", 0), ("ann", 5))
    ]
    order = [store.jobs.claim("a", 60) for _ in range(4)]
    assert [ids.index(job.id) for job in order if job] == [1, 2, 3, 0]


def test_shares_of_users_hold(store: JobStore) -> None:
    for owner in ("ann", "bob"):
        for _ in range(20):
            store.jobs.submit(wanted(owner), LIMITS)
    store.users.change("ann", share=3.0)
    taken = [job.owner for _ in range(12) if (job := store.jobs.claim("a", 60))]
    assert taken.count("ann") == 9


def test_an_ingest_has_a_place_beside_long_selections(start_service) -> None:
    """With all places taken by selections without end, an ingest still runs."""
    from tests.service.test_quota import ingest
    from tests.service.test_resources import upload

    server = start_service(max_running=1, max_running_short=1)
    with server.client() as client:
        dataset_id = register(client, "wide.zarr")
        long = [submit(client, dataset_id, max_trees=10**9, patience=10**9) for _ in range(2)]
        wait_for(client, long[0], "RUNNING")
        done = ingest(client, upload(client, "X.csv", b"a,b\n1,2\n3,4\n"))
        assert done["status"] == "SUCCEEDED"
        statuses = [client.get(f"/v1/jobs/{job_id}").json()["status"] for job_id in long]
        assert statuses == ["RUNNING", "QUEUED"]


def test_a_job_that_takes_too_long_ends_and_says_so(start_service) -> None:
    server = start_service(max_running=1, max_job_seconds=2)
    with server.client() as client:
        job_id = submit(client, register(client, "wide.zarr"), max_trees=10**9, patience=10**9)
        job = wait_for(client, job_id)
        assert (job["status"], job["error"]["code"]) == ("FAILED", "too-long")
        assert "2 seconds" in job["error"]["detail"]


def test_users_that_there_are_not(store: JobStore) -> None:
    with pytest.raises(NotFound):
        store.users.change("nobody", disabled=True)
    store.keys.create("ann", "", ("read",))
    assert store.users.get("ann").share == 1.0
    store.users.change("ann", teams=["x"])
    store.users.set_teams_of_issuer("ann", ["x", "y"])
    assert store.users.teams("ann") == ("x", "y")
    store.users.set_teams_of_issuer("ann", [])
    assert store.users.teams("ann") == ("x",)
    job, _ = store.jobs.submit(wanted("ann"), LIMITS)
    with pytest.raises(Invalid):
        store.jobs.change(job.id, "ann", {"team": "y"})
    assert store.jobs.get(job.id, "ann").status == JobStatus.QUEUED
