"""What every request passes: an id, limits on its body, security headers, a line in the log.

Plain ASGI: bodies and streams are not gathered here. The application answers 500 to a bug, with
the request's id and nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from srs_service.database.accounts.audit import Audit
from srs_service.errors import ServiceError, TooLarge, TooSlow, UnsupportedType
from srs_service.http.audit_trail import AuditTrail
from srs_service.http.metrics import Metrics
from srs_service.http.problems import make_problem, of_service_error
from srs_service.settings import Settings

log = logging.getLogger("srs_service")
access_log = logging.getLogger("srs_service.access")

RANGE_WRONG = 416
METHODS_WITH_BODY = ("POST", "PUT", "PATCH")
UPLOADS = "/v1/uploads"  # whose bodies are files, counted where they are written
SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
HTTPS_ONLY = (b"strict-transport-security", b"max-age=31536000")  # a year
# Pages load nothing from elsewhere; a report brings its own styles inline.
POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' "
    b"data:; connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; "
    b"frame-ancestors 'none'"
)


class Guard:
    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics, audit: Audit) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics
        self._audit = AuditTrail(settings, audit)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        wire = Wire(scope, receive, send)
        exchange = _Exchange(self._app, self._settings, self._audit, wire)
        try:
            await exchange.run()
        finally:
            self._note(scope, exchange, time.perf_counter() - started)

    def _note(self, scope: Scope, exchange: _Exchange, seconds: float) -> None:
        path = getattr(scope.get("route"), "path_format", "unknown")
        status = exchange.status or 499  # the client went before it had an answer
        self._metrics.count_request(scope["method"], path, status, seconds)
        access_log.info(
            "request",
            extra={
                "request_id": exchange.id,
                "method": scope["method"],
                "route": path,
                "status": status,
                "seconds": round(seconds, 4),
            },
        )


@dataclass(frozen=True)
class Wire:
    """What ASGI gives for a request."""

    scope: Scope
    receive: Receive
    send: Send


class _Exchange:
    """One request and its response."""

    def __init__(self, app: ASGIApp, settings: Settings, audit: AuditTrail, wire: Wire) -> None:
        scope = wire.scope
        self._app = app
        self._settings = settings
        self._audit = audit
        self._scope = scope
        self._receive = wire.receive
        self._send = wire.send
        self._body_dropped = False
        self._is_head = scope["method"] == "HEAD"
        if self._is_head:  # answered as GET is, without the body
            scope["method"] = "GET"
        self.status = 0
        self._body: bytes | None = None
        self._is_upload = scope["path"] == UPLOADS
        headers: dict[bytes, bytes] = dict(scope["headers"])
        self._headers = headers
        given = headers.get(b"x-request-id", b"").decode("latin-1")
        self.id = given if re.fullmatch(r"[\w.-]{1,64}", given, re.ASCII) else secrets.token_hex(8)
        scope["request_id"] = self.id
        # What is not one plain range would be answered in several parts, or as plain text.
        if not re.fullmatch(rb"bytes=(\d+-\d*|-\d+)", headers.get(b"range", b"bytes=0-")):
            scope["headers"] = [h for h in scope["headers"] if h[0] not in (b"range", b"if-range")]

    async def run(self) -> None:
        try:
            if self._scope["method"] in METHODS_WITH_BODY and not self._is_upload:
                self._check_headers()
                self._body = await self._read_body()
            await self._app(self._scope, self.receive, self.send)
        except ServiceError as error:
            await self._answer(of_service_error(error, self.id))
        except ClientDisconnect:
            pass  # there is nobody to answer
        except Exception:
            log.exception("unexpected error", extra={"request_id": self.id})
            await self._answer(
                make_problem(
                    500,
                    "internal",
                    "The service failed",
                    "an unexpected error; tell the administrator the request_id.",
                    self.id,
                )
            )

    async def _answer(self, response: Any) -> None:
        if not self.status:
            await response(self._scope, self.receive, self.send)

    def _check_headers(self) -> None:
        """Refuse by its headers what would be refused anyway."""
        length = self._headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self._settings.max_body:
            raise self._too_large()
        kind = self._headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        has_body = length != b"0" or b"transfer-encoding" in self._headers
        if has_body and kind != b"application/json":
            raise UnsupportedType("send the body as application/json.")

    def _too_large(self) -> TooLarge:
        return TooLarge(
            f"a body may have {self._settings.max_body} bytes.", limit=self._settings.max_body
        )

    async def _read_body(self) -> bytes:
        """A JSON body, whole: it is small, and the framework would hide why it did not come."""
        async with self._in_time():
            return await self._gather()

    async def _gather(self) -> bytes:
        parts = []
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            parts.append(message.get("body", b""))
            if sum(map(len, parts)) > self._settings.max_body:
                raise self._too_large()
            if not message.get("more_body"):
                return b"".join(parts)

    async def receive(self) -> Message:
        """The body, as it comes or as it was read; then news of the client."""
        if self._body_dropped:
            return {"type": "http.disconnect"}  # who asked for a head waits for no stream
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        if self.status or not self._is_upload:
            return await self._receive()
        async with self._in_time():  # the next part of an upload
            return await self._receive()

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        """A client that stalls is given up."""
        try:
            async with asyncio.timeout(self._settings.request_seconds):
                yield
        except TimeoutError:
            raise TooSlow("the body did not arrive in time.") from None

    async def send(self, message: Message) -> None:
        if self._body_dropped:
            return
        if message["type"] != "http.response.start":
            await self._send(message)
            return
        self.status = message["status"]
        await self._audit.note(self._scope, message, self.id)
        if self.status == RANGE_WRONG:
            self.status = 0
            await self._refuse_range(message)
            return
        await self._send({**message, "headers": self._headers_of(message)})
        if self._is_head:
            self._body_dropped = True
            await self._send({"type": "http.response.body", "body": b""})

    def _headers_of(self, message: Message) -> list[tuple[bytes, bytes]]:
        headers = list(message.get("headers", ()))
        names = {name for name, _ in headers}
        headers += [(n, v) for n, v in SECURITY_HEADERS if n not in names]
        if self._settings.is_https:
            headers.append(HTTPS_ONLY)
        if b"content-security-policy" not in names:
            headers.append((b"content-security-policy", POLICY))
        if b"cache-control" not in names:
            headers.append((b"cache-control", b"no-store"))
        rate = self._scope.get("rate")
        if rate is not None:
            headers += [(n.lower().encode(), v.encode()) for n, v in rate.headers.items()]
        headers.append((b"x-request-id", self.id.encode()))
        return headers

    async def _refuse_range(self, message: Message) -> None:
        """A range beyond the end of a file: a problem in the place of the framework's text."""
        size = dict(message["headers"]).get(b"content-range", b"*").decode()
        problem = make_problem(
            422,
            "invalid",
            title="The request is not valid",
            detail=f"the range is beyond the file, which has {size.rpartition('/')[2]} bytes.",
            request_id=self.id,
        )
        await problem(self._scope, self.receive, self.send)
        self._body_dropped = True
