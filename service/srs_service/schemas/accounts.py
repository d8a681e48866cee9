"""Users, keys, teams and the audit log on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field

from srs_service.database.accounts.audit import Entry
from srs_service.database.accounts.users import User
from srs_service.database.keys import ApiKey
from srs_service.database.space import Usage
from srs_service.schemas.fields import WHOLE, Label, Request, Response, moment
from srs_service.schemas.jobs import JobResponse

Team = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", examples=["genomics"])]


class UsageResponse(Response):
    """Bytes that a user keeps; what is under way counts with what is reserved for it."""

    n_bytes: int = Field(description="bytes in all")
    limit: int = Field(description="bytes that may be kept")
    uploads: int = Field(description="bytes of uploads")
    datasets: int = Field(description="bytes of feature stores that the service wrote")
    jobs: int = Field(description="bytes of results, checkpoints and unpacked sources")

    @classmethod
    def of(cls, usage: Usage, limit: int) -> Self:
        return cls(
            n_bytes=usage.total,
            limit=limit,
            uploads=usage.uploads,
            datasets=usage.datasets,
            jobs=usage.jobs,
        )


class KeyRequest(Request):
    """A key for a program or another machine of yours."""

    name: Label = Field(description="what it is for", examples=["laptop"])
    scopes: list[Literal["read", "write", "metrics", "admin"]] = Field(
        ["read", "write"],
        min_length=1,
        max_length=4,
        description="what it allows; no more than what you asked with",
        json_schema_extra={"uniqueItems": True},
    )
    days: Annotated[int, Field(ge=1, le=3650), WHOLE] = Field(
        90, description="days until it expires; it ends with the key that it was made with"
    )


class KeyResponse(Response):
    """A key of yours; its text is not kept."""

    id: str = Field(description="public part of the key")
    name: str = Field(description="what it is for")
    scopes: list[str] = Field(description="what it allows")
    created_at: datetime = Field(description="when it was made")
    expires_at: datetime | None = Field(description="when it stops counting; null: never")
    revoked_at: datetime | None = Field(description="when it was revoked; null: it was not")
    parent: str | None = Field(description="the key that it was made with, and ends with")

    @classmethod
    def of(cls, key: ApiKey) -> Self:
        return cls(
            id=key.id,
            name=key.name,
            scopes=list(key.scopes),
            created_at=moment(key.created_at),
            expires_at=moment(key.expires_at),
            revoked_at=moment(key.revoked_at),
            parent=key.parent,
        )


class NewKey(Response):
    """A key that was just made: this is the only time that its text is told."""

    key: str = Field(description="the text to send as `Authorization: Bearer KEY`")
    about: KeyResponse


class KeyList(Response):
    """Your keys, the oldest first."""

    items: list[KeyResponse]


class UserResponse(Response):
    """A user, for administrators."""

    name: str = Field(description="name of the user")
    disabled_at: datetime | None = Field(description="since when nothing of the user counts")
    share: float = Field(description="of the runners, against the 1 of others")
    teams: list[str] = Field(description="whose shared datasets and results the user reads")
    n_waiting: int = Field(description="jobs that wait")
    n_running: int = Field(description="jobs that run")
    n_bytes: int = Field(description="bytes that the user keeps")

    @classmethod
    def of(cls, user: User) -> Self:
        return cls(
            name=user.name,
            disabled_at=moment(user.disabled_at),
            share=user.share,
            teams=list(user.teams),
            n_waiting=user.n_waiting,
            n_running=user.n_running,
            n_bytes=user.n_bytes,
        )


class UserList(Response):
    """Users by name."""

    items: list[UserResponse]
    next_name: str | None = Field(description="give it as `after` for the next page")


class UserChange(Request):
    """What administrators change of a user; what is absent or null stays."""

    disabled: bool | None = Field(None, description="true: keys, sessions and tokens stop counting")
    share: Annotated[float, Field(gt=0, le=1000)] | None = Field(
        None, description="of the runners, against the 1 of others"
    )
    teams: list[Team] | None = Field(
        None, max_length=100, description="all teams of the user but those of the issuer's groups"
    )


class PriorityChange(Request):
    """What administrators change of a job."""

    priority: Annotated[int, Field(ge=-100, le=100), WHOLE] = Field(
        description="among the jobs of its owner: the highest is taken first"
    )


class OwnedJob(Response):
    """A job with its owner, for administrators."""

    owner: str
    job: JobResponse


class OwnedJobPage(Response):
    """Some jobs of all users, the newest first."""

    items: list[OwnedJob]
    next_cursor: str | None = Field(description="give it as `cursor` for the next page")


class AuditEntry(Response):
    """Who did what to which id from where."""

    id: str
    at: datetime = Field(description="when")
    actor: str = Field(description="the user")
    action: str = Field(description="the operation, by its id in this document")
    thing: str = Field(description="id of what it was done to; empty if there is none")
    address: str = Field(description="where the request came from")
    key_id: str | None = Field(description="key that it was done with; null: a token, or none")
    status: int = Field(description="of the response")
    request_id: str = Field(description="as in the log of the service")

    @classmethod
    def of(cls, entry: Entry) -> Self:
        return cls(
            id=entry.id,
            at=moment(entry.created_at),
            actor=entry.actor,
            action=entry.action,
            thing=entry.thing,
            address=entry.address,
            key_id=entry.key_id,
            status=entry.status,
            request_id=entry.request_id,
        )


class AuditPage(Response):
    """Some entries of the audit log, the newest first."""

    items: list[AuditEntry]
    next_cursor: str | None = Field(description="give it as `cursor` for the next page")
