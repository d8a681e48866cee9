"""Programs that check the files of `deploy/`, and how those files are read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
ENVIRONMENT = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}


def run_tool(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a program that stands beside the interpreter (`pip install '.[dev]'`)."""
    command = [str(Path(sys.executable).parent / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def run_script(
    script: Path, *arguments: object, code: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a script of `deploy/` and check its exit code."""
    done = subprocess.run(
        [str(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**ENVIRONMENT, **environment},
    )
    assert done.returncode == code, f"{script}: {done.stdout}{done.stderr}"
    return done


def read_resources(text: str) -> list[dict[str, Any]]:
    """Resources of Kubernetes in a YAML text."""
    return [document for document in yaml.safe_load_all(text) if document]
