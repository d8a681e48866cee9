"""A service with a feature store to register: for tests of the client and of the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import srs
from tests.service.server import Server

HOSTILE_NAME = '<img src=x onerror="document.title=1"> & "x"'


@contextmanager
def served(folder: Path, **settings: Any) -> Iterator[Server]:
    """`srs serve` whose users may register stores of the folder "stores"."""
    stores = folder / "stores"
    stores.mkdir()
    server = Server(folder, store_roots=stores, **settings).start()
    try:
        yield server
    finally:
        server.stop()


def write_store(path: Path, n_features: int = 2_000) -> None:
    """300 samples; f7 and one whose name is HTML are relevant."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, n_features)).astype(np.float32)
    y = np.where(X[:, 3] + X[:, 7] > 0, "case", "control")
    names = [f"f{i}" for i in range(n_features)]
    names[3] = HOSTILE_NAME
    srs.ingest(pd.DataFrame(X, columns=names), path, target=y)
