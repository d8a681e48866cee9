"""A part that fails is named, answers are 503 and not 500, and the service goes on afterwards."""

from __future__ import annotations

import httpx
import psycopg
import pytest

pytestmark = pytest.mark.fault


def test_a_part_that_fails_is_named(start_service, postgres_url, cluster):
    server = start_service(database_url=postgres_url, max_running=1)
    ready = f"{server.url}/readyz"
    assert httpx.get(ready).status_code == 200
    jobs = server.folder / "data" / "jobs"
    jobs.rename(jobs.with_name("away"))
    answer = httpx.get(ready)
    assert (answer.status_code, answer.json()["failing"]) == (503, ["data folder"])
    jobs.with_name("away").rename(jobs)
    with psycopg.connect(cluster, autocommit=True) as admin:
        admin.execute("ALTER DATABASE service ALLOW_CONNECTIONS false")
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'service'"
        )
        answer = httpx.get(ready)
        assert (answer.status_code, answer.json()["failing"]) == (503, ["database"])
        with server.client() as client:
            answer = client.get("/v1/jobs")
            assert answer.status_code == 503
            assert answer.headers["content-type"] == "application/problem+json"
            admin.execute("ALTER DATABASE service ALLOW_CONNECTIONS true")
            assert client.get("/v1/jobs").status_code == 200
        assert httpx.get(ready).status_code == 200
