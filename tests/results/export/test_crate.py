"""A run as a Research Object Crate: its files, what made them, and where it came from."""

import json
import zipfile

import numpy as np
import pytest

import srs
from srs.results.record import read_options, write_record


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crate")
    X = np.random.default_rng(0).normal(size=(100, 12))
    store = srs.ingest(X, folder / "x.zarr", target={"y": X[:, 3] > 0})
    srs.select(store, max_trees=40).save(folder / "run")
    write_record(folder / "run", {"seed": 0, "pinned": []}, "srs select x.zarr", "0.2.0")
    return folder / "run"


def entities(text):
    return {one["@id"]: one for one in json.loads(text)["@graph"]}


def test_a_crate_describes_the_run_and_its_files(run, tmp_path):
    path = srs.export(run, "ro-crate", tmp_path / "run.zip", table="features")
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        found = entities(archive.read("ro-crate-metadata.json"))
        assert archive.read("features.parquet") == (run / "features.parquet").read_bytes()
    result = srs.load_result(run)
    root, action = found["./"], found["#run"]
    assert root["conformsTo"]["@id"] == "https://w3id.org/ro/wfrun/process/0.5"
    assert {one["@id"] for one in root["hasPart"]} == names - {"ro-crate-metadata.json"}
    assert action["@type"] == "CreateAction"
    assert action["description"] == "srs select x.zarr"
    assert found[action["instrument"]["@id"]]["softwareVersion"] == srs.__version__
    assert {"result.json", "features.parquet", "report.html"} <= {
        one["@id"] for one in action["result"]
    }
    given = [found[one["@id"]] for one in action["object"]]
    assert result.document["data"]["fingerprint"] in [one.get("identifier") for one in given]
    values = {one.get("name"): one.get("value") for one in given}
    assert values["fdr"] == 0.1
    assert values["seed"] == 0
    assert action["startTime"] <= action["endTime"] == result.document["measured"]["finished_at"]
    assert all(one["@id"] in found for one in root["hasPart"])


def test_metadata_in_the_folder_of_a_run(run):
    path = srs.export(run, "ro-crate", table="features")
    assert path == run / "ro-crate-metadata.json"
    assert "result.json" in entities(path.read_text())
    with pytest.raises(srs.SRSError, match="exists"):
        srs.export(run, "ro-crate", table="features")
    with pytest.raises(srs.SRSError, match="save the result"):
        srs.export(srs.load_result(run), "ro-crate", table="features")


def test_options_in_a_file_are_what_was_given(tmp_path):
    given = {"seed": 3, "fdr": 0.05, "names": ['a "b"', "c\\d"], "random": True, "none": None}
    path = write_record(tmp_path, given, "srs select\nx", "1")
    assert read_options(path, list(given)) == {k: v for k, v in given.items() if v is not None}
    assert path.read_text().startswith("# srs 1\n# srs select x\n")
