"""HTTP connections: a request's head must come in time, and what is no HTTP gets a problem, too.

Bodies are timed in `middleware`; between requests uvicorn's own limit holds.
"""

from __future__ import annotations

import asyncio
import secrets

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from srs_service.http.problems import make_problem


class PatientProtocol(H11Protocol):
    """Ends a connection whose first bytes, or the rest of a head, do not come in time."""

    head_seconds = 20.0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._cancel()
        elif self._timer is None:
            self._start()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        """Answer to bytes that are no request; the application never sees them."""
        request_id = secrets.token_hex(8)
        problem = make_problem(
            400,
            "malformed",
            title="The request cannot be read",
            detail="these bytes are not an HTTP request, or its head is too long.",
            request_id=request_id,
            headers={"Connection": "close", "X-Request-ID": request_id},
        )
        head = h11.Response(status_code=400, headers=problem.raw_headers, reason=b"Bad Request")
        for event in (head, h11.Data(data=bytes(problem.body)), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _start(self) -> None:
        self._timer = self.loop.call_later(self.head_seconds, self.transport.close)

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def protocol_with(seconds: float) -> type[PatientProtocol]:
    """The protocol with a limit."""
    return type("PatientProtocol", (PatientProtocol,), {"head_seconds": seconds})
