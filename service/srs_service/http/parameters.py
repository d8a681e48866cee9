"""Parameters that there are not are refused: a filter with a slip would else give everything."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute

from srs_service.errors import Invalid

QUERY = "query"
MAX_NAME = 60  # characters of a name that a refusal repeats


def refuse_unknown_parameters(request: Request) -> None:
    """Invalid if the query names what the document does not know of the route."""
    route: Any = request.scope.get("route")
    if not request.query_params or not isinstance(route, APIRoute) or not route.include_in_schema:
        return
    operation = request.app.openapi()["paths"][route.path_format][request.method.lower()]
    known = frozenset(one["name"] for one in operation.get("parameters", ()) if one["in"] == QUERY)
    for name in request.query_params:
        if name not in known:
            raise Invalid(_sentence(name, known), parameter=name[:MAX_NAME])


def _sentence(name: str, known: frozenset[str]) -> str:
    """What is wrong, and what may be meant.

    >>> _sentence("statuss", frozenset({"status", "limit"}))
    "there is no parameter 'statuss' here: did you mean 'status'?"
    """
    shown = repr(name[:MAX_NAME])
    near = get_close_matches(name, known, 1)
    if near:
        return f"there is no parameter {shown} here: did you mean {near[0]!r}?"
    there = ", ".join(sorted(known)) or "none"
    return f"there is no parameter {shown} here; there is {there}."
