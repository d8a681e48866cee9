"""What is written of the service is what it has: settings, routes, public names of `srs`."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re

import pytest

import service
import srs
from service.app import create_app
from service.settings import PREFIX, Settings
from tests.service.server import ROOT
from tests.test_project import imports_of


@pytest.mark.parametrize(
    "name", [m.name for m in pkgutil.walk_packages(service.__path__, "service.")]
)
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    assert module.__doc__, f"{name} has no docstring"
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not failed


@pytest.fixture(scope="module")
def document(tmp_path_factory) -> dict:
    return create_app(Settings(data_dir=tmp_path_factory.mktemp("data"))).openapi()


def test_every_setting_is_in_the_readme_and_in_the_help():
    from typer.testing import CliRunner

    from srs.cli.app import app

    readme = (ROOT / "README.md").read_text()
    shown = " ".join(CliRunner().invoke(app, ["serve", "--help"]).output.split())
    names = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    for name in names:
        assert f"`{name}`" in readme, f"{name} is not in the README"
    for name, field in Settings.model_fields.items():
        assert field.description, f"{name} has no description"
        assert f"{PREFIX}{name.upper()} {field.description}" in shown, name
    assert set(re.findall(r"`(SRS_\w+)`", readme)) <= names


def test_every_route_is_in_the_readme(document):
    readme = (ROOT / "README.md").read_text()
    written = set(re.findall(r"`(/[^` ]*)`", readme.partition("## Serve")[2].partition("\n## ")[0]))
    assert written - {"/openapi.json"} == set(document["paths"])


def test_every_answer_of_every_route_is_documented(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            where = f"{method} {path}"
            assert operation["summary"], where
            answers = set(operation["responses"])
            if path.startswith("/v1"):
                assert {"401", "429", "503"} <= answers, where
            if "requestBody" in operation:
                assert {"408", "413"} <= answers, where


def test_only_public_names_of_srs_are_used():
    allowed = {"srs", "srs.errors"} | {f"srs.{name}" for name in srs.__all__}
    for file in (ROOT / "service").rglob("*.py"):
        used = {name for name in imports_of(file) if name.split(".")[0] == "srs"}
        assert used <= allowed, f"{file}: {used - allowed}"


def test_sql_is_in_the_job_store_only():
    statement = re.compile(r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM)\b .*\b(FROM|SET|VALUES)\b")
    for file in (ROOT / "service").rglob("*.py"):
        if "job_store" not in file.parts:
            assert not statement.search(file.read_text()), file


# A room imports only from rooms above it in this list; see srs/DESIGN.md.
ROOMS = (
    "settings", "errors", "jobs", "layout", "logs", "addresses", "cursors", "metrics", "rates",
    "job_store", "pairing", "schemas", "children", "fetching", "store_checks", "sources", "tables",
    "tasks", "template", "tokens", "auth", "clusters", "datasets", "exports", "hub", "problems",
    "protocol", "middleware", "runner", "submission", "uploads", "webhooks", "routes", "app",
)  # fmt: skip


IN_THE_CHILD = ("children", "tasks")  # imported by the process that runs a task, not by ours


def test_imports_go_one_way():
    for file in (ROOT / "service").rglob("*.py"):
        room = file.relative_to(ROOT / "service").parts[0].removesuffix(".py")
        if room in ("__init__", "page"):
            continue
        assert room in ROOMS, f"give the room {room!r} a place"
        for name in imports_of(file):
            parts = name.split(".")
            if parts[0] != "service" or len(parts) == 1:
                continue
            if parts[1] != room and (room, parts[1]) != IN_THE_CHILD:
                assert ROOMS.index(parts[1]) < ROOMS.index(room), f"{file} imports {name}"


def test_jobs_take_what_srs_takes():
    """Every setting of a selection but two, with the same defaults."""
    from dataclasses import fields

    from service.schemas.jobs import SelectSettings
    from srs.config import Settings as RunSettings

    known = {field.name: field.default for field in fields(RunSettings)}
    known.pop("keep_trees")  # files that the service does not hand out
    known.pop("allowed_mem")  # is `memory`
    offered = SelectSettings().model_dump()
    assert offered.pop("memory") == "2GB"
    assert offered.pop("feature_sets") is None  # an argument of `srs.select`
    as_lists = {k: list(v) if isinstance(v, tuple) else v for k, v in known.items()}
    assert offered == as_lists
