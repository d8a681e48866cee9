"""Events of jobs: numbered without gaps, so that a stream can be taken up where it broke."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from srs_service.database.connection import Database, Transaction
from srs_service.job import Job


@dataclass(frozen=True)
class Event:
    """Something that happened to a job.

    number  1, 2, ... within the job
    kind    "status" or "progress"
    data    JSON text
    """

    number: int
    kind: str
    data: str


def add_event(change: Transaction, job: Job, kind: str, data: Mapping[str, Any]) -> int:
    """Add an event inside a transaction that has the job's row; its number."""
    row = change.one(
        "UPDATE jobs SET last_event = last_event + 1 WHERE id = :id RETURNING last_event, "
        "{now} AS at",
        id=job.id,
    )
    assert row is not None
    change.run(
        "INSERT INTO events (job_id, number, kind, data) VALUES (:id, :number, :kind, :data)",
        id=job.id,
        number=row["last_event"],
        kind=kind,
        data=json.dumps({"at": round(row["at"], 3), **data}),
    )
    return int(row["last_event"])


def without_location(data: str) -> str:
    """A document that was stored, without the path of a store: version 0.1 told it.

    >>> without_location('{"summary": {"location": "/srv/1.zarr", "n_bytes": 9}}')
    '{"summary": {"n_bytes": 9}}'
    """
    if '"location"' not in data:
        return data
    document = json.loads(data)
    if isinstance(document.get("summary"), dict):
        document["summary"].pop("location", None)
    return json.dumps(document)


class Events:
    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, job_id: str, after: int, limit: int) -> list[Event]:
        """Events of a job with numbers above `after`, in order."""
        with self._database.transaction(write=False) as look:
            rows = look.run(
                "SELECT number, kind, data FROM events WHERE job_id = :id AND number > :after "
                "ORDER BY number LIMIT :limit",
                id=job_id,
                after=after,
                limit=limit,
            )
        return [Event(row["number"], row["kind"], without_location(row["data"])) for row in rows]
