"""Requests to the service: which are repeated, for how long, and what errors become.

A request that never arrived, or was turned away by a limit (429), is sent again whatever it is. One
whose answer was lost is sent again only if that cannot do harm: a GET, or a POST that says that it
may be repeated (it carries an Idempotency-Key, or asks for what may be asked twice).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import httpx

import srs
from srs.errors import (
    AccessError,
    ConflictError,
    InputError,
    MemoryBudgetError,
    MissingError,
    ServiceError,
    SRSError,
    UnavailableError,
)

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 10.0  # seconds between tries
FIRST_CONTACT = 10.0  # seconds; an address that never answered is probably a wrong one
STREAM_SILENCE = 45.0  # seconds; the service sends a heartbeat every 15
# What may be tried again when a repetition does no harm: timeouts and gateways that gave up.
PASSING = frozenset((408, 502, 503, 504))
_ERRORS: dict[int, type[ServiceError]] = {
    401: AccessError,
    403: AccessError,
    404: MissingError,
    409: ConflictError,
    408: UnavailableError,
    429: UnavailableError,
}

Content = Callable[[], Any]


class Connection:
    """One address and one key. Not to be shared between threads that close it."""

    def __init__(self, url: str, api_key: str | None, timeout: float, patience: float) -> None:
        headers = {"User-Agent": f"srs/{srs.__version__}", "Accept": "application/json"}
        if api_key:
            headers["Authorization"] = f"Bearer {api_key}"
        self.url = url.rstrip("/")
        self._patience = patience
        self._timeout = timeout
        self._answered = False
        try:
            # No redirects: the key would travel to wherever the answer points.
            self._http = httpx.Client(
                base_url=self.url,
                headers=headers,
                follow_redirects=False,
            )
        except (httpx.InvalidURL, UnicodeError) as error:
            raise InputError(f"{url!r} is not an address of a service: {error}") from None
        if self._http.base_url.scheme not in ("http", "https"):
            raise InputError(
                f"{url!r} is not the address of a service: it must start with http:// or https://."
            )

    def close(self) -> None:
        self._http.close()

    def _patient(self, read: float) -> httpx.Timeout:
        """Wait so long for an answer, and less for a connection."""
        return httpx.Timeout(self._timeout, connect=min(self._timeout, 10.0), read=read)

    def get(
        self,
        path: str,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> httpx.Response:
        """A GET; `timeout` adds to the seconds that an answer may take."""
        return self._send("GET", path, True, params=params, headers=headers, more_seconds=timeout)

    def post(
        self, path: str, body: Any = None, *, key: str | None = None, repeatable: bool = False
    ) -> httpx.Response:
        """A POST of JSON; with an idempotency key it may be repeated."""
        headers = {} if key is None else {"Idempotency-Key": key}
        return self._send("POST", path, repeatable or key is not None, json=body, headers=headers)

    def upload(self, path: str, content: Content, params: Mapping[str, Any]) -> httpx.Response:
        """A POST of bytes; `content` makes the body anew for each try."""
        headers = {"Content-Type": "application/octet-stream"}
        return self._send("POST", path, False, params=params, headers=headers, content=content)

    def delete(self, path: str) -> None:
        self._send("DELETE", path, False)

    def _send(
        self,
        method: str,
        path: str,
        repeatable: bool,
        *,
        content: Content | None = None,
        more_seconds: float | None = None,
        **request: Any,
    ) -> httpx.Response:
        tries = Tries(self._patience)
        first = Tries(min(self._patience, FIRST_CONTACT))
        timeout = self._patient(self._timeout + (more_seconds or 0.0))
        while True:
            try:
                body = {} if content is None else {"content": content()}
                response = self._http.request(method, path, timeout=timeout, **body, **request)
            except httpx.TransportError as error:
                arrived = not isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout))
                known = arrived or self._answered
                if (arrived and not repeatable) or not (tries if known else first).pause():
                    raise self._no_answer(error, arrived) from None
                continue
            self._answered = True
            if response.is_success or response.status_code == HTTPStatus.NOT_MODIFIED:
                return response
            if not (may_repeat(response, repeatable) and tries.pause(retry_after(response))):
                raise make_error(response)

    @contextmanager
    def stream(self, path: str, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
        """An open response; one try: whoever reads it knows where to go on."""
        timeout = self._patient(STREAM_SILENCE)
        with self._http.stream("GET", path, headers=headers, timeout=timeout) as response:
            if not response.is_success:
                response.read()
                raise make_error(response)
            yield response

    def tries(self) -> Tries:
        """A fresh count of tries."""
        return Tries(self._patience)

    def _no_answer(self, error: httpx.TransportError, arrived: bool) -> UnavailableError:
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        if not arrived:
            return UnavailableError(
                f"{self.url} cannot be reached ({what}): is the service running there (`srs serve` "
                "starts one), and is that its address (SRS_URL or --url; Python: Client(url))?"
            )
        return UnavailableError(
            f"{self.url} gave no answer ({what}); check whether the request was carried out."
        )


class Tries:
    """Pauses that grow from try to try, until patience ends."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self.start_again()

    def start_again(self) -> None:
        """Something worked: be as patient as at the start."""
        self._until = time.monotonic() + self._patience
        self._pause = FIRST_PAUSE

    def pause(self, at_least: float = 0.0) -> bool:
        """Wait before the next try; False, at once, if that would take too long."""
        pause = max(at_least, self._pause * random.uniform(0.5, 1.0))
        if time.monotonic() + pause > self._until:
            return False
        time.sleep(pause)
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        return True


def may_repeat(response: httpx.Response, repeatable: bool) -> bool:
    status = response.status_code
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return True
    # A conflict with a time to wait: the first request with this key is still under way.
    in_a_moment = status == HTTPStatus.CONFLICT and "retry-after" in response.headers
    return repeatable and (status in PASSING or in_a_moment)


def retry_after(response: httpx.Response) -> float:
    """Seconds that the service asks to wait; 0 if it does not say."""
    text = response.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() else 0.0


def make_error(response: httpx.Response) -> SRSError:
    """The exception for a response: what the service said, in its words."""
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if not isinstance(problem, dict) or "detail" not in problem:
        problem = {"detail": f"the service answered {response.status_code} {_phrase(response)}."}
    code = str(problem.get("type", "")).rpartition(":")[2]
    detail = str(problem["detail"])
    if code == "does-not-fit":
        return MemoryBudgetError(detail, problem["needed_mem"], problem["allowed_mem"])
    status = response.status_code
    kind = _ERRORS.get(status, UnavailableError if status >= 500 else ServiceError)
    return kind(detail, status, code, str(problem.get("request_id", "")))


def _phrase(response: httpx.Response) -> str:
    return response.reason_phrase or "without a reason"
