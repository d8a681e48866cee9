"""Lost answers, cut streams, busy and restarted services: nothing is done twice or lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from srs.client import Client, Dataset, Job
from srs.errors import ConflictError, ServiceError, UnavailableError
from tests.client.conftest import SHORT
from tests.client.proxy import Proxy, answer
from tests.client.stores import served, write_store


def test_a_lost_answer_to_a_submission_makes_no_second_job(
    by_proxy: Client, proxy: Proxy, client: Client, dataset: Dataset
) -> None:
    proxy.lose_answers = 2
    job = by_proxy.jobs.submit(dataset, name="answer lost", **SHORT)
    assert proxy.lose_answers == 0
    assert [j.id for j in client.jobs.list() if j.name == "answer lost"] == [job.id]
    job.wait(timeout=120)


def test_a_lost_answer_to_a_registration_makes_no_second_dataset(
    by_proxy: Client, proxy: Proxy, client: Client
) -> None:
    proxy.lose_answers = 1
    made = by_proxy.datasets.register("small.zarr", name="answer lost")
    assert proxy.lose_answers == 0
    assert [d.id for d in client.datasets.list() if d.name == "answer lost"] == [made.id]


def test_the_same_key_is_the_same_job(client: Client, dataset: Dataset) -> None:
    first = client.jobs.submit(dataset, idempotency_key="mine", **SHORT)
    assert client.jobs.submit(dataset, idempotency_key="mine", **SHORT).id == first.id
    with pytest.raises(ServiceError) as caught:
        client.jobs.submit(dataset, idempotency_key="mine", fdr=0.2)
    assert caught.value.status == 422
    first.wait(timeout=120)


def test_a_lost_answer_to_what_must_not_be_repeated_is_told(
    by_proxy: Client, proxy: Proxy, tmp_path: Path
) -> None:
    (tmp_path / "X.csv").write_text("a,b\n1,2\n3,4\n")
    proxy.lose_answers = 1
    with pytest.raises(UnavailableError, match="check whether"):
        by_proxy.datasets.upload(tmp_path / "X.csv")
    assert proxy.n_connections == 1


def test_events_go_on_after_cuts(by_proxy: Client, proxy: Proxy, done: Job) -> None:
    """Guards Last-Event-ID: with the stream cut every 4,000 bytes, each event comes once."""
    job = by_proxy.jobs.get(done.id)
    proxy.cut_after = 4_000  # more than any event has
    assert list(job.events()) == list(done.events())
    assert proxy.n_connections > 2


def test_a_busy_service_is_asked_again_when_it_says(by_proxy: Client, proxy: Proxy) -> None:
    busy = answer("429 Too Many Requests", "Retry-After: 1")
    away = answer("503 Service Unavailable")
    proxy.canned = [busy, away, away]
    assert by_proxy.whoami()["user"] == "admin"
    assert proxy.n_connections == 4


def test_patience_ends(by_proxy: Client, proxy: Proxy) -> None:
    proxy.canned = [answer("429 Too Many Requests", "Retry-After: 3600")]
    with pytest.raises(UnavailableError, match="429"):
        by_proxy.whoami()
    assert proxy.n_connections == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("409 Conflict", ConflictError),
        ("500 Internal Server Error", UnavailableError),
        ("302 Found", ServiceError),
    ],
)
def test_other_answers_are_final(
    status: str, kind: type[Exception], by_proxy: Client, proxy: Proxy
) -> None:
    proxy.canned = [answer(status, "Location: http://127.0.0.1:9/")]
    with pytest.raises(kind, match=status[:3]):
        by_proxy.whoami()
    assert proxy.n_connections == 1


@pytest.mark.fault
def test_a_watcher_outlives_a_restart_of_the_service(tmp_path: Path) -> None:
    with (
        served(tmp_path, lease_seconds=2) as service,
        Client(service.url, service.key) as client,
    ):
        write_store(tmp_path / "stores" / "small.zarr", 500)
        dataset = client.datasets.register("small.zarr")
        job = client.jobs.submit(dataset, max_seconds=4.0, memory="512MB")
        events = job.events()
        seen = [next(e for e in events if e.kind == "progress")]
        service.kill()
        service.start()
        seen += events
        assert seen[-1].data["status"] == "SUCCEEDED"
        numbers = [e.number for e in seen]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert job.wait(timeout=60).summary["n_trees"] > seen[0].data["n_trees"]
