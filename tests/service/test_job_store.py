"""What is promised of jobs, on both databases: claimed once, fenced, fair, never doubled."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from srs_service.database import JobStore
from srs_service.database.idempotency import RequestKey
from srs_service.database.jobs import QueueLimits, Submission
from srs_service.errors import Conflict, Invalid, LeaseLost, NotFound, TooMany
from srs_service.job import JobKind, JobStatus

LIMITS = QueueLimits(100, 50)
LONG, SHORT = 60.0, 0.05


def wanted(owner: str = "ann", key: str | None = None, body: str = "a") -> Submission:
    request_key = None if key is None else RequestKey(owner, key, body)
    return Submission(
        owner=owner,
        kind=JobKind.SELECT,
        name="",
        spec={"settings": {}},
        dataset_id="d_1",
        key=request_key,
    )


def submit(store: JobStore, owner: str = "ann") -> str:
    return store.jobs.submit(wanted(owner), LIMITS)[0].id


def test_a_job_is_claimed_once_by_many(store):
    ids = {submit(store) for _ in range(20)}
    with ThreadPoolExecutor(8) as pool:
        claimed = list(pool.map(lambda i: store.jobs.claim(f"r{i}", LONG), range(40)))
    taken = [job.id for job in claimed if job is not None]
    assert sorted(taken) == sorted(ids)


def test_a_silent_runner_loses_its_job_and_cannot_write(store):
    job_id = submit(store)
    first = store.jobs.claim("a", SHORT)
    time.sleep(2 * SHORT)
    second = store.jobs.claim("b", LONG)
    assert second.id == job_id
    assert second.fence == first.fence + 1
    for write in (
        lambda: store.jobs.heartbeat(job_id, first.fence, LONG),
        lambda: store.jobs.progress(job_id, first.fence, {"n_trees": 1}),
        lambda: store.jobs.finish(job_id, first.fence, JobStatus.SUCCEEDED, summary={}),
        lambda: store.jobs.release(job_id, first.fence),
    ):
        with pytest.raises(LeaseLost):
            write()
    store.jobs.finish(job_id, second.fence, JobStatus.SUCCEEDED, summary={"n": 1})
    job = store.jobs.get(job_id, "ann")
    assert (job.status, job.result_fence, job.progress) == ("SUCCEEDED", second.fence, None)


def test_a_heartbeat_keeps_the_job(store):
    submit(store)
    job = store.jobs.claim("a", 0.5)
    for _ in range(4):
        time.sleep(0.2)
        store.jobs.heartbeat(job.id, job.fence, 0.5)
    assert store.jobs.claim("b", LONG) is None


def test_a_job_ends_once(store):
    job_id = submit(store)
    job = store.jobs.claim("a", LONG)
    store.jobs.finish(job_id, job.fence, JobStatus.SUCCEEDED, summary={})
    with pytest.raises(LeaseLost):
        store.jobs.finish(job_id, job.fence, JobStatus.FAILED, error={})
    kinds = [event.data for event in store.events.read(job_id, 0, 100)]
    assert sum('"SUCCEEDED"' in data for data in kinds) == 1


def test_users_take_turns(store):
    for _ in range(4):
        submit(store, "ann")
    for _ in range(2):
        submit(store, "bob")
    order = []
    for _ in range(6):
        job = store.jobs.claim("a", LONG)
        order.append(job.owner)
        store.jobs.finish(job.id, job.fence, JobStatus.SUCCEEDED, summary={})
    assert order == ["ann", "bob", "ann", "bob", "ann", "ann"]


def test_users_with_fewer_running_jobs_come_first(store):
    for owner in ("ann", "ann", "ann", "bob", "bob"):
        submit(store, owner)
    claimed = [store.jobs.claim("a", LONG).owner for _ in range(5)]
    assert sorted(claimed[:2]) == ["ann", "bob"]
    assert sorted(claimed[2:4]) == ["ann", "bob"]


def test_the_same_key_gives_the_same_job(store):
    first, is_new = store.jobs.submit(wanted(key="k"), LIMITS)
    again, is_new_again = store.jobs.submit(wanted(key="k"), LIMITS)
    assert (is_new, is_new_again, again.id) == (True, False, first.id)
    with pytest.raises(Invalid):
        store.jobs.submit(wanted(key="k", body="b"), LIMITS)
    other, is_new = store.jobs.submit(wanted("bob", key="k", body="b"), LIMITS)
    assert is_new
    assert other.id != first.id


def test_a_key_sent_by_many_at_once_makes_one_job(store):
    start = threading.Barrier(8)

    def send(_: int) -> str:
        start.wait()
        return store.jobs.submit(wanted(key="k"), LIMITS)[0].id

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(send, range(8)))) == 1
    assert store.jobs.count()["QUEUED"] == 1


def test_the_same_key_registers_a_store_once(store):
    key = RequestKey("ann", "k", "a")
    start = threading.Barrier(8)

    def send(_: int) -> str:
        start.wait()
        return store.datasets.register("ann", "x", "/x", {}, key).id

    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(send, range(8)))
    (dataset,) = store.datasets.list("ann", limit=10)
    assert ids == {dataset.id}
    with pytest.raises(Invalid, match="another body"):
        store.datasets.register("ann", "y", "/y", {}, replace(key, body_hash="b"))
    with pytest.raises(Invalid, match="another body"):
        store.jobs.submit(wanted(key="k", body="c"), LIMITS)
    assert store.datasets.register("bob", "x", "/x", {}, replace(key, owner="bob")).id not in ids
    store.datasets.delete(dataset.id, "ann")
    assert store.datasets.find_by_key(key) is None
    assert store.datasets.register("ann", "x", "/x", {}, key).id not in ids


def test_old_keys_are_forgotten(store):
    first, _ = store.jobs.submit(wanted(key="k"), LIMITS)
    store.jobs.forget_keys(days=1)
    assert store.jobs.submit(wanted(key="k"), LIMITS)[0].id == first.id
    store.jobs.forget_keys(days=-1)
    assert store.jobs.submit(wanted(key="k"), LIMITS)[0].id != first.id


def test_waiting_jobs_are_limited(store):
    limits = QueueLimits(total=3, per_user=2)
    for _ in range(2):
        store.jobs.submit(wanted("ann"), limits)
    with pytest.raises(TooMany, match="of yours"):
        store.jobs.submit(wanted("ann"), limits)
    store.jobs.submit(wanted("bob"), limits)
    with pytest.raises(TooMany) as refused:
        store.jobs.submit(wanted("eve"), limits)
    assert refused.value.members == {"waiting": 3, "limit": 3}
    assert "Retry-After" in refused.value.headers


def test_cancel_and_resume(store):
    waiting = submit(store)
    assert store.jobs.cancel(waiting, "ann").status == JobStatus.CANCELLED
    assert store.jobs.resume(waiting, "ann", LIMITS).status == JobStatus.QUEUED
    job = store.jobs.claim("a", LONG)
    assert store.jobs.cancel(job.id, "ann").status == JobStatus.CANCELLING
    assert store.jobs.heartbeat(job.id, job.fence, LONG).status == JobStatus.CANCELLING
    store.jobs.finish(job.id, job.fence, JobStatus.CANCELLED)
    resumed = store.jobs.resume(job.id, "ann", LIMITS)
    assert (resumed.status, resumed.finished_at, resumed.n_attempts) == ("QUEUED", None, 0)


def test_a_selection_is_asked_to_finish(store):
    """Once or often; who takes the job over learns it, and a resumed one forgets it."""
    job_id = submit(store)
    with pytest.raises(Conflict, match="QUEUED"):
        store.jobs.ask_to_finish(job_id, "ann")
    job = store.jobs.claim("a", SHORT)
    assert not store.jobs.heartbeat(job.id, job.fence, SHORT).finish_asked
    asked = store.jobs.ask_to_finish(job.id, "ann")
    assert (asked.status, asked.finish_asked) == (JobStatus.RUNNING, True)
    assert asked.last_event > job.last_event
    assert store.jobs.ask_to_finish(job.id, "ann").last_event == asked.last_event
    time.sleep(2 * SHORT)
    again = store.jobs.claim("b", LONG)
    assert store.jobs.heartbeat(again.id, again.fence, LONG).finish_asked
    store.jobs.finish(again.id, again.fence, JobStatus.FAILED, error={})
    with pytest.raises(Conflict, match="FAILED"):
        store.jobs.ask_to_finish(job_id, "ann")
    assert not store.jobs.resume(job_id, "ann", LIMITS).finish_asked
    job = store.jobs.claim("a", LONG)
    store.jobs.finish(job.id, job.fence, JobStatus.SUCCEEDED, summary={})
    assert store.jobs.ask_to_finish(job_id, "ann").status == JobStatus.SUCCEEDED


def test_only_selections_finish_early(store):
    made, _ = store.jobs.submit(replace(wanted(), kind=JobKind.EXPLAIN), LIMITS)
    store.jobs.claim("a", LONG)
    with pytest.raises(Conflict, match="only a selection"):
        store.jobs.ask_to_finish(made.id, "ann")


def test_a_job_that_crashed_while_it_was_cancelled_is_cancelled(store):
    submit(store)
    job = store.jobs.claim("a", LONG)
    store.jobs.cancel(job.id, "ann")
    assert store.jobs.finish(job.id, job.fence, JobStatus.QUEUED).status == JobStatus.CANCELLED


def test_what_does_not_fit_the_status_is_refused(store):
    job_id = submit(store)
    with pytest.raises(Conflict):
        store.jobs.resume(job_id, "ann", LIMITS)
    with pytest.raises(Conflict):
        store.jobs.delete(job_id, "ann")
    job = store.jobs.claim("a", LONG)
    store.jobs.finish(job_id, job.fence, JobStatus.SUCCEEDED, summary={})
    with pytest.raises(Conflict):
        store.jobs.cancel(job_id, "ann")


def test_a_job_given_back_was_no_attempt(store):
    submit(store)
    job = store.jobs.claim("a", LONG)
    assert store.jobs.release(job.id, job.fence).status == JobStatus.QUEUED
    assert store.jobs.claim("b", LONG).n_attempts == 1


def test_jobs_of_others_do_not_exist(store):
    job_id = submit(store, "ann")
    for look in (
        lambda: store.jobs.get(job_id, "bob"),
        lambda: store.jobs.cancel(job_id, "bob"),
        lambda: store.jobs.delete(job_id, "bob"),
        lambda: store.datasets.get("d_1", "bob"),
    ):
        with pytest.raises(NotFound):
            look()
    assert store.jobs.list("bob", limit=10, filters={}) == []


def test_a_deleted_job_leaves_nothing(store):
    job, _ = store.jobs.submit(wanted(key="k"), LIMITS)
    store.jobs.cancel(job.id, "ann")
    store.jobs.delete(job.id, "ann")
    assert store.events.read(job.id, 0, 10) == []
    assert store.jobs.find_by_key(wanted(key="k").key) is None
    assert store.jobs.newest_events([job.id]) == {}


def test_pages_hold_every_job_once(store):
    ids = {submit(store) for _ in range(7)}
    seen, before = [], None
    while found := store.jobs.list("ann", limit=3, before=before, filters={"status": "QUEUED"}):
        seen += [job.id for job in found]
        before = (found[-1].created_at, found[-1].id)
    assert len(seen) == 7
    assert set(seen) == ids


def test_events_are_numbered_without_gaps(store):
    job_id = submit(store)
    job = store.jobs.claim("a", LONG)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: store.jobs.progress(job_id, job.fence, {"n_trees": n}), range(20)))
    numbers = [event.number for event in store.events.read(job_id, 0, 100)]
    assert numbers == list(range(1, 23))
    assert store.jobs.get(job_id, "ann").last_event == 22
    assert [event.number for event in store.events.read(job_id, 20, 100)] == [21, 22]


def test_an_ingest_settles_its_dataset(store):
    request = replace(wanted(), kind=JobKind.INGEST, spec={"source": {}}, name="new")
    job, dataset, _ = store.datasets.submit_ingest(request, LIMITS)
    assert (dataset.status, dataset.job_id) == ("PENDING", job.id)
    with pytest.raises(Conflict):
        store.datasets.delete(dataset.id, "ann")
    claimed = store.jobs.claim("a", LONG)
    found = {"about": {"n_features": 3}, "n_bytes": 9}
    store.jobs.finish(job.id, claimed.fence, JobStatus.SUCCEEDED, summary=found, location="/x")
    dataset = store.datasets.get(dataset.id, "ann")
    assert dataset.location == "/x"
    assert not any("/x" in event.data for event in store.events.read(job.id, 0, 100))
    assert (dataset.status, dataset.about, dataset.n_bytes) == ("READY", {"n_features": 3}, 9)
    assert store.space.usage("ann").total == 9


def test_a_cancelled_ingest_waits_again_when_it_is_resumed(store):
    request = replace(wanted(), kind=JobKind.INGEST, spec={"source": {}}, name="new")
    job, dataset, _ = store.datasets.submit_ingest(request, LIMITS)
    store.jobs.cancel(job.id, "ann")
    assert store.datasets.get(dataset.id, "ann").status == "FAILED"
    store.jobs.resume(job.id, "ann", LIMITS)
    assert store.datasets.get(dataset.id, "ann").status == "PENDING"


def test_a_webhook_is_due_once_until_it_is_taken(store):
    hook = {"url": "https://example.org", "secret": "0123456789abcdef"}
    job, _ = store.jobs.submit(replace(wanted(), webhook=hook), LIMITS)
    assert store.deliveries.take(LONG) is None
    store.jobs.cancel(job.id, "ann")
    delivery = store.deliveries.take(LONG)
    assert (delivery.url, delivery.n_tries) == (hook["url"], 0)
    assert store.deliveries.take(LONG) is None
    store.deliveries.note(job.id, None, pause=0)
    assert store.deliveries.take(LONG).n_tries == 1
    store.deliveries.note(job.id, "delivered", pause=0)
    assert store.deliveries.take(LONG) is None
    assert store.deliveries.outcome(job.id) == ("delivered", 2)


def test_paths_that_earlier_versions_stored_are_not_told(store):
    """Version 0.1 put the place of the store into the summary of an ingest."""
    hook = {"url": "https://example.org", "secret": "0123456789abcdef"}
    request = replace(wanted(), kind=JobKind.INGEST, spec={"source": {}}, webhook=hook)
    job, _, _ = store.datasets.submit_ingest(request, LIMITS)
    claimed = store.jobs.claim("a", LONG)
    found = {"location": "/srv/1.zarr", "about": {"n_features": 3}, "n_bytes": 9}
    store.jobs.finish(job.id, claimed.fence, JobStatus.SUCCEEDED, summary=found, location="/x")
    told = [event.data for event in store.events.read(job.id, 0, 100)]
    told.append(store.deliveries.take(LONG).body)
    assert not any("/srv" in text for text in told)
    for text in told[-2:]:
        assert json.loads(text)["summary"] == {"about": {"n_features": 3}, "n_bytes": 9}
