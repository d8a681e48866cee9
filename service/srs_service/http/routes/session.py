"""Sessions of browsers: a key is exchanged for a cookie that scripts cannot read."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response, Security
from pydantic import Field
from starlette.responses import RedirectResponse

from srs_service.auth.authentication import Reader, bearer, cookie_name
from srs_service.auth.sign_in import CALLBACK, SECONDS, STATE_COOKIE
from srs_service.database.keys import Caller
from srs_service.database.sessions import Session as StoredSession
from srs_service.errors import NotAllowed, NotAuthenticated
from srs_service.http.routes.parts import PartsOf
from srs_service.schemas.fields import Response as Schema
from srs_service.schemas.problems import problem_responses

router = APIRouter(prefix="/v1", tags=["session"])
sign_in_router = APIRouter(include_in_schema=False, tags=["session"])  # for browsers only

MAX_BROWSER = 200  # characters of a User-Agent that are kept
SessionId = Annotated[
    str, Path(pattern=r"^s_[0-9a-f]{32}$", examples=["s_00112233445566778899aabbccddeeff"])
]


class Session(Schema):
    """Who is signed in."""

    user: str = Field(description="name of the user")
    scopes: list[str] = Field(description="what they may do; with `admin`, an administrator")
    teams: list[str] = Field(description="whose shared datasets and results they read")
    expires_at: datetime | None = Field(
        None, description="when what was shown stops counting; null: never"
    )


class OpenSession(Schema):
    """One of your sessions; `current`: the one that asks."""

    id: str
    key_id: str | None
    browser: str
    created_at: datetime
    expires_at: datetime
    current: bool

    @classmethod
    def of(cls, session: StoredSession, current: str | None) -> OpenSession:
        return cls(
            id=session.id,
            key_id=session.key_id,
            browser=session.browser,
            created_at=_time(session.created_at),
            expires_at=_time(session.expires_at),
            current=session.id == current,
        )


class SessionList(Schema):
    """Your sessions, the newest first."""

    items: list[OpenSession]


@router.post(
    "/session",
    summary="Sign in with a key",
    status_code=201,
    responses=problem_responses(*[400, 401, 403, 408, 413, 415, 429, 503]),
)
def sign_in(
    parts: PartsOf, request: Request, response: Response, _key: object = Security(bearer)
) -> Session:
    """Sets a cookie for pages of this service: HttpOnly, SameSite=Strict. The session ends with
    the key or token that opened it; a session cannot open another."""
    settings = parts.settings
    caller = parts.authenticator.identify_bearer(request)
    parts.rates.count(caller.owner)
    if not settings.auth:
        raise NotAllowed("without keys there are no sessions: everybody is `local`.")
    browser = request.headers.get("user-agent", "")[:MAX_BROWSER]
    request.scope["caller"] = caller
    session = _open(parts, caller, browser, response)
    return _who(parts, replace(caller, expires_at=session.expires_at))


@router.get("/session", summary="Who is signed in", responses=problem_responses(401, 403, 429, 503))
def who(parts: PartsOf, caller: Reader) -> Session:
    """`expires_at` is when the key, token or session that was shown stops counting."""
    return _who(parts, caller)


@router.delete(
    "/session", summary="Sign out", status_code=204, responses=problem_responses(401, 403, 429, 503)
)
def sign_out(parts: PartsOf, response: Response, caller: Reader) -> None:
    """Ends the session that asks."""
    if caller.session_id is not None:
        parts.store.sessions.close(caller.session_id, caller.owner)
    response.delete_cookie(
        cookie_name(parts.settings),
        path="/",
        secure=parts.settings.is_https,
        httponly=True,
        samesite="strict",
    )


@router.get("/sessions", summary="Your sessions", responses=problem_responses(401, 403, 429, 503))
def sessions(parts: PartsOf, caller: Reader) -> SessionList:
    """Browsers that are signed in as you, the newest first."""
    found = parts.store.sessions.list(caller.owner)
    return SessionList(items=[OpenSession.of(one, caller.session_id) for one in found])


@router.delete(
    "/sessions/{session_id:id}",
    summary="End one of your sessions",
    status_code=204,
    responses=problem_responses(*[401, 403, 404, 422, 429, 503]),
)
def end(parts: PartsOf, caller: Reader, session_id: SessionId) -> None:
    parts.store.sessions.close(session_id, caller.owner)


@router.delete(
    "/sessions",
    summary="End your other sessions",
    status_code=204,
    responses=problem_responses(401, 403, 429, 503),
)
def end_others(parts: PartsOf, caller: Reader) -> None:
    """All of your sessions but the one that asks, if it is one."""
    parts.store.sessions.close_all(caller.owner, but=caller.session_id)


@sign_in_router.get("/sign-in")
def begin_sign_in(parts: PartsOf) -> Response:
    """Sends a browser to the issuer of sign-ins."""
    address, state = parts.sign_in.begin()
    response = RedirectResponse(address, 303)
    response.set_cookie(
        STATE_COOKIE,
        state,
        max_age=int(SECONDS),
        httponly=True,
        samesite="lax",  # it comes back from another site
        path=CALLBACK,
        secure=parts.settings.is_https,
    )
    return response


@sign_in_router.get(CALLBACK)
def finish_sign_in(
    parts: PartsOf,
    request: Request,
    code: Annotated[str | None, Query(max_length=4_000)] = None,
    state: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Takes a browser back from the issuer, and opens its session."""
    if code is None:  # the issuer says `error`: the user may not, or did not want to
        raise NotAuthenticated
    identity = parts.sign_in.finish(code, state, request.cookies.get(STATE_COOKIE))
    caller = parts.authenticator.admit(identity)
    if caller is None:
        raise NotAuthenticated
    request.scope["caller"] = caller
    response = RedirectResponse("/", 303)
    _open(parts, caller, request.headers.get("user-agent", "")[:MAX_BROWSER], response)
    response.delete_cookie(STATE_COOKIE, path=CALLBACK)
    return response


def _open(parts: PartsOf, caller: Caller, browser: str, response: Response) -> StoredSession:
    """A session for a browser, and its cookie in the response."""
    settings = parts.settings
    session, token = parts.store.sessions.open(caller, settings.session_hours * 3600, browser)
    response.set_cookie(
        cookie_name(settings),
        token,
        max_age=max(1, int(session.expires_at - session.created_at)),
        httponly=True,
        samesite="strict",
        path="/",
        secure=settings.is_https,
    )
    return session


def _who(parts: PartsOf, caller: Caller) -> Session:
    return Session(
        user=caller.owner,
        scopes=list(caller.scopes),
        teams=list(parts.store.users.teams(caller.owner)),
        expires_at=None if caller.expires_at is None else _time(caller.expires_at),
    )


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
