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
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from srs_service.errors import ServiceError, TooLarge, TooSlow, UnsupportedType
from srs_service.http.metrics import Metrics
from srs_service.http.problems import make_problem, of_service_error
from srs_service.settings import Settings

log = logging.getLogger("srs_service")
access_log = logging.getLogger("srs_service.access")

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
    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        exchange = _Exchange(self._app, self._settings, scope, receive, send)
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


class _Exchange:
    """One request and its response."""

    def __init__(
        self, app: ASGIApp, settings: Settings, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self._app = app
        self._settings = settings
        self._scope = scope
        self._receive = receive
        self._send = send
        self.status = 0
        self._body: bytes | None = None
        self._is_upload = scope["path"] == UPLOADS
        headers: dict[bytes, bytes] = dict(scope["headers"])
        self._headers = headers
        given = headers.get(b"x-request-id", b"").decode("latin-1")
        self.id = given if re.fullmatch(r"[\w.-]{1,64}", given, re.ASCII) else secrets.token_hex(8)
        scope["request_id"] = self.id
        # Results are sent whole: a range that cannot be read would be answered as plain text.
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
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = list(message.get("headers", ()))
            names = {name for name, _ in headers}
            headers += [(n, v) for n, v in SECURITY_HEADERS if n not in names]
            if self._settings.is_https:
                headers.append(HTTPS_ONLY)
            if b"content-security-policy" not in names:
                headers.append((b"content-security-policy", POLICY))
            if b"cache-control" not in names:
                headers.append((b"cache-control", b"no-store"))
            headers.append((b"x-request-id", self.id.encode()))
            message = {**message, "headers": headers}
        await self._send(message)
