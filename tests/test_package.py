"""What is built and published: the files of wheel and sdist, and both installed and at work."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import httpx
import numpy as np
import pytest

import srs
from tests.environments import ROOT, Environment, build, clean_environ, copy_project
from tests.service.server import free_port

NAME = "srs-select"
PAGE = ROOT / "service" / "srs_service" / "page"
# What a used checkout holds, and nobody else may see or needs.
LEFT_BEHIND = (
    "deploy/compose/.env",
    "deploy/compose/.env.old",
    "deploy/compose/service.env",
    "deploy/compose/stores/wide.zarr/zarr.json",
    "benchmarks/results/kernel.json",
    "srs/trees/__pycache__/kernel.cpython-311.pyc",
    "srs/trees/__pycache__/kernel.grow_tree-1.py311.nbi",
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The wheel and the sdist, of a checkout that was used."""
    folder = tmp_path_factory.mktemp("built")
    project = copy_project(folder / "project")
    for name in LEFT_BEHIND:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("of this checkout")
    return build(project, folder / "dist", "--wheel", "--sdist")


def files_of(archive: Path) -> set[str]:
    """Files of a wheel, or of an sdist without its top folder."""
    if archive.suffix == ".whl":
        return set(zipfile.ZipFile(archive).namelist())
    with tarfile.open(archive) as opened:
        names = [PurePosixPath(member.name) for member in opened if member.isfile()]
    return {str(name.relative_to(name.parts[0])) for name in names}


def test_the_wheel_holds_two_packages_and_nothing_else(built: list[Path]):
    wheel = files_of(built[0])
    metadata = f"srs_select-{srs.__version__}.dist-info"
    manual = f"srs_select-{srs.__version__}.data/data/share/man/man1/srs.1"
    assert manual in wheel  # which an installer puts where man looks
    wheel = wheel - {manual}
    assert {name.split("/")[0] for name in wheel} == {"srs", "srs_service", metadata}
    packages = {name for name in wheel if not name.startswith(metadata)}
    for folder, top in (("", "srs"), ("service/", "srs_service")):
        modules = {str(path.relative_to(ROOT)) for path in (ROOT / folder / top).rglob("*.py")}
        assert {f"{folder}{name}" for name in packages if name.startswith(f"{top}/")} >= modules
    others = {name for name in packages if not name.endswith(".py")}
    page = {f"srs_service/page/{path.name}" for path in PAGE.iterdir()}
    indices = {"srs/catalogue/analyses.json", "srs/ingest/formats/formats.json"}
    assert others == page | indices | {"srs/py.typed", "srs_service/py.typed"}


def test_the_sdist_holds_what_tests_need_and_no_secrets(built: list[Path]):
    sdist = files_of(built[1])
    assert {"PKG-INFO", "pyproject.toml", "README.md", "LICENSE", "Makefile"} <= sdist
    assert not sdist & set(LEFT_BEHIND)
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if tracked.returncode != 0:
        pytest.skip("which files belong to the project, git says")
    ours = {name for name in tracked.stdout.splitlines() if (ROOT / name).is_file()}
    missing = {name for name in ours - sdist if not name.startswith(".")}
    assert not missing


