"""Published schemas: up to date, complete, and true of the files and prints of every command."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import zarr
from jsonschema import Draft202012Validator

import srs
from docs.develop import generate_schemas, schema_of_types
from docs.develop.schema_of_types import Writer
from srs.results.explanation import read_document
from tests.cli.conftest import invoke
from tests.ingest.make import make_named, make_plain
from tests.released.conftest import unpack
from tests.released.runs import ANALYSIS_OPTIONS, EXPLAINED_FEATURES, HERE, RUNS, STORES
from tests.schemas import FOLDER, check, spoiled, validator

PUBLISHED = generate_schemas.PUBLISHED
# Together they use every part of a result.
SELECTED = (
    "confounders",
    "sets",
    "together",
    "pinned",
    "view",
    "knockoff",
    "paper",
    "number",
    "genotypes",
)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of stores: classes, numbers and genotypes, with all that stores may have."""
    folder = tmp_path_factory.mktemp("study")
    for name in STORES:
        unpack(f"stores/{name}.zip", folder)
    return folder


@pytest.fixture(scope="module")
def run(study: Path) -> Path:
    """The folder of a run of the command line."""
    folder = study / "run"
    options = ("--target", "status", "--max-trees", 48, "--holdout", 0.2, "--json", "--seed", 3)
    printed = invoke("select", study / "classes.zarr", "--out", folder, *options)
    check(json.loads(printed), "run-1")
    return folder


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def manifest(store: Path) -> Any:
    return read(store / "zarr.json")["attributes"]["srs"]


# -- the schemas themselves ---------------------------------------------------------------------


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda p: p.name)
def test_schemas_are_up_to_date(published: generate_schemas.Published) -> None:
    assert published.path.read_text(encoding="utf-8") == published.text(), "run `make generate`"


def test_no_other_schemas_are_published() -> None:
    assert {p.path for p in PUBLISHED} == set(FOLDER.glob("*.json"))
    table = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"({p.path.name})" in table for p in PUBLISHED)


def properties(schema: Any) -> list[tuple[str, Any]]:
    """All keys that a schema describes, at any depth."""
    if isinstance(schema, list):
        return [found for one in schema for found in properties(one)]
    if not isinstance(schema, dict):
        return []
    own = schema.get("properties", {}) if schema.get("type") == "object" else {}
    return [*own.items(), *(found for one in schema.values() for found in properties(one))]


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda p: p.name)
def test_schemas_are_valid_and_describe_every_key(published: generate_schemas.Published) -> None:
    schema = read(published.path)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:srs:schema:{published.name}-{schema['version']}"
    described = properties(schema)
    assert len(described) > 5
    assert [name for name, one in described if not one.get("description")] == []


def test_docstrings_are_read_as_they_are_written() -> None:
    failed, tried = doctest.testmod(schema_of_types)
    assert tried
    assert not failed


def test_a_type_that_describes_not_all_its_keys_is_refused() -> None:
    from srs.results.documents.result import Round

    class Longer(Round):
        """A round.

        n_trees  trees so far
        """

        n_more: int

    with pytest.raises(TypeError, match="Longer does not describe n_relevant, n_more"):
        Writer().refer_to(Longer)
    with pytest.raises(TypeError, match="no schema is known of"):
        Writer().schema(np.ndarray)


# -- results ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SELECTED)
def test_selections(name: str, study: Path, tmp_path: Path) -> None:
    wanted = RUNS[name]
    srs.select(study / f"{wanted.store}.zarr", **wanted.settings).save(tmp_path)
    check(read(tmp_path / "result.json"), "result-2")


def test_the_runs_have_all_that_a_result_may_have() -> None:
    """Else `test_selections` would leave a part of the schema without a test."""
    seen: set[str] = set()
    for name in SELECTED:
        document = srs.load_result(HERE / "results" / name).document
        seen |= {key for part in ("data", "outcome", "settings") for key in document[part]}
        seen |= {"prediction of rows"} if document["outcome"]["prediction"] else set()
    optional = {"view", "annotations", "sets", "sample_weight", "confounders", "subjects"}
    assert seen >= optional | {"prediction of rows"}


def test_a_result_of_workers(study: Path, tmp_path: Path) -> None:
    srs.select(study / "numbers.zarr", max_trees=16, executor=1).save(tmp_path)
    document = read(tmp_path / "result.json")
    assert document["measured"]["workers"]["n_workers"] == 1
    check(document, "result-2")


def test_the_command_and_its_report(run: Path) -> None:
    check(read(run / "result.json"), "result-2")
    check(json.loads(invoke("report", run, "--json")), "run-1")


@pytest.mark.parametrize("folder", sorted((HERE / "results").iterdir()), ids=lambda p: p.name)
def test_released_results_are_brought_up_to_date(folder: Path) -> None:
    check(srs.load_result(folder).document, "result-2")
    assert not validator("result-2").is_valid(read(folder / "result.json")), "of version 1"


