"""Build distributions, and install them where nothing but what they ask for can be imported.

Packages of others are links to those of the running environment, found by the metadata of the
distribution: what it does not ask for is not there. No index is asked.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import srs
from srs.engine.kernels import ensure_compiled
from srs.ingest.kernels import ensure_compiled as ensure_compiled_for_ingest

ROOT = Path(__file__).resolve().parents[1]
# What builds and runs leave in a checkout.
LEFTOVERS = (".*", "__pycache__", "*.egg-info", "build", "dist", "demo-output", "pictures")


def copy_project(folder: Path) -> Path:
    """The project as a fresh checkout has it: an old `build` would get into wheels."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFTOVERS))
    return folder


def build(project: Path, out: Path, *kinds: str) -> list[Path]:
    """Build "--wheel" and "--sdist" of a project, in the order given."""
    arguments = ["--no-isolation", *kinds, "--outdir", out, project]
    _call([sys.executable, "-m", "build", *map(str, arguments)], out.parent, dict(os.environ))
    suffixes = {"--wheel": "*.whl", "--sdist": "*.tar.gz"}
    return [found for kind in kinds for found in out.glob(suffixes[kind])]


class Environment:
    """A virtual environment without pip; `install` puts a distribution into it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.EnvBuilder(symlinks=True).create(folder)
        self.python = folder / "bin" / "python"
        (self.site,) = folder.glob("lib/python*/site-packages")

    def install(self, archive: Path, builds: bool = False) -> None:
        """Install a wheel, or a source distribution, which pip `builds` there."""
        if builds:
            self.link(["setuptools"])
        options = ["--no-deps", "--no-index", "--no-build-isolation", "--no-compile", "--quiet"]
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "install"]
        _call([*pip, *options, str(archive)], self.folder, clean_environ())

    def link_requirements(self, name: str, extra: str = "") -> None:
        """Make importable what an installed distribution, or an extra of it, asks for."""
        (found,) = distributions(name=name, path=[str(self.site)])
        self.link(_needed(found, extra))

    def link(self, requirements: Iterable[str]) -> None:
        for found in _closure(requirements):
            for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
                if not (self.site / top).exists():
                    (self.site / top).symlink_to(Path(str(found.locate_file(top))))

    def lend_kernels(self) -> None:
        """Let the installed package have the kernels of this tree, which are of the same source.

        numba takes compiled kernels for a source's if size and time of the source are the same.
        """
        ensure_compiled()
        ensure_compiled_for_ingest()
        ours = Path(srs.__file__).parent
        for source in ours.rglob("*.py"):
            target = self.site / "srs" / source.relative_to(ours)
            cached = list((source.parent / "__pycache__").glob(f"{source.stem}.*.nb?"))
            if cached and target.exists():
                times = source.stat()
                os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
                (target.parent / "__pycache__").mkdir(exist_ok=True)
                for file in cached:
                    shutil.copy2(file, target.parent / "__pycache__" / file.name)

    def run(self, *command: object, code: int = 0, **environment: str) -> str:
        """Run a program of the environment in its folder; what it prints, errors too."""
        program, *rest = map(str, command)
        env = clean_environ(**environment)
        return _call([self.program(program), *rest], self.folder, env, code)

    def program(self, name: str) -> str:
        return str(self.folder / "bin" / name)


def clean_environ(**more: str) -> dict[str, str]:
    """The environment's variables, without those that bring other packages along."""
    return {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")} | more


def _call(command: list[str], folder: Path, env: dict[str, str], code: int = 0) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == code, f"{' '.join(command)}\n{done.stdout}"
    return done.stdout


def _needed(found: Distribution, extra: str) -> list[str]:
    """Requirements of a distribution that hold here, with an extra or without."""
    texts = found.requires or []
    needed = [(Requirement(text).marker, text) for text in texts]
    return [text for marker, text in needed if marker is None or marker.evaluate({"extra": extra})]


def _closure(requirements: Iterable[str]) -> list[Distribution]:
    """Installed distributions that requirements name, and what these need in turn."""
    todo = [Requirement(text) for text in requirements]
    seen: dict[tuple[str, str], Distribution] = {}
    while todo:
        wanted = todo.pop()
        for extra in ("", *wanted.extras):
            key = (canonicalize_name(wanted.name), extra)
            if key not in seen:
                seen[key] = found = distribution(wanted.name)
                assert wanted.specifier.contains(found.version, prereleases=True), wanted
                todo += [Requirement(text) for text in _needed(found, extra)]
    return list(seen.values())
