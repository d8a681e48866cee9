"""What a user has here: bytes and keys."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from srs_service.auth.authentication import Reader, Writer
from srs_service.errors import NotAllowed
from srs_service.http.routes.parts import PartsOf
from srs_service.schemas.accounts import KeyList, KeyRequest, KeyResponse, NewKey, UsageResponse
from srs_service.schemas.problems import problem_responses

router = APIRouter(prefix="/v1", tags=["account"])

KeyId = Annotated[str, Path(pattern=r"^[0-9a-f]{12}$", examples=["00112233aabb"])]


@router.get("/usage", summary="What you keep", responses=problem_responses(401, 403, 429, 503))
def usage(parts: PartsOf, caller: Reader) -> UsageResponse:
    """Deleting a dataset frees its store, its source and its uploads."""
    found = parts.store.space.usage(caller.owner)
    return UsageResponse.of(found, int(parts.settings.max_user_data))


@router.get("/keys", summary="Your keys", responses=problem_responses(401, 403, 429, 503))
def list_keys(parts: PartsOf, caller: Reader) -> KeyList:
    return KeyList(items=[KeyResponse.of(key) for key in parts.store.keys.list(caller.owner)])


@router.post(
    "/keys",
    summary="Make a key of your own",
    status_code=201,
    responses=problem_responses(*[400, 401, 403, 408, 413, 415, 422, 429, 503]),
)
def create_key(parts: PartsOf, caller: Writer, request: KeyRequest) -> NewKey:
    """It allows no more than what it is made with, and ends with the key that it is made with."""
    beyond = set(request.scopes) - set(caller.scopes)
    if beyond:
        raise NotAllowed(f"you do not have the scope {min(beyond)!r} yourself.")
    if not parts.settings.auth:
        raise NotAllowed("without keys there is nothing to make one for: everybody is `local`.")
    key, text = parts.store.keys.create(
        caller.owner, request.name, tuple(request.scopes), request.days, caller.key_id
    )
    return NewKey(key=text, about=KeyResponse.of(key))


@router.delete(
    "/keys/{key_id:id}",
    summary="Revoke a key of yours",
    status_code=204,
    responses=problem_responses(*[401, 403, 404, 422, 429, 503]),
)
def revoke_key(parts: PartsOf, caller: Writer, key_id: KeyId) -> None:
    """Ends the key, the keys that were made with it, and their sessions."""
    parts.store.keys.revoke(key_id, caller.owner)
