"""Jobs as runners have them: claimed under a lease, written under a fence, ended once."""

from __future__ import annotations

import json
import time
from typing import Any

from srs_service.database.connection import Database, Row, Transaction, in_list
from srs_service.database.documents import ErrorDocument, ProgressDocument, Summary
from srs_service.database.events import add_event
from srs_service.database.job_rows import (
    COLUMNS,
    change_status,
    dump,
    held_job,
    load,
    note_status,
    parse_job,
)
from srs_service.errors import LeaseLost
from srs_service.job import Beat, Job, JobKind, JobStatus

MANY = 1 << 30


class HeldJobs:
    def __init__(self, database: Database) -> None:
        self._database = database
        # When this process first saw the newest sign of life of each job that is held.
        self._seen: dict[str, tuple[int, int, float]] = {}

    def claim(
        self,
        runner: str,
        lease_seconds: float,
        without: JobKind | None = None,
        *,
        only: JobKind | None = None,
        per_user: int | None = None,
    ) -> Job | None:
        """Take the next job: one whose runner fell silent, or a waiting one.

        None of the kind `without`, which cannot run now, unless it only has to be cancelled; of
        the kind `only`, if one is given; of users with fewer than `per_user` running jobs.
        Between users it is fair: first those with fewest running jobs for their share, then those
        whose last claim is longest ago; then the job of the highest priority, and the oldest.
        """
        with self._database.transaction() as change:
            names, silent = in_list(self._find_silent(change) or [""], "silent")
            row = change.one(
                f"""UPDATE jobs SET
                    status = CASE WHEN status = 'QUEUED' THEN 'RUNNING' ELSE status END,
                    fence = fence + 1, n_attempts = n_attempts + 1, runner = :runner,
                    lease_until = {{now}} + :lease, lease_seconds = :lease, beats = 0,
                    started_at = COALESCE(started_at, {{now}})
                WHERE id = (
                    SELECT j.id FROM jobs j
                    JOIN users u ON u.owner = j.owner
                    LEFT JOIN (
                        SELECT owner, count(*) AS n FROM jobs
                        WHERE status IN ('RUNNING', 'CANCELLING') AND lease_until > 0
                          AND id NOT IN ({names}) GROUP BY owner
                    ) running ON running.owner = j.owner
                    WHERE (j.status = 'QUEUED' OR (j.status IN ('RUNNING', 'CANCELLING')
                            AND (j.lease_until = 0 OR j.id IN ({names}))))
                      AND ((j.kind <> :without AND (:only = '' OR j.kind = :only)
                            AND COALESCE(running.n, 0) < :per_user) OR j.status = 'CANCELLING')
                    ORDER BY COALESCE(running.n, 0) / u.share, u.last_claim, j.priority DESC,
                        j.queued_at, j.id
                    LIMIT 1 {{skip_locked}}
                ) RETURNING {COLUMNS}""",
                runner=runner,
                lease=lease_seconds,
                without=without.value if without else "",
                only=only.value if only else "",
                per_user=MANY if per_user is None else per_user,
                **silent,
            )
            if row is None:
                return None
            job = parse_job(row)
            self._seen[job.id] = (job.fence, 0, time.monotonic())
            # A number of turns, not a time: SQLite's clock has two claims in one millisecond.
            change.run(
                "UPDATE users SET last_claim = (SELECT max(last_claim) FROM users) + 1 "
                "WHERE owner = :owner",
                owner=job.owner,
            )
            return note_status(change, job, "status")

    def _find_silent(self, look: Transaction) -> list[str]:
        """Held jobs without a sign of life for as long as their lease.

        Signs of life are counted, and the time between two is taken from this process's monotonic
        clock: whoever sets the clock of a machine neither ends a lease nor prolongs one.
        """
        now, seen, silent = time.monotonic(), {}, []
        for row in look.run(
            "SELECT id, fence, beats, lease_seconds FROM jobs "
            "WHERE status IN ('RUNNING', 'CANCELLING')"
        ):
            known = self._seen.get(row["id"])
            if known is None or known[:2] != (row["fence"], row["beats"]):
                known = (row["fence"], row["beats"], now)
            seen[row["id"]] = known
            if now - known[2] > row["lease_seconds"]:
                silent.append(row["id"])
        self._seen = seen
        return silent

    def feature_sets(self, job_id: str) -> Any:
        """The sets that a selection tests; None: none."""
        with self._database.transaction(write=False) as look:
            row = look.one("SELECT feature_sets FROM jobs WHERE id = :id", id=job_id)
        return None if row is None else load(row["feature_sets"])

    def heartbeat(self, job_id: str, fence: int, lease_seconds: float) -> Beat:
        """Renew the lease; what is wanted of the job. LeaseLost if it is another's."""
        with self._database.transaction() as change:
            row = change.one(
                "UPDATE jobs SET lease_until = {now} + :lease, lease_seconds = :lease, "
                "beats = beats + 1 WHERE id = :id AND fence = :fence "
                "AND status IN ('RUNNING', 'CANCELLING') RETURNING status, finish_asked, beats",
                id=job_id,
                fence=fence,
                lease=lease_seconds,
            )
        if row is None:
            raise LeaseLost(job_id)
        self._seen[job_id] = (fence, row["beats"], time.monotonic())
        return Beat(JobStatus(row["status"]), bool(row["finish_asked"]))

    def progress(self, job_id: str, fence: int, progress: ProgressDocument) -> None:
        """Store progress and its event."""
        with self._database.transaction() as change:
            job = held_job(change, job_id, fence)
            change.run(
                "UPDATE jobs SET progress = :progress WHERE id = :id",
                id=job_id,
                progress=json.dumps(progress),
            )
            add_event(change, job, "progress", progress)

    def note_waiting(self, kind: JobKind, doing: str, unless: str, limit: int = 200) -> int:
        """Say in waiting jobs of a kind what they wait for; how many did not say so yet.

        unless  a part of what they may say already, that is as good
        """
        with self._database.transaction() as change:
            rows = change.run(
                f"SELECT {COLUMNS} FROM jobs WHERE status = 'QUEUED' AND kind = :kind "
                f"AND (progress IS NULL OR {{position}}(progress, :unless) = 0) LIMIT :limit",
                kind=kind.value,
                unless=json.dumps(unless)[1:-1],
                limit=limit,
            )
            for row in rows:
                told: ProgressDocument = {"doing": doing, "seconds": 0.0, "peak_mem": 0}
                change.run(
                    "UPDATE jobs SET progress = :progress WHERE id = :id",
                    id=row["id"],
                    progress=json.dumps(told),
                )
                add_event(change, parse_job(row), "progress", told)
        return len(rows)

    def waiting(self, per_user: int) -> list[Row]:
        """Waiting jobs by kind: `n`, of which `limited` are of users who run as many as they may;
        and how long the `oldest` waits, in seconds."""
        with self._database.transaction(write=False) as look:
            return look.run(
                "SELECT j.kind AS kind, count(*) AS n, sum(CASE WHEN r.n >= :per_user THEN 1 "
                "ELSE 0 END) AS limited, max({now} - j.queued_at) AS oldest FROM jobs j "
                "LEFT JOIN (SELECT owner, count(*) AS n FROM jobs WHERE status IN "
                "('RUNNING', 'CANCELLING') GROUP BY owner) r ON r.owner = j.owner "
                "WHERE j.status = 'QUEUED' GROUP BY j.kind",
                per_user=per_user,
            )

    def finish(
        self,
        job_id: str,
        fence: int,
        status: JobStatus,
        *,
        summary: Summary | None = None,
        error: ErrorDocument | None = None,
        location: str | None = None,
        n_bytes: int | None = None,
    ) -> Job:
        """End an attempt: SUCCEEDED, FAILED, CANCELLED, or QUEUED to be taken up again.

        location  where the store is that an ingest wrote, in the data folder; events and webhooks
                  do not tell it
        n_bytes   of the files that the job keeps beside; None: as before
        """
        with self._database.transaction() as change:
            job = held_job(change, job_id, fence)
            if status == JobStatus.QUEUED and job.status == JobStatus.CANCELLING:
                status = JobStatus.CANCELLED
            done = status == JobStatus.SUCCEEDED
            change.run(
                "UPDATE jobs SET lease_until = 0, runner = NULL, error = :error, "
                "summary = :summary, result_fence = :result_fence, "
                "n_bytes = COALESCE(:n_bytes, n_bytes) WHERE id = :id",
                id=job_id,
                error=dump(error),
                summary=dump(summary),
                result_fence=fence if done else None,
                n_bytes=n_bytes,
            )
            if done and job.kind == JobKind.INGEST:
                change.run(
                    "UPDATE datasets SET location = :location WHERE id = :id",
                    id=job.dataset_id,
                    location=location,
                )
            return change_status(change, job, status)

    def release(self, job_id: str, fence: int) -> Job:
        """Give a job back unharmed, when its runner shuts down: this was not an attempt."""
        with self._database.transaction() as change:
            job = held_job(change, job_id, fence)
            change.run(
                "UPDATE jobs SET lease_until = 0, runner = NULL, n_attempts = n_attempts - 1 "
                "WHERE id = :id",
                id=job_id,
            )
            if job.status == JobStatus.CANCELLING:
                return job
            return change_status(change, job, JobStatus.QUEUED)
