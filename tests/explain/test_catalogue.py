"""Descriptors of analyses: true of their functions, and read by every door."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import srs
from srs.catalogue import USUAL, Analysis, Option, find_analyses
from srs.catalogue.index import INDEX, index_text, read_index
from srs.errors import SettingsError
from srs.explain.catalogue import ANALYSES
from srs.report import render_explanation
from srs.results.analysis import COLUMNS
from tests.cli.conftest import invoke
from tests.explain.test_explain import SMALL, frame
from tests.explain.toy import BROKEN, MODULE, install
from tests.report.conftest import Page
from tests.service.server import Server, python_path, register, wait_for

ROOT = Path(__file__).resolve().parents[2]
GIVEN = {"data", "target", "features", "seed", "threads", "executor", "on_progress"}
each = pytest.mark.parametrize("kind", ANALYSES, ids=lambda kind: kind.name)


def test_the_copy_of_the_descriptors_is_fresh() -> None:
    assert INDEX.read_text() == index_text(ANALYSES), "run `make generate`"
    assert [kind.to_json() for kind in read_index()] == [kind.to_json() for kind in ANALYSES]
    assert [kind.function for kind in read_index()] == [kind.run for kind in ANALYSES]


def test_the_usual_analyses_are_the_default() -> None:
    """Written in the signature, so that `import srs` need not load the catalogue."""
    assert inspect.signature(srs.explain).parameters["analyses"].default == USUAL
    assert [kind.name for kind in ANALYSES if kind.usual] == list(USUAL)


@each
def test_a_descriptor_says_what_its_function_takes(kind: Analysis) -> None:
    signature = inspect.signature(kind.function).parameters
    forest = {"n_trees"} if kind.forest else set()  # of the forest that analyses share
    expected = {
        name: None if parameter.default is parameter.empty else parameter.default
        for name, parameter in signature.items()
        if name not in GIVEN | forest
    }
    assert {option.name: option.default for option in kind.options} == expected
    required = {option.name for option in kind.options if option.required}
    assert required == {n for n in expected if signature[n].default is inspect.Parameter.empty}
    assert kind.remote == ("executor" in signature)
    assert kind.target == ("target" in signature)
    assert getattr(srs.analyses, kind.name.replace("-", "_")) is kind.function


@each
def test_a_run_returns_the_common_columns_and_those_of_its_section(kind: Analysis) -> None:
    found = srs.explain(
        frame(), "y", analyses=[(kind.name, SMALL.get(kind.name, {}))], n_trees=10, threads=1
    )[kind.name]
    assert found.name == kind.name
    assert tuple(found.table.column_names) == (*COLUMNS, *kind.section.columns)


@each
def test_wrong_options_are_refused_in_a_sentence(kind: Analysis) -> None:
    """By the library and in the shell; each option of each analysis."""
    needed = {option.name: "sex" for option in kind.options if option.required}
    for option in kind.options:
        for value in wrong_values(option):
            said = f"{option.name} of the analysis {kind.name} must be {option.expected}, not "
            with pytest.raises(SettingsError, match=re.escape(said)):
                srs.explain(frame(), "y", analyses=[(kind.name, {**needed, option.name: value})])
    with pytest.raises(SettingsError, match=f"{kind.name} has no option 'colour'; it has "):
        srs.explain(frame(), "y", analyses=[(kind.name, {**needed, "colour": 1})])


def wrong_values(option: Option) -> list[object]:
    wrong = {
        "int": [True, 1.5, "1", np.nan],
        "float": [True, "1", np.nan, np.inf],
        "bool": [1, "true"],
        "str": [1, "nothing of the kind"],
        "names": ["a", 3],
        "column": [3],
    }[option.type]
    beyond = [
        bound + step for bound, step in ((option.low, -1), (option.high, 1)) if bound is not None
    ]
    return [*wrong, *beyond, *([] if option.none else [None])]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("umfi.n_repeats=5", 5),
        ("network.best_cuts=1", 1.0),
        ("network.max_depth=None", None),
        ("per-class.balanced=no", False),
        ("network.targets=a, b", ["a", "b"]),
        ("per_class.balanced=true", True),
        ("context.context=a=b.c", "a=b.c"),
    ],
)
def test_options_in_the_shell(text: str, value: object) -> None:
    from srs.catalogue.requests import add_options, find_option

    name = text.partition(".")[0].replace("_", "-")
    ((asked, options),) = add_options([name], [text], find_option)
    assert (asked, list(options.values())) == (name, [value])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("umfi.n_repeats", "is written ANALYSIS.OPTION=VALUE"),
        ("n_repeats=5", "is written ANALYSIS"),
        ("mci.n_trees=5", "the analysis mci is not run"),
        ("umfi.colour=5", "has no option 'colour'"),
        (
            "umfi.n_repeats=few",
            "n_repeats of the analysis umfi must be a whole number from 1 to 1,000,000, not 'few'",
        ),
        ("umfi.n_repeats=0", "not '0'"),
        ("mda.n_trees=5", "give n_trees to explain itself"),
    ],
)
def test_wrong_options_in_the_shell(text: str, said: str) -> None:
    from srs.catalogue.requests import add_options, find_option

    with pytest.raises(SettingsError, match=said):
        add_options(["umfi", "mda"], [text], find_option)
    with pytest.raises(SettingsError, match="is given twice"):
        add_options(["umfi"], ["umfi.n_repeats=5", "umfi.n_repeats=5"], find_option)


def test_the_command_sets_options(tmp_path: Path) -> None:
    frame().to_csv(tmp_path / "t.csv", index=False)
    invoke("ingest", tmp_path / "t.csv", tmp_path / "t.zarr", "--target", "y")
    words = ("--features", "a,b,d", "--analysis", "umfi=linear,mdi", "--trees", 5, "--json")
    options = ("--option", "umfi.n_repeats=2", "--option", "umfi.n_trees=5")
    shown = invoke("explain", tmp_path / "t.zarr", *words, *options, "--out", tmp_path / "why")
    document = json.loads(shown)
    given = {"n_repeats": 2, "n_trees": 5, "method": "linear"}
    assert document["settings"]["analyses"] == {"umfi": given, "mdi": {}}
    by_library = srs.explain(
        tmp_path / "t.zarr", features=["a", "b", "d"], analyses=[("umfi", given)], n_trees=5
    )
    assert document["analyses"][0] == by_library["umfi"].to_json()


def test_the_help_and_the_readme_name_all_analyses_and_options() -> None:
    readme = (ROOT / "README.md").read_text().partition("## Explain")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (.+) \| (.*) \|$", readme, re.M)
    assert [row[0] for row in rows] == [kind.usage.replace("|", "\\|") for kind in ANALYSES]
    told = invoke("explain", "--help")
    for kind, (_, question, options) in zip(ANALYSES, rows, strict=True):
        assert question == kind.question
        assert re.findall(r"`(\w+)`", options) == [option.name for option in kind.options]
        assert f"\n  {kind.usage}" in told
        assert all(
            f"    {kind.name}.{option.name} " in told.replace("\n", " ") for option in kind.options
        )


def test_naming_analyses_loads_nothing_heavy() -> None:
    code = (
        "import sys, srs; list(srs.ANALYSES)\n"
        "heavy = {'numpy', 'numba', 'pyarrow', 'scipy', 'pandas', 'sklearn'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "assert srs.ANALYSES['mda'].function.__name__ == 'mda'\n"
        "assert 'numba' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
    cheap = "import sys, srs; assert 'srs.catalogue' not in sys.modules"
    subprocess.run([sys.executable, "-c", cheap], check=True, timeout=120)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "../x"}, "lower-case letters"),
        ({"value": "colour"}, "no option colour of text"),
        ({"options": (Option("a", "int", "a", 1), Option("a", "int", "a", 1))}, "two options"),
    ],
)
def test_descriptors_that_cannot_be(changes: dict, message: str) -> None:
    good = {"name": "x", "title": "X", "question": "X", "run": "x:x"}
    with pytest.raises(ValueError, match=message):
        Analysis(**{**good, **changes})
    for wrong in ({"default": 0, "low": 1}, {"help": ""}, {"name": "a b"}):
        with pytest.raises(ValueError, match="the "):
            Option(**{"name": "a", "type": "int", "help": "a", "default": 1, **wrong})


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with an analysis is installed, for this process and those it starts."""
    folder = install(tmp_path / "site", toy_distance=MODULE)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", f"{python_path()}{os.pathsep}{folder}")
    find_analyses.cache_clear()
    yield folder
    monkeypatch.undo()
    find_analyses.cache_clear()


