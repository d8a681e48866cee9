"""Sizes that keep the code easy to enter: modules, files, functions, arguments of calls."""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MOST_TOP_MODULES = 6  # modules directly in srs/
MOST_MODULES = 15  # modules of one package at one level
MOST_LINES = 400  # of a file: where it grows beyond, there is a second noun in it
MOST_FUNCTION_LINES = 60  # of a function that is not compiled
MOST_LONG_FUNCTIONS = 5
MOST_POSITIONAL = 5  # arguments of a call


@cache
def tracked(*patterns: str) -> list[Path]:
    """Files of the project; in a tree that is not a checkout, those that lie there."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        listed = [str(p.relative_to(ROOT)) for pattern in patterns for p in ROOT.rglob(pattern)]
    return [ROOT / name for name in listed if (ROOT / name).is_file()]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def packages() -> list[Path]:
    tops = (ROOT / "srs", ROOT / "service" / "srs_service")
    return sorted({p.parent for top in tops for p in top.rglob("*.py")})


def test_few_modules_stand_at_one_level():
    assert len(list((ROOT / "srs").glob("*.py"))) <= MOST_TOP_MODULES
    counts = {str(p.relative_to(ROOT)): len(list(p.glob("*.py"))) for p in packages()}
    assert len(counts) > 20
    assert {p: n for p, n in counts.items() if n > MOST_MODULES} == {}


def test_files_stay_small():
    lines = {str(p.relative_to(ROOT)): len(p.read_text().splitlines()) for p in tracked("*.py")}
    assert len(lines) > 300
    assert {p: n for p, n in lines.items() if n > MOST_LINES} == {}


def is_compiled(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(
        "njit" in ast.unparse(d) or "intrinsic" in ast.unparse(d) for d in function.decorator_list
    )


def test_functions_stay_short():
    """Kernels aside: a call costs them time, and they read as one loop. All lines count, those
    of generated signatures too: who takes every setting is among the few that may be long."""
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name} ({length})"
        for path in tracked("*.py")
        for node in ast.walk(tree_of(path))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (length := (node.end_lineno or 0) - node.lineno + 1) > MOST_FUNCTION_LINES
        and not is_compiled(node)
    ]
    assert len(long) <= MOST_LONG_FUNCTIONS, "\n".join(long)


def positional(node: ast.Call) -> int:
    return sum(not isinstance(argument, ast.Starred) for argument in node.args)


def test_calls_name_their_arguments():
    """Six values in a row say nothing of what they are."""
    many = [
        f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node.func)} ({n})"
        for path in tracked("*.py")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and (n := positional(node)) > MOST_POSITIONAL
    ]
    assert not many, "\n".join(many)


@pytest.mark.parametrize("path", tracked("*.py"), ids=lambda p: str(p.relative_to(ROOT)))
def test_formatting_is_left_alone_only_where_a_table_is_drawn(path):
    """`fmt: skip` and `fmt: off` stand behind literals, never behind calls and signatures."""
    lines = path.read_text().splitlines()
    marked = {i for i, line in enumerate(lines, 1) if re.search(r"# fmt: (skip|off)\s*$", line)}
    literals = {
        node.end_lineno
        for node in ast.walk(tree_of(path))
        if isinstance(node, (ast.Dict, ast.List, ast.Tuple, ast.Set))
        and (node.end_lineno or 0) > node.lineno
    }
    assert marked <= literals, f"lines {sorted(marked - literals)}"
