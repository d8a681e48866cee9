"""Every exception of the service, and its form as RFC 9457 problem details.

ServiceError                its text may be shown to users as it is
├── NotAuthenticated   401  no key, or one that does not count
├── NotAllowed         403  the key lacks a scope
├── NotFound           404  there is no such thing, or it is another user's
├── WrongMethod        405  the path is there, and not for this
├── NotAcceptable      406  none of the forms that the client accepts
├── TooSlow            408  the client sent nothing for too long
├── Conflict           409  the thing is in a state that does not allow it
├── TooLarge           413  more bytes than allowed
│   └── OverQuota      413  more bytes than the user may keep
├── UnsupportedType    415  the body is not of a type that is read
├── Invalid            422  the request makes sense as HTTP and not as a request to us
│   ├── OutOfReach     422  an address or path that must not be read
│   └── DoesNotFit     422  the plan says that it needs more memory than allowed
├── BadRequest         400  a token of ours that is not ours
├── TooMany            429  a limit of requests, streams or waiting jobs
└── Unavailable        503  a part of the service does not answer
    └── DiskFull       503  its disk has no space left
LeaseLost                   for the runner only: another one has the job now
"""

from __future__ import annotations

import errno
from typing import Any

FULL = (errno.ENOSPC, errno.EDQUOT)  # what the system says of a disk without space
TYPE_PREFIX = "urn:srs:problem:"


class ServiceError(Exception):
    """Base of what users may see.

    status   of the response
    code     last part of the problem's type
    title    what all problems of this type are
    headers  of the response
    """

    status = 500
    code = "internal"
    title = "The service failed"

    def __init__(
        self, detail: str, *, headers: dict[str, str] | None = None, **members: Any
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.headers = headers or {}
        self.members = members


class BadRequest(ServiceError):
    status, code, title = 400, "bad-request", "The request cannot be read"


class NotAuthenticated(ServiceError):
    status, code, title = 401, "not-authenticated", "A valid API key is needed"

    def __init__(self) -> None:
        super().__init__(
            "send a valid API key as `Authorization: Bearer KEY` (commands: set SRS_API_KEY; "
            "Python: Client(url, api_key)); your administrator makes one with `srs keys create`.",
            headers={"WWW-Authenticate": "Bearer"},
        )


class NotAllowed(ServiceError):
    status, code, title = 403, "not-allowed", "The key does not allow this"


class NotFound(ServiceError):
    status, code, title = 404, "not-found", "Not found"


class WrongMethod(ServiceError):
    status, code, title = 405, "wrong-method", "The path does not take this method"

    def __init__(self, allowed: str) -> None:
        super().__init__(f"this path takes {allowed}.", headers={"Allow": allowed})


class NotAcceptable(ServiceError):
    status, code, title = 406, "not-acceptable", "None of the accepted formats is available"


class TooSlow(ServiceError):
    status, code, title = 408, "too-slow", "The client sent nothing for too long"


class Conflict(ServiceError):
    status, code, title = 409, "conflict", "The current state does not allow this"


class TooLarge(ServiceError):
    status, code, title = 413, "too-large", "More bytes than allowed"


class OverQuota(TooLarge):
    """The members `needed` and `limit` are the two numbers, in bytes."""

    code, title = "over-quota", "More bytes than you may keep"


class UnsupportedType(ServiceError):
    status, code, title = 415, "unsupported-type", "The type of the body is not supported"


class Invalid(ServiceError):
    status, code, title = 422, "invalid", "The request is not valid"


class OutOfReach(Invalid):
    code, title = "out-of-reach", "This location may not be read"


class DoesNotFit(Invalid):
    """The members `needed_mem` and `allowed_mem` are the two numbers, in bytes."""

    code, title = "does-not-fit", "The job needs more memory than allowed"


class TooMany(ServiceError):
    status, code, title = 429, "too-many", "A limit is reached"

    def __init__(self, detail: str, retry_after: float = 1.0, **members: Any) -> None:
        seconds = str(max(1, round(retry_after)))
        super().__init__(detail, headers={"Retry-After": seconds}, **members)


class Unavailable(ServiceError):
    status, code, title = 503, "unavailable", "A part of the service does not answer"


class DiskFull(Unavailable):
    code, title = "disk-full", "The disk of the service is full"

    def __init__(self) -> None:
        super().__init__("the disk of the service is full: tell the administrator.")


class LeaseLost(Exception):
    """Another runner has the job, or it is gone: what this one did must not be written."""
