"""Lists of the service, page by page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from srs.client.connection import Connection

PAGE = 100  # items a request


def items_of(
    connection: Connection, path: str, params: Mapping[str, Any], limit: int | None = None
) -> Iterator[dict[str, Any]]:
    """The items of a list, at most `limit`, with as few requests as that takes."""
    given = {name: value for name, value in params.items() if value is not None}
    cursor: str | None = None
    while limit is None or limit > 0:
        here = {"limit": PAGE if limit is None else min(PAGE, limit)}
        page = connection.get(path, given | here | ({"cursor": cursor} if cursor else {})).json()
        yield from page["items"]
        cursor = page["next_cursor"]
        limit = None if limit is None else limit - len(page["items"])
        if cursor is None:
            return
