"""Idempotency keys: what a request made that a client may send again.

A key belongs to one user, and to the body that it first came with. It goes with the job or the
dataset that it made, or after some days.
"""

from __future__ import annotations

from dataclasses import dataclass

from srs_service.database.connection import Row, Transaction
from srs_service.errors import Invalid


@dataclass(frozen=True)
class RequestKey:
    """A request that may be sent again.

    text       the client's Idempotency-Key
    body_hash  of the request; the key with another one is refused
    """

    owner: str
    text: str
    body_hash: str


def find_made(look: Transaction, key: RequestKey) -> Row | None:
    """`job_id` or `dataset_id` that was made with this key; Invalid if its body was another."""
    row = look.one(
        "SELECT job_id, dataset_id, body_hash FROM request_keys WHERE owner = :owner "
        "AND key = :key",
        owner=key.owner,
        key=key.text,
    )
    if row is not None and row["body_hash"] != key.body_hash:
        raise Invalid("this Idempotency-Key was used with another body: use a new key.")
    return row


def take_turn(change: Transaction, owner: str) -> None:
    """Requests of one user with keys are stored one after the other, on all replicas."""
    change.run(
        "INSERT INTO users (owner) VALUES (:owner) "
        "ON CONFLICT (owner) DO UPDATE SET last_claim = users.last_claim",
        owner=owner,
    )


def remember_made(
    change: Transaction,
    key: RequestKey,
    *,
    job_id: str | None = None,
    dataset_id: str | None = None,
) -> None:
    """Keep what was made, one of the two, with the transaction that made it."""
    change.run(
        "INSERT INTO request_keys (owner, key, body_hash, job_id, dataset_id, created_at) "
        "VALUES (:owner, :key, :hash, :job_id, :dataset_id, {now})",
        owner=key.owner,
        key=key.text,
        hash=key.body_hash,
        job_id=job_id,
        dataset_id=dataset_id,
    )


def forget_old(change: Transaction, days: float) -> None:
    """Remove keys that are older than so many days."""
    change.run(
        "DELETE FROM request_keys WHERE created_at < {now} - :seconds", seconds=days * 86_400
    )
