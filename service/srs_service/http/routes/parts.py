"""What routes share: the parts of the service, pages, and headers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeVar

from fastapi import Depends, Header, Path, Query, Request
from starlette.convertors import Convertor, register_url_convertor

from srs_service.errors import Invalid
from srs_service.job import JobKind, JobStatus

if TYPE_CHECKING:
    from srs_service.http.app import Parts


class _IdConvertor(Convertor[str]):
    """A part of a path without ":", which comes before a verb: /jobs/{job_id}:cancel."""

    regex = "[^/:]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("id", _IdConvertor())


async def _parts(request: Request) -> Any:  # async: no thread is needed for it
    return request.app.state.parts


if TYPE_CHECKING:
    PartsOf = Annotated[Parts, Depends(_parts)]
else:
    PartsOf = Annotated[Any, Depends(_parts)]

JobId = Annotated[
    str, Path(pattern=r"^j_[0-9a-f]{32}$", examples=["j_00112233445566778899aabbccddeeff"])
]
DatasetId = Annotated[
    str, Path(pattern=r"^d_[0-9a-f]{32}$", examples=["d_00112233445566778899aabbccddeeff"])
]
UploadId = Annotated[
    str, Path(pattern=r"^u_[0-9a-f]{32}$", examples=["u_00112233445566778899aabbccddeeff"])
]
Limit = Annotated[int, Query(ge=1, le=200, description="items of a page, at most")]
Cursor = Annotated[
    str | None, Query(max_length=300, description="`next_cursor` of the page before")
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="requests with the same key and body give the same job or dataset",
    ),
]

NEVER = 1e15  # the end of jobs that have not ended, in cursors
JobSort = Literal["created_at", "-created_at", "finished_at", "-finished_at"]
IfNoneMatch = Annotated[str | None, Header(max_length=200)]


def is_known(tag: str, if_none_match: str | None) -> bool:
    """Whether the client has what the tag names: one, several or any, strong or weak.

    >>> is_known('"3"', '"2", W/"3"'), is_known('"3"', "*"), is_known('"3"', '"33"')
    (True, True, False)
    """
    named = {text.strip().removeprefix("W/") for text in (if_none_match or "").split(",")}
    return tag in named or "*" in named


class Stored(Protocol):
    """What stands in a list."""

    @property
    def id(self) -> str: ...

    @property
    def created_at(self) -> float: ...


T = TypeVar("T", bound=Stored)


def cut_page(
    parts: Parts, found: Sequence[T], limit: int, sort: str = "-created_at"
) -> tuple[Sequence[T], str | None]:
    """The first `limit` of what was found, and the cursor of the rest if there is one."""
    if len(found) <= limit:
        return found, None
    last = found[limit - 1]
    place = getattr(last, sort.removeprefix("-"))
    return found[:limit], parts.cursors.write(NEVER if place is None else place, last.id)


class _JobsAsked:
    """Which jobs of a list are wanted, and in which order."""

    def __init__(
        self,
        status: Annotated[
            list[JobStatus] | None, Query(description="only jobs of these statuses; repeat")
        ] = None,
        kind: Annotated[
            list[JobKind] | None, Query(description="only jobs of these kinds; repeat")
        ] = None,
        dataset_id: Annotated[
            str | None, Query(pattern=r"^d_[0-9a-f]{32}$", description="only jobs of this dataset")
        ] = None,
        name: Annotated[
            str | None,
            Query(min_length=1, max_length=200, description="only names that contain this text"),
        ] = None,
        created_after: Annotated[
            datetime | None, Query(description="only jobs that were submitted then or later")
        ] = None,
        created_before: Annotated[
            datetime | None, Query(description="only jobs that were submitted earlier")
        ] = None,
        team: Annotated[
            str | None,
            Query(max_length=64, description="jobs that are shared with this team of yours"),
        ] = None,
        sort: Annotated[JobSort, Query(description="column; -column: the latest first")] = (
            "-created_at"
        ),
    ) -> None:
        given = {
            "status": None if status is None else [one.value for one in status],
            "kind": None if kind is None else [one.value for one in kind],
            "dataset_id": dataset_id,
            "name": None if name is None else name.replace("\0", ""),
            "created_after": _seconds(created_after),
            "created_before": _seconds(created_before),
            "team": None if team is None else team.replace("\0", ""),
        }
        self.filters = {key: value for key, value in given.items() if value is not None}
        self.sort = sort


def _seconds(moment: datetime | None) -> float | None:
    """Seconds since 1970; a time without a zone is in UTC."""
    if moment is None:
        return None
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (OverflowError, ValueError):
        raise Invalid("a time must be between the years 1 and 9999.") from None


JobsAsked = Annotated[_JobsAsked, Depends()]
