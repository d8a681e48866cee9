"""Sign-ins with an issuer that are under way: what must come back is kept for some minutes."""

from __future__ import annotations

from dataclasses import dataclass

from srs_service.database.connection import Database
from srs_service.database.keys import hash_secret


@dataclass(frozen=True)
class SignIn:
    """What was sent to the issuer, to be compared with what comes back.

    state     random; in the address that the browser comes back to, and in its cookie
    verifier  whose hash was sent (PKCE): only who has it can use the code
    nonce     that the token must hold
    """

    state: str
    verifier: str
    nonce: str


class SignIns:
    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, begun: SignIn, seconds: float) -> None:
        with self._database.transaction() as change:
            change.run("DELETE FROM sign_ins WHERE expires_at < {now}")
            change.run(
                "INSERT INTO sign_ins (hash, verifier, nonce, expires_at) "
                "VALUES (:hash, :verifier, :nonce, {now} + :seconds)",
                hash=hash_secret(begun.state),
                verifier=begun.verifier,
                nonce=begun.nonce,
                seconds=seconds,
            )

    def take(self, state: str) -> SignIn | None:
        """What was begun with a state; once."""
        with self._database.transaction() as change:
            row = change.one(
                "DELETE FROM sign_ins WHERE hash = :hash AND expires_at > {now} "
                "RETURNING verifier, nonce",
                hash=hash_secret(state),
            )
        return None if row is None else SignIn(state, row["verifier"], row["nonce"])
