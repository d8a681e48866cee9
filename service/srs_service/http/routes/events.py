"""What happens to a job, as server-sent events."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Header, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from srs_service.auth.authentication import Reader
from srs_service.database.events import Event
from srs_service.database.keys import Caller
from srs_service.errors import BadRequest
from srs_service.http.routes.parts import JobId, PartsOf
from srs_service.job import ENDED, Job
from srs_service.jobs.hub import GONE
from srs_service.schemas.problems import problem_responses

if TYPE_CHECKING:
    from srs_service.http.app import Parts

router = APIRouter(prefix="/v1", tags=["jobs"])

HEARTBEAT_SECONDS = 15.0
WAIT_SECONDS = 1.0  # until the time left of a token is looked at again
READ_AT_ONCE = 100
ENDINGS = tuple(f'"status": "{status}"' for status in ENDED)


@router.get(
    "/jobs/{job_id:id}/events",
    summary="Events of a job, live",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "`status` and `progress` events, with ids; ends when the job has ended",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        204: {"description": "the job has ended and there is nothing after Last-Event-ID"},
        **problem_responses(*[400, 401, 403, 404, 422, 429, 503]),
    },
)
async def events(
    parts: PartsOf,
    caller: Reader,
    job_id: JobId,
    last_event_id: Annotated[
        str | None, Header(pattern=r"^[0-9]{1,15}$", description="continue after this event")
    ] = None,
) -> Response:
    """`data` is JSON. Browsers send the cookie of `POST /v1/session`. From the first event on,
    or from the one after `Last-Event-ID`."""
    job = await run_in_threadpool(parts.store.jobs.get, job_id, caller.owner)
    after = int(last_event_id or 0)
    if after > job.last_event:
        raise BadRequest("Last-Event-ID is ahead of the job: start again without it.")
    if job.ended and after == job.last_event:
        return Response(status_code=204)
    counted = ExitStack()
    counted.enter_context(parts.streams.opened(caller.owner))
    return StreamingResponse(
        _stream(parts, caller, job, after, counted),
        media_type="text/event-stream",
        headers={"X-Accel-Buffering": "no", "Cache-Control": "no-store"},
    )


async def _stream(
    parts: Parts, caller: Caller, job: Job, after: int, counted: ExitStack
) -> AsyncIterator[bytes]:
    hub, read = parts.hub, parts.store.events.read
    with counted:
        yield b"retry: 2000\n\n"
        async with hub.watching(job.id, job.last_event, caller) as watch:
            beat = time.monotonic()
            while not hub.refuses(caller):
                found = watch.kept_after(after)
                if found is None:
                    found = await run_in_threadpool(read, job.id, after, READ_AT_ONCE)
                for event in found:
                    yield write_event(event)
                    after = event.number
                    if is_last(event) and event.number >= watch.newest:
                        return
                if watch.newest == GONE or hub.closing.is_set():
                    return
                if not found and not await watch.wait(after, WAIT_SECONDS):
                    now = time.monotonic()
                    if now - beat >= HEARTBEAT_SECONDS:
                        beat = now
                        yield b": still here\n\n"


def write_event(event: Event) -> bytes:
    return f"id: {event.number}\nevent: {event.kind}\ndata: {event.data}\n\n".encode()


def is_last(event: Event) -> bool:
    """Whether the job has ended with this event; if it was resumed since, there are more."""
    return event.kind == "status" and any(ending in event.data for ending in ENDINGS)
