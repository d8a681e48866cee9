"""One service and one proxy for all tests of the client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from srs.client import Client, Dataset, Job
from tests.client.proxy import Proxy
from tests.client.stores import served, write_store
from tests.service.server import Server

SHORT = {"max_trees": 160, "memory": "512MB"}  # settings of a job of two seconds
LONG = {
    "max_seconds": 120.0,
    "memory": "512MB",
    "patience": 1_000,
}  # of one that is still running when looked at


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("service")) as running:
        write_store(running.folder / "stores" / "small.zarr")
        yield running


@pytest.fixture(scope="session")
def client(service: Server) -> Iterator[Client]:
    with Client(service.url, service.key) as client:
        yield client


@pytest.fixture(scope="session")
def dataset(client: Client) -> Dataset:
    return client.datasets.register("small.zarr", name="small")


@pytest.fixture(scope="session")
def done(client: Client, dataset: Dataset) -> Job:
    """A selection that has succeeded."""
    return client.jobs.submit(dataset, name="done", **SHORT).wait(timeout=120)


@pytest.fixture
def proxy(service: Server) -> Iterator[Proxy]:
    with Proxy(service.port) as proxy:
        yield proxy


@pytest.fixture
def by_proxy(service: Server, proxy: Proxy) -> Iterator[Client]:
    """A client whose connections the test may break."""
    with Client(proxy.url, service.key, patience=20.0) as client:
        yield client
