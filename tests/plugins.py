"""A package of somebody else: what `pip install` leaves behind, in a folder of a test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def install(folder: Path, group: str, module: str, source: str, *names: str) -> Path:
    """A module, and a dist-info whose entry points of `group` name some of its attributes."""
    (folder / f"{module}.py").write_text(source)
    about = folder / f"{module}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    lines = [f"{name.lower()} = {module}:{name}" for name in names]
    (about / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines, ""]))
    return folder


def environment(folder: Path) -> dict[str, str]:
    """That of a process in which the packages of the folder are installed."""
    paths = (folder, ROOT, ROOT / "service")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}


def run_python(folder: Path, *arguments: str) -> str:
    """What a fresh Python says, with the packages of the folder installed."""
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder,
        env=environment(folder),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
