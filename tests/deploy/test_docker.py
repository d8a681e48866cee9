"""The Dockerfile: linted, and its steps run as a script in a fresh folder (no engine runs here)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import srs
from tests.deploy.tools import DEPLOY, ROOT, run_tool

FILE = DEPLOY / "docker" / "Dockerfile"
USER = 10001


def read_steps() -> list[tuple[str, str]]:
    """Instructions and their arguments, continued lines joined."""
    text = re.sub(r"^#.*\n", "", FILE.read_text(), flags=re.M).replace("\\\n", "")
    return [
        (step, rest.strip())
        for step, _, rest in (line.partition(" ") for line in text.splitlines() if line.strip())
    ]


def settings_of(steps: list[tuple[str, str]]) -> dict[str, str]:
    """What ENV sets in some steps."""
    pairs = [
        p for step, rest in steps if step == "ENV" for p in re.findall(r'(\w+)=("[^"]*"|\S*)', rest)
    ]
    return {name: value.strip('"') for name, value in pairs}


def split_stages() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    steps = read_steps()
    starts = [i for i, (step, _) in enumerate(steps) if step == "FROM"]
    assert len(starts) == 2
    return steps[starts[0] : starts[1]], steps[starts[1] :]


def test_the_file_is_clean():
    done = run_tool("hadolint", "--failure-threshold", "info", FILE)
    assert done.returncode == 0, done.stdout


def test_the_image_is_pinned_and_runs_as_nobody():
    build, final = split_stages()
    assert re.fullmatch(r"BASE=python:3\.\d+\.\d+-slim-bookworm", read_steps()[0][1])
    assert dict(final)["USER"] == f"{USER}:{USER}"
    shared = {n: v for n, v in settings_of(build).items() if n.startswith("NUMBA_")}
    assert shared.items() <= settings_of(final).items(), "or kernels would be compiled again"
    assert {"NUMBA_CACHE_DIR", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"} == set(shared)


def test_what_is_copied_is_sent_to_the_engine():
    build, _ = split_stages()
    wanted = {s for step, rest in build if step == "COPY" for s in rest.split()[:-1]}
    lines = (DEPLOY / "docker" / "Dockerfile.dockerignore").read_text().splitlines()
    assert {line[1:] for line in lines if line.startswith("!")} == wanted
    assert all((ROOT / name).exists() for name in wanted)


def test_a_container_that_starts_again_copies_the_kernels_to_the_same_place():
    folder = Path(tempfile.mkdtemp(prefix="srs-entrypoint-"))
    try:
        built, temporary = folder / "built", folder / "tmp"
        for path in (built, temporary):
            path.mkdir()
        (built / "a.nbi").write_text("compiled")
        entrypoint = shutil.copy2(DEPLOY / "docker" / "entrypoint", folder)
        temporary.chmod(0o777)
        built.chmod(0o555)
        folder.chmod(0o755)
        command = [*as_user(), entrypoint, "sh", "-c", 'find "$NUMBA_CACHE_DIR" -type f']
        env = {"PATH": os.environ["PATH"], "NUMBA_CACHE_DIR": str(built), "TMPDIR": str(temporary)}
        for _ in range(2):
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
            assert done.stdout.split() == [str(temporary / "kernels" / "a.nbi")]
    finally:
        shutil.rmtree(folder)


def as_user() -> list[str]:
    """What to put before a command so that the image's user runs it, if we may."""
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"] * (os.getuid() == 0)


# -- its steps, for real ----------------------------------------------------------------------


def is_for_all(folder: Path) -> bool:
    """Whether all users may enter a folder."""
    return all(f.stat().st_mode & 0o001 for f in (folder, *folder.parents))


