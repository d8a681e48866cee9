"""srs-select-client: built, installed without numba, scikit-learn and zarr, used on a service."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import srs
from deploy.client.make_project import files, make_project
from srs.client import Dataset
from tests.client.conftest import SHORT
from tests.environments import ROOT, Environment, build
from tests.service.server import Server
from tests.test_imports import imports_of, is_module

LIMITS = ("--memory", SHORT["memory"], "--set", f"max_trees={SHORT['max_trees']}")
# Imported inside functions that are of no use without the rest of srs; and by `srs` and its
# program, which ask first whether it is there.
DEFERRED = {
    "srs/__init__.py": {"srs.explain", "srs.results.export"},
    "srs/cli/app.py": {"srs.cli.local"},
    "srs/cli/progress.py": {"srs.engine.kernels", "srs.selection.progress"},
    "srs/evidence/pairs/kind.py": {"srs.evidence.pairs.steps"},
    "srs/evidence/univariate/kind.py": {"srs.evidence.univariate.steps"},
    "srs/ingest/__init__.py": {"srs.ingest.write"},
    "srs/results/result.py": {"srs.results.predicting", "srs.store.view"},
    "srs/targets/classes.py": {"srs.targets.models.logistic", "srs.targets.models.multinomial"},
    "srs/targets/counts.py": {"srs.targets.models.counts", "srs.targets.models.null"},
    "srs/targets/numbers.py": {"srs.targets.models.linear"},
    "srs/targets/ordinal.py": {"srs.targets.models.null", "srs.targets.models.ordered"},
    "srs/targets/survival.py": {"srs.targets.models.cox", "srs.targets.models.null"},
}
PROGRAM = """
import sys
import srs
from srs.client import Client

with Client(sys.argv[1], sys.argv[2]) as client:
    job = client.jobs.get(sys.argv[3])
    result = job.wait(timeout=60).result()
    assert isinstance(result, srs.Result)
    frame = result.features
    print(*frame.name[frame.verdict == "RELEVANT"])
    assert len(client.jobs.get(sys.argv[3]).features(limit=3)) == 3
    result.save("saved")
    assert srs.load_result("saved").digest == result.digest
heavy = {"numba", "llvmlite", "scipy", "sklearn", "zarr", "numcodecs"}
assert not heavy & set(sys.modules)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("light")
    make_project(folder / "project")
    return build(folder / "project", folder / "dist", "--wheel")[0]


