"""Uploads: files that a user sends, streamed to disk, to be ingested."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from srs_service.auth.authentication import Reader, Writer
from srs_service.data.uploads import FILENAME, receive_upload
from srs_service.http.routes.parts import Cursor, Limit, PartsOf, UploadId, cut_page
from srs_service.schemas.datasets import UploadPage, UploadResponse
from srs_service.schemas.problems import problem_responses

router = APIRouter(prefix="/v1/uploads", tags=["datasets"])


@router.post(
    "",
    summary="Upload a file",
    status_code=201,
    responses=problem_responses(*[400, 401, 403, 408, 413, 422, 429, 503]),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/octet-stream": {
                    "schema": {"type": "string", "format": "binary", "minLength": 1}
                }
            },
        }
    },
)
async def upload(
    parts: PartsOf,
    caller: Writer,
    request: Request,
    filename: Annotated[
        str,
        Query(
            pattern=FILENAME,
            max_length=200,
            examples=["X.npy"],
            description="name of the file; its ending gives the format, see `/v1/formats`",
        ),
    ],
) -> UploadResponse:
    """The body is the file itself. Use its id as a source, a target or a zipped feature store."""
    length = request.headers.get("content-length", "")
    added = await receive_upload(
        parts,
        caller.owner,
        filename,
        body=request.stream(),
        length=int(length) if length.isdigit() else None,
    )
    return UploadResponse.of(added)


@router.get(
    "",
    summary="Your uploads, the newest first",
    responses=problem_responses(*[400, 401, 403, 422, 429, 503]),
)
def list_uploads(
    parts: PartsOf, caller: Reader, limit: Limit = 50, cursor: Cursor = None
) -> UploadPage:
    before = None if cursor is None else parts.cursors.read(cursor)
    found = parts.store.uploads.list(caller.owner, limit=limit + 1, before=before)
    items, next_cursor = cut_page(parts, found, limit)
    return UploadPage(items=[UploadResponse.of(u) for u in items], next_cursor=next_cursor)


@router.get(
    "/{upload_id:id}",
    summary="An upload",
    responses=problem_responses(*[401, 403, 404, 422, 429, 503]),
)
def get_upload(parts: PartsOf, caller: Reader, upload_id: UploadId) -> UploadResponse:
    return UploadResponse.of(parts.store.uploads.get(upload_id, caller.owner))


@router.delete(
    "/{upload_id:id}",
    summary="Delete an upload",
    status_code=204,
    responses=problem_responses(*[401, 403, 404, 422, 429, 503]),
)
def delete_upload(parts: PartsOf, caller: Writer, upload_id: UploadId) -> None:
    parts.store.uploads.delete(upload_id, caller.owner)
    parts.folder.remove_upload(upload_id)
    for job_id in parts.store.space.readers_of(upload_id, caller.owner):
        parts.store.space.note_job(job_id, parts.folder.size_of_job(job_id))
