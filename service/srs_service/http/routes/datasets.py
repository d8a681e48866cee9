"""Datasets: register a store, or ingest a source as a job."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from starlette.concurrency import run_in_threadpool

from srs_service.auth.authentication import Reader, Writer
from srs_service.http.routes.parts import (
    Cursor,
    DatasetId,
    IdempotencyKey,
    Limit,
    PartsOf,
    cut_page,
)
from srs_service.schemas.datasets import (
    DatasetChange,
    DatasetPage,
    DatasetRequest,
    DatasetResponse,
)
from srs_service.schemas.jobs import IngestRequest
from srs_service.schemas.problems import problem_responses

router = APIRouter(prefix="/v1/datasets", tags=["datasets"])
LINKS: dict[str, Any] = {
    name: {"operationId": f"datasets_{name}", "parameters": {"dataset_id": "$response.body#/id"}}
    for name in ("get", "delete")
}


@router.post(
    "",
    summary="Register a store, or ingest a source",
    status_code=201,
    responses={
        201: {"links": LINKS},
        202: {"model": DatasetResponse, "description": "an ingest was queued, see `job_id`"},
        **problem_responses(*[400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 503]),
    },
)
async def create(
    parts: PartsOf,
    caller: Writer,
    request: DatasetRequest,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> DatasetResponse:
    """A store is READY immediately (201). A source is ingested by a job (202): watch `job_id`."""
    if request.store is not None:
        dataset = await parts.submitter.register(caller.owner, request, idempotency_key)
    else:
        assert request.source is not None
        ingest = IngestRequest(kind="ingest", name=request.name, source=request.source)
        job, _ = await parts.submitter.submit(caller.owner, ingest, idempotency_key)
        dataset = await run_in_threadpool(parts.store.datasets.get, job.dataset_id, caller.owner)
        response.status_code = 202
        response.headers["Retry-After"] = "1"
    response.headers["Location"] = f"/v1/datasets/{dataset.id}"
    return DatasetResponse.of(dataset)


@router.get(
    "",
    summary="Your datasets, the newest first",
    responses=problem_responses(*[400, 401, 403, 422, 429, 503]),
)
def list_all(
    parts: PartsOf,
    caller: Reader,
    team: Annotated[
        str | None,
        Query(max_length=64, description="datasets that are shared with this team of yours"),
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> DatasetPage:
    before = None if cursor is None else parts.cursors.read(cursor)
    named = None if team is None else team.replace("\0", "")
    found = parts.store.datasets.list(caller.owner, limit=limit + 1, before=before, team=named)
    items, next_cursor = cut_page(parts, found, limit)
    return DatasetPage(items=[DatasetResponse.of(d) for d in items], next_cursor=next_cursor)


@router.get(
    "/{dataset_id:id}",
    summary="A dataset",
    responses=problem_responses(*[401, 403, 404, 422, 429, 503]),
)
def get(parts: PartsOf, caller: Reader, dataset_id: DatasetId) -> DatasetResponse:
    return DatasetResponse.of(parts.store.datasets.get(dataset_id, caller.owner))


@router.patch(
    "/{dataset_id:id}",
    summary="Change the name or the team of a dataset",
    responses=problem_responses(*[400, 401, 403, 404, 408, 413, 415, 422, 429, 503]),
)
def change(
    parts: PartsOf, caller: Writer, dataset_id: DatasetId, request: DatasetChange
) -> DatasetResponse:
    """Who belongs to the team may look at the dataset, and select and explain with it."""
    given = request.model_dump(exclude_unset=True)
    return DatasetResponse.of(parts.store.datasets.change(dataset_id, caller.owner, given))


@router.delete(
    "/{dataset_id:id}",
    summary="Delete a dataset",
    status_code=204,
    responses=problem_responses(*[401, 403, 404, 409, 422, 429, 503]),
)
def delete(parts: PartsOf, caller: Writer, dataset_id: DatasetId) -> None:
    """Deletes what the service wrote, and the uploads that only this dataset was made of; a store
    that was registered by its path is kept."""
    gone = parts.store.datasets.delete(dataset_id, caller.owner)
    if gone.dataset.managed:
        parts.folder.remove_dataset(dataset_id)
    if gone.dataset.job_id is not None:
        parts.folder.remove_job(gone.dataset.job_id)
    for upload_id in gone.upload_ids:
        parts.folder.remove_upload(upload_id)
