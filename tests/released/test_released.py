"""Stores, results, explanations and checkpoints of the released version still open.

What is in the files is compared with what this version reads in them, and with what it makes of
the same data: see README.md for what wrote them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import srs
from srs.errors import CheckpointError
from srs.report import render_explanation, render_terminal
from srs.results.explanation import read_document
from tests.cli.conftest import invoke
from tests.released.compare import same_outcome, same_table
from tests.released.runs import (
    ANALYSIS_OPTIONS,
    CHECKPOINTS,
    EXPLAINED_FEATURES,
    HERE,
    RUNS,
    STORES,
)
from tests.report.conftest import Page

Copy = Callable[[str], Path]
EXPLAINED = ("all", "number", "subjects")
pytestmark = pytest.mark.usefixtures("study")


def read(path: str) -> Any:
    return json.loads((HERE / path).read_text(encoding="utf-8"))


# -- stores -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STORES)
def test_a_store_holds_what_it_held(name: str) -> None:
    store, said = srs.open_store(f"{name}.zarr"), read(f"stores/{name}.json")
    ids = np.arange(store.n_features)
    same_outcome(store.describe(), said["about"])
    assert store.feature_names == said["feature_names"]
    assert store.sample_ids == said["sample_ids"]
    assert store.kinds.tolist() == said["kinds"]
    assert store.n_levels.tolist() == said["n_levels"]
    for feature_id, labels in said["labels"].items():
        assert list(store.labels(int(feature_id))) == labels
    codes = np.ascontiguousarray(store.read_codes(ids))
    assert (codes == 255).sum(axis=0).tolist() == said["n_missing"]
    assert hashlib.sha256(codes.tobytes()).hexdigest() == said["codes_sha256"]
    first = srs.read_values(store, ids)[0].tolist()
    assert [None if v != v else v for v in first] == said["values_of_first_sample"]


@pytest.mark.parametrize("name", STORES)
def test_targets_and_annotations(name: str) -> None:
    store, said = srs.open_store(f"{name}.zarr"), read(f"stores/{name}.json")
    assert list(store.target_names) == list(said["targets"])
    for target, about in said["targets"].items():
        assert list(store.target(target).labels) == about["labels"]
        assert store.target(target).values.tolist() == about["values"]
    annotations = store.annotations()
    assert sorted(annotations) == sorted(said["annotations"])
    for annotation, about in said["annotations"].items():
        assert list(annotations[annotation].labels) == about["labels"]
        assert annotations[annotation].values.tolist() == about["values"]


@pytest.mark.parametrize("name", STORES)
def test_info(name: str) -> None:
    said = read(f"stores/{name}.json")["about"]
    same_outcome(json.loads(invoke("info", f"{name}.zarr", "--json")), said)
    assert said["fingerprint"] in invoke("info", f"{name}.zarr")


# -- results ----------------------------------------------------------------------------------


DECIDED = ("p_value", "q_value", "verdict", "group")  # columns that follow from the rule
SURE = 0.01  # at this rate both rules find the same
# Of runs whose probes are drawn in another way: subjects of about the same size change places, too.
DRAWN = ("importance", "effect", "n_used")
REDRAWN = {"together": {"pinned", "evidence", "prediction"}}  # parts that follow from probes


@pytest.mark.parametrize("name", RUNS)
def test_the_same_run_grows_the_released_trees(name: str) -> None:
    """Later versions decide by another rule, on the same evidence of as many trees; paper mode has
    its own, which is as it was."""
    run, released = RUNS[name], read(f"results/{name}/result.json")
    n_trees = released["outcome"]["n_trees"]
    settings = {**run.settings, "max_trees": n_trees, "patience": 10**6}
    if run.settings.get("mode") == "paper":
        settings["probe_share"] = 0.95 - 1e-7  # later versions ask for more than it, not as much
    again = srs.select(
        f"{run.store}.zarr", **settings, evidence=released["settings"]["evidence"], pairs="off"
    )
    new, old = again.document["outcome"], released["outcome"]
    for part in ("shape", "data"):
        same_outcome(again.document[part], released[part])
    redrawn = REDRAWN.get(name, set())
    for part in ("n_trees", "n_passes", "pinned", "ungrouped", "evidence", "prediction"):
        if part not in redrawn:
            same_outcome(new.get(part), old.get(part))
    rows, decided = pq.read_table(HERE / "results" / name / "features.parquet"), set(DECIDED)
    if run.settings.get("mode") == "paper":
        same_outcome(new, old)
        decided = set()
    columns = [column for column in rows.column_names if column not in decided]
    assert {*DRAWN, "n_drawn"} <= set(columns)
    if redrawn:
        columns = [column for column in columns if column not in DRAWN]
    same_outcome(again.table.select(columns).to_pydict(), rows.select(columns).to_pydict())
    surest = {row["name"] for row in old["relevant"] if row["q_value"] <= SURE}
    assert surest <= set(again.relevant_names)


@pytest.mark.parametrize("name", RUNS)
def test_a_result_opens(name: str) -> None:
    folder = HERE / "results" / name
    result, document = srs.load_result(folder), read(f"results/{name}/result.json")
    outcome, rows = document["outcome"], pq.read_table(folder / "features.parquet").to_pylist()
    same_outcome(result.document, document)
    same_table(result.table, folder / "features.parquet")
    assert result.relevant_names == [row["name"] for row in outcome["relevant"]]
    assert result.relevant_ids.tolist() == [row["feature_id"] for row in outcome["relevant"]]
    assert len(result.relevant_ids) > 0
    assert result.minimal_ids.tolist() == outcome["minimal"]
    assert result.n_trees == outcome["n_trees"]
    assert result.stop_reason == outcome["stop_reason"]
    same_outcome(result.groups, outcome["groups"])
    verdicts = {row["name"]: row["verdict"] for row in rows}
    assert dict(zip(result.features["name"], result.features["verdict"], strict=True)) == verdicts
    assert result.features["p_value"].tolist() == [row["p_value"] for row in rows]
    pinned = RUNS[name].settings.get("pinned", ())
    assert set(result.features["name"][result.features["pinned"]]) == set(pinned)


@pytest.mark.parametrize("name", ["sets", "together"])
def test_sets_of_a_result(name: str) -> None:
    found = srs.load_result(HERE / "results" / name).sets
    assert found is not None
    same_outcome(
        found.to_dict("records"), read(f"results/{name}/result.json")["outcome"]["sets"]["rows"]
    )
    assert found["set"].tolist() == ["signal", "noise"]
    assert found["verdict"].tolist() == ["RELEVANT", "IRRELEVANT"]


@pytest.mark.parametrize("name", ["pinned", "together", "number", "number-plates"])
def test_predictions_of_a_result(name: str) -> None:
    found = srs.load_result(HERE / "results" / name).prediction
    assert found is not None
    said = read(f"results/{name}/result.json")["outcome"]["prediction"]
    same_outcome(found.to_dict("records"), said)
    assert len(found) > 20


@pytest.mark.parametrize("name", RUNS)
def test_a_report_is_written_again(name: str, copied: Copy) -> None:
    folder, document = copied(f"results/{name}"), read(f"results/{name}/result.json")
    relevant = [row["name"] for row in document["outcome"]["relevant"]]
    shown = json.loads(invoke("report", folder, "--json"))
    assert shown["relevant"] == relevant
    assert shown["n_features"] == document["data"]["n_features"]
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    for name_or_label in (*relevant, *document["data"]["labels"], document["data"]["target"]):
        assert name_or_label in page.text
    for notice in document["data"]["notices"]:
        assert notice in page.text
    printed = invoke("report", folder)
    assert all(feature in printed for feature in relevant)
    assert render_terminal(srs.load_result(folder).document) in printed


@pytest.mark.parametrize("name", ["confounders.csv", "view.csv", "number.csv", "genotypes.bed"])
def test_the_selected_values_are_exported(name: str, tmp_path: Path) -> None:
    """The store is found where the run found it; the file has the released bytes."""
    run, _, suffix = name.partition(".")
    invoke(*["export", HERE / "results" / run, "--to", suffix, "--out", tmp_path / name])
    written = sorted(path.name for path in tmp_path.iterdir())
    kept = sorted(path.name for path in (HERE / "exports").glob(f"{run}.*"))
    assert written == kept
    for file in kept:
        assert (tmp_path / file).read_bytes() == (HERE / "exports" / file).read_bytes()


# -- explanations -----------------------------------------------------------------------------


def explain_again(name: str) -> srs.Explanation:
    every = [(one, ANALYSIS_OPTIONS.get(one, {})) for one in srs.ANALYSES]
    if name == "all":
        released = {one["name"] for one in read("explanations/all/explain.json")["analyses"]}
        known = [request for request in every if request[0] in released]  # later ones: more
        return srs.explain("classes.zarr", "status", list(EXPLAINED_FEATURES), known, 3, n_trees=30)
    if name == "number":
        some = ("mdi", "mda", "label-permutation", "umfi", "network")
        requests = [request for request in every if request[0] in some]
        return srs.explain(
            "numbers.zarr", "dose", ["f2", "f4", "f9", "f20"], requests, 3, n_trees=30
        )
    return srs.explain(
        "classes.zarr",
        "status",
        list(EXPLAINED_FEATURES),
        ["mdi", "mda", "per-class"],
        3,
        n_trees=30,
        subjects="patient",
    )


# umfi left features of few values as they were, or regressed them (its other numbers are as they
# were); one-probe had no word for features that too few forests cannot decide.
MENDED = {("all", "umfi"), ("all", "one-probe")}


@pytest.mark.parametrize("name", EXPLAINED)
def test_the_same_analyses_give_the_released_numbers(name: str) -> None:
    again, said = explain_again(name), read(f"explanations/{name}/explain.json")
    now = again.to_json()
    for document in (now, said):
        document["analyses"] = [a for a in document["analyses"] if (name, a["name"]) not in MENDED]
    same_outcome(now, said)
    for analysis in said["analyses"]:
        table = HERE / "explanations" / name / f"{analysis['name']}.parquet"
        same_table(again[analysis["name"]].table, table)


@pytest.mark.parametrize("name", EXPLAINED)
def test_an_explanation_is_shown_again(name: str) -> None:
    said = read(f"explanations/{name}/explain.json")
    page = Page(render_explanation(read_document(HERE / "explanations" / name)))
    sections = {attributes["id"] for attributes in page.all("section")}
    assert {analysis["name"] for analysis in said["analyses"]} <= sections
    assert all(feature in page.text for feature in said["data"]["features"])
    for analysis in said["analyses"]:
        table = pq.read_table(HERE / "explanations" / name / f"{analysis['name']}.parquet")
        same_outcome(table.to_pylist(), analysis["rows"])


def sections_of(folder: Path) -> set[str]:
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    return {str(attributes["id"]) for attributes in page.all("section")}


def test_an_explanation_stays_with_its_run(copied: Copy) -> None:
    """Guards how runs are told apart: the released explanation is of the released run."""
    folder = copied("results/confounders")
    said = {a["name"]: a for a in read("results/confounders/explain.json")["analyses"]}
    assert set(said) == {"mdi", "umfi", "per-class", "vote-shift"}
    invoke("report", folder)
    assert set(said) <= sections_of(folder)
    again = srs.explain("classes.zarr", "status", folder, ["mdi", "umfi=linear"], 3, n_trees=30)
    same_outcome(again["mdi"].to_json(), said["mdi"])
    features = [row["feature"] for row in said["umfi"]["rows"]]
    assert again["umfi"].column("feature").tolist() == features
    more = srs.explain("classes.zarr", "status", folder, ["mda"], 3, n_trees=30)
    assert more.save(folder) == folder / "report.html"
    assert {*said, "mda"} <= sections_of(folder)
    kept = json.loads((folder / "explain.json").read_text(encoding="utf-8"))["analyses"]
    assert sorted(a["name"] for a in kept) == sorted([*said, "mda"])


def test_a_run_of_a_part_is_explained_on_that_part() -> None:
    folder = HERE / "results" / "view"
    found = srs.explain("classes.zarr", "status", folder, ["mdi"], 3, n_trees=30)
    assert found.data["n_samples"] == read("results/view/result.json")["data"]["n_samples"] == 100
    assert found["mdi"].column("feature").tolist() == srs.load_result(folder).relevant_names


# -- checkpoints ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_an_interrupted_run_of_another_rule_is_not_continued(name: str, copied: Copy) -> None:
    run, folder = CHECKPOINTS[name], copied(f"checkpoints/{name}")
    with pytest.raises(CheckpointError, match="by an earlier version"):
        srs.select(f"{run.store}.zarr", folder=folder, resume=True, **run.settings)
    assert (folder / "checkpoint.npz").exists()