@pytest.fixture(scope="module")
def light(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the client and what it asks for."""
    environment = Environment(tmp_path_factory.mktemp("light") / "environment")
    environment.install(wheel)
    environment.link_requirements("srs-select-client")
    return environment


def test_files_are_those_of_srs_select(wheel: Path):
    """Guards environments with both: neither overwrites a file of the other with another."""
    with zipfile.ZipFile(wheel) as opened:
        ours = {name: opened.read(name) for name in opened.namelist() if "dist-info" not in name}
    assert {Path(name) for name in ours} == set(files())
    for name, content in ours.items():
        assert content == (ROOT / name).read_bytes(), name


def test_the_list_holds_what_its_files_import():
    listed = {str(path) for path in files()}
    beyond: dict[str, set[str]] = {}
    for path in files():
        for name in imports_of(ROOT / path) if path.suffix == ".py" else ():
            file = name.replace(".", "/")
            known = {f"{file}.py", f"{file}/__init__.py"} & listed
            if name.startswith("srs") and is_module(name) and not known:
                beyond.setdefault(str(path), set()).add(name)
    assert beyond == DEFERRED


def test_nothing_heavy_is_there_and_every_module_loads(light: Environment):
    for name in ("numba", "sklearn", "zarr", "scipy"):
        assert "ModuleNotFoundError" in light.run("python", "-c", f"import {name}", code=1)
    names = [".".join(path.with_suffix("").parts) for path in files() if path.suffix == ".py"]
    names = [name.removesuffix(".__init__") for name in names if "__main__" not in name]
    where = light.run("python", "-c", f"import {', '.join(names)}; print(srs.__file__)")
    assert Path(where.strip()) == light.site / "srs" / "__init__.py"


def test_its_commands_and_those_that_it_lacks(light: Environment):
    assert light.run("srs", "--version") == f"srs {srs.__version__}\n"
    text = light.run("srs", "--help")
    for command in ("submit", "jobs", "watch", "fetch", "report"):
        assert f"\n  {command} " in text
        assert light.run("srs", command, "--help")
    assert "srs-select also runs locally" in " ".join(text.split())
    assert "srs ingest X.npy" not in text
    for command in ("select wide.zarr --memory 1GB", "ingest --help", "serve", "keys create ann"):
        said = light.run("srs", *command.split(), code=2)
        assert f"`srs {command.split()[0]}` needs srs-select" in said


def test_public_names_that_it_lacks_say_what_to_install(light: Environment):
    code = (
        "import srs\nassert [getattr(srs, name) for name in dir(srs)]\nassert 'Result' in dir(srs)"
    )
    light.run("python", "-c", code)
    for code in ("import srs; srs.select", "from srs import ingest", "from srs import SRSSelector"):
        assert "needs srs-select" in light.run("python", "-c", code, code=1)


def test_two_versions_in_one_environment_are_told(light: Environment):
    other = light.site / "srs_select-9.9.dist-info"
    other.mkdir()
    metadata = other / "METADATA"
    try:
        metadata.write_text("Metadata-Version: 2.4\nName: srs-select\nVersion: 9.9\n")
        said = light.run("srs", "--version")
        assert f"srs-select 9.9 and srs-select-client {srs.__version__} share files" in said
        metadata.write_text(metadata.read_text().replace("9.9", srs.__version__))
        assert "share files" not in light.run("srs", "--version")
    finally:
        metadata.unlink()
        other.rmdir()


@pytest.mark.long
def test_pip_installs_nothing_heavy(wheel: Path, tmp_path: Path):
    """From pip's index, by pip of the environment."""
    environment = Environment(tmp_path / "environment")
    environment.run("python", "-m", "ensurepip")
    environment.run(
        *["python", "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel]
    )
    installed = json.loads(environment.run(*["python", "-m", "pip", "list", "--format", "json"]))
    names = {package["name"].lower() for package in installed}
    assert "srs-select-client" in names
    assert not names & {"numba", "llvmlite", "scipy", "scikit-learn", "zarr", "numcodecs"}
    assert "fetch" in environment.run("srs", "--help")
    environment.run("python", "-c", "import srs.client, srs.results.result")


@pytest.mark.slow
def test_a_job_from_submission_to_report(light: Environment, service: Server, dataset: Dataset):
    known = {"SRS_URL": service.url, "SRS_API_KEY": service.key}
    job = light.run("srs", "submit", dataset.id, *LIMITS, "--json", **known)
    job_id = json.loads(job)["id"]
    assert "2 features found" in light.run("srs", "watch", job_id, **known)
    assert job_id in light.run("srs", "jobs", **known)
    assert "f7" in light.run(*["python", "-c", PROGRAM, service.url, service.key, job_id])
    assert "f7" in light.run("srs", "fetch", job_id, "--out", "run", **known)
    (light.folder / "run" / "report.html").unlink()
    assert "f7" in light.run("srs", "report", "run")
    assert (light.folder / "run" / "report.html").is_file()


@pytest.mark.slow
def test_a_file_is_sent_tested_and_explained(light: Environment, service: Server):
    known = {"SRS_URL": service.url, "SRS_API_KEY": service.key}
    X = np.random.default_rng(0).normal(size=(200, 50))
    np.save(light.folder / "X.npy", X)
    np.save(light.folder / "y.npy", (X[:, 4] > 0).astype(np.int32))
    (light.folder / "sets.gmt").write_text("near\tof f4\tf3\tf4\nfar\tof none\tf40\tf41\n")
    sent = light.run(
        *[
            "srs",
            "submit",
            "X.npy",
            "--target",
            "y.npy",
            "--sets",
            "sets.gmt",
            *LIMITS,
            "--watch",
            "--json",
        ],
        **known,
    )
    job = json.loads(sent)
    assert (job["status"], job["summary"]["n_relevant"]) == ("SUCCEEDED", 1)
    light.run("srs", "fetch", job["id"], "--out", "sent", **known)
    document = json.loads((light.folder / "sent" / "result.json").read_text())
    assert [row["set"] for row in document["outcome"]["sets"]["rows"]] == ["near", "far"]
    why = light.run(
        *[
            "srs",
            "submit",
            job["dataset_id"],
            "--explain",
            job["id"],
            "--analysis",
            "mdi",
            "--set",
            "n_trees=20",
            "--watch",
            "--json",
        ],
        **known,
    )
    light.run("srs", "fetch", json.loads(why)["id"], "--out", "sent", **known)
    assert (light.folder / "sent" / "mdi.parquet").is_file()
    light.run("srs", "report", "sent")
    assert "mdi" in (light.folder / "sent" / "report.html").read_text().lower()
