"""Fields and the two kinds of models that all requests and responses are made of."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    ByteSize,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

MAX_INT = 2**31 - 1


class Request(BaseModel):
    """What a client sends: nothing unknown, nothing converted, no infinite numbers."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True)


class Response(BaseModel):
    """What the service sends."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _no_control_characters(text: str) -> str:
    if re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", text):
        raise ValueError("must not hold control characters")
    return text


Label = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_no_control_characters)]
Location = Annotated[
    str, Field(min_length=1, max_length=2000), AfterValidator(_no_control_characters)
]
_BYTES = TypeAdapter(ByteSize)


def parse_memory(text: str) -> int:
    """Bytes from "512MB" or "2GB".

    >>> parse_memory("512MB"), parse_memory("1.5 GB")
    (512000000, 1500000000)
    """
    try:
        return int(_BYTES.validate_python(text))
    except (ValidationError, OverflowError):
        raise ValueError("must be an amount of memory, as 512MB or 2GB") from None


def _check_memory(text: str) -> str:
    if not 0 < parse_memory(text) < 2**60:
        raise ValueError("must be an amount of memory, as 512MB or 2GB")
    return text


Memory = Annotated[
    str,
    Field(pattern=r"^[0-9]{1,9}(\.[0-9]{1,3})? ?(KB|MB|GB|TB|KiB|MiB|GiB|TiB)$"),
    AfterValidator(_check_memory),
]
Identifier = Annotated[str, Field(pattern=r"^[a-z]_[0-9a-f]{32}$")]


def moment(seconds: float | None) -> datetime | None:
    """Seconds since 1970 as a time in UTC."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
