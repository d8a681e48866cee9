"""Sessions of browsers: a key is exchanged for a cookie that scripts cannot read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fastapi import APIRouter, Request, Response, Security

from srs_service.auth.authentication import COOKIE, Reader, bearer, key_id_of
from srs_service.http.routes.parts import PartsOf
from srs_service.schemas.fields import Response as Schema
from srs_service.schemas.problems import problem_responses

router = APIRouter(prefix="/v1/session", tags=["session"])


class Session(Schema):
    """Who is signed in."""

    user: str
    scopes: list[str]
    expires_at: datetime | None = None


@router.post(
    "",
    summary="Sign in with a key",
    status_code=201,
    responses=problem_responses(*[400, 401, 408, 413, 415, 429, 503]),
)
def sign_in(
    parts: PartsOf, request: Request, response: Response, _key: object = Security(bearer)
) -> Session:
    """Sets a cookie for pages of this service: HttpOnly, SameSite=Strict."""
    settings = parts.settings
    caller = parts.authenticator.identify(request)
    parts.rates.count(caller.owner)
    token = parts.store.keys.open_session(caller, key_id_of(request), settings.session_hours)
    response.set_cookie(
        COOKIE,
        token,
        max_age=int(settings.session_hours * 3600),
        httponly=True,
        samesite="strict",
        path="/",
        secure=(settings.base_url or "").startswith("https"),
    )
    expires = datetime.now(UTC) + timedelta(hours=settings.session_hours)
    return Session(user=caller.owner, scopes=list(caller.scopes), expires_at=expires)


@router.get("", summary="Who is signed in", responses=problem_responses(401, 403, 429, 503))
def who(caller: Reader) -> Session:
    return Session(user=caller.owner, scopes=list(caller.scopes))


@router.delete(
    "", summary="Sign out", status_code=204, responses=problem_responses(401, 403, 429, 503)
)
def sign_out(parts: PartsOf, request: Request, response: Response, _caller: Reader) -> None:
    token = request.cookies.get(COOKIE)
    if token is not None:
        parts.store.keys.close_session(token)
    response.delete_cookie(COOKIE, path="/")
