"""Stores to serve, services to ask, and both databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import srs
from srs_service.database import JobStore
from srs_service.database.connection import Database, PostgresDatabase, SqliteDatabase
from srs_service.database.migrations import migrate
from tests.service.postgres import running_cluster
from tests.service.server import Server, register


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is open to users, with a store of two relevant features, and a wider one."""
    folder = tmp_path_factory.mktemp("root")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 60))
    srs.ingest(X, folder / "small.zarr", target=(X[:, 3] + X[:, 7] > 0).astype(int))
    X = rng.normal(size=(300, 4_000)).astype(np.float32)
    srs.ingest(X, folder / "wide.zarr", target=(X[:, 5] > 0).astype(int))
    return folder


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[Server]:
    """A service that all tests of a module share."""
    server = Server(tmp_path_factory.mktemp("service"), store_roots=root, max_running=2)
    try:
        yield server.start()
    finally:
        server.stop()


@pytest.fixture(scope="module")
def client(service: Server) -> Iterator[httpx.Client]:
    with service.client() as opened:
        yield opened


@pytest.fixture(scope="module")
def dataset_id(client: httpx.Client) -> str:
    return register(client, "small.zarr")


@pytest.fixture
def start_service(tmp_path: Path, root: Path) -> Iterator[Callable[..., Server]]:
    """Starts services with settings of the test's own; they end with the test."""
    started: list[Server] = []

    def start(**settings: Any) -> Server:
        folder = tmp_path / f"service{len(started)}"
        folder.mkdir()
        server = Server(folder, **{"store_roots": root, **settings})
        started.append(server)
        return server.start()

    yield start
    for server in started:
        server.kill()


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """The URL of a running PostgreSQL."""
    with running_cluster() as url:
        yield url


@pytest.fixture
def postgres_url(cluster: str) -> str:
    """The URL of an empty database."""
    import psycopg

    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS service WITH (FORCE)")
        connection.execute("CREATE DATABASE service")
    return cluster.replace("/postgres?", "/service?")


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Both databases: what is promised of jobs holds on either."""
    opened: Database
    if request.param == "sqlite":
        opened = SqliteDatabase(tmp_path / "service.sqlite3", 8)
    else:
        opened = PostgresDatabase(request.getfixturevalue("postgres_url"), 8)
    try:
        yield opened
    finally:
        opened.close()


@pytest.fixture
def store(database: Database) -> JobStore:
    migrate(database)
    return JobStore(database)