@contextmanager
def served(environment: Environment) -> Iterator[str]:
    """`srs serve` of an environment; its address."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [environment.program("srs"), "serve", "--port", str(port), "--no-auth"]
    with subprocess.Popen(
        command, cwd=environment.folder, env=clean_environ(), stdout=subprocess.DEVNULL
    ) as process:
        try:
            deadline = time.monotonic() + 60
            while process.poll() is None and time.monotonic() < deadline:
                try:
                    httpx.get(f"{url}/healthz")
                    break
                except httpx.TransportError:
                    time.sleep(0.1)
            yield url
        finally:
            process.terminate()


def works(environment: Environment) -> None:
    """Version, help, a selection: with no package but those that srs-select asks for."""
    where = environment.run("python", "-c", "import srs; print(srs.__file__)")
    assert Path(where.strip()) == environment.site / "srs" / "__init__.py"
    assert environment.run("srs", "--version") == f"srs {srs.__version__}\n"
    assert "srs ingest X.npy" in environment.run("srs", "--help")
    X = np.random.default_rng(0).normal(size=(200, 50))
    np.save(environment.folder / "X.npy", X)
    np.save(environment.folder / "y.npy", (X[:, 4] > 0).astype(np.int32))
    environment.run(*["srs", "ingest", "X.npy", "wide.zarr", "--target", "y.npy"])
    environment.run(
        *["srs", "select", "wide.zarr", "--out", "run", "--max-trees", 200, "--memory", "512MB"]
    )
    result = json.loads((environment.folder / "run" / "result.json").read_text())
    assert [feature["name"] for feature in result["outcome"]["relevant"]] == ["f4"]
    assert (environment.folder / "run" / "report.html").is_file()


def serves(environment: Environment) -> None:
    """`srs serve` with its page: the extra `service` is there, too."""
    with served(environment) as url:
        assert httpx.get(f"{url}/healthz").status_code == 200
        index = httpx.get(url)
        assert index.status_code == 200
        named = set(re.findall(r'(?:src|href)="/?page/([^"]+)"', index.text))
        assert named
        for name in named:
            assert httpx.get(f"{url}/page/{name}").content == (PAGE / name).read_bytes()


def install(built: list[Path], kind: str, folder: Path) -> Environment:
    environment = Environment(folder)
    environment.install(built[kind == "sdist"], builds=kind == "sdist")
    return environment


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_it_works_where_it_is_installed(built: list[Path], kind: str, tmp_path: Path):
    environment = install(built, kind, tmp_path / "environment")
    environment.link_requirements(NAME)
    environment.lend_kernels()
    works(environment)
    said = environment.run("srs", "serve", code=2)
    assert "pip install 'srs-select[service]'" in said
    assert "pip install 'srs-select[service]'" in environment.run("srs", "serve", "--help")
    environment.link_requirements(NAME, "service")
    serves(environment)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_pip_installs_it_with_all_that_it_needs(built: list[Path], kind: str, tmp_path: Path):
    """From pip's index, by pip of the environment, kernels compiled there."""
    environment = Environment(tmp_path / "environment")
    environment.run("python", "-m", "ensurepip")
    wanted = f"{built[kind == 'sdist']}[service]"
    constraints = ROOT / "constraints.txt"
    environment.run(*["python", "-m", "pip", "install", "--quiet", "-c", constraints, wanted])
    environment.run("python", "-m", "pip", "check")
    works(environment)
    serves(environment)


def test_importing_srs_imports_nothing_heavy():
    code = (
        "import sys, srs\n"
        "heavy = {'numba', 'numpy', 'zarr', 'pandas', 'pyarrow', 'scipy', 'sklearn', 'dask'}\n"
        "print(*sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == []


def test_no_text_sends_users_to_the_package_of_a_stranger():
    """`srs` on the public index is not ours: what we publish is srs-select."""
    installs = re.compile(r"\bpip3? install\b[^\n`]*?['\"\s]srs(?![\w-]|/)")
    extras = re.compile(r"(?<![\w.\]-])srs\[[a-z]")
    assert installs.search("pip install srs")
    assert installs.search("pip install --upgrade 'srs[client]'")
    assert extras.search("needs srs[client]")
    assert not installs.search("pip install 'srs-select[client]'")
    folders = ("srs", "service", "deploy", "docs", "benchmarks")
    texts = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    texts += [*ROOT.glob("*.md"), ROOT / "Makefile", ROOT / "pyproject.toml"]
    found = [
        f"{path.relative_to(ROOT)}: {match[0]!r}"
        for path in texts
        if path.is_file() and path.suffix not in (".pyc", ".nbi", ".nbc", ".svg", ".zip")
        # The changelog says what extras were called.
        for wrong in ((installs,) if path.name == "CHANGELOG.md" else (installs, extras))
        for match in wrong.finditer(path.read_text(errors="replace"))
    ]
    assert not found, "\n".join(found)
