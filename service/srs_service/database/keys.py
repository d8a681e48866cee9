"""API keys, who acts with one, and secrets of the service itself.

Keys are kept as SHA-256 of 256 random bits: nothing that is stored opens anything, and there is
nothing that a slow hash would protect.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from srs_service.database.connection import Database, Row
from srs_service.errors import NotFound

KEY_PREFIX = "srs"
# Of a key k: it has time left, nobody revoked it, and its user may act.
VALID = (
    "k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > {now}) AND NOT EXISTS "
    "(SELECT 1 FROM users u WHERE u.owner = k.owner AND u.disabled_at IS NOT NULL)"
)


@dataclass(frozen=True)
class ApiKey:
    """A key as it is stored: its secret is not.

    id          public part of the key
    owner       the user who acts with it
    name        what it is for
    scopes      what may be done with it
    expires_at  seconds since 1970; None: never
    revoked_at  seconds since 1970; None: it is not
    parent      id of the key that it was made with, and ends with; None: none
    """

    id: str
    owner: str
    name: str
    scopes: tuple[str, ...]
    created_at: float
    expires_at: float | None
    revoked_at: float | None
    parent: str | None = None


@dataclass(frozen=True)
class Caller:
    """Who asks, and what they may do.

    key_id      the API key that they act with, by itself or through a session
    session_id  the session of a browser that they act in
    expires_at  when what they showed stops counting, in seconds since 1970; None: never
    """

    owner: str
    scopes: tuple[str, ...]
    key_id: str | None = None
    session_id: str | None = None
    expires_at: float | None = None


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class Keys:
    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self,
        owner: str,
        name: str,
        scopes: tuple[str, ...],
        days: float | None = None,
        parent: str | None = None,
    ) -> tuple[ApiKey, str]:
        """A new key, and its text, which is shown once and kept nowhere.

        parent  the key that it is made with: it lasts no longer than that one
        """
        key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        with self._database.transaction() as change:
            change.run(
                "INSERT INTO api_keys (id, owner, name, hash, scopes, created_at, expires_at, "
                "parent) VALUES (:id, :owner, :name, :hash, :scopes, {now}, {now} + :seconds, "
                ":parent)",
                id=key_id,
                owner=owner,
                name=name,
                hash=hash_secret(secret),
                scopes=" ".join(scopes),
                seconds=None if days is None else days * 86_400,
                parent=parent,
            )
            if parent is not None:
                change.run(
                    "UPDATE api_keys SET expires_at = (SELECT p.expires_at FROM api_keys p "
                    "WHERE p.id = :parent) WHERE id = :id AND EXISTS (SELECT 1 FROM api_keys p "
                    "WHERE p.id = :parent AND p.expires_at IS NOT NULL "
                    "AND (api_keys.expires_at IS NULL OR api_keys.expires_at > p.expires_at))",
                    id=key_id,
                    parent=parent,
                )
            row = change.one("SELECT * FROM api_keys WHERE id = :id", id=key_id)
        assert row is not None
        return _key(row), f"{KEY_PREFIX}_{key_id}_{secret}"

    def list(self, owner: str | None = None) -> list[ApiKey]:
        """All keys, or those of a user."""
        with self._database.transaction(write=False) as look:
            rows = look.run(
                "SELECT * FROM api_keys WHERE :owner = '' OR owner = :owner "
                "ORDER BY created_at, id",
                owner=owner or "",
            )
        return [_key(row) for row in rows]

    def revoke(self, key_id: str, owner: str | None = None) -> ApiKey:
        """End a key, those that were made with it, and the sessions that began with them.

        owner  whose key it must be; None: anybody's
        """
        with self._database.transaction() as change:
            row = change.one(
                "UPDATE api_keys SET revoked_at = COALESCE(revoked_at, {now}) WHERE id = :id "
                "AND (:owner = '' OR owner = :owner) RETURNING *",
                id=key_id,
                owner=owner or "",
            )
            if row is None:
                raise NotFound(f"there is no key {key_id!r}; `srs keys list` shows all.")
            ended = [key_id]
            for one in ended:  # grows while it is walked
                change.run("DELETE FROM sessions WHERE key_id = :id", id=one)
                made = change.run(
                    "UPDATE api_keys SET revoked_at = COALESCE(revoked_at, {now}) "
                    "WHERE parent = :id RETURNING id",
                    id=one,
                )
                ended += [child["id"] for child in made]
        return _key(row)

    def find(self, text: str) -> Caller | None:
        """Who acts with a key; None if it is unknown, expired or revoked."""
        prefix, _, rest = text.partition("_")
        key_id, _, secret = rest.partition("_")
        with self._database.transaction(write=False) as look:
            row = look.one(
                "SELECT owner, hash, scopes, expires_at FROM api_keys k "
                f"WHERE id = :id AND {VALID}",
                id=key_id.replace("\0", ""),
            )
        # An unknown key is compared too, so that the answer takes as long.
        right = hmac.compare_digest(hash_secret(secret), row["hash"] if row else "0" * 64)
        if row is None or not right or prefix != KEY_PREFIX:
            return None
        scopes = tuple(row["scopes"].split())
        return Caller(row["owner"], scopes, key_id=key_id, expires_at=row["expires_at"])

    # -- secrets of the service -------------------------------------------------------------

    def secret(self, name: str) -> bytes:
        """A random secret that all replicas share; made when it is first asked for."""
        return bytes.fromhex(self.keep_secret(name, secrets.token_hex(32)))

    def keep_secret(self, name: str, value: str) -> str:
        """Write a secret unless there is one of that name; the one that is there now."""
        with self._database.transaction() as change:
            change.run(
                "INSERT INTO secrets (name, value) VALUES (:name, :value) "
                "ON CONFLICT (name) DO NOTHING",
                name=name,
                value=value,
            )
            row = change.one("SELECT value FROM secrets WHERE name = :name", name=name)
        assert row is not None
        return str(row["value"])

    def find_secret(self, name: str) -> str | None:
        with self._database.transaction(write=False) as look:
            row = look.one("SELECT value FROM secrets WHERE name = :name", name=name)
        return None if row is None else str(row["value"])


def _key(row: Row) -> ApiKey:
    values = {name: row[name] for name in ApiKey.__dataclass_fields__}
    return ApiKey(**values | {"scopes": tuple(row["scopes"].split())})
