"""The files of `deploy/`, and the databases that they are used with."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deploy.tools import DEPLOY
from tests.service.conftest import cluster, postgres_url  # noqa: F401


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of `deploy/`, for scripts that write beside themselves."""
    shutil.copytree(DEPLOY, tmp_path / "deploy", ignore=shutil.ignore_patterns("*.env*", "stores"))
    return tmp_path / "deploy"


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of certificates for service, scheduler and worker."""
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run([DEPLOY / "tls" / "make-certificates", folder], check=True, capture_output=True)
    return folder
