"""Help texts, in this process: nothing is run."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from srs.cli.app import app
from srs.cli.failures import EXIT_CODES
from tests.cli.conftest import run_srs

COMMANDS = tuple(get_command(app).commands)  # type: ignore[attr-defined]


def _help(*arguments: str) -> str:
    done = CliRunner().invoke(app, [*arguments, "--help"], prog_name="srs")
    assert done.exit_code == 0
    return done.output


def test_help_names_commands_examples_and_exit_codes() -> None:
    text = _help()
    for command in COMMANDS:
        assert f"\n  {command} " in text
        assert re.search(rf"\n    srs {command}\b", text), command
    for code, meaning in EXIT_CODES.items():
        assert f"{code:>3}  {meaning}" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_commands_has_examples_and_explains_options(command: str) -> None:
    text = _help(command)
    assert f"\n    srs {command} " in text
    parameters = get_command(app).commands[command].params  # type: ignore[attr-defined]
    unexplained = [p.name for p in parameters if p.name != "help" and len(p.help.split()) < 3]
    assert unexplained == []


def test_version() -> None:
    assert run_srs("--version").stdout.startswith("srs ")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, srs.cli.app\n"
        "heavy = {'numba', 'zarr', 'pyarrow', 'scipy', 'pandas', 'sklearn', 'fastapi', 'httpx'}\n"
        "heavy &= set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
