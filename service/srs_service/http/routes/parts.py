"""What routes share: the parts of the service, pages, and headers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

from fastapi import Depends, Header, Path, Query, Request
from starlette.convertors import Convertor, register_url_convertor

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


def cut_page(parts: Parts, found: Sequence[T], limit: int) -> tuple[Sequence[T], str | None]:
    """The first `limit` of what was found, and the cursor of the rest if there is one."""
    if len(found) <= limit:
        return found, None
    last = found[limit - 1]
    return found[:limit], parts.cursors.write(last.created_at, last.id)
