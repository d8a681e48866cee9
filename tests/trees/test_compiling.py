"""The kernels are compiled by a child, so that a first run stays within its memory."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

KERNEL = """
from numba import njit

@njit(cache=True)
def double(x):
    return 2 * x
"""
COMPILE = """
import os
import toy
from srs.trees.compiling import compile_in_child, is_compiled

print(is_compiled(toy.double))
compile_in_child("toy_exercise", toy.double)
print(is_compiled(toy.double), len(toy.double.signatures))
toy.double(1.0)
print(sum(toy.double.stats.cache_hits.values()), sum(toy.double.stats.cache_misses.values()))
os.utime(toy.__file__, (2e9, 2e9))
print(is_compiled(toy.double))
"""
EXERCISE = """
import runpy, sys
from importlib import import_module
from srs.trees.compiling import is_compiled

runpy.run_module(sys.argv[1], run_name="__main__")
kernel = getattr(import_module(sys.argv[2]), sys.argv[3])
print(is_compiled(kernel), len(kernel.signatures) > 0)
"""


def run(code: str, *arguments: str, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return done.stdout.split()


def test_a_child_compiles_into_the_cache(tmp_path: Path) -> None:
    """A small kernel in the place of ours, which take most of a minute: nothing is compiled in the
    process that asks, and what it then calls comes from the cache. A newer source is not compiled.
    """
    (tmp_path / "toy.py").write_text(KERNEL)
    (tmp_path / "toy_exercise.py").write_text("import toy\ntoy.double(1.0)\n")
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    said = run(COMPILE, PYTHONPATH=path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert said == ["False", "True", "0", "1", "0", "False"]


@pytest.mark.parametrize("package", ["srs.engine", "srs.ingest"])
def test_exercises_call_the_kernel_that_is_looked_for(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards the sign that all is compiled: the child says nothing where it fails."""
    asked = []
    kernels = import_module(f"{package}.kernels")
    monkeypatch.setattr(kernels, "compile_in_child", lambda *given: asked.append(given))
    kernels.ensure_compiled()
    [(module, kernel)] = asked
    said = run(EXERCISE, module, kernel.__module__, kernel.__name__, SRS_COMPILING="1")
    assert said == ["True", "True"]
