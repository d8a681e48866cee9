"""A package of somebody else: one file with an analysis, installed with its entry point."""

from __future__ import annotations

from pathlib import Path

MODULE = '''
"""How far the mean of a feature is from 0."""

from srs.catalogue import Analysis, Option, Section


def distance(data, target=None, *, power=1, absolute=True, seed=0, threads=None, on_progress=None):
    from srs import analyses  # here: who only names the analysis need not load them

    matrix = analyses.open_matrix(data, target)
    value = matrix.values.mean(axis=0) ** power
    table = analyses.make_table(matrix.names, abs(value) if absolute else value, twice=2 * value)
    return analyses.AnalysisResult("toy-distance", table, {"power": power, "absolute": absolute})


DISTANCE = Analysis(
    name="toy-distance",
    title="Distance of the mean",
    question="How far is the mean of a feature from 0",
    run=distance,
    options=(
        Option("power", "int", "power of the mean", 1, low=1, high=9),
        Option("absolute", "bool", "leave the sign out", True),
    ),
    section=Section("Bars are means of features.", columns=("twice",)),
)
'''
BROKEN = "import a_package_that_nobody_has"


def install(folder: Path, **modules: str) -> Path:
    """What `pip install` leaves behind: modules, each with its entry point in a dist-info."""
    about = folder / "toy-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    lines = [f"{name} = {name}:DISTANCE" for name in modules]
    (about / "entry_points.txt").write_text("\n".join(["[srs.analyses]", *lines, ""]))
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    return folder
