"""Webhooks that are to be delivered: due ones are taken under a lease, as jobs are."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from srs_service.database.connection import Database
from srs_service.database.events import without_location

LONGEST_PAUSE = 3600.0  # between two tries, more than there ever is


@dataclass(frozen=True)
class Delivery:
    """One message that is due.

    n_tries  deliveries that were tried before
    """

    job_id: str
    url: str
    secret: str
    body: str
    n_tries: int


class Deliveries:
    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, lease_seconds: float) -> Delivery | None:
        """The next delivery that is due and that nobody else is trying; those that failed last.

        A time further ahead than any is set was set before the clock was put back: it is due.
        """
        with self._database.transaction() as change:
            row = change.one(
                """UPDATE deliveries SET lease_until = {now} + :lease WHERE job_id = (
                    SELECT j.job_id FROM deliveries j
                    WHERE j.outcome IS NULL
                        AND (j.next_try <= {now} OR j.next_try > {now} + :longest)
                        AND (j.lease_until < {now} OR j.lease_until > {now} + :lease)
                    ORDER BY j.n_tries, j.next_try LIMIT 1 {skip_locked}
                ) RETURNING job_id, body, n_tries""",
                lease=lease_seconds,
                longest=LONGEST_PAUSE,
            )
            if row is None:
                return None
            found = change.one("SELECT webhook FROM jobs WHERE id = :id", id=row["job_id"])
        assert found is not None
        webhook: dict[str, Any] = json.loads(found["webhook"])
        return Delivery(
            job_id=row["job_id"],
            url=webhook["url"],
            secret=webhook["secret"],
            body=without_location(row["body"]),
            n_tries=row["n_tries"],
        )

    def note(self, job_id: str, outcome: str | None, pause: float) -> None:
        """How a try went: "delivered", "given up", or None to try again after a pause."""
        with self._database.transaction() as change:
            change.run(
                "UPDATE deliveries SET outcome = :outcome, n_tries = n_tries + 1, "
                "lease_until = 0, next_try = {now} + :pause WHERE job_id = :id",
                id=job_id,
                outcome=outcome,
                pause=pause,
            )

    def outcome(self, job_id: str) -> tuple[str | None, int] | None:
        """How a delivery stands, and how often it was tried; None if there is none."""
        with self._database.transaction(write=False) as look:
            row = look.one("SELECT outcome, n_tries FROM deliveries WHERE job_id = :id", id=job_id)
        return None if row is None else (row["outcome"], row["n_tries"])

    def count(self) -> dict[str, int]:
        """Deliveries by how they stand: waiting, delivered, given up."""
        with self._database.transaction(write=False) as look:
            rows = look.run(
                "SELECT COALESCE(outcome, 'waiting') AS outcome, count(*) AS n FROM deliveries "
                "GROUP BY outcome"
            )
        told = {"waiting": 0, "delivered": 0, "given up": 0}
        return told | {row["outcome"]: int(row["n"]) for row in rows}
