"""Server-sent events of a job: read, and gone on with after a lost connection."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httpx

from srs.client.connection import Connection
from srs.errors import UnavailableError

ENDED = frozenset(("SUCCEEDED", "FAILED", "CANCELLED"))


@dataclass(frozen=True)
class Event:
    """Something that happened to a job.

    number  grows by one from event to event of a job
    kind    "status" or "progress"
    data    what the service says: the status, or the figures of the progress
    """

    number: int
    kind: str
    data: dict[str, Any]

    @property
    def is_last(self) -> bool:
        """Whether the job ended with it."""
        return self.kind == "status" and self.data.get("status") in ENDED


def follow(connection: Connection, path: str, after: int) -> Iterator[Event]:
    """Events after number `after`, as they happen, until the job has ended."""
    tries = connection.tries()
    while True:
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
        try:
            with connection.stream(path, headers) as response:
                if response.status_code == HTTPStatus.NO_CONTENT:
                    return
                for event in parse(response.iter_lines()):
                    yield event
                    after = event.number
                    tries.start_again()
                    if event.is_last:
                        return
        except UnavailableError as error:
            if not tries.pause():
                raise error from None
        except httpx.TransportError as error:
            if not tries.pause():
                raise UnavailableError(
                    f"the events of the job stopped ({type(error).__name__}: {error})."
                ) from None
        else:
            # The service closed the stream, as it does when it is restarted.
            if not tries.pause():
                raise UnavailableError("the service keeps closing the stream of events.")


def parse(lines: Iterable[str]) -> Iterator[Event]:
    """Events from the lines of a stream.

    >>> list(parse(["retry: 2000", "", "id: 1", "event: status", 'data: {"a": 1}', "", ": beat"]))
    [Event(number=1, kind='status', data={'a': 1})]
    """
    fields: dict[str, str] = {}
    for line in lines:
        if not line:
            if "data" in fields and fields.get("id", "").isdigit():
                kind = fields.get("event", "message")
                yield Event(int(fields["id"]), kind, json.loads(fields["data"]))
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
