"""A service with data to work on, for as long as a benchmark runs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import srs
from tests.service.server import Server


@contextmanager
def serving(n_features: int = 60, n_samples: int = 120, **settings: Any) -> Iterator[Server]:
    """A running service with one store, "data.zarr", of which two features are relevant."""
    with tempfile.TemporaryDirectory(prefix="srs-bench-") as name:
        folder = Path(name)
        (folder / "root").mkdir()
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_samples, n_features)).astype(np.float32)
        y = (X[:, 3] + X[:, 7] > 0).astype(int)
        srs.ingest(X, folder / "root" / "data.zarr", target=y)
        server = Server(folder, store_roots=folder / "root", **settings)
        try:
            yield server.start()
        finally:
            server.kill()
