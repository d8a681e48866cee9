"""Jobs: plan, submit, look, cancel, finish, resume, delete."""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Response
from starlette.concurrency import run_in_threadpool

from srs_service.auth.authentication import Reader, Writer
from srs_service.errors import NotAuthenticated
from srs_service.http.routes.parts import (
    Cursor,
    IdempotencyKey,
    IfNoneMatch,
    JobId,
    JobsAsked,
    Limit,
    PartsOf,
    cut_page,
    is_known,
)
from srs_service.job import Job
from srs_service.schemas.jobs import (
    JOB_EXAMPLES,
    JobChange,
    JobPage,
    JobRequest,
    JobResponse,
    PlanRequest,
    PlanResponse,
)
from srs_service.schemas.problems import problem_responses

router = APIRouter(prefix="/v1", tags=["jobs"])
# What can be done with a job that was submitted, for programs that read the document.
LINKS: dict[str, Any] = {
    name: {"operationId": f"jobs_{name}", "parameters": {"job_id": "$response.body#/id"}}
    for name in ("get", "cancel", "finish", "resume", "delete")
} | {
    name: {"operationId": f"results_{name}", "parameters": {"job_id": "$response.body#/id"}}
    for name in ("result", "features", "report")
}


@router.post(
    "/jobs",
    summary="Submit a job",
    status_code=202,
    responses={
        202: {"links": LINKS},
        **problem_responses(*[400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 503]),
    },
)
async def submit(
    parts: PartsOf,
    caller: Writer,
    response: Response,
    request: Annotated[JobRequest, Body(openapi_examples=JOB_EXAMPLES)],
    idempotency_key: IdempotencyKey = None,
) -> JobResponse:
    """The plan is checked before the job is accepted: 422 says what is needed and allowed."""
    job, _ = await parts.submitter.submit(caller.owner, request, idempotency_key)
    return _accepted(response, job)


@router.post(
    "/jobs:plan",
    summary="Predict the cost of a selection without running it",
    responses=problem_responses(*[400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 503]),
)
async def plan(parts: PartsOf, caller: Reader, request: PlanRequest) -> PlanResponse:
    return PlanResponse(**await parts.submitter.plan(caller.owner, request))


@router.get(
    "/jobs",
    summary="Your jobs, the newest first",
    responses=problem_responses(*[400, 401, 403, 422, 429, 503]),
)
def list_all(
    parts: PartsOf, caller: Reader, asked: JobsAsked, limit: Limit = 50, cursor: Cursor = None
) -> JobPage:
    before = None if cursor is None else parts.cursors.read(cursor)
    found = parts.store.jobs.list(
        caller.owner, limit=limit + 1, before=before, filters=asked.filters, sort=asked.sort
    )
    items, next_cursor = cut_page(parts, found, limit, asked.sort)
    return JobPage(items=[JobResponse.of(job) for job in items], next_cursor=next_cursor)


@router.get(
    "/jobs/{job_id:id}",
    summary="A job",
    response_model=JobResponse,
    responses={
        304: {"description": "nothing changed since the ETag in If-None-Match"},
        **problem_responses(*[401, 403, 404, 422, 429, 503]),
    },
)
async def get(
    parts: PartsOf,
    caller: Reader,
    job_id: JobId,
    response: Response,
    if_none_match: IfNoneMatch = None,
    wait: Annotated[
        float,
        Query(
            ge=0,
            le=60,
            description="seconds to wait: for a change after If-None-Match, or, "
            "without that, for the end of the job",
        ),
    ] = 0.0,
) -> Response | JobResponse:
    job = await run_in_threadpool(parts.store.jobs.get, job_id, caller.owner)
    until = time.monotonic() + wait
    with parts.streams.opened(caller.owner) if wait and not job.ended else nullcontext():
        while not job.ended and (left := until - time.monotonic()) > 0:
            if if_none_match is not None and not is_known(etag(job), if_none_match):
                break
            async with parts.hub.watching(job_id, job.last_event, caller) as watch:
                await watch.wait(job.last_event, left)
                if parts.hub.refuses(caller):
                    raise NotAuthenticated
            job = await run_in_threadpool(parts.store.jobs.get, job_id, caller.owner)
    if is_known(etag(job), if_none_match):
        return Response(status_code=304, headers={"ETag": etag(job)})
    response.headers["ETag"] = etag(job)
    return JobResponse.of(job)


@router.post(
    "/jobs/{job_id:id}:cancel",
    summary="Cancel a job",
    status_code=202,
    responses=problem_responses(*[401, 403, 404, 408, 409, 413, 415, 422, 429, 503]),
)
def cancel(parts: PartsOf, caller: Writer, job_id: JobId, response: Response) -> JobResponse:
    """A waiting job is CANCELLED, a running one CANCELLING until its checkpoint is written."""
    job = parts.store.jobs.cancel(job_id, caller.owner)
    parts.runner.wake()
    return _accepted(response, job)


@router.post(
    "/jobs/{job_id:id}:finish",
    summary="End a selection with what it has found",
    status_code=202,
    responses=problem_responses(*[401, 403, 404, 408, 409, 413, 415, 422, 429, 503]),
)
def finish(parts: PartsOf, caller: Writer, job_id: JobId, response: Response) -> JobResponse:
    """A running selection ends after the batch that it is at, and succeeds with its list so far."""
    job = parts.store.jobs.ask_to_finish(job_id, caller.owner)
    parts.runner.wake()
    return _accepted(response, job)


@router.post(
    "/jobs/{job_id:id}:resume",
    summary="Resume a cancelled or failed job",
    status_code=202,
    responses=problem_responses(*[401, 403, 404, 408, 409, 413, 415, 422, 429, 503]),
)
def resume(parts: PartsOf, caller: Writer, job_id: JobId, response: Response) -> JobResponse:
    """It continues from its checkpoint, to the same result as an uninterrupted run."""
    job = parts.store.jobs.resume(job_id, caller.owner, parts.submitter.limits)
    parts.runner.wake()
    return _accepted(response, job)


@router.patch(
    "/jobs/{job_id:id}",
    summary="Change the name, labels, priority or team of a job",
    responses=problem_responses(*[400, 401, 403, 404, 408, 413, 415, 422, 429, 503]),
)
def change(parts: PartsOf, caller: Writer, job_id: JobId, request: JobChange) -> JobResponse:
    """What is absent stays as it is; null takes a name or a team away."""
    given = request.model_dump(exclude_unset=True)
    if "name" in given:
        given["name"] = given["name"] or ""
    return JobResponse.of(parts.store.jobs.change(job_id, caller.owner, given))


@router.delete(
    "/jobs/{job_id:id}",
    summary="Delete a job that has ended, and its data",
    status_code=204,
    responses=problem_responses(*[401, 403, 404, 409, 422, 429, 503]),
)
def delete(parts: PartsOf, caller: Writer, job_id: JobId) -> None:
    parts.store.jobs.delete(job_id, caller.owner)
    parts.folder.remove_job(job_id)


def etag(job: Job) -> str:
    return f'"{job.last_event}"'


def _accepted(response: Response, job: Job) -> JobResponse:
    response.headers["Location"] = f"/v1/jobs/{job.id}"
    response.headers["Retry-After"] = "1"
    response.headers["ETag"] = etag(job)
    return JobResponse.of(job)
