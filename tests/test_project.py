"""Written promises, executed: exports are what is public, examples run, the README is true."""

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
HERE = {**os.environ, "PYTHONPATH": str(ROOT)}


def test_exports_are_what_is_public():
    for name in srs.__all__:
        assert getattr(srs, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = srs.nothing


def test_dir_shows_what_is_public_and_nothing_else():
    """Also after modules of the package were imported, which become its attributes."""
    code = (
        "import srs, srs.engine.loop, srs.cli.app, srs.selection.select\n"
        "assert 'engine' in vars(srs) and 'cli' in vars(srs)\n"
        "assert sorted(dir(srs)) == sorted(srs.__all__), dir(srs)\n"
        "assert callable(srs.select) and callable(srs.explain) and callable(srs.ingest)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=HERE)


@pytest.mark.parametrize(
    "use", ["srs.theory.expected_iterations('chain', 100, 10, 2, True)", "srs.analyses.mda"]
)
def test_modules_work_without_a_second_import(use):
    subprocess.run([sys.executable, "-c", f"import srs; {use}"], check=True, env=HERE)


@pytest.mark.parametrize(
    "name",
    [
        m.name
        for m in pkgutil.walk_packages(srs.__path__, "srs.")
        if "__main__" not in m.name and not m.name.startswith("srs.cli")
    ],
)
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
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        for option in re.findall(r"--[\w-]+", rest):
            assert option in helps[command], f"srs {command} has no {option}"


def test_the_tour_of_the_readme_runs(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert blocks
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