# -- explanations -------------------------------------------------------------------------------


def test_all_analyses(study: Path, tmp_path: Path) -> None:
    analyses = [(name, ANALYSIS_OPTIONS.get(name, {})) for name in srs.ANALYSES]
    store = study / "classes.zarr"
    srs.explain(store, "status", EXPLAINED_FEATURES, analyses, 3, n_trees=10).save(tmp_path)
    document = read(tmp_path / "explain.json")
    assert [analysis["name"] for analysis in document["analyses"]] == list(srs.ANALYSES)
    check(document, "explanation-2")


def test_explanations_of_a_run_and_of_numbers(study: Path, run: Path, tmp_path: Path) -> None:
    options = ("--analysis", "mdi", "--analysis", "umfi=linear", "--trees", 10, "--json")
    printed = json.loads(invoke("explain", study / "classes.zarr", "--features", run, *options))
    written = read(run / "explain.json")
    assert written["run"] is not None
    check(written, "explanation-2")
    assert set(printed) - set(written) == {"out", "report"}
    why = srs.explain(study / "numbers.zarr", "dose", [2, 4, 9], ["mda", "network"], n_trees=5)
    why.save(tmp_path)
    check(read(tmp_path / "explain.json"), "explanation-2")


@pytest.mark.parametrize(
    "folder",
    [*sorted((HERE / "explanations").iterdir()), HERE / "results" / "confounders"],
    ids=lambda p: p.name,
)
def test_released_explanations_are_brought_up_to_date(folder: Path) -> None:
    check(read_document(folder), "explanation-2")
    assert not validator("explanation-2").is_valid(read(folder / "explain.json")), "of version 1"


# -- stores -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["array", "npy", "zarr_path", "csv", "parquet", "frame"])
@pytest.mark.parametrize("target", ["classes", "numbers"])
def test_manifests(kind: str, target: str, tmp_path: Path) -> None:
    values = np.random.default_rng(0).integers(0, 3, size=(20, 6)).astype(np.float64)
    make = make_plain if kind in ("array", "npy", "zarr_path") else make_named
    source = make(kind, values, "samples", tmp_path)
    y = values[:, 0].astype(int) if target == "classes" else np.linspace(0, 1, 20)
    store = srs.ingest(source, tmp_path / "made.zarr", target=y)
    check(manifest(tmp_path / "made.zarr"), "store-3")
    check(store.describe(), "info-1")
    for array in zarr.open_group(tmp_path / "made.zarr", mode="r")["targets"].array_values():
        check(dict(array.attrs), "store-3", "TargetAttributes")


def test_the_command_ingest(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(30, 5))
    pd.DataFrame(X, columns=list("abcde")).to_csv(tmp_path / "x.csv", index=False)
    path = tmp_path / "x.zarr"
    printed = invoke("ingest", tmp_path / "x.csv", path, *("--target", "e", "--json"))
    check(json.loads(printed), "info-1")
    check(manifest(path), "store-3")


@pytest.mark.parametrize("name", STORES)
def test_released_stores(name: str, study: Path) -> None:
    store = study / f"{name}.zarr"
    assert validator("store-3").is_valid(manifest(store)) == (not name.startswith("schema-"))
    check(json.loads(invoke("info", store, "--json")), "info-1")
    group = zarr.open_group(store, mode="r")
    for array in group["annotations"].array_values() if "annotations" in group else ():
        check(dict(array.attrs), "store-3", "AnnotationAttributes")
    assert ("annotations" in group) == (name == "genotypes")


def test_plans(study: Path) -> None:
    check(json.loads(invoke("plan", study / "numbers.zarr", "--json")), "plan-1")


# -- what schemas refuse ------------------------------------------------------------------------


def documents(study: Path, run: Path) -> dict[str, Any]:
    view, sets = (srs.load_result(HERE / "results" / n).document for n in ("view", "together"))
    whole = {
        **sets,
        "data": {**sets["data"], "view": view["data"]["view"]},
    }
    return {
        "result-2": whole,
        "explanation-2": read_document(HERE / "explanations" / "all"),
        "store-3": manifest(study / "genotypes.zarr"),
        "info-1": json.loads(invoke("info", study / "numbers.zarr", "--json")),
        "run-1": json.loads(invoke("report", run, "--json")),
        "plan-1": json.loads(invoke("plan", study / "numbers.zarr", "--json")),
    }


def test_schemas_refuse_what_lacks_a_key_or_has_an_unknown_one(study: Path, run: Path) -> None:
    for name, document in documents(study, run).items():
        check(document, name)
        tried = [(what, validator(name).is_valid(wrong)) for what, wrong in spoiled(name, document)]
        required = validator(name).schema["required"]
        assert {f"without {key}" for key in required} <= {what for what, _ in tried}
        assert [what for what, valid in tried if valid] == [], name
    assert len(list(spoiled("result-2", documents(study, run)["result-2"]))) > 100