@pytest.mark.usefixtures("toy")
def test_a_toy_analysis_is_found_here(tmp_path: Path) -> None:
    """By the library, the command's help, and the report."""
    assert list(srs.ANALYSES)[-1] == "toy-distance"
    found = srs.explain(frame().drop(columns="sex"), "y", analyses=[("toy-distance", {"power": 2})])
    assert found["toy-distance"].settings == {"power": 2, "absolute": True}
    told = subprocess.run(
        [sys.executable, "-m", "srs.cli", "explain", "--help"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout
    assert "  toy-distance  " in told
    assert "    toy-distance.power" in told
    html = found.save(tmp_path / "why").read_text()
    assert "Distance of the mean" in Page(html).text
    assert "Bars are means of features." in Page(html).text
    assert '<section id="toy-distance"' in html


def test_the_report_of_an_analysis_that_is_gone() -> None:
    """Guards saved explanations: they outlive the package that made them."""
    found = srs.explain(frame(), "y", analyses=["mdi"], n_trees=5).to_json()
    found["analyses"][0]["name"] = "toy-distance"
    page = Page(render_explanation(found))
    assert "toy-distance" in page.text
    assert page.all("svg")


def test_packages_that_cannot_be_loaded_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    taken = MODULE.replace("toy-distance", "mda")
    folder = install(tmp_path, broken=BROKEN, other="DISTANCE = 3", taken=taken)
    monkeypatch.syspath_prepend(folder)
    find_analyses.cache_clear()
    try:
        assert list(find_analyses()) == [kind.name for kind in ANALYSES]
    finally:
        monkeypatch.undo()
        find_analyses.cache_clear()
    assert "a_package_that_nobody_has" in caplog.text
    assert "other:DISTANCE of the package toy (srs.analyses) is ignored: it is not" in caplog.text
    assert "there is a 'mda' already" in caplog.text


@pytest.mark.usefixtures("toy")
def test_a_toy_analysis_is_found_by_the_service(tmp_path: Path) -> None:
    """`/v1/analyses`, the OpenAPI document, and a job that runs it with its options."""
    rng = np.random.default_rng(0)
    made = pd.DataFrame(rng.normal(size=(60, 4)) + 3, columns=list("abcd"))
    (tmp_path / "stores").mkdir()
    srs.ingest(made, tmp_path / "stores" / "s.zarr", target=(made["a"] > 3).astype(int))
    server = Server(tmp_path, store_roots=tmp_path / "stores").start()
    try:
        with server.client() as client:
            (item,) = [
                item
                for item in client.get("/v1/analyses").json()["items"]
                if item["analysis"] == "toy-distance"
            ]
            assert item["title"] == "Distance of the mean"
            assert [option["name"] for option in item["options"]] == ["power", "absolute"]
            assert item["options"][0] == {
                "name": "power",
                "label": "Power",
                "type": "int",
                "help": "power of the mean",
                "default": 1,
                "low": 1,
                "high": 9,
                "choices": [],
                "none": "",
                "required": False,
            }
            check_the_document(client.get("/openapi.json").json())
            run_the_toy(client, tmp_path)
    finally:
        server.stop()


def check_the_document(document: dict) -> None:
    schemas = document["components"]["schemas"]

    def named(schema: dict) -> dict:
        return schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema

    branches = [named(branch) for branch in schemas["AnalysisRequest"]["anyOf"]]
    of_toy = [b for b in branches if b["properties"]["analysis"]["const"] == "toy-distance"]
    options = named(of_toy[0]["properties"]["options"])["properties"]
    assert options["power"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 9,
        "default": 1,
        "description": "power of the mean",
    }
    assert options["absolute"]["type"] == "boolean"


def run_the_toy(client: httpx.Client, folder: Path) -> None:
    asked = {"analysis": "toy-distance", "options": {"power": 3, "absolute": False}}
    body = {
        "kind": "explain",
        "dataset_id": register(client, "s.zarr"),
        "features": {"names": ["a", "b"]},
        "settings": {"analyses": [asked]},
    }
    wrong = {**body, "settings": {"analyses": [{**asked, "options": {"power": 10}}]}}
    refused = client.post("/v1/jobs", json=wrong)
    assert refused.status_code == 422
    assert refused.json()["errors"] == [
        {
            "pointer": "/settings/analyses/0/options/power",
            "detail": "must be a whole number from 1 to 9",
        }
    ]
    answer = client.post("/v1/jobs", json=body)
    assert answer.status_code == 202, answer.text
    job = wait_for(client, answer.json()["id"])
    assert job["status"] == "SUCCEEDED", job["error"]
    (told,) = client.get(f"/v1/jobs/{job['id']}/result").json()["analyses"]
    assert told["settings"] == {"power": 3, "absolute": False}
    table = client.get(f"/v1/jobs/{job['id']}/analyses/toy-distance", params={"format": "parquet"})
    (folder / "t.parquet").write_bytes(table.content)
    assert pq.read_table(folder / "t.parquet").column_names == [*COLUMNS, "twice"]
    assert "Distance of the mean" in client.get(f"/v1/jobs/{job['id']}/report").text