class Replay:
    """Runs steps below a folder that stands for /.

    programs  where the Python of the base image is
    base      what it needs in its environment
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.arguments: dict[str, str] = {}
        self.settings: dict[str, str] = {}
        self.folder = root
        self.programs, self.base = Path(sys.base_prefix, "bin").resolve(), {}
        if not is_for_all(self.programs):  # as in a home: the user of the image needs a copy
            self.copy_python(self.programs.parent, root / "usr" / "local")

    def copy_python(self, source: Path, target: Path) -> None:
        name = f"python{sys.version_info.major}.{sys.version_info.minor}"
        shutil.copytree(
            source / "lib" / name,
            target / "lib" / name,
            symlinks=True,
            ignore=shutil.ignore_patterns("site-packages", "test", "__pycache__"),
        )
        for library in (source / "lib").glob("libpython*"):
            shutil.copy2(library, target / "lib")
        self.programs, self.base = target / "bin", {"LD_LIBRARY_PATH": str(target / "lib")}
        self.programs.mkdir()
        shutil.copy2(source / "bin" / name, self.programs)
        (self.programs / "python").symlink_to(name)

    def moved(self, text: str) -> str:
        return re.sub(r"(?<![\w.])/(opt/srs|src|var/lib/srs|tls)\b", rf"{self.root}/\1", text)

    def run(self, steps: list[tuple[str, str]]) -> None:
        for step, rest in steps:
            if step == "ARG":
                name, _, value = rest.partition("=")
                self.arguments[name] = value
            elif step == "ENV":
                found = settings_of([(step, rest)])
                self.settings |= {name: self.moved(value) for name, value in found.items()}
            elif step == "WORKDIR":
                self.folder = self.root / rest.lstrip("/")
                self.folder.mkdir(parents=True, exist_ok=True)
            elif step == "COPY":
                self.copy(*rest.split())
            elif step == "RUN":
                self.run_shell(rest)
            else:
                assert step == "FROM", step

    def copy(self, *names: str) -> None:
        *sources, target = names
        into = Path(self.moved(target)) if target.startswith("/") else self.folder / target
        for source in sources:
            if (ROOT / source).is_dir():
                ignore = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / source, into, ignore=ignore, dirs_exist_ok=True)
            else:
                shutil.copy2(ROOT / source, into)

    def run_shell(self, command: str) -> None:
        path = f"{self.programs}:{os.environ['PATH']}"
        kept = {n: v for n, v in os.environ.items() if n.startswith("PIP_") or n == "HOME"}
        done = subprocess.run(
            ["sh", "-ec", self.moved(command)],
            cwd=self.folder,
            text=True,
            check=False,
            env={**kept, **self.base, **self.arguments, **self.settings, "PATH": path},
            capture_output=True,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"


@pytest.fixture(scope="module")
def image() -> Iterator[Replay]:
    """Both stages in one folder, owned by the image's user if we may."""
    root = Path(tempfile.mkdtemp(prefix="srs-image-"))
    root.chmod(0o755)
    try:
        replay = Replay(root)
        replay.run(split_stages()[0])
        if os.getuid() == 0:
            replay.run([step for step in split_stages()[1] if step[0] == "RUN"])
            subprocess.run(["chown", "-R", f"{USER}:{USER}", root / "opt"], check=True)
        yield replay
    finally:
        shutil.rmtree(root, ignore_errors=True)


@pytest.fixture
def place(image: Replay) -> Path:
    """A folder with a store, that the image's user may write."""
    folder = Path(tempfile.mkdtemp(dir=image.root))
    X = np.random.default_rng(0).normal(size=(100, 40))
    srs.ingest(X, folder / "s.zarr", target=(X[:, 3] > 0).astype(int))
    if os.getuid() == 0:
        subprocess.run(["chown", "-R", f"{USER}:{USER}", folder], check=True)
    return folder


def run_in(image: Replay, place: Path, *command: str) -> str:
    """A command as the image runs it: by its entrypoint, as its user, with its settings."""
    final = settings_of(split_stages()[1])
    env = {name: image.moved(value) for name, value in final.items()}
    env |= {"TMPDIR": str(place), "HOME": str(place), **image.base}
    done = subprocess.run(
        [*as_user(), image.root / "opt/srs/bin/entrypoint", *command],
        cwd=place,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def kernels(folder: Path) -> dict[str, float]:
    return {str(p.relative_to(folder)): p.stat().st_mtime for p in folder.rglob("*.nb[ic]")}


@pytest.mark.long
def test_the_user_of_the_image_loads_the_kernels_that_were_built(image: Replay, place: Path):
    built = image.root / "opt/srs/kernels"
    before = kernels(built)
    assert before
    run_in(image, place, *["srs", "select", "s.zarr", "--out", "run", "--max-passes", "2"])
    assert srs.load_result(place / "run").relevant_names
    assert kernels(built) == before, "nothing was compiled again"


@pytest.mark.long
def test_a_read_only_image_takes_a_copy(image: Replay, place: Path):
    if os.getuid() != 0:
        pytest.skip("needs root to take the kernels from their user")
    built = image.root / "opt/srs/kernels"
    subprocess.run(["chown", "-R", "root:root", built], check=True)
    before = kernels(built)
    assert before
    run_in(image, place, *["srs", "select", "s.zarr", "--out", "run", "--max-passes", "2"])
    assert kernels(place / "kernels").keys() == before.keys(), "nothing was compiled again"


@pytest.mark.long
def test_the_image_has_what_all_roles_need(image: Replay, place: Path):
    assert "SRS_SCHEDULER_TLS" in run_in(image, place, "srs", "serve", "--help")
    for role in ("scheduler", "worker"):
        assert "--tls-ca-file" in run_in(image, place, "dask", role, "--help")
    run_in(
        image, place, "python", "-c", "import psycopg, obstore, distributed, srs_service.http.app"
    )
    run_in(image, place, "make-certificates", str(place / "tls"))
