"""The row of a job: read, locked, held under a fence, and changed with all that goes with it.

A change of status adds its event, settles the dataset of an ingest, and queues the webhook, in the
transaction of the change. Which changes users and runners may ask for is in `jobs`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from srs_service.database.connection import Row, Transaction, in_list
from srs_service.database.documents import ErrorDocument, Summary, WebhookBody
from srs_service.database.events import add_event
from srs_service.errors import Conflict, Invalid, LeaseLost, NotFound
from srs_service.job import ENDED, Job, JobKind, JobStatus, sources_of

COLUMNS = (
    "id, owner, kind, name, spec, dataset_id, status, fence, n_attempts, last_event, progress, "
    "error, summary, result_fence, finish_asked, created_at, started_at, finished_at, priority, "
    "team, labels"
)


# What a user may read: what is theirs, and what is shared with a team of theirs.
READABLE = "(owner = :owner OR team IN (SELECT m.team FROM members m WHERE m.owner = :owner))"


def read_job(look: Transaction, job_id: str, owner: str, lock: bool = False) -> Job:
    """A job that a user may read; with a lock, to change it: one that is theirs."""
    whose = f"owner = :owner {look.dialect.lock_rows}" if lock else READABLE
    row = look.one(f"SELECT {COLUMNS} FROM jobs WHERE id = :id AND {whose}", id=job_id, owner=owner)
    if row is None:
        raise NotFound("there is no such job.")
    return parse_job(row)


def check_team(look: Transaction, owner: str, team: str | None) -> None:
    """Refuse a team that a user does not belong to."""
    if team is not None and not look.one(
        "SELECT team FROM members WHERE owner = :owner AND team = :team", owner=owner, team=team
    ):
        raise Invalid("you do not belong to this team; GET /v1/session names yours.")


def held_job(look: Transaction, job_id: str, fence: int) -> Job:
    """The job as its runner holds it; LeaseLost if another one does."""
    row = look.one(
        f"SELECT {COLUMNS} FROM jobs WHERE id = :id AND fence = :fence "
        f"AND status IN ('RUNNING', 'CANCELLING') {look.dialect.lock_rows}",
        id=job_id,
        fence=fence,
    )
    if row is None:
        raise LeaseLost(job_id)
    return parse_job(row)


def change_status(change: Transaction, job: Job, new: JobStatus) -> Job:
    names, values = in_list([s.value for s in sources_of(new)], "old")
    row = change.one(
        f"UPDATE jobs SET status = :new, "
        f"finished_at = CASE WHEN :ended = 1 THEN {{now}} ELSE finished_at END "
        f"WHERE id = :id AND status IN ({names}) RETURNING {COLUMNS}, webhook",
        id=job.id,
        new=new.value,
        ended=int(new in ENDED),
        **values,
    )
    if row is None:
        raise Conflict(f"the job is {job.status} and cannot become {new}.")
    changed = note_status(change, parse_job(row), "status")
    if job.kind == JobKind.INGEST:
        _settle_dataset(change, changed)
    if new in ENDED and row["webhook"] is not None:
        change.run(
            "INSERT INTO deliveries (job_id, body, next_try) VALUES (:id, :body, {now}) "
            "ON CONFLICT (job_id) DO UPDATE SET body = :body, next_try = {now}, n_tries = 0, "
            "outcome = NULL",
            id=job.id,
            body=json.dumps(_status_event(changed)),
        )
    return changed


def note_status(change: Transaction, job: Job, kind: str) -> Job:
    """Add the event of a change of status."""
    number = add_event(change, job, kind, _status_event(job))
    return Job(**{**job.__dict__, "last_event": number})


def _status_event(job: Job) -> WebhookBody:
    return {
        "job_id": job.id,
        "status": job.status.value,
        "n_attempts": job.n_attempts,
        "error": cast(ErrorDocument | None, job.error),
        "summary": cast(Summary | None, job.summary),
    }


def _settle_dataset(change: Transaction, job: Job) -> None:
    """The dataset of an ingest becomes READY or FAILED together with its job."""
    if job.status == JobStatus.SUCCEEDED:
        assert job.summary is not None
        change.run(
            "UPDATE datasets SET status = 'READY', about = :about, n_bytes = :n_bytes, "
            "error = NULL WHERE id = :id",
            id=job.dataset_id,
            about=json.dumps(job.summary["about"]),
            n_bytes=job.summary["n_bytes"],
        )
        return
    told = job.error or {"code": "cancelled", "detail": "the ingest was cancelled.", "yours": True}
    change.run(
        "UPDATE datasets SET status = :status, error = :error WHERE id = :id",
        id=job.dataset_id,
        status="FAILED" if job.ended else "PENDING",
        error=json.dumps(told) if job.ended else None,
    )


def dump(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value)


def load(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def parse_job(row: Row) -> Job:
    values = {name: row[name] for name in Job.__dataclass_fields__}
    return Job(
        **values
        | {
            "kind": JobKind(row["kind"]),
            "status": JobStatus(row["status"]),
            "finish_asked": bool(row["finish_asked"]),
            "spec": json.loads(row["spec"]),
            "progress": load(row["progress"]),
            "error": load(row["error"]),
            "summary": load(row["summary"]),
            "labels": load(row["labels"]) or {},
        }
    )
