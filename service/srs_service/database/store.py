"""What the service remembers: all nouns of the database, behind one door."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from srs_service.database.accounts.audit import Audit
from srs_service.database.accounts.sign_ins import SignIns
from srs_service.database.accounts.users import Users
from srs_service.database.connection import Database, in_list, open_database
from srs_service.database.datasets import Datasets, Uploads
from srs_service.database.deliveries import Deliveries
from srs_service.database.events import Events
from srs_service.database.jobs import Jobs
from srs_service.database.keys import Keys
from srs_service.database.migrations import migrate
from srs_service.database.sessions import Sessions
from srs_service.database.space import Space

NOUNS = ("jobs", "datasets", "uploads")  # that have files in the data folder


class JobStore:
    """The database of the service, one attribute a noun."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.jobs = Jobs(database)
        self.events = Events(database)
        self.datasets = Datasets(database)
        self.uploads = Uploads(database)
        self.keys = Keys(database)
        self.sessions = Sessions(database)
        self.deliveries = Deliveries(database)
        self.space = Space(database)
        self.users = Users(database)
        self.audit = Audit(database)
        self.sign_ins = SignIns(database)

    def is_empty(self) -> bool:
        """Whether there are no jobs, datasets and uploads."""
        with self._database.transaction(write=False) as look:
            return not any(look.one(f"SELECT id FROM {noun} LIMIT 1") for noun in NOUNS)

    def known_ids(self, noun: str, ids: Sequence[str]) -> set[str]:
        """Those of the ids that jobs, datasets or uploads have."""
        assert noun in NOUNS
        if not ids:
            return set()
        names, values = in_list(ids, "id")
        with self._database.transaction(write=False) as look:
            rows = look.run(f"SELECT id FROM {noun} WHERE id IN ({names})", **values)
        return {row["id"] for row in rows}

    def ping(self) -> None:
        """Unavailable if the database does not answer or cannot be written."""
        with self._database.transaction() as change:
            change.run("UPDATE schema_version SET version = version")

    def close(self) -> None:
        self._database.close()


def open_job_store(url: str | None, folder: Path, size: int) -> JobStore:
    """Open the database at `url`, or SQLite in `folder`, with tables up to date."""
    database = open_database(url, folder, size)
    database.open()
    migrate(database)
    return JobStore(database)
