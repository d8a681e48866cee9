"""Imports go down: between packages, inside them, and to packages of others."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"srs": ROOT / "srs", "srs_service": ROOT / "service" / "srs_service"}

# From the bottom up: a package imports only from itself and from those before it.
ORDER = {
    "srs": (
        "errors",
        "seeds",
        "memory",
        "plugins",
        "setting",
        "theory",
        "trees",
        "evidence",
        "targets",
        "settings",
        "store",
        "ingest",
        "inference",
        "effects",
        "executors",
        "engine",
        "catalogue",
        "report",
        "results",
        "selection",
        "explain",
        "client",
        "cli",
    ),
    "srs_service": (
        "errors",
        "settings",
        "logs",
        "job",
        "database",
        "schemas",
        "data",
        "auth",
        "jobs",
        "http",
    ),
}
# Packages of others that only these may import.
# Imported by name, see `srs.ingest.readers.extras`.
OF_EXTRAS = {"h5py", "bed_reader", "nibabel", "pgenlib", "bgen", "cyvcf2"}
KEPT_APART = {
    "zarr": {"store", "ingest", "results"},
    "obstore": {"store"},
    "sklearn": {"selection", "ingest"},
    "typer": {"cli"},
    "rich": {"cli"},
    "dask": {"executors"},  # and there, lazily: see tests/executors
    "distributed": {"executors"},
    "dask_jobqueue": {"executors"},
    "dask_kubernetes": {"executors"},
    "pandas": {"targets", "ingest", "results"},
    "h5py": {"ingest", "results"},
    "bed_reader": {"ingest", "results"},
    "nibabel": {"ingest", "results"},
    "pgenlib": {"ingest"},
    "bgen": {"ingest"},
    "cyvcf2": {"ingest"},
    "uvicorn": {"cli"},
    "pydantic": {"cli"},
    "httpx": {"client"},
    "srs_service": {"cli"},
    "fastapi": set(),
    "psycopg": set(),
}


@cache
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
            module = node.module or ""
            found.update(
                f"{module}.{alias.name}" if is_module(f"{module}.{alias.name}") else module
                for alias in node.names
            )

    Visitor().visit(ast.parse(path.read_text()))
    return found


def is_module(name: str) -> bool:
    top, *rest = name.split(".")
    folder = FOLDERS.get(top)
    if folder is None:
        return False
    path = folder.joinpath(*rest)
    return path.is_dir() or path.with_suffix(".py").is_file()


def modules(top: str) -> list[tuple[str, str, Path]]:
    """The package, the dotted name and the file of each module below a top-level package."""
    found = []
    for path in sorted(FOLDERS[top].rglob("*.py")):
        parts = path.relative_to(FOLDERS[top]).with_suffix("").parts
        name = ".".join((top, *(part for part in parts if part != "__init__")))
        found.append((parts[0], name, path))
    return [entry for entry in found if entry[0] != "__init__"]


@pytest.mark.parametrize("top", ORDER)
def test_packages_import_from_below(top):
    order, wrong = ORDER[top], []
    for package, _, path in modules(top):
        assert package in order, f"give {package!r} a place in ORDER and in the architecture"
        for name in imports_of(path):
            parts = name.split(".")
            other = parts[1] if parts[0] == top and len(parts) > 1 else package
            if other in order and order.index(other) > order.index(package):
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong, "\n".join(wrong)
    assert set(order) == {package for package, _, _ in modules(top)}


@pytest.mark.parametrize("top", ORDER)
def test_the_architecture_is_that_of_the_tree(top):
    """The tables of docs/develop/architecture.md name every package, from the bottom up."""
    text = (ROOT / "docs" / "develop" / "architecture.md").read_text()
    table = text.partition(f"| package of `{top}` |")[2].partition("\n\n")[0]
    assert tuple(re.findall(r"^\| `(\w+)`", table, re.M)) == ORDER[top]
    for path in re.findall(r"`((?:srs|srs_service|tests)/[\w./]*)`", text):
        inside = ROOT / "service" if path.startswith("srs_service") else ROOT
        assert (inside / path).exists(), path


@pytest.mark.parametrize("top", ORDER)
def test_no_module_imports_in_a_circle(top):
    """Within packages too, and by deferred imports too."""
    names = {name for _, name, _ in modules(top)}
    graph = {
        name: {other for other in imports_of(path) if other in names and other != name}
        for _, name, path in modules(top)
    }
    if top == "srs":  # a store makes views of itself, and a view is a store
        graph["srs.store.reader"].remove("srs.store.view")
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def imports_of_others(path: Path) -> set[str]:
    """Packages of others that a file imports, by name in a string too (`extras`)."""
    named = {
        node.value
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return {name.split(".")[0] for name in imports_of(path)} | (named & OF_EXTRAS)


def test_packages_of_others_stay_in_their_rooms():
    used = {
        (name, package) for package, _, path in modules("srs") for name in imports_of_others(path)
    }
    wrong = {(n, package) for n, package in used if package not in KEPT_APART.get(n, {package})}
    assert not wrong
    permitted = {(name, package) for name, packages in KEPT_APART.items() for package in packages}
    assert permitted <= used, "nothing uses these"


@pytest.mark.parametrize("top", ORDER)
def test_no_imports_hide_in_strings(top):
    """A program in a string, or a module of another package named in one."""
    hidden = []
    for package, _, path in modules(top):
        tree = ast.parse(path.read_text())
        documented = (ast.Module, ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or id(node) in docstrings:
                continue
            text = str(node.value)
            is_program = "import srs" in text or "from srs" in text
            parts = text.split(".")
            if is_program or (
                parts[0] == top and len(parts) > 1 and is_module(text) and parts[1] != package
            ):
                hidden.append(f"{path.relative_to(ROOT)}: {text[:60]!r}")
    assert not hidden, "\n".join(hidden)
