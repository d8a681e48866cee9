"""Every error as `application/problem+json`, also those of the framework."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import compile_path

from srs_service.errors import TYPE_PREFIX, NotFound, ServiceError, WrongMethod
from srs_service.schemas.select_settings import REFUSED

log = logging.getLogger("srs_service")

MEDIA_TYPE = "application/problem+json"
MAX_ERRORS = 20


MAX_GIVEN = 60  # characters of a value that an error repeats
# What is said of wrong values, by the kind of error: as the library says it.
SENTENCES = {
    "less_than": "must be less than {lt}, not {given}.",
    "less_than_equal": "must be at most {le}, not {given}.",
    "greater_than": "must be greater than {gt}, not {given}.",
    "greater_than_equal": "must be at least {ge}, not {given}.",
    "int_type": "must be a whole number, not {given}.",
    "int_parsing": "must be a whole number, not {given}.",
    "int_from_float": "must be a whole number, not {given}.",
    "float_type": "must be a number, not {given}.",
    "float_parsing": "must be a number, not {given}.",
    "bool_type": "must be true or false, not {given}.",
    "string_type": "must be a text, not {given}.",
    "literal_error": "must be {expected}, not {given}.",
    "missing": "is missing.",
    "extra_forbidden": "there is no such field.",
    "model_attributes_type": "must be an object, not {given}.",
    "list_type": "must be a list, not {given}.",
    "dict_type": "must be an object, not {given}.",
    "union_tag_invalid": "{discriminator} must be one of {expected_tags}, not {tag!r}.",
    "union_tag_not_found": "{discriminator} is missing.",
    "json_invalid": "the body is not JSON ({error}).",
}

# Of texts that have a form, by field.
PATTERNS = {
    "memory": "must be an amount of memory, e.g. 512MB or 2GB, not {given}.",
    "filename": "must be a plain name with the ending of a format that is read, e.g. X.npy or "
    "table.csv, not {given}: GET /v1/formats lists the endings.",
}


def make_problem(
    status: int,
    code: str,
    title: str,
    detail: str,
    request_id: str,
    headers: Mapping[str, str] | None = None,
    **members: Any,
) -> Response:
    """The one shape of all errors."""
    body = {
        "type": TYPE_PREFIX + code,
        "title": title,
        "status": status,
        "detail": detail,
        "request_id": request_id,
        **members,
    }
    text = json.dumps(body, ensure_ascii=True, allow_nan=False)
    return Response(text, status, dict(headers or {}), MEDIA_TYPE)


def of_service_error(error: ServiceError, request_id: str) -> Response:
    return make_problem(
        error.status,
        error.code,
        title=error.title,
        detail=error.detail,
        request_id=request_id,
        headers=error.headers,
        **error.members,
    )


def install_problems(app: FastAPI) -> None:
    app.add_exception_handler(ServiceError, _service_error)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, _validation_error)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, _http_error)  # type: ignore[arg-type]


def request_id_of(request: Request) -> str:
    return str(request.scope.get("request_id", ""))


def _service_error(request: Request, error: ServiceError) -> Response:
    return of_service_error(error, request_id_of(request))


def _validation_error(request: Request, error: RequestValidationError) -> Response:
    """What was wrong and where; never the input itself, which may be anything."""
    found = [
        {
            "pointer": _pointer(entry, error.body),
            "detail": _clean(_sentence(entry)),
        }
        for entry in error.errors()[:MAX_ERRORS]
    ]
    malformed = any(entry["type"] == "json_invalid" for entry in error.errors())
    first = _where(found[0]["pointer"]) + found[0]["detail"] if found else "see the documentation."
    return make_problem(
        400 if malformed else 422,
        "malformed" if malformed else "invalid",
        "The body is not JSON" if malformed else "The request is not valid",
        first,
        request_id_of(request),
        errors=found,
    )


def _where(pointer: str) -> str:
    """What a sentence starts with; nothing if it is about the whole body."""
    return "" if pointer == "/" else f"{pointer}: "


def _sentence(entry: Mapping[str, Any]) -> str:
    """What is wrong; of settings that a job cannot have, who may set them."""
    if entry["type"] == "extra_forbidden" and "settings" in entry["loc"]:
        name = str(entry["loc"][-1])
        return REFUSED.get(name, f"there is no setting {name!r}.")
    plain = SENTENCES.get(entry["type"])
    if entry["type"] == "string_pattern_mismatch":
        plain = PATTERNS.get(str(entry["loc"][-1]))
    if plain is None:
        return str(entry["msg"]).removeprefix("Value error, ")
    return plain.format(**entry.get("ctx", {}), given=_given(entry.get("input")))


def _given(value: Any) -> str:
    """What was sent, if it is short enough to be repeated."""
    text = repr(value)
    return text if len(text) <= MAX_GIVEN else "what was sent"


def _http_error(request: Request, error: HTTPException) -> Response:
    """Refusals of the framework: a path or a method that no route has."""
    if error.status_code == 404:
        return _service_error(request, NotFound("there is nothing at this path."))
    if error.status_code == 405:
        methods = ", ".join(sorted(_methods_of(request))) or (error.headers or {}).get("Allow", "")
        return _service_error(request, WrongMethod(methods))
    phrase = HTTPStatus(error.status_code).phrase
    return make_problem(
        error.status_code,
        phrase.lower().replace(" ", "-"),
        title=phrase,
        detail=_clean(str(error.detail)),
        request_id=request_id_of(request),
        headers=error.headers,
    )


def _methods_of(request: Request) -> set[str]:
    """All methods that the document knows of a path; the framework names those of one route."""
    paths: dict[str, dict[str, Any]] = request.app.openapi()["paths"]
    fitting = [path for path in paths if compile_path(path)[0].match(request.url.path)]
    if not fitting:
        return set()
    # /jobs/{id}:cancel fits /jobs/{id} too: the one with more of its own text is meant.
    meant = max(fitting, key=lambda path: len(re.sub(r"{[^}]*}", "", path)))
    methods = {method.upper() for method in paths[meant]}
    return methods | ({"HEAD"} if "GET" in methods else set())


def _pointer(entry: Mapping[str, Any], body: Any) -> str:
    """A JSON pointer for what is in the body, the name for a parameter.

    Parts that lead nowhere in the body are names of the schema's branches, and left out.
    """
    where, *rest = entry["loc"]
    if where != "body":
        return _clean(str(rest[0] if rest else where))
    kept = []
    for part in rest:
        is_item = isinstance(body, list) and isinstance(part, int)
        if is_item or (isinstance(body, dict) and part in body):
            body = body[part]
            kept.append(part)
    if entry["type"] == "missing" and rest:
        kept.append(rest[-1])
    return _clean("/" + "/".join(str(p).replace("~", "~0").replace("/", "~1") for p in kept))


def _clean(text: str) -> str:
    """The text without what could confuse a terminal or an encoder, and not too long."""
    printable = "".join(c if c.isprintable() else "?" for c in text)
    return printable[:500]
