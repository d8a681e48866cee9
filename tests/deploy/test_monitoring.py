"""Alert rules and dashboard ask for figures that there are, with labels that they have."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from srs_service.http.app import create_app
from srs_service.settings import Settings
from tests.deploy.tools import DEPLOY

FOLDER = DEPLOY / "monitoring"
SERIES = re.compile(r"\b(srs_\w+)(?:{([^}]*)})?")


def expressions() -> list[str]:
    rules = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"][0]["rules"]
    board = json.loads((FOLDER / "dashboard.json").read_text())
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    return [rule["expr"] for rule in rules] + asked


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Every figure of a service, with the names of its labels."""
    app = create_app(Settings(data_dir=tmp_path_factory.mktemp("data")))
    parts = app.state.parts
    parts.metrics.count_request("GET", "/x", 200, 0.1)
    parts.metrics.count_job("select", "done", 1.0)
    text = parts.metrics.render(parts).decode()
    parts.store.close()
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels = re.match(r"(\w+)(?:{(.*)})? ", line).groups()  # type: ignore[union-attr]
            found.setdefault(name, set()).update(re.findall(r"(\w+)=", labels or ""))
    return found


@pytest.mark.parametrize("expression", expressions())
def test_figures_that_are_asked_for_are_there(expression: str, known: dict[str, set[str]]):
    asked = SERIES.findall(expression)
    assert asked or "up{" in expression
    for name, labels in asked:
        assert name in known, name
        assert set(re.findall(r"(\w+)(?:=|!=)", labels)) <= known[name]
    for labels in re.findall(r"by \(([^)]*)\)", expression):
        of_all = set.union(*(known[name] for name, _ in asked))
        assert {one.strip() for one in labels.split(",")} <= of_all


def test_rules_say_what_is_wrong_and_how_bad():
    rules = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"][0]["rules"]
    assert len({rule["alert"] for rule in rules}) == len(rules) == 10
    for rule in rules:
        assert rule["labels"]["severity"] in ("page", "warn", "info")
        assert rule["annotations"]["summary"].endswith(".")


def test_panels_do_not_overlap():
    board = json.loads((FOLDER / "dashboard.json").read_text())
    places = [(p["gridPos"]["x"], p["gridPos"]["y"]) for p in board["panels"]]
    assert len(set(places)) == len(places)
