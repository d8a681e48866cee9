"""Errors on the wire: one shape for all of them (RFC 9457)."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field

from srs_service.schemas.fields import Response


class FieldError(Response):
    """One thing that is wrong with a request."""

    pointer: str = Field(description="JSON pointer into the body, or the name of a parameter")
    detail: str


class Problem(Response):
    """Problem details, `application/problem+json`; types may add members of their own."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:srs:problem:does-not-fit",
                    "status": 422,
                    "title": "The job needs more memory than allowed",
                    "detail": "the run needs 1.2GB at least, and 512MB are allowed.",
                    "request_id": "5f2c9d0a1b3e4c58",
                    "needed_mem": 1200000000,
                    "allowed_mem": 512000000,
                }
            ]
        },
    )

    type: str
    title: str
    status: int
    detail: str
    request_id: str
    errors: list[FieldError] | None = None


class JobError(Response):
    """Why a job failed; if it does not fit in memory, with needed_mem and allowed_mem."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]

    code: str = Field(description="a word for programs")
    detail: str = Field(description="a sentence for people")
    yours: bool = Field(
        description="true if the data or settings are the cause, false if the service is"
    )


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Documentation of the problems that a route may answer with."""
    titles = {
        400: "a token or header cannot be read",
        401: "a valid key is needed",
        403: "the key lacks a scope",
        404: "not found",
        405: "method not allowed",
        406: "no accepted format is available",
        408: "the client sent nothing for too long",
        409: "the current state does not allow it",
        413: "too many bytes",
        415: "type of body not supported",
        422: "the request is not valid",
        429: "a limit is reached, see Retry-After",
        503: "a part of the service does not answer",
    }
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {
            "description": titles[status],
            "content": {"application/problem+json": {"schema": schema}},
        }
        for status in statuses
    }
