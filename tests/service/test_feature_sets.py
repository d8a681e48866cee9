"""Feature sets over the service: the same answer as here, refused in a sentence where wrong."""

from __future__ import annotations

import numpy as np
import pytest

import srs
from tests.ingest.test_plink import write as write_bed
from tests.service.server import QUICK, register, select_request, submit, wait_for, without_measured

SETS = {"with both": ["f3", "f7", "f9"], "by id": [0, 1, 2], "one": ["f11", "of another study"]}


def test_a_job_tests_sets_as_srs_does(client, dataset_id, root):
    job = wait_for(client, submit(client, dataset_id, feature_sets=SETS))
    assert job["status"] == "SUCCEEDED", job
    here = srs.select(root / "small.zarr", feature_sets=SETS, **QUICK)
    served = client.get(f"/v1/jobs/{job['id']}/result").json()
    assert without_measured(served) == without_measured(dict(here.document))
    rows = served["outcome"]["sets"]["rows"]
    assert (rows[0]["set"], rows[0]["verdict"]) == ("with both", "RELEVANT")
    relevant = sum(row["verdict"] == "RELEVANT" for row in rows)
    assert (job["summary"]["n_sets"], job["summary"]["n_relevant_sets"]) == (3, relevant)
    assert job["summary"]["n_unknown_members"] == 1
    page = client.get(f"/v1/jobs/{job['id']}/features", params={"search": "f3"}).json()
    assert page["items"][0]["sets"] == "with both"
    # Sets may be long, and lists of jobs are not.
    assert job["settings"]["feature_sets"] == {"n_sets": 3, "n_members": 8}


def test_a_plan_takes_the_settings_of_the_job(client, dataset_id):
    settings = {"memory": "512MB", "feature_sets": SETS}
    plan = client.post("/v1/jobs:plan", json={"dataset_id": dataset_id, "settings": settings})
    assert plan.status_code == 200, plan.text


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        (
            {"feature_sets": {"odd": ["nothing", 60]}},
            "no member of the feature sets is a feature of the store",
        ),
        ({"feature_sets": {"a": []}}, "at least 1 item"),
        ({"feature_sets": {}}, "at least 1 item"),
        ({"feature_sets": {"a": [True]}}, "feature_sets"),
        ({"feature_sets": {"a": ["x\x00"]}}, "control characters"),
        ({"feature_sets": {"a" * 201: ["f1"]}}, "200 characters"),
        (
            {"feature_sets": {f"{i}": list(range(1_000)) for i in range(101)}},
            "feature_sets have 101000 members, and 100000 are allowed",
        ),
        ({"feature_sets": {f"{i}": [1] for i in range(10_001)}}, "at most 10000 items"),
        ({"feature_sets": SETS, "mode": "paper"}, "paper mode does not test feature_sets"),
    ],
)
def test_sets_that_cannot_be_tested_are_refused(client, dataset_id, changed, text):
    answer = client.post("/v1/jobs", json=select_request(dataset_id, **changed))
    assert answer.status_code == 422, answer.text
    problem = answer.json()
    told = problem["detail"] + str(problem.get("errors", ""))
    assert text in told
    assert "\n" not in told
    assert len(told) < 1_000, "one sentence, and not one an item"


def test_what_a_source_tells_of_its_features_is_in_the_table(client, root, tmp_path):
    """Guards the JSON table of variants: columns of their own made it an error."""
    path, _ = write_bed(tmp_path)
    srs.ingest(path, root / "variants.zarr", target="phenotype")
    job_id = submit(client, register(client, "variants.zarr"))
    assert wait_for(client, job_id)["status"] == "SUCCEEDED"
    rows = client.get(f"/v1/jobs/{job_id}/features", params={"sort": "feature_id"}).json()["items"]
    assert [row["contig"] for row in rows] == [str(1 + i // 20) for i in range(40)]
    assert np.array_equal([row["position"] for row in rows], 100 * np.arange(40))
