"""Datasets and uploads of users."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from srs_service.database.connection import Database, Row, Transaction
from srs_service.database.idempotency import RequestKey, find_made, remember_made, take_turn
from srs_service.database.job_rows import READABLE, check_team
from srs_service.database.jobs import QueueLimits, Submission, submit_inside
from srs_service.database.space import USED
from srs_service.errors import Conflict, NotFound
from srs_service.job import Job, new_id


@dataclass(frozen=True)
class Dataset:
    """A feature store that a user registered, or that an ingest writes.

    status    "PENDING" until its ingest ends, then "READY" or "FAILED"
    location  path or address of the store, relative to the data folder if it is ours; empty while
              it is not written
    job_id    the ingest that writes it; None for a store that was there
    about     what the store holds, see `describe` in `srs_service.jobs.work`; None until it is
              READY
    error     why its ingest failed
    managed   whether the store is ours: in the data folder, and deleted with the dataset
    n_bytes   of the store, if it is ours
    team      that may read it; None: its owner alone
    """

    id: str
    owner: str
    name: str
    status: str
    location: str
    job_id: str | None
    about: dict[str, Any] | None
    error: dict[str, Any] | None
    managed: bool
    n_bytes: int
    created_at: float
    team: str | None = None


@dataclass(frozen=True)
class Upload:
    """A file that a user sent, to be ingested.

    filename  its last part as the user named it; says what kind of file it is
    """

    id: str
    owner: str
    filename: str
    n_bytes: int
    sha256: str
    created_at: float


@dataclass(frozen=True)
class Deleted:
    """A dataset that was, and the ids of the uploads that went with it."""

    dataset: Dataset
    upload_ids: tuple[str, ...]


class Datasets:
    def __init__(self, database: Database) -> None:
        self._database = database

    def register(
        self,
        owner: str,
        name: str,
        location: str,
        about: Mapping[str, Any],
        key: RequestKey | None = None,
    ) -> Dataset:
        """A store that is there already; with a key that was used, what that made."""
        with self._database.transaction() as change:
            if key is not None:
                take_turn(change, owner)
                if (dataset := _find_by_key(change, key)) is not None:
                    return dataset
            dataset_id = _insert(
                change,
                owner,
                name=name,
                status="READY",
                location=location,
                about=json.dumps(about),
                managed=False,
            )
            if key is not None:
                remember_made(change, key, dataset_id=dataset_id)
            return _get(change, dataset_id, owner)

    def find_by_key(self, key: RequestKey) -> Dataset | None:
        """The dataset that was registered with this key; Invalid if its body was another."""
        with self._database.transaction(write=False) as look:
            return _find_by_key(look, key)

    def submit_ingest(self, wanted: Submission, limits: QueueLimits) -> tuple[Job, Dataset, bool]:
        """A dataset that is to be, with the job that writes it; whether they are new."""
        with self._database.transaction() as change:
            job, is_new = submit_inside(
                change,
                wanted,
                limits,
                lambda: _insert(
                    change,
                    wanted.owner,
                    name=wanted.name,
                    status="PENDING",
                    location="",
                    about=None,
                    managed=True,
                ),
            )
            if is_new:
                change.run(
                    "UPDATE datasets SET job_id = :job_id WHERE id = :id",
                    id=job.dataset_id,
                    job_id=job.id,
                )
            return job, _get(change, job.dataset_id, wanted.owner), is_new

    def get(self, dataset_id: str, owner: str) -> Dataset:
        with self._database.transaction(write=False) as look:
            return _get(look, dataset_id, owner)

    def list(
        self,
        owner: str,
        *,
        limit: int,
        before: tuple[float, str] | None = None,
        team: str | None = None,
    ) -> list[Dataset]:
        """Datasets of a user, the newest first, older than `before` (created_at, id).

        team  those that are shared with this team of the user instead
        """
        whose = "owner = :owner" if team is None else f"team = :team AND {READABLE}"
        with self._database.transaction(write=False) as look:
            rows = look.run(
                f"SELECT * FROM datasets WHERE {whose} AND (created_at < :at OR "
                "(created_at = :at AND id < :id)) ORDER BY created_at DESC, id DESC LIMIT :limit",
                owner=owner,
                limit=limit,
                at=1e18 if before is None else before[0],
                id="" if before is None else before[1],
                **({} if team is None else {"team": team}),
            )
        return [_dataset(row) for row in rows]

    def change(self, dataset_id: str, owner: str, values: Mapping[str, str | None]) -> Dataset:
        """Change the name of a dataset, or the team that it is shared with."""
        with self._database.transaction() as change:
            _get(change, dataset_id, owner, shared=False)
            check_team(change, owner, values.get("team"))
            for name in sorted(set(values) & {"name", "team"}):
                change.run(
                    f"UPDATE datasets SET {name} = :value WHERE id = :id",
                    id=dataset_id,
                    value=values[name],
                )
            return _get(change, dataset_id, owner)

    def delete(self, dataset_id: str, owner: str) -> Deleted:
        """Remove a dataset that no job waits for or reads, with the uploads that it alone was made
        of; the bytes of its source count no more."""
        with self._database.transaction() as change:
            take_turn(change, owner)
            dataset = _get(change, dataset_id, owner, shared=False)
            busy = change.one(
                "SELECT id FROM jobs WHERE dataset_id = :id AND status IN "
                "('QUEUED', 'RUNNING', 'CANCELLING') LIMIT 1",
                id=dataset_id,
            )
            if busy is not None:
                raise Conflict(f"the job {busy['id']} uses the dataset: cancel it first.")
            change.run("DELETE FROM datasets WHERE id = :id", id=dataset_id)
            if dataset.job_id is None:
                return Deleted(dataset, ())
            change.run("UPDATE jobs SET n_bytes = 0 WHERE id = :id", id=dataset.job_id)
            rows = change.run(
                "DELETE FROM uploads WHERE id IN (SELECT u.id FROM uploads u JOIN jobs made "
                "ON made.id = :job_id AND {position}(made.spec, u.id) > 0 "
                f"WHERE u.owner = :owner AND NOT {USED}) RETURNING id",
                job_id=dataset.job_id,
                owner=owner,
            )
            return Deleted(dataset, tuple(row["id"] for row in rows))


class Uploads:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, upload_id: str, owner: str, filename: str, n_bytes: int, sha256: str) -> Upload:
        """An upload that has arrived, in the place of its reservation."""
        with self._database.transaction() as change:
            change.run("DELETE FROM reservations WHERE id = :id", id=upload_id)
            change.run(
                "INSERT INTO uploads (id, owner, filename, n_bytes, sha256, created_at) "
                "VALUES (:id, :owner, :filename, :n_bytes, :sha256, {now})",
                id=upload_id,
                owner=owner,
                filename=filename,
                n_bytes=n_bytes,
                sha256=sha256,
            )
            return _upload(change, upload_id, owner)

    def get(self, upload_id: str, owner: str) -> Upload:
        with self._database.transaction(write=False) as look:
            return _upload(look, upload_id, owner)

    def delete(self, upload_id: str, owner: str) -> Upload:
        with self._database.transaction() as change:
            upload = _upload(change, upload_id, owner)
            change.run("DELETE FROM uploads WHERE id = :id", id=upload_id)
        return upload

    def list(
        self, owner: str, *, limit: int, before: tuple[float, str] | None = None
    ) -> list[Upload]:
        """Uploads of a user, the newest first, older than `before` (created_at, id)."""
        with self._database.transaction(write=False) as look:
            rows = look.run(
                "SELECT * FROM uploads WHERE owner = :owner AND (created_at < :at OR "
                "(created_at = :at AND id < :id)) ORDER BY created_at DESC, id DESC LIMIT :limit",
                owner=owner,
                limit=limit,
                at=1e18 if before is None else before[0],
                id="" if before is None else before[1],
            )
        return [Upload(**row) for row in rows]


def _insert(
    change: Transaction,
    owner: str,
    name: str,
    status: str,
    location: str,
    about: str | None,
    managed: bool,
) -> str:
    dataset_id = new_id("d")
    change.run(
        "INSERT INTO datasets (id, owner, name, status, location, about, managed, created_at) "
        "VALUES (:id, :owner, :name, :status, :location, :about, :managed, {now})",
        id=dataset_id,
        owner=owner,
        name=name,
        status=status,
        location=location,
        about=about,
        managed=int(managed),
    )
    return dataset_id


def _get(look: Transaction, dataset_id: str, owner: str, shared: bool = True) -> Dataset:
    """A dataset that a user may read; not shared: that is theirs."""
    whose = READABLE if shared else "owner = :owner"
    row = look.one(f"SELECT * FROM datasets WHERE id = :id AND {whose}", id=dataset_id, owner=owner)
    if row is None:
        raise NotFound("there is no such dataset.")
    return _dataset(row)


def _find_by_key(look: Transaction, key: RequestKey) -> Dataset | None:
    row = find_made(look, key)
    return None if row is None else _get(look, row["dataset_id"], key.owner)


def _dataset(row: Row) -> Dataset:
    about, error = (None if row[n] is None else json.loads(row[n]) for n in ("about", "error"))
    return Dataset(**row | {"about": about, "error": error, "managed": bool(row["managed"])})


def _upload(look: Transaction, upload_id: str, owner: str) -> Upload:
    row = look.one(
        "SELECT * FROM uploads WHERE id = :id AND owner = :owner", id=upload_id, owner=owner
    )
    if row is None:
        raise NotFound("there is no such upload.")
    return Upload(**row)
