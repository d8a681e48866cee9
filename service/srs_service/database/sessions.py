"""Sessions of browsers: each ends with the key or token that it was opened with.

Tokens of sessions are kept as SHA-256, as keys are.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass

from srs_service.database.connection import Database, in_list
from srs_service.database.keys import VALID, Caller, hash_secret
from srs_service.errors import NotFound

# A session s counts while it has time left, its user may act, and its key, if any, counts.
ALIVE = (
    "s.expires_at > {now} AND NOT EXISTS (SELECT 1 FROM users u WHERE u.owner = s.owner "
    "AND u.disabled_at IS NOT NULL) AND (s.key_id IS NULL OR EXISTS "
    f"(SELECT 1 FROM api_keys k WHERE k.id = s.key_id AND {VALID}))"
)


@dataclass(frozen=True)
class Session:
    """A session as its owner may see it.

    id          public: it opens nothing
    key_id      the API key that it was opened with; None: a token of an issuer
    browser     what the browser called itself
    created_at  seconds since 1970, as expires_at
    """

    id: str
    key_id: str | None
    browser: str
    created_at: float
    expires_at: float


class Sessions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self, caller: Caller, seconds: float, browser: str) -> tuple[Session, str]:
        """A new session that lasts so long, but not longer than what the caller showed; and its
        token, which goes into a cookie and is kept nowhere."""
        session_id, token = f"s_{secrets.token_hex(16)}", secrets.token_urlsafe(32)
        with self._database.transaction() as change:
            change.run("DELETE FROM sessions WHERE expires_at < {now}")
            change.run(
                "INSERT INTO sessions "
                "(id, hash, owner, scopes, key_id, browser, created_at, expires_at) "
                "SELECT :id, :hash, :owner, :scopes, :key_id, :browser, t.now, CASE "
                "WHEN :until < t.now + :seconds THEN :until ELSE t.now + :seconds END "
                "FROM (SELECT {now} AS now) t",
                id=session_id,
                hash=hash_secret(token),
                owner=caller.owner,
                scopes=" ".join(caller.scopes),
                key_id=caller.key_id,
                browser=browser,
                seconds=seconds,
                until=float("inf") if caller.expires_at is None else caller.expires_at,
            )
        return next(one for one in self.list(caller.owner) if one.id == session_id), token

    def find(self, token: str) -> Caller | None:
        """Who acts in a session; None if it is unknown or has ended."""
        with self._database.transaction(write=False) as look:
            row = look.one(
                "SELECT id, owner, scopes, key_id, expires_at FROM sessions s "
                f"WHERE hash = :hash AND {ALIVE}",
                hash=hash_secret(token),
            )
        if row is None:
            return None
        scopes = tuple(row["scopes"].split())
        return Caller(row["owner"], scopes, row["key_id"], row["id"], row["expires_at"])

    def list(self, owner: str) -> list[Session]:
        """Sessions of a user that count, the newest first."""
        with self._database.transaction(write=False) as look:
            rows = look.run(
                "SELECT id, key_id, browser, created_at, expires_at FROM sessions s "
                f"WHERE owner = :owner AND {ALIVE} ORDER BY created_at DESC, id",
                owner=owner,
            )
        return [Session(**row) for row in rows]

    def close(self, session_id: str, owner: str) -> None:
        """End a session of a user."""
        with self._database.transaction() as change:
            row = change.one(
                "DELETE FROM sessions WHERE id = :id AND owner = :owner RETURNING id",
                id=session_id,
                owner=owner,
            )
        if row is None:
            raise NotFound("there is no such session; `GET /v1/sessions` lists yours.")

    def close_all(self, owner: str, but: str | None = None) -> None:
        """End all sessions of a user but one."""
        with self._database.transaction() as change:
            change.run(
                "DELETE FROM sessions WHERE owner = :owner AND id <> :but",
                owner=owner,
                but=but or "",
            )

    def counting(self, key_ids: Collection[str], session_ids: Collection[str]) -> set[str]:
        """Those of the keys and sessions that count now."""
        found = set[str]()
        for ids, select in (
            (key_ids, f"SELECT id FROM api_keys k WHERE {VALID}"),
            (session_ids, f"SELECT id FROM sessions s WHERE {ALIVE}"),
        ):
            if ids:
                names, values = in_list(list(ids), "id")
                with self._database.transaction(write=False) as look:
                    rows = look.run(f"{select} AND id IN ({names})", **values)
                found.update(row["id"] for row in rows)
        return found
