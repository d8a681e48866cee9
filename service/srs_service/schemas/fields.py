"""Fields and the two kinds of models that all requests and responses are made of."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
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


def parse_whole(value: Any) -> Any:
    """JSON has one kind of numbers, and its schemas call 5.0 an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(parse_whole)  # after the bounds, which the document then tells
FeatureId = Annotated[int, Field(ge=0, le=MAX_INT), WHOLE]
CONTROL_CHARACTERS = r"\x00-\x1f\x7f-\x9f\u2028\u2029"


def _no_control_characters(text: str) -> str:
    if re.search(rf"[{CONTROL_CHARACTERS}\ud800-\udfff]", text):
        raise ValueError("must not contain control characters")
    return text


def _text(max_length: int, pattern: str, min_length: int = 1) -> Any:
    """A text; `pattern` is what the document tells, refused with a sentence of our own."""
    return Field(
        min_length=min_length, max_length=max_length, json_schema_extra={"pattern": pattern}
    )


_PLAIN = rf"^[^{CONTROL_CHARACTERS}]+$"
Label = Annotated[str, _text(200, _PLAIN), AfterValidator(_no_control_characters)]
LabelOrEmpty = Annotated[
    str, _text(200, rf"^[^{CONTROL_CHARACTERS}]*$", 0), AfterValidator(_no_control_characters)
]
Location = Annotated[str, _text(2000, _PLAIN), AfterValidator(_no_control_characters)]
# What else is refused of an address, and why, says `srs_service.data.addresses`.
Address = Annotated[
    str,
    _text(2000, rf"^[hH][tT][tT][pP][sS]?://[^ \\{CONTROL_CHARACTERS}]+$"),
    AfterValidator(_no_control_characters),
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
        raise ValueError("must be an amount of memory, e.g. 512MB or 2GB") from None


# Above 0 and below 2**60 bytes, by the pattern alone.
Memory = Annotated[
    str,
    Field(
        pattern=r"^([1-9][0-9]{0,8}(\.[0-9]{1,3})? ?[KMG]|[1-9][0-9]{0,5}(\.[0-9]{1,3})? ?T"
        r"|0\.([1-9][0-9]{0,2}|0[1-9][0-9]?|00[1-9]) ?[KMGT])i?B$"
    ),
]
Identifier = Annotated[str, Field(pattern=r"^[a-z]_[0-9a-f]{32}$")]


def exactly_one(*names: str) -> dict[str, Any]:
    """For the document: one of these fields is given, and the others are absent or null.

    Written as conditions: programs that make clients of a document take `oneOf` for several types.
    """
    first, *rest = names
    given = if_given(first)
    if not rest:
        return given
    return {
        "if": given,
        "then": {"properties": {name: {"type": "null"} for name in rest}},
        "else": exactly_one(*rest),
    }


def if_given(name: str) -> dict[str, Any]:
    """For the document: this field is there, and not null."""
    return {"required": [name], "properties": {name: {"not": {"type": "null"}}}}


def moment(seconds: float | None) -> datetime | None:
    """Seconds since 1970 as a time in UTC."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
