"""The compose file: valid, and as closed as it says. Its commands run in test_compose_runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from srs_service.jobs.work import SPARE_MEM
from srs_service.settings import Settings
from tests.deploy.tools import DEPLOY, ROOT, run_script, run_tool

FILE = DEPLOY / "compose" / "compose.yaml"
COMPOSE = yaml.safe_load(FILE.read_text())
SERVICES = COMPOSE["services"]
LASTING = {name: part for name, part in SERVICES.items() if name != "certificates"}


def interpolate(text: str, values: dict[str, str]) -> str:
    """Put values into `${NAME}`, `${NAME:-default}` and `${NAME:?message}`, as the engine does.

    A name without value and default is left as it is.
    """

    def value(match: re.Match[str]) -> str:
        name, default = match[1], match[3] if match[2] == ":-" else match[0]
        return values.get(name) or default

    return re.sub(r"\$\{(\w+)(?:(:[-?])([^}]*))?\}", value, text)


def check(file: Path) -> None:
    done = run_tool("check-jsonschema", "--builtin-schema", "vendor.compose-spec", file)
    assert done.returncode == 0, done.stdout


def test_the_file_is_valid():
    check(FILE)


def test_what_the_engine_would_start_is_valid(copied: Path):
    """Guards what the file becomes: anchors, merges and the values of a written `.env`."""
    run_script(copied / "compose" / "prepare", "--workers", "3")
    values = read_env(copied / "compose" / ".env")
    made = yaml.safe_load(interpolate(FILE.read_text(), values))
    assert "$" not in yaml.safe_dump(made), "a name without a value"
    rendered = copied / "rendered.yaml"
    rendered.write_text(yaml.safe_dump(made))
    check(rendered)
    of = made["services"]
    assert of["worker"]["deploy"]["replicas"] == 3
    assert of["worker"]["read_only"] is of["service"]["read_only"] is True
    assert of["worker"]["image"] == of["service"]["image"]
    assert f"--memory-limit={values['WORKER_LIMIT']}" in of["worker"]["command"]
    assert values["POSTGRES_PASSWORD"] in of["service"]["environment"]["SRS_DATABASE_URL"]
    assert made["volumes"]["stores"]["driver_opts"]["device"] == values["STORES"]
    settings = Settings(
        **{
            name.removeprefix("SRS_").lower(): value
            for name, value in of["service"]["environment"].items()
            if name != "SRS_STORE_ROOTS"
        }
    )
    assert settings.max_memory == int(values["SRS_MAX_MEMORY"])
    assert settings.job_threads == 1


def test_settings_of_ones_own_are_read_from_a_file():
    for name in ("service", "worker"):
        assert SERVICES[name]["env_file"] == [{"path": "service.env", "required": False}]


def test_only_the_service_is_reachable():
    """Guards the scheduler, which runs what it is sent: it is in no network that users reach."""
    published = {name: part["ports"] for name, part in SERVICES.items() if "ports" in part}
    assert published == {"service": ["127.0.0.1:8000:8000"]}
    closed = {name for name, network in COMPOSE["networks"].items() if network.get("internal")}
    for name in ("scheduler", "worker", "database"):
        assert set(SERVICES[name]["networks"]) <= closed
    assert not set(SERVICES["database"]["networks"]) & set(SERVICES["worker"]["networks"])
    for name in ("scheduler", "worker"):
        addresses = [a for a in SERVICES[name]["command"] if a.startswith("--dashboard-address")]
        assert all("=127.0.0.1:" in address for address in addresses)
        assert len(addresses) == 1


def test_all_inside_is_tls():
    assert "--protocol=tls" in SERVICES["scheduler"]["command"]
    assert "tls://scheduler:8786" in SERVICES["worker"]["command"]
    environment = SERVICES["service"]["environment"]
    assert environment["SRS_SCHEDULER"] == "tls://scheduler:8786"
    for name, folder in (("scheduler", "/tls/scheduler"), ("worker", "/tls/worker")):
        given = {a.partition("=")[2] for a in SERVICES[name]["command"] if a.startswith("--tls")}
        assert given == {f"{folder}/{part}.pem" for part in ("ca", "cert", "key")}
    for name in ("service", "scheduler", "worker"):
        assert f"tls-{name}:/tls/{name}:ro" in SERVICES[name]["volumes"]
        assert f"tls-{name}:/tls/{name}" in SERVICES["certificates"]["volumes"]


@pytest.mark.parametrize("name", LASTING)
def test_each_part_is_watched_and_bounded(name: str):
    part = LASTING[name]
    assert part["restart"] == "always"
    assert part["healthcheck"]["test"][0] == "CMD"
    assert part["read_only"]
    assert part["cap_drop"] == ["ALL"]
    assert part["deploy"]["resources"]["limits"]["memory"]
    assert re.search(r":\d+\.\d+[.\d]*(-\w+)?$", part["image"]), "a pinned image"


def test_prepare_gives_all_that_the_file_asks_for(copied: Path):
    """Memory of containers > Dask's limit > what a job may ask for; the password stays."""
    script, written = copied / "compose" / "prepare", copied / "compose" / ".env"
    run_script(script)
    first = read_env(written)
    assert set(first) >= set(re.findall(r"\$\{(\w+)", FILE.read_text()))
    assert written.stat().st_mode & 0o077 == 0
    run_script(script, *["--memory", "4GB", "--workers", "3", "--stores", copied])
    second = read_env(written)
    assert second["POSTGRES_PASSWORD"] == first["POSTGRES_PASSWORD"]
    assert len(first["POSTGRES_PASSWORD"]) == 48
    assert (second["WORKERS"], second["STORES"]) == ("3", str(copied))
    for given in (first, second):
        sizes = [int(given[n]) for n in ("WORKER_CONTAINER", "WORKER_LIMIT", "SRS_MAX_MEMORY")]
        assert sizes == sorted(set(sizes), reverse=True)
        assert int(given["SERVICE_CONTAINER"]) > int(given["SRS_MAX_MEMORY"]) + SPARE_MEM
    run_script(script, "--colour", "blue", code=2)


def test_prepare_run_again_keeps_what_is_not_given(copied: Path):
    script, written = copied / "compose" / "prepare", copied / "compose" / ".env"
    run_script(script, *["--memory", "4GB", "--threads", "2", "--workers", "3", "--stores", copied])
    written.write_text(written.read_text() + "# of mine\nCOMPOSE_PROJECT_NAME=ours\n")
    before = written.read_text()
    run_script(script)
    assert written.read_text() == before
    run_script(script, "--max-running", "2")
    changed = set(written.read_text().splitlines()) - set(before.splitlines())
    assert {line.partition("=")[0] for line in changed} == {"SRS_MAX_RUNNING", "SERVICE_CONTAINER"}
    assert [path.name for path in written.parent.glob(".env*")] == [".env"]


def read_env(path: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in path.read_text().splitlines())


def test_secrets_are_not_tracked():
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert {"deploy/compose/.env*", "deploy/compose/service.env"} <= set(ignored)
