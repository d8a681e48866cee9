"""The real program in a subprocess, and data for it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from srs.cli.app import app
from srs.ingest import ingest

PROGRAM = [sys.executable, "-m", "srs.cli"]


def run_srs(
    *arguments: object, code: int = 0, **options: object
) -> subprocess.CompletedProcess[str]:
    """Run `srs` and check its exit code."""
    command = [*PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)  # type: ignore[call-overload]
    assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def invoke(*arguments: object) -> str:
    """Run `srs` within this process, which saves seconds of imports; returns stdout."""
    done = CliRunner().invoke(app, [str(a) for a in arguments], prog_name="srs")
    assert done.exit_code == 0, done.output
    return done.stdout


def start_srs(arguments: Sequence[object]) -> subprocess.Popen[str]:
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def make_data(n_samples: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, n_features)).astype(np.float32)
    return X, (X[:, 3] + X[:, 7] > 0).astype(np.int32)


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small feature store with 300 features, f3 and f7 relevant."""
    X, y = make_data(200, 300)
    path = tmp_path_factory.mktemp("small") / "small.zarr"
    ingest(X, path, target=y)
    return path


@pytest.fixture(scope="session")
def wide_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store on which a run takes some seconds and has many batches."""
    X, y = make_data(300, 12_000)
    path = tmp_path_factory.mktemp("wide") / "wide.zarr"
    ingest(X, path, target=y)
    return path
