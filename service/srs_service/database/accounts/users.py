"""Users: whether they may act, their share of the runners, and the teams they belong to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from srs_service.database.connection import Database, Transaction
from srs_service.errors import NotFound

BY_ISSUER, BY_ADMINISTRATOR = "issuer", "administrator"  # who put a user into a team


@dataclass(frozen=True)
class User:
    """A user as administrators see one.

    disabled_at  seconds since 1970; None: the user may act
    share        of the runners: with 2, twice as many jobs run at once where users wait
    teams        whose datasets and results the user may read
    n_waiting, n_running   jobs
    n_bytes      that the user keeps
    """

    name: str
    disabled_at: float | None
    share: float
    teams: tuple[str, ...]
    n_waiting: int
    n_running: int
    n_bytes: int


class Users:
    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self, *, limit: int, after: str = "") -> list[User]:
        """Users who have a key or ever did something, by name, after a name."""
        with self._database.transaction(write=False) as look:
            rows = look.run(
                "SELECT owner FROM (SELECT owner FROM users UNION SELECT owner FROM api_keys "
                "UNION SELECT owner FROM members) named WHERE owner > :after "
                "ORDER BY owner LIMIT :limit",
                after=after,
                limit=limit,
            )
            return [_user(look, row["owner"]) for row in rows]

    def get(self, name: str) -> User:
        with self._database.transaction(write=False) as look:
            return _user(look, name)

    def change(
        self,
        name: str,
        *,
        disabled: bool | None = None,
        share: float | None = None,
        teams: Collection[str] | None = None,
    ) -> User:
        """Change what is not None. Who is disabled loses all sessions at once."""
        with self._database.transaction() as change:
            _user(change, name)
            change.run(
                "INSERT INTO users (owner) VALUES (:name) ON CONFLICT (owner) DO NOTHING",
                name=name,
            )
            if disabled is not None:
                change.run(
                    "UPDATE users SET disabled_at = CASE WHEN :disabled = 1 "
                    "THEN COALESCE(disabled_at, {now}) ELSE NULL END WHERE owner = :name",
                    name=name,
                    disabled=int(disabled),
                )
                if disabled:
                    change.run("DELETE FROM sessions WHERE owner = :name", name=name)
            if share is not None:
                change.run("UPDATE users SET share = :s WHERE owner = :name", name=name, s=share)
            if teams is not None:
                _set_teams(change, name, teams, BY_ADMINISTRATOR)
            return _user(change, name)

    def set_teams_of_issuer(self, name: str, teams: Collection[str]) -> None:
        """The teams that the groups of a token give; those of administrators stay."""
        with self._database.transaction() as change:
            _set_teams(change, name, teams, BY_ISSUER)

    def teams(self, name: str) -> tuple[str, ...]:
        with self._database.transaction(write=False) as look:
            return _teams(look, name)

    def is_disabled(self, name: str) -> bool:
        with self._database.transaction(write=False) as look:
            row = look.one(
                "SELECT 1 AS found FROM users WHERE owner = :name AND disabled_at IS NOT NULL",
                name=name,
            )
        return row is not None


def _set_teams(change: Transaction, name: str, teams: Collection[str], source: str) -> None:
    change.run(
        "DELETE FROM members WHERE owner = :name AND source = :source", name=name, source=source
    )
    for team in sorted(set(teams)):
        change.run(
            "INSERT INTO members (owner, team, source) VALUES (:name, :team, :source)",
            name=name,
            team=team,
            source=source,
        )


def _teams(look: Transaction, name: str) -> tuple[str, ...]:
    rows = look.run(
        "SELECT DISTINCT team FROM members WHERE owner = :name ORDER BY team", name=name
    )
    return tuple(row["team"] for row in rows)


def _user(look: Transaction, name: str) -> User:
    known = look.one(
        "SELECT owner FROM users WHERE owner = :name UNION "
        "SELECT owner FROM api_keys WHERE owner = :name UNION "
        "SELECT owner FROM members WHERE owner = :name",
        name=name,
    )
    if known is None:
        raise NotFound("there is no such user.")
    row = look.one("SELECT share, disabled_at FROM users WHERE owner = :name", name=name) or {}
    jobs = look.one(
        "SELECT COALESCE(sum(CASE WHEN status = 'QUEUED' THEN 1 ELSE 0 END), 0) AS waiting, "
        "COALESCE(sum(CASE WHEN status IN ('RUNNING', 'CANCELLING') THEN 1 ELSE 0 END), 0) "
        "AS running, COALESCE(sum(n_bytes), 0) AS n_bytes FROM jobs WHERE owner = :name",
        name=name,
    )
    kept = look.one(
        "SELECT (SELECT COALESCE(sum(n_bytes), 0) FROM uploads WHERE owner = :name) + "
        "(SELECT COALESCE(sum(n_bytes), 0) FROM reservations WHERE owner = :name) + "
        "(SELECT COALESCE(sum(n_bytes), 0) FROM datasets WHERE owner = :name) AS n",
        name=name,
    )
    assert jobs is not None
    assert kept is not None
    return User(
        name=name,
        disabled_at=row.get("disabled_at"),
        share=row.get("share", 1.0),
        teams=_teams(look, name),
        n_waiting=int(jobs["waiting"]),
        n_running=int(jobs["running"]),
        n_bytes=int(jobs["n_bytes"]) + int(kept["n"]),
    )
