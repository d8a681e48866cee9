"""Written promises of `deploy/`: versions, settings, figures, commands and links exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

import srs
from srs.engine.memory import coordinator_projected_mem, plan_shape, projected_mem, worker_mem
from srs.store.layout import chunk_features
from srs_service.http.metrics import Metrics
from srs_service.settings import PREFIX, Settings
from tests.deploy.tools import DEPLOY, ROOT

VERSION = srs.__version__
STATED = {
    "docker/Dockerfile": (r"-t srs:(\S+)", r'image\.version="(.+?)"'),
    "compose/compose.yaml": (r"image: srs:(\S+)",),
    "kubernetes/base/kustomization.yaml": (r"newTag: (\S+)", r"kubernetes.io/version: (\S+)"),
    "slurm/select.sbatch": (r"version (\d[\d.]*\d)",),
    "systemd/srs.service": (r"version (\d[\d.]*\d)",),
    "README.md": (r"version (\d[\d.]*\d)", r"srs:(\d[\d.]*\d)"),
}
TEXTS = [
    path
    for path in sorted(DEPLOY.rglob("*"))
    if path.is_file() and path.suffix != ".pyc" and not path.name.startswith(".env")
]
# Read by scripts of `deploy/` and by the client, not by the service.
OF_SCRIPTS = {"SRS_CLUSTER_CONFIG", "SRS_MAKE_CERTIFICATES", "SRS_TLS", "SRS_URL", "SRS_API_KEY"}


@pytest.mark.parametrize("name", STATED)
def test_versions_are_those_of_the_package(name: str):
    text = (DEPLOY / name).read_text()
    for pattern in STATED[name]:
        found = re.findall(pattern, text)
        assert found, pattern
        assert set(found) == {VERSION}, f"{name}: {found}"


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: str(p.relative_to(DEPLOY)))
def test_settings_exist(path: Path):
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields} | OF_SCRIPTS
    named = set(re.findall(r"\bSRS_[A-Z_]+[A-Z]\b", path.read_text()))
    assert named <= known, named - known


@pytest.mark.parametrize("name", ["README.md", "OPERATIONS.md"])
def test_links_commands_and_figures_exist(name: str):
    text = (DEPLOY / name).read_text()
    links = [DEPLOY / link for link in re.findall(r"\]\((?!http|#)([^)#]+)", text)]
    paths = [ROOT / path for path in re.findall(r"\bdeploy/[\w./-]*\w", text)]
    assert links
    assert paths
    assert [str(path) for path in (*links, *paths) if not path.exists()] == []
    metrics = Metrics()
    metrics.count_request("GET", "/", 200, 0.1)
    shown = metrics.show().decode()
    families = list(text_string_to_metric_families(shown))
    given = {sample.name for family in families for sample in family.samples}
    given |= {family.name for family in families} | {"srs_jobs_active"}
    named = set(re.findall(r"\bsrs_[a-z_]+[a-z]\b", text))
    assert named
    assert named <= given, named - given
    commands = set(
        re.findall(r"(?:^|`|bin/)srs (serve|select|plan|keys \w+)(.*?)(?:`|$)", text, re.M)
    )
    assert commands
    for command, rest in commands:
        shown = subprocess.run(
            [sys.executable, "-m", "srs.cli", *command.split(), "--help"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for option in re.findall(r"--[a-z][\w-]+", rest):
            assert option in shown, f"srs {command} has no {option}"


def test_the_sizing_table_is_what_is_projected():
    """Guards figures that age: what is marked * follows from `srs.memory` within 10 %."""
    rows = re.findall(
        r"^\| ([\d,]+) x ([\d,]+) \|(.+)\|$", (DEPLOY / "OPERATIONS.md").read_text(), re.M
    )
    assert len(rows) == 3
    for features, samples, rest in rows:
        p, n = int(features.replace(",", "")), int(samples.replace(",", ""))
        shape = plan_shape(
            n_samples=n,
            n_features=p,
            chunk_features=chunk_features(n, p),
            n_roles=2,
            max_carried=1_000,
            n_outputs=2,
            allowed_mem=2 * 10**9,
        )
        stated = [1e6 * int(figure) for figure in re.findall(r"(\d+) MB\*", rest)]
        assert stated == pytest.approx(
            [projected_mem(shape, 2), coordinator_projected_mem(shape), worker_mem(shape, 1)],
            rel=0.1,
        )
