"""Tables of any earlier version are brought up to date, by one of several replicas."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from srs_service.database import JobStore
from srs_service.database.idempotency import RequestKey
from srs_service.database.jobs import QueueLimits, Submission
from srs_service.database.migrations import STEPS, migrate, read_version
from srs_service.errors import Unavailable
from srs_service.job import JobKind

NEXT = ("ALTER TABLE jobs ADD COLUMN colour TEXT", "UPDATE jobs SET colour = 'blue'")


def test_a_later_step_keeps_what_is_there(database):
    migrate(database)
    store = JobStore(database)
    wanted = Submission("ann", JobKind.SELECT, "", {}, "d_1")
    job, _ = store.jobs.submit(wanted, QueueLimits(9, 9))
    migrate(database, (*STEPS, NEXT))
    with database.transaction() as look:
        assert read_version(look) == len(STEPS) + 1
        assert look.one("SELECT colour FROM jobs WHERE id = :id", id=job.id) == {"colour": "blue"}
    assert store.jobs.get(job.id, "ann") == job


def test_keys_of_the_first_version_are_kept(database):
    """Step 2 moves them to a table that datasets have a place in."""
    migrate(database, STEPS[:1])
    with database.transaction() as change:
        change.run(
            "INSERT INTO jobs (id, owner, kind, name, spec, dataset_id, status, queued_at, "
            "created_at) VALUES ('j_1', 'ann', 'select', '', '{}', 'd_1', 'QUEUED', {now}, {now})"
        )
        change.run(
            "INSERT INTO idempotency (owner, key, body_hash, job_id, created_at) "
            "VALUES ('ann', 'k', 'a', 'j_1', {now})"
        )
    migrate(database)
    found = JobStore(database).jobs.find_by_key(RequestKey("ann", "k", "a"))
    assert found is not None
    assert found.id == "j_1"


def test_a_step_that_fails_changes_nothing(database):
    migrate(database)
    with pytest.raises(Exception, match="nothing_like_this"):
        migrate(database, (*STEPS, (NEXT[0], "UPDATE nothing_like_this SET a = 1")))
    with database.transaction() as look:
        assert read_version(look) == len(STEPS)
    with pytest.raises(Exception, match="colour"), database.transaction() as look:
        look.one("SELECT colour FROM jobs")
    assert migrate(database, (*STEPS, NEXT)) == len(STEPS) + 1


def test_replicas_that_start_together_migrate_once(database):
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: migrate(database), range(4))) == {len(STEPS)}


def test_tables_of_a_newer_version_are_refused(database):
    migrate(database, (*STEPS, NEXT))
    with pytest.raises(Unavailable, match="newer version"):
        migrate(database)
