"""Fetches files from servers of the public internet for users; see `addresses` for what that is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urljoin

import httpx

from srs_service.data.addresses import pin
from srs_service.errors import Invalid, TooLarge

MAX_REDIRECTS = 5
PART_BYTES = 1 << 20
SECONDS = 3600.0  # a fetch may take at most
TIMEOUT = httpx.Timeout(30.0, connect=10.0)
USER_AGENT = "srs"


def fetch(
    url: str,
    path: Path,
    limit: int,
    trusted: Sequence[str] = (),
    on_bytes: Callable[[int], None] = lambda _n: None,
) -> int:
    """Write what is at `url` to `path`; each redirect is checked as the first address was.

    on_bytes  is told before so many bytes are written
    """
    for _ in range(MAX_REDIRECTS + 1):
        pinned = pin(url, trusted)
        headers = {"Host": pinned.host, "Accept-Encoding": "identity", "User-Agent": USER_AGENT}
        with (
            httpx.Client(timeout=TIMEOUT, trust_env=False, follow_redirects=False) as client,
            _reported(),
            client.stream(
                "GET", pinned.url, headers=headers, extensions={"sni_hostname": pinned.name}
            ) as response,
        ):
            if not response.is_redirect:
                return _write(response, path, limit, on_bytes)
            url = urljoin(url, response.headers["location"])
    raise Invalid("the address redirects too often.")


class _reported:
    """Failures of the network as what users may see."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, httpx.HTTPError | httpx.InvalidURL):
            raise Invalid(f"the address cannot be fetched ({type(error).__name__}).") from None


def _write(
    response: httpx.Response, path: Path, limit: int, on_bytes: Callable[[int], None]
) -> int:
    if response.status_code != 200:
        raise Invalid(f"the server of the address answered {response.status_code}.")
    n_bytes, deadline = 0, time.monotonic() + SECONDS
    with path.open("wb") as file:
        # Raw bytes: a body that claims to be compressed is not inflated here.
        for part in response.iter_raw(PART_BYTES):
            n_bytes += len(part)
            if n_bytes > limit:
                raise TooLarge(f"the source has more than the {limit} bytes that are allowed.")
            if time.monotonic() > deadline:
                raise Invalid("the server of the address sends too slowly.")
            on_bytes(len(part))
            file.write(part)
    return n_bytes
