"""How many bytes users keep on disk: uploads, stores, files of jobs, and what is reserved for more.

A reservation is made in the user's turn, so that requests at the same time cannot both have the
last bytes. What is reserved counts until it is replaced by what was written, or given back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from srs_service.database.connection import Database, Transaction
from srs_service.database.idempotency import take_turn
from srs_service.errors import OverQuota

# Whether an ingest whose dataset is there, or that is to come, reads the upload u.
USED = """EXISTS (SELECT 1 FROM jobs j WHERE j.owner = u.owner AND j.kind = 'ingest'
    AND {position}(j.spec, u.id) > 0 AND (j.status IN ('QUEUED', 'RUNNING', 'CANCELLING')
        OR EXISTS (SELECT 1 FROM datasets d WHERE d.id = j.dataset_id)))"""


@dataclass(frozen=True)
class Usage:
    """Bytes that a user keeps.

    uploads   files that were sent, and what is reserved for those under way
    datasets  feature stores that the service wrote
    jobs      files of jobs: results, checkpoints, unpacked sources
    """

    uploads: int
    datasets: int
    jobs: int

    @property
    def total(self) -> int:
        return self.uploads + self.datasets + self.jobs


class Space:
    def __init__(self, database: Database) -> None:
        self._database = database

    def usage(self, owner: str) -> Usage:
        with self._database.transaction(write=False) as look:
            return _usage(look, owner)

    def check(self, owner: str, limit: int) -> None:
        """OverQuota if a user has nothing left."""
        usage = self.usage(owner)
        if usage.total >= limit:
            raise _over(usage, limit)

    def reserve_upload(self, upload_id: str, owner: str, n_bytes: int, limit: int) -> None:
        """Have so many bytes in all for an upload; OverQuota if there are not so many left."""
        with self._database.transaction() as change:
            take_turn(change, owner)
            change.run(
                "INSERT INTO reservations (id, owner, n_bytes, created_at) "
                "VALUES (:id, :owner, :n, {now}) ON CONFLICT (id) DO UPDATE SET n_bytes = :n",
                id=upload_id,
                owner=owner,
                n=n_bytes,
            )
            usage = _usage(change, owner)
            if usage.total > limit:
                raise _over(usage, limit)  # the reservation is rolled back

    def give_back(self, upload_id: str) -> None:
        """End the reservation of an upload that did not arrive."""
        with self._database.transaction() as change:
            change.run("DELETE FROM reservations WHERE id = :id", id=upload_id)

    def reserve_job(self, job_id: str, owner: str, n_bytes: int, limit: int) -> None:
        """Have so many bytes in all for the files of a job; OverQuota if there are not so many
        left."""
        with self._database.transaction() as change:
            take_turn(change, owner)
            change.run("UPDATE jobs SET n_bytes = :n WHERE id = :id", id=job_id, n=n_bytes)
            usage = _usage(change, owner)
            if usage.total > limit:
                raise _over(usage, limit)

    def note_job(self, job_id: str, n_bytes: int) -> None:
        """What the files of a job were measured to be."""
        with self._database.transaction() as change:
            change.run("UPDATE jobs SET n_bytes = :n WHERE id = :id", id=job_id, n=n_bytes)

    def unmeasured(self, limit: int) -> list[str]:
        """Ended jobs whose files were never measured: they are of an earlier version."""
        with self._database.transaction(write=False) as look:
            rows = look.run(
                "SELECT id FROM jobs WHERE n_bytes IS NULL "
                "AND status IN ('SUCCEEDED', 'FAILED', 'CANCELLED') LIMIT :limit",
                limit=limit,
            )
        return [row["id"] for row in rows]

    def readers_of(self, upload_id: str, owner: str) -> list[str]:
        """Ingests that have read an upload: their folders may link to it."""
        with self._database.transaction(write=False) as look:
            rows = look.run(
                "SELECT id FROM jobs WHERE owner = :owner AND kind = 'ingest' "
                "AND {position}(spec, :upload_id) > 0",
                owner=owner,
                upload_id=upload_id,
            )
        return [row["id"] for row in rows]

    # -- what is kept for some days only ------------------------------------------------------

    def drop_old_uploads(self, days: float, limit: int) -> list[str]:
        """Forget uploads that are older and that no dataset was made of; their ids."""
        with self._database.transaction() as change:
            rows = change.run(
                f"DELETE FROM uploads WHERE id IN (SELECT u.id FROM uploads u "
                f"WHERE u.created_at < {{now}} - :seconds AND NOT {USED} LIMIT :limit) "
                f"RETURNING id",
                seconds=days * 86_400,
                limit=limit,
            )
        return [row["id"] for row in rows]

    def drop_old_jobs(self, days: float, limit: int) -> list[str]:
        """Forget jobs that ended earlier; ingests only once their dataset is gone."""
        with self._database.transaction() as change:
            rows = change.run(
                "DELETE FROM jobs WHERE id IN (SELECT id FROM jobs "
                "WHERE status IN ('SUCCEEDED', 'FAILED', 'CANCELLED') "
                "AND finished_at < {now} - :seconds AND (kind <> 'ingest' "
                "OR dataset_id NOT IN (SELECT id FROM datasets)) LIMIT :limit) RETURNING id",
                seconds=days * 86_400,
                limit=limit,
            )
        return [row["id"] for row in rows]

    def drop_reservations(self, days: float, under_way: Sequence[str]) -> None:
        """Forget old reservations of uploads whose files a kill left and a sweep removed."""
        with self._database.transaction() as change:
            for row in change.run(
                "SELECT id FROM reservations WHERE created_at < {now} - :seconds",
                seconds=days * 86_400,
            ):
                if row["id"] not in under_way:
                    change.run("DELETE FROM reservations WHERE id = :id", id=row["id"])


def _usage(look: Transaction, owner: str) -> Usage:
    row = look.one(
        "SELECT (SELECT COALESCE(sum(n_bytes), 0) FROM uploads WHERE owner = :owner) + "
        "(SELECT COALESCE(sum(n_bytes), 0) FROM reservations WHERE owner = :owner) AS uploads, "
        "(SELECT COALESCE(sum(n_bytes), 0) FROM datasets WHERE owner = :owner) AS datasets, "
        "(SELECT COALESCE(sum(n_bytes), 0) FROM jobs WHERE owner = :owner) AS jobs",
        owner=owner,
    )
    assert row is not None
    return Usage(**{name: int(value) for name, value in row.items()})


def _over(usage: Usage, limit: int) -> OverQuota:
    return OverQuota(
        f"{usage.total} bytes are needed with what you keep, and your quota is {limit}: delete "
        "datasets, uploads or jobs; GET /v1/usage says what they take.",
        needed=usage.total,
        limit=limit,
    )
