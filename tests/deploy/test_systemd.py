"""The units of one machine: understood by systemd, and hardened. No unit is started here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deploy.tools import DEPLOY

FOLDER = DEPLOY / "systemd"
pytestmark = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="needs systemd-analyze (Debian: systemd)"
)


def analyze(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = ["systemd-analyze", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units, with programs that are there: verify looks for them."""
    program = tmp_path / "opt" / "program"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for unit in [*FOLDER.glob("*.service"), *FOLDER.glob("*.timer")]:
        text = unit.read_text()
        for name in ("bin/python", "bin/srs", "share/backup/backup"):
            text = text.replace(f"Start=/opt/srs/{name}", f"Start={program}")
            text = text.replace(f"StartPre=/opt/srs/{name}", f"StartPre={program}")
        (tmp_path / unit.name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("name", ["srs.service", "srs-backup.service", "srs-backup.timer"])
def test_units_are_understood(units: Path, name: str):
    done = analyze("verify", "--man=no", units / name)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_unknown_setting_is_seen(units: Path):
    unit = units / "srs.service"
    unit.write_text(unit.read_text().replace("ProtectSystem=", "ProtectSistem="))
    assert "ProtectSistem" in analyze("verify", "--man=no", unit).stderr


@pytest.mark.parametrize(("name", "most"), [("srs.service", 15), ("srs-backup.service", 25)])
def test_units_are_hardened(name: str, most: int):
    """`systemd-analyze security`: 0 is closed, 100 is open."""
    done = analyze("security", "--offline=true", f"--threshold={most}", FOLDER / name)
    assert done.returncode == 0, done.stdout[-300:]


def test_a_job_that_is_killed_for_its_memory_does_not_stop_the_service():
    assert "OOMPolicy=continue" in (FOLDER / "srs.service").read_text().splitlines()
