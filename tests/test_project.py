"""Written promises, executed: imports go down, exports are what is public, examples run."""

import ast
import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import srs

ROOT = Path(__file__).resolve().parents[1]

# The level of each room, see srs/DESIGN.md: a module imports only from its own room or below.
LEVELS = {
    "errors": 0, "analyses": 0, "seeds": 0, "tree": 0, "subspace": 0, "evidence": 0,
    "theory": 1, "config": 1, "store": 1, "executors": 1, "memory": 1, "kernels": 1, "null": 1,
    "groups": 1, "rates": 1, "feature_table": 1, "exchange": 1,
    "strata": 2, "state": 2, "stopping": 2, "decision": 2, "checkpoint": 2, "report": 2,
    "samples": 2,
    "ingest": 3, "context": 3, "batch": 3, "set_trees": 3, "result": 3, "basis": 3,
    "look": 3,
    "worker": 4, "conclusion": 4, "run": 4, "sets": 4, "importance": 4,
    "explanation": 5, "selection": 5, "planning": 5, "export": 5, "client": 5,
    "selector": 6, "cli": 7, "demo": 7,
}  # fmt: skip
# Outside packages that only these rooms may import.
KEPT_APART = {
    "zarr": {"store", "ingest", "export"},
    "obstore": {"store"},
    "sklearn": {"selector", "importance", "ingest"},
    "typer": {"cli"},
    "rich": {"cli"},
    "dask": {"executors"},  # and there, lazily: see tests/executors
    "distributed": {"executors"},
    "dask_jobqueue": {"executors"},
    "dask_kubernetes": {"executors"},
    "pandas": {"ingest", "result", "export"},
    "h5py": {"ingest", "export"},
    "bed_reader": {"ingest", "export"},
    "nibabel": {"ingest", "export"},
    "uvicorn": {"cli"},
    "pydantic": {"cli"},
    "fastapi": set(),  # the service's alone
    "psycopg": set(),
    "httpx": {"client"},
}


def imports_of(path: Path) -> set[str]:
    """Modules that a file imports at run time, deferred imports too, type checking aside."""
    found: set[str] = set()

    class Visitor(ast.NodeVisitor):
        def visit_If(self, node: ast.If) -> None:
            if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
                self.generic_visit(node)

        def visit_Import(self, node: ast.Import) -> None:
            found.update(alias.name for alias in node.names)

        def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
            if node.module == "srs":
                found.update(f"srs.{alias.name}" for alias in node.names)
            else:
                found.add(node.module or "")

    Visitor().visit(ast.parse(path.read_text()))
    return found


def rooms() -> list[tuple[str, Path]]:
    files = sorted((ROOT / "srs").rglob("*.py"))
    return [(f.relative_to(ROOT / "srs").parts[0].removesuffix(".py"), f) for f in files]


def test_imports_go_down():
    wrong = []
    for room, path in rooms():
        if room == "__init__":
            continue
        assert room in LEVELS, f"give the room {room!r} a level here and in srs/DESIGN.md"
        for name in imports_of(path):
            parts = name.split(".")
            if parts[0] == "srs" and len(parts) > 1 and parts[1] != room:
                other = parts[1]
                if LEVELS.get(other, -1) > LEVELS[room] or (
                    LEVELS.get(other) == LEVELS[room] and f"{room}>{other}" not in SAME_LEVEL
                ):
                    wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong, "\n".join(wrong)


# Neighbours of one level that know each other, one way only.
SAME_LEVEL = {
    "memory>config", "demo>cli", "batch>context", "executors>memory", "set_trees>batch",
    "set_trees>context",
}  # fmt: skip


def test_outside_packages_stay_in_their_rooms():
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for room, path in rooms()
        for name in imports_of(path)
        if room not in KEPT_APART.get(name.split(".")[0], {room})
    ]
    assert not wrong, "\n".join(wrong)


def test_exports_are_what_is_public():
    for name in srs.__all__:
        assert getattr(srs, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = srs.nothing


@pytest.mark.parametrize(
    "name",
    [m.name for m in pkgutil.walk_packages(srs.__path__, "srs.")
     if "__main__" not in m.name and not m.name.startswith("srs.cli")],
)  # fmt: skip
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    assert module.__doc__, f"{name} has no docstring"
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not failed


def tracked_files() -> list[Path]:
    try:
        listed = subprocess.run(
            ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        listed = [str(p.relative_to(ROOT)) for p in (ROOT / "srs").rglob("*.py")]
    return [ROOT / name for name in listed if (ROOT / name).is_file()]


def test_files_stay_small():
    """Guards the habit: where a file grows beyond 500 lines there is a second noun in it."""
    long = [
        f"{p.relative_to(ROOT)} ({n})"
        for p in tracked_files()
        if p.suffix == ".py" and (n := len(p.read_text().splitlines())) > 500
    ]
    assert not long, long


def test_the_readme_tells_the_truth():
    """Guards the README: its commands, options, links and Python tour exist and run."""
    text = (ROOT / "README.md").read_text()
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"^make (\w+)", text, re.M)):
        assert re.search(rf"^{target}:", makefile, re.M), target
    for link in re.findall(r"\]\((?!http|#)([^)#]+)", text):
        assert (ROOT / link).exists(), link
    helps = {}
    for command, rest in re.findall(r"^srs (keys \w+|\w+)(.*)$", text, re.M):
        if command not in helps:
            helps[command] = subprocess.run(
                [sys.executable, "-m", "srs.cli", *command.split(), "--help"],
                capture_output=True, text=True, check=True,
            ).stdout  # fmt: skip
        for option in re.findall(r"--[\w-]+", rest):
            assert option in helps[command], f"srs {command} has no {option}"


def test_the_tour_of_the_readme_runs(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert blocks
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_every_setting_is_documented():
    from srs.config import Settings

    for name in Settings.__dataclass_fields__:
        assert re.search(rf"^    {name}\b", Settings.__doc__ or "", re.M), name
