"""For administrators (scope `admin`): all users and jobs, and the audit log."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from srs_service.auth.authentication import Administrator
from srs_service.http.routes.parts import Cursor, JobId, JobsAsked, Limit, PartsOf, cut_page
from srs_service.schemas.accounts import (
    AuditEntry,
    AuditPage,
    OwnedJob,
    OwnedJobPage,
    PriorityChange,
    UsageResponse,
    UserChange,
    UserList,
    UserResponse,
)
from srs_service.schemas.jobs import JobResponse
from srs_service.schemas.problems import problem_responses

router = APIRouter(prefix="/v1/admin", tags=["admin"])

UserName = Annotated[str, Path(min_length=1, max_length=300, examples=["ann"])]
READ = problem_responses(*[400, 401, 403, 404, 422, 429, 503])
CHANGE = problem_responses(*[400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 503])


@router.get("/users", summary="All users", responses=READ)
def list_users(
    parts: PartsOf,
    _caller: Administrator,
    limit: Limit = 50,
    after: Annotated[str, Query(max_length=300, description="`next_name` of the page before")] = "",
) -> UserList:
    found = parts.store.users.list(limit=limit + 1, after=after.replace("\0", ""))
    items = [UserResponse.of(user) for user in found[:limit]]
    return UserList(items=items, next_name=items[-1].name if len(found) > limit else None)


@router.get("/users/{user}", summary="A user", responses=READ)
def get_user(parts: PartsOf, _caller: Administrator, user: UserName) -> UserResponse:
    return UserResponse.of(parts.store.users.get(user.replace("\0", "")))


@router.get("/users/{user}/usage", summary="What a user keeps", responses=READ)
def get_usage(parts: PartsOf, _caller: Administrator, user: UserName) -> UsageResponse:
    name = parts.store.users.get(user.replace("\0", "")).name
    return UsageResponse.of(parts.store.space.usage(name), int(parts.settings.max_user_data))


@router.patch("/users/{user}", summary="Disable a user, or change share or teams", responses=CHANGE)
def change_user(
    parts: PartsOf, _caller: Administrator, user: UserName, request: UserChange
) -> UserResponse:
    """Keys, sessions, tokens and open streams of a disabled user stop counting within a second;
    jobs go on, see `/v1/admin/jobs`."""
    changed = parts.store.users.change(
        user.replace("\0", ""),
        disabled=request.disabled,
        share=request.share,
        teams=request.teams,
    )
    return UserResponse.of(changed)


@router.get("/jobs", summary="Jobs of all users, the newest first", responses=READ)
def list_jobs(
    parts: PartsOf,
    _caller: Administrator,
    asked: JobsAsked,
    owner: Annotated[
        str | None, Query(min_length=1, max_length=300, description="only jobs of this user")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> OwnedJobPage:
    before = None if cursor is None else parts.cursors.read(cursor)
    filters = asked.filters | ({} if owner is None else {"owner": owner.replace("\0", "")})
    found = parts.store.jobs.list(
        None, limit=limit + 1, before=before, filters=filters, sort=asked.sort
    )
    items, next_cursor = cut_page(parts, found, limit, asked.sort)
    shown = [OwnedJob(owner=job.owner, job=JobResponse.of(job)) for job in items]
    return OwnedJobPage(items=shown, next_cursor=next_cursor)


@router.post(
    "/jobs/{job_id:id}:cancel",
    summary="Cancel a job of any user",
    status_code=202,
    responses=CHANGE,
)
def cancel_job(
    parts: PartsOf, _caller: Administrator, job_id: JobId, response: Response
) -> OwnedJob:
    job = parts.store.jobs.cancel(job_id, None)
    parts.runner.wake()
    response.headers["Retry-After"] = "1"
    return OwnedJob(owner=job.owner, job=JobResponse.of(job))


@router.patch("/jobs/{job_id:id}", summary="Change the priority of a job", responses=CHANGE)
def change_job(
    parts: PartsOf, _caller: Administrator, job_id: JobId, request: PriorityChange
) -> OwnedJob:
    job = parts.store.jobs.change(job_id, None, {"priority": request.priority})
    return OwnedJob(owner=job.owner, job=JobResponse.of(job))


@router.get("/audit", summary="Who did what, the newest first", responses=READ)
def list_audit(
    parts: PartsOf,
    _caller: Administrator,
    actor: Annotated[str | None, Query(max_length=300, description="only of this user")] = None,
    thing: Annotated[str | None, Query(max_length=100, description="only to this id")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> AuditPage:
    """Every request that changed something, or was refused after it was known who asked."""
    before = None if cursor is None else parts.cursors.read(cursor)
    found = parts.store.audit.list(
        limit=limit + 1,
        before=before,
        actor=None if actor is None else actor.replace("\0", ""),
        thing=None if thing is None else thing.replace("\0", ""),
    )
    items, next_cursor = cut_page(parts, found, limit)
    return AuditPage(items=[AuditEntry.of(one) for one in items], next_cursor=next_cursor)
