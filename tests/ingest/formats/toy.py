"""A distribution of somebody else with one format: one file, one descriptor, one entry point."""

from __future__ import annotations

from pathlib import Path

MODULE = """
from srs import Format


def read(path, wanted):
    import numpy as np
    from srs.ingest.formats.arrays.in_memory import open_numpy

    return open_numpy(np.loadtxt(path, delimiter="|"), wanted)


FORMAT = Format(
    name="bars",
    title="Bars",
    help="numbers with bars between them",
    open=read,
    suffixes=(".bars",),
    options=("orientation",),
    safe=SAFE,
)
"""


def install_toy(site: Path, safe: bool = True) -> Path:
    """Lay the distribution into a folder that is to be on the path; the folder."""
    about = site / "toy_bars-1.0.dist-info"
    about.mkdir(parents=True)
    (site / "toy_bars.py").write_text(MODULE.replace("SAFE", str(safe)))
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-bars\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[srs.formats]\nbars = toy_bars:FORMAT\n")
    return site


def write_bars(path: Path, rows: list[list[float]]) -> Path:
    path.write_text("".join("|".join(map(str, row)) + "\n" for row in rows))
    return path
