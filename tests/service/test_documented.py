"""What is written of the service is what it has: settings, routes, public names of `srs`."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re

import pytest

import srs
import srs_service
from srs_service.http.app import create_app
from srs_service.settings import PREFIX, Settings
from tests.service.server import ROOT
from tests.test_imports import imports_of


@pytest.mark.parametrize(
    "name", [m.name for m in pkgutil.walk_packages(srs_service.__path__, "srs_service.")]
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
    lacking = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], f"{method} {path}"
            wanted = {"401", "429", "503"} if path.startswith("/v1") else set()
            wanted |= {"408", "413"} if "requestBody" in operation else set()
            lacking[f"{method} {path}"] = wanted - set(operation["responses"])
    assert {"post /v1/jobs", "get /v1/jobs", "get /healthz"} <= set(lacking)
    assert {where: answers for where, answers in lacking.items() if answers} == {}


def test_only_public_names_of_srs_are_used():
    allowed = {"srs", "srs.errors"} | {f"srs.{name}" for name in srs.__all__}
    for file in (ROOT / "service").rglob("*.py"):
        used = {name for name in imports_of(file) if name.split(".")[0] == "srs"}
        assert used <= allowed, f"{file}: {used - allowed}"


def test_sql_is_in_the_database_only():
    statement = re.compile(r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM)\b .*\b(FROM|SET|VALUES)\b")
    package = ROOT / "service" / "srs_service"
    found = {
        file.relative_to(package).parts[0]
        for file in package.rglob("*.py")
        if statement.search(file.read_text())
    }
    assert found == {"database"}
