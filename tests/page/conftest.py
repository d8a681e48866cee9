"""One service and one browser for all tests of the page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from srs.client import Client
from tests.client.stores import served, write_store
from tests.page.browser import Browser, missing_browser, opened
from tests.service.server import Server


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    reason = missing_browser()
    if reason:
        pytest.skip(reason)
    with served(tmp_path_factory.mktemp("service")) as running:
        write_store(running.folder / "stores" / "small.zarr")
        yield running


@pytest.fixture(scope="package")
def client(service: Server) -> Iterator[Client]:
    with Client(service.url, service.key) as client:
        yield client


@pytest.fixture(scope="package")
def browser(service: Server) -> Iterator[Browser]:
    """Signed in, on a laptop."""
    with opened(service.url) as browser:
        browser.sign_in(service.key)
        yield browser
