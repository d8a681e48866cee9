"""Who asks: API keys as bearer tokens, cookies of browser sessions, tokens of an OIDC issuer.

Every refusal is the same 401, whatever was wrong. Requests with a cookie that change something
must come from our own pages (the browser says so in Sec-Fetch-Site or Origin).
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPBearer

from srs_service.auth.tokens import Identity, TokenReader
from srs_service.database import JobStore
from srs_service.database.keys import KEY_PREFIX, Caller
from srs_service.errors import NotAllowed, NotAuthenticated
from srs_service.settings import LOOPBACK, Settings

Scope = Literal["read", "write", "metrics", "admin"]
SCOPES: tuple[str, ...] = get_args(Scope)
LOCAL = Caller("local", SCOPES)  # who everybody is without keys
COOKIE = "srs_session"
MAX_KNOWN = 10_000  # users whose teams are remembered
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

bearer = HTTPBearer(
    scheme_name="key", auto_error=False, description="an API key (`srs keys create`) or OIDC token"
)
cookie = APIKeyCookie(
    name=COOKIE, scheme_name="session", auto_error=False, description="POST /v1/session sets it"
)


class Authenticator:
    """Finds out who asks."""

    def __init__(self, settings: Settings, store: JobStore) -> None:
        self._settings = settings
        self._store = store
        self._tokens = None if settings.oidc_issuer is None else TokenReader(settings)
        self._teams: dict[str, tuple[str, ...]] = {}  # as they were last written

    def identify(self, request: Request) -> Caller:
        """The caller; NotAuthenticated if that is nobody."""
        if not self._settings.auth:
            self._require_local(request)
            return LOCAL
        if not _bearer_text(request):
            return _known(self._identify_cookie(request))
        return self.identify_bearer(request)

    def identify_bearer(self, request: Request) -> Caller:
        """The same by a key or token alone: a session must not open another."""
        if not self._settings.auth:
            return self.identify(request)
        text = _bearer_text(request)
        return _known(self._read(text) if text else None)

    def _read(self, text: str) -> Caller | None:
        if self._tokens is None or text.startswith(f"{KEY_PREFIX}_"):
            return self._store.keys.find(text)
        found = self._tokens.read(text)
        return None if found is None else self.admit(found)

    def admit(self, found: Identity) -> Caller | None:
        """Who a token speaks for, with the teams of its groups; None if the user is disabled."""
        if self._store.users.is_disabled(found.caller.owner):
            return None
        if self._teams.get(found.caller.owner) != found.teams:
            self._store.users.set_teams_of_issuer(found.caller.owner, found.teams)
            if len(self._teams) > MAX_KNOWN:
                self._teams.clear()
            self._teams[found.caller.owner] = found.teams
        return found.caller

    def _identify_cookie(self, request: Request) -> Caller | None:
        token = request.cookies.get(cookie_name(self._settings))
        if token is None:
            return None
        if request.method not in SAFE_METHODS and not self._from_our_page(request):
            return None
        return self._store.sessions.find(token)

    @staticmethod
    def _require_local(request: Request) -> None:
        """Without keys, a page of another site that runs on this machine must get nothing."""
        site = request.headers.get("sec-fetch-site", "none")
        origin = request.headers.get("origin")
        foreign = origin is not None and urlsplit(origin).hostname not in LOOPBACK
        if request.url.hostname not in LOOPBACK or site not in ("none", "same-origin") or foreign:
            raise NotAllowed("without keys the service answers to pages of its own only.")

    def _from_our_page(self, request: Request) -> bool:
        site = request.headers.get("sec-fetch-site")
        if site is not None:
            return site == "same-origin"
        origin = request.headers.get("origin")
        ours = self._settings.base_url or f"{request.url.scheme}://{request.url.netloc}"
        return origin is not None and origin == "/".join(ours.split("/")[:3])


def _known(caller: Caller | None) -> Caller:
    if caller is None:
        raise NotAuthenticated
    return caller


def cookie_name(settings: Settings) -> str:
    """The name of the cookie of sessions. With __Host- a browser takes it over https only, from
    this very host, and no other page of the domain can set one in its place."""
    return f"__Host-{COOKIE}" if settings.is_https else COOKIE


def _bearer_text(request: Request) -> str:
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    return text.strip() if kind.lower() == "bearer" else ""


def _caller(request: Request, scope: str) -> Caller:
    parts = request.app.state.parts
    caller: Caller = parts.authenticator.identify(request)
    request.scope["caller"] = caller  # for the audit log
    request.scope["rate"] = parts.rates.count(caller.owner)
    if scope not in caller.scopes:
        raise NotAllowed(f"the key lacks the scope {scope!r}: ask for one that has it.")
    parts.check_parameters(request)
    return caller


def _reader(
    request: Request, _key: object = Security(bearer), _session: object = Security(cookie)
) -> Caller:
    return _caller(request, "read")


def _writer(
    request: Request, _key: object = Security(bearer), _session: object = Security(cookie)
) -> Caller:
    return _caller(request, "write")


def _measurer(request: Request, _key: object = Security(bearer)) -> Caller:
    return _caller(request, "metrics")


def _administrator(
    request: Request, _key: object = Security(bearer), _session: object = Security(cookie)
) -> Caller:
    return _caller(request, "admin")


Administrator = Annotated[Caller, Depends(_administrator)]
Reader = Annotated[Caller, Depends(_reader)]
Writer = Annotated[Caller, Depends(_writer)]
Measurer = Annotated[Caller, Depends(_measurer)]
