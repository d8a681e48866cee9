"""Errors on the wire: one shape for all of them (RFC 9457)."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field

from service.schemas.fields import Response


class FieldError(Response):
    """One thing that is wrong with a request."""

    pointer: str = Field(description="JSON pointer into the body, or the name of a parameter")
    detail: str


class Problem(Response):
    """Problem details, `application/problem+json`; types may add members of their own."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [{
                "type": "urn:srs:problem:does-not-fit", "status": 422,
                "title": "The job needs more memory than allowed",
                "detail": "the run needs 1.2GB at least, and 512MB are allowed.",
                "request_id": "5f2c9d0a1b3e4c58", "needed_mem": 1200000000,
                "allowed_mem": 512000000,
            }]
        },
    )  # fmt: skip

    type: str
    title: str
    status: int
    detail: str
    request_id: str
    errors: list[FieldError] | None = None


class JobError(Response):
    """Why a job failed."""

    code: str
    detail: str
    yours: bool = Field(description="whether data or settings are to blame, and not the service")


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Documentation of the problems that a route may answer with."""
    titles = {
        400: "a token or header cannot be read", 401: "a valid key is needed",
        403: "the key lacks a scope", 404: "there is no such thing", 405: "not with this method",
        406: "no form that is accepted", 408: "the client sent nothing for too long",
        409: "the present state does not allow it", 413: "too many bytes",
        415: "not this type of body", 422: "the request is not valid",
        429: "a limit is reached, see Retry-After", 503: "a part does not answer",
    }  # fmt: skip
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {
            "description": titles[status],
            "content": {"application/problem+json": {"schema": schema}},
        }
        for status in statuses
    }
