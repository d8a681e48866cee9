"""Jobs: submitted once, claimed under a lease, written under a fence, ended once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from srs_service.database.connection import Transaction, in_list
from srs_service.database.held_jobs import HeldJobs
from srs_service.database.idempotency import (
    RequestKey,
    find_made,
    forget_old,
    remember_made,
    take_turn,
)
from srs_service.database.job_rows import (
    COLUMNS,
    change_status,
    dump,
    note_status,
    parse_job,
    read_job,
)
from srs_service.errors import Conflict, TooMany
from srs_service.job import Job, JobKind, JobStatus, new_id, sources_of


@dataclass(frozen=True)
class Submission:
    """A job that is to be.

    key      under which the client may send it again; None: it may not
    webhook  where to tell of the end, as JSON values; None: nowhere
    sets     feature sets of a selection: long, and needed by its runner only; None: none
    """

    owner: str
    kind: JobKind
    name: str
    spec: Mapping[str, Any]
    dataset_id: str
    key: RequestKey | None = None
    webhook: Mapping[str, Any] | None = None
    sets: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class QueueLimits:
    """Jobs that may wait: in all, and of one user."""

    total: int
    per_user: int


class Jobs(HeldJobs):
    """What users and runners may do with jobs; the latter is in `held_jobs`."""

    # -- by users ---------------------------------------------------------------------------

    def submit(self, wanted: Submission, limits: QueueLimits) -> tuple[Job, bool]:
        """Store a job, or find the one that the same key made; whether it is new."""
        with self._database.transaction() as change:
            return submit_inside(change, wanted, limits, lambda: wanted.dataset_id)

    def find_by_key(self, key: RequestKey) -> Job | None:
        """The job that was made with this key, if any; Invalid if its body was another."""
        with self._database.transaction(write=False) as look:
            return _find_by_key(look, key)

    def get(self, job_id: str, owner: str) -> Job:
        with self._database.transaction(write=False) as look:
            return read_job(look, job_id, owner)

    def list(
        self,
        owner: str,
        *,
        limit: int,
        before: tuple[float, str] | None = None,
        filters: Mapping[str, str],
    ) -> list[Job]:
        """Jobs of a user, the newest first, that are older than `before` (created_at, id)."""
        wheres = ["owner = :owner", *(f"{name} = :{name}" for name in filters)]
        values: dict[str, Any] = {"owner": owner, "limit": limit, **filters}
        if before is not None:
            wheres.append(
                "(created_at < :before_at OR (created_at = :before_at AND id < :before_id))"
            )
            values |= {"before_at": before[0], "before_id": before[1]}
        with self._database.transaction(write=False) as look:
            rows = look.run(
                f"SELECT {COLUMNS} FROM jobs WHERE {' AND '.join(wheres)} "
                f"ORDER BY created_at DESC, id DESC LIMIT :limit",
                **values,
            )
        return [parse_job(row) for row in rows]

    def cancel(self, job_id: str, owner: str) -> Job:
        """A waiting job is cancelled at once, a running one is asked to stop."""
        with self._database.transaction() as change:
            job = read_job(change, job_id, owner, lock=True)
            if job.status == JobStatus.QUEUED:
                return change_status(change, job, JobStatus.CANCELLED)
            if job.status == JobStatus.RUNNING:
                return change_status(change, job, JobStatus.CANCELLING)
            if job.status in (JobStatus.CANCELLING, JobStatus.CANCELLED):
                return job
            raise Conflict(f"the job is {job.status} and cannot be cancelled.", job=job.status)

    def ask_to_finish(self, job_id: str, owner: str) -> Job:
        """A running selection is asked to end with what it has found; one that ended stays."""
        with self._database.transaction() as change:
            job = read_job(change, job_id, owner, lock=True)
            if job.kind != JobKind.SELECT:
                raise Conflict("only a selection can end early with a result.", job=job.status)
            if job.status == JobStatus.SUCCEEDED or (
                job.finish_asked and job.status == JobStatus.RUNNING
            ):
                return job
            if job.status != JobStatus.RUNNING:
                raise Conflict(f"the job is {job.status} and cannot finish now.", job=job.status)
            change.run("UPDATE jobs SET finish_asked = 1 WHERE id = :id", id=job_id)
            return note_status(change, read_job(change, job_id, owner), "status")

    def resume(self, job_id: str, owner: str, limits: QueueLimits) -> Job:
        """Queue a cancelled or failed job again; it continues from its checkpoint."""
        with self._database.transaction() as change:
            job = read_job(change, job_id, owner, lock=True)
            if job.status not in sources_of(JobStatus.QUEUED) or not job.ended:
                raise Conflict(f"the job is {job.status} and cannot be resumed.", job=job.status)
            _check_limits(change, owner, limits)
            change.run(
                "UPDATE jobs SET n_attempts = 0, error = NULL, queued_at = {now}, "
                "finish_asked = 0, finished_at = NULL WHERE id = :id",
                id=job_id,
            )
            return change_status(change, job, JobStatus.QUEUED)

    def delete(self, job_id: str, owner: str) -> Job:
        """Remove an ended job with its events and keys; the job that was."""
        with self._database.transaction() as change:
            job = read_job(change, job_id, owner, lock=True)
            if not job.ended:
                raise Conflict(f"the job is {job.status}: cancel it before it is deleted.")
            change.run("DELETE FROM jobs WHERE id = :id", id=job_id)
        return job

    # -- for all ----------------------------------------------------------------------------

    def count(self) -> dict[str, int]:
        """Jobs by status."""
        with self._database.transaction(write=False) as look:
            rows = look.run("SELECT status, count(*) AS n FROM jobs GROUP BY status")
        return {status.value: 0 for status in JobStatus} | {r["status"]: r["n"] for r in rows}

    def newest_events(self, job_ids: Sequence[str]) -> dict[str, int]:
        """The number of the newest event of each job that is still there."""
        names, values = in_list(job_ids, "id")
        with self._database.transaction(write=False) as look:
            rows = look.run(f"SELECT id, last_event FROM jobs WHERE id IN ({names})", **values)
        return {row["id"]: row["last_event"] for row in rows}

    def forget_keys(self, days: float) -> None:
        """Remove idempotency keys that are older than so many days."""
        with self._database.transaction() as change:
            forget_old(change, days)


def submit_inside(
    change: Transaction,
    wanted: Submission,
    limits: QueueLimits,
    dataset_id: Callable[[], str],
) -> tuple[Job, bool]:
    """Submit within a transaction; `dataset_id` is called only if the job is new."""
    if wanted.key is None:
        change.run(
            "INSERT INTO users (owner) VALUES (:owner) ON CONFLICT (owner) DO NOTHING",
            owner=wanted.owner,
        )
    else:
        take_turn(change, wanted.owner)
        if (job := _find_by_key(change, wanted.key)) is not None:
            return job, False
    _check_limits(change, wanted.owner, limits)
    job_id = new_id("j")
    change.run(
        """INSERT INTO jobs (id, owner, kind, name, spec, dataset_id, status, webhook,
            feature_sets, queued_at, created_at)
        VALUES (:id, :owner, :kind, :name, :spec, :dataset_id, 'QUEUED', :webhook,
            :sets, {now}, {now})""",
        id=job_id,
        owner=wanted.owner,
        kind=wanted.kind.value,
        name=wanted.name,
        spec=json.dumps(wanted.spec),
        dataset_id=dataset_id(),
        webhook=dump(wanted.webhook),
        sets=dump(wanted.sets),
    )
    if wanted.key is not None:
        remember_made(change, wanted.key, job_id=job_id)
    return note_status(change, read_job(change, job_id, wanted.owner), "status"), True


def _find_by_key(look: Transaction, key: RequestKey) -> Job | None:
    row = find_made(look, key)
    return None if row is None else read_job(look, row["job_id"], key.owner)


def _check_limits(look: Transaction, owner: str, limits: QueueLimits) -> None:
    row = look.one(
        "SELECT count(*) AS n, sum(CASE WHEN owner = :owner THEN 1 ELSE 0 END) AS mine "
        "FROM jobs WHERE status = 'QUEUED'",
        owner=owner,
    ) or {"n": 0, "mine": 0}
    for n, limit, whose in (
        (row["mine"] or 0, limits.per_user, "of yours "),
        (row["n"], limits.total, ""),
    ):
        if n >= limit:
            raise TooMany(
                f"{n} jobs {whose}are waiting, and the limit is {limit}: try again when some "
                "have ended.",
                retry_after=30,
                waiting=n,
                limit=limit,
            )
