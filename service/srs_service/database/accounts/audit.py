"""Who did what to which id from where: one row for each request that changed something."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from srs_service.database.connection import Database
from srs_service.job import new_id


@dataclass(frozen=True)
class Deed:
    """What somebody did.

    actor    the user
    action   name of the operation in the OpenAPI document
    thing    id of what it was done to; empty if there is none
    address  where the request came from
    key_id   key that it was done with; None: a token or none
    status   of the response
    request_id  as in the log
    """

    actor: str
    action: str
    thing: str
    address: str
    key_id: str | None
    status: int
    request_id: str


@dataclass(frozen=True)
class Entry(Deed):
    """A deed with its id and time, in seconds since 1970."""

    id: str
    created_at: float


class Audit:
    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, deed: Deed) -> None:
        with self._database.transaction() as change:
            change.run(
                "INSERT INTO audit (id, created_at, actor, action, thing, address, key_id, "
                "status, request_id) VALUES (:id, {now}, :actor, :action, :thing, :address, "
                ":key_id, :status, :request_id)",
                id=new_id("a"),
                **asdict(deed),
            )

    def list(
        self,
        *,
        limit: int,
        before: tuple[float, str] | None = None,
        actor: str | None = None,
        thing: str | None = None,
    ) -> list[Entry]:
        """Entries, the newest first, of an actor or a thing if one is given."""
        wheres = ["(created_at < :at OR (created_at = :at AND id < :id))"]
        given = {"actor": actor, "thing": thing}
        wheres += [f"{name} = :{name}" for name, value in given.items() if value is not None]
        with self._database.transaction(write=False) as look:
            rows = look.run(
                f"SELECT * FROM audit WHERE {' AND '.join(wheres)} "
                f"ORDER BY created_at DESC, id DESC LIMIT :limit",
                limit=limit,
                at=1e18 if before is None else before[0],
                id="" if before is None else before[1],
                **{name: value for name, value in given.items() if value is not None},
            )
        return [Entry(**row) for row in rows]

    def forget(self, days: float) -> None:
        """Remove entries that are older than so many days."""
        with self._database.transaction() as change:
            change.run(
                "DELETE FROM audit WHERE created_at < {now} - :seconds", seconds=days * 86_400
            )
