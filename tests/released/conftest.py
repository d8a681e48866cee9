"""The released files in folders of the tests' own: nothing writes where they are kept."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.released.runs import HERE, STORES


def unpack(name: str, folder: Path) -> None:
    with zipfile.ZipFile(HERE / name) as packed:
        packed.extractall(folder)


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all released stores."""
    folder = tmp_path_factory.mktemp("released")
    for name in STORES:
        unpack(f"stores/{name}.zip", folder)
    return folder


@pytest.fixture
def study(unpacked: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same as the current folder, where released results look for their stores."""
    monkeypatch.chdir(unpacked)
    return unpacked


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[str], Path]:
    """Copies a released folder, so that a test may write into it."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(HERE / name, tmp_path / name))

    return copy
