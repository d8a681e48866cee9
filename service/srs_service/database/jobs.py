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
    READABLE,
    change_status,
    check_team,
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
    priority among the jobs of its owner: the highest is taken first
    labels   what the owner notes of it
    """

    owner: str
    kind: JobKind
    name: str
    spec: Mapping[str, Any]
    dataset_id: str
    key: RequestKey | None = None
    webhook: Mapping[str, Any] | None = None
    sets: Mapping[str, Any] | None = None
    priority: int = 0
    labels: Mapping[str, str] | None = None


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
        owner: str | None,
        *,
        limit: int,
        before: tuple[float, str] | None = None,
        filters: Mapping[str, Any],
        sort: str = "-created_at",
    ) -> list[Job]:
        """Jobs of a user that fit, the newest first; of all users if `owner` is None.

        before   place in this order that they come after: the value of the column, and the id
        filters  see `_conditions`
        sort     created_at or finished_at, "-" before it: the latest first
        """
        column, falling = _sort_column(sort.removeprefix("-")), sort.startswith("-")
        wheres, values = _conditions(owner, filters)
        if before is not None:
            than = "<" if falling else ">"
            wheres.append(f"({column} {than} :at OR ({column} = :at AND id {than} :before_id))")
            values |= {"at": before[0], "before_id": before[1]}
        order = "DESC" if falling else "ASC"
        with self._database.transaction(write=False) as look:
            rows = look.run(
                f"SELECT {COLUMNS} FROM jobs WHERE {' AND '.join(wheres)} "
                f"ORDER BY {column} {order}, id {order} LIMIT :limit",
                limit=limit,
                **values,
            )
        return [parse_job(row) for row in rows]

    def change(self, job_id: str, owner: str | None, values: Mapping[str, Any]) -> Job:
        """Change the name, labels, priority or team of a job; by an administrator (no owner), the
        priority."""
        with self._database.transaction() as change:
            job = self._read_any(change, job_id, owner)
            check_team(change, job.owner, values.get("team"))
            for name in sorted(set(values) & {"name", "labels", "priority", "team"}):
                value = values[name]
                change.run(
                    f"UPDATE jobs SET {name} = :value WHERE id = :id",
                    id=job_id,
                    value=json.dumps(value) if name == "labels" else value,
                )
            return note_status(change, read_job(change, job_id, job.owner), "status")

    @staticmethod
    def _read_any(change: Transaction, job_id: str, owner: str | None) -> Job:
        """A job to be changed, of a user, or of anybody."""
        if owner is None:
            row = change.one("SELECT owner FROM jobs WHERE id = :id", id=job_id)
            owner = None if row is None else row["owner"]
        return read_job(change, job_id, owner or "", lock=True)

    def cancel(self, job_id: str, owner: str | None) -> Job:
        """A waiting job is cancelled at once, a running one is asked to stop; by an administrator
        (no owner) anybody's."""
        with self._database.transaction() as change:
            job = self._read_any(change, job_id, owner)
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


def _sort_column(name: str) -> str:
    """What is sorted by; jobs that have not ended are the latest of all."""
    return "COALESCE(finished_at, 1e15)" if name == "finished_at" else "created_at"


def _conditions(owner: str | None, filters: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """What jobs must fulfil, and the values in it.

    status, kind, dataset_id   one value or several
    name                       a part of the name, in capitals or not
    created_after, created_before   seconds since 1970
    team                       shared with this team, of which the user is
    """
    wheres, values = ["1 = 1"], dict[str, Any]()
    team = filters.get("team")
    if owner is not None:
        wheres.append("owner = :owner" if team is None else f"team = :team AND {READABLE}")
        values |= {"owner": owner, **({} if team is None else {"team": team})}
    for name in ("status", "kind", "dataset_id", "owner"):
        given = filters.get(name)
        if given is not None:
            names, named = in_list([given] if isinstance(given, str) else list(given), name)
            wheres.append(f"{name} IN ({names})")
            values |= named
    if filters.get("name") is not None:
        wheres.append("{position}(lower(name), :part) > 0")
        values["part"] = filters["name"].lower()
    for name, sign in (("created_after", ">="), ("created_before", "<")):
        if filters.get(name) is not None:
            wheres.append(f"created_at {sign} :{name}")
            values[name] = filters[name] - 1e-6  # times are told in microseconds
    return wheres, values


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
            feature_sets, priority, labels, queued_at, created_at)
        VALUES (:id, :owner, :kind, :name, :spec, :dataset_id, 'QUEUED', :webhook,
            :sets, :priority, :labels, {now}, {now})""",
        id=job_id,
        owner=wanted.owner,
        kind=wanted.kind.value,
        name=wanted.name,
        spec=json.dumps(wanted.spec),
        dataset_id=dataset_id(),
        webhook=dump(wanted.webhook),
        sets=dump(wanted.sets),
        priority=wanted.priority,
        labels=dump(wanted.labels),
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
