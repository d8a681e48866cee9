"""Real clusters of real processes, and a store of many small chunks."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import srs
from tests.planted import make_planted

SETTINGS: dict[str, Any] = {
    "seed": 3,
    "subspace_size": 64,
    "max_passes": 6,
    "memory": "600MB",
    "holdout": 0.1,
}


@contextmanager
def running_cluster(n_workers: int, threads: int = 1, **options: Any) -> Iterator[Any]:
    """A client of a cluster of processes."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=threads,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            **options,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def two_workers() -> Iterator[Any]:
    with running_cluster(2) as client:
        yield client


def make_chunky(path: Path, n: int = 300, p: int = 3_000, chunk_bytes: int = 1 << 14) -> Path:
    """A store of many chunks, so that a pass has many tasks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("srs.store.layout.CHUNK_BYTES", chunk_bytes)
        X, y = make_planted(n=n, p=p)
        srs.ingest(X.astype("f4"), path, target=y)
    return path


@pytest.fixture(scope="session")
def chunky(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """47 chunks, 12 batches a pass."""
    return make_chunky(tmp_path_factory.mktemp("chunky") / "s.zarr")


@pytest.fixture(scope="session")
def undisturbed(chunky: Path) -> str:
    """The bytes that every run of SETTINGS on `chunky` must give."""
    return outcome_bytes(srs.select(chunky, threads=1, **SETTINGS))


def outcome_bytes(result: srs.Result) -> str:
    """result.json as it is written, times aside, and the table of all features."""
    document = {k: v for k, v in result.document.items() if k != "measured"}
    return json.dumps(document, indent=1) + repr(result.table.to_pydict())
