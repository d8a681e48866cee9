"""What the document says of requests is what the service takes: no more is refused, and no less."""

from __future__ import annotations

import jsonschema
import pytest
from pydantic import TypeAdapter, ValidationError

from srs_service.schemas.datasets import DatasetRequest
from srs_service.schemas.jobs import JobRequest, PlanRequest

DATASET_ID, JOB_ID = "d_" + "0" * 32, "j_" + "0" * 32
SELECT = {"kind": "select", "dataset_id": DATASET_ID}
FEATURES = {"job_id": JOB_ID}
EXPLAIN = {"kind": "explain", "dataset_id": DATASET_ID, "features": FEATURES}
URL = {"url": "https://data.example.org/X.npy"}
HOOK = {"url": "https://example.org/hook", "secret": "0123456789abcdef"}


def select(**settings: object) -> dict:
    return {**SELECT, "settings": settings}


def explain(*analyses: dict) -> dict:
    return {**EXPLAIN, "settings": {"analyses": list(analyses)}}


def analysis(name: str, **value: object) -> dict:
    return {"analysis": name, **value}


GOOD = [
    (JobRequest, SELECT),
    (JobRequest, {**SELECT, "webhook": HOOK, "name": "ä first look"}),
    (JobRequest, select(memory="512MB", seed=5.0, max_trees=1e3, pinned=["age", 3, 4.0])),
    (JobRequest, select(memory="0.05 GiB", evidence=["peak"])),
    (JobRequest, select(evidence=None, carry_fraction=0.3, max_depth=4, criterion="gini")),
    (JobRequest, select(memory="999999.999TiB", fdr=0.5)),
    (JobRequest, select(mode="paper", pinned=[], subjects=None)),
    (JobRequest, select(feature_sets={"a": ["x", 1]})),
    (JobRequest, explain(analysis("mdi"), analysis("umfi", value="linear"))),
    (JobRequest, explain(analysis("context", value="sex"), analysis("mci", value=None))),
    (JobRequest, {**EXPLAIN, "features": {"names": ["x", 1], "job_id": None}}),
    (JobRequest, {**EXPLAIN, "settings": {"subjects": "patient"}}),
    (JobRequest, {**EXPLAIN, "settings": {"subjects": None, "analyses": [analysis("umfi")]}}),
    (JobRequest, {"kind": "ingest", "name": "x", "source": {"file": URL}}),
    (DatasetRequest, {"name": "x", "store": "wide.zarr"}),
    (DatasetRequest, {"name": "x", "store": None, "source": {"file": {"path": "X.npy"}}}),
    (DatasetRequest, {"name": "x", "source": {"file": URL, "target": {"column": "y"}}}),
    (DatasetRequest, {"name": "x", "source": {"file": URL, "id_column": ""}}),
    (PlanRequest, {"dataset_id": DATASET_ID, "settings": {"memory": "1GB"}}),
]
BAD = [
    (JobRequest, {**SELECT, "name": "line\nbreak"}),
    (JobRequest, {**SELECT, "name": ""}),
    (JobRequest, {**SELECT, "webhook": {**HOOK, "secret": "short"}}),
    (JobRequest, select(memory="0MB")),
    (JobRequest, select(memory="0.000GB")),
    (JobRequest, select(memory="9999999TB")),
    (JobRequest, select(memory="512")),
    (JobRequest, select(seed=5.5)),
    (JobRequest, select(seed=True)),
    (JobRequest, select(max_trees=2**31)),
    (JobRequest, select(evidence=["peak", "peak"])),
    (JobRequest, select(evidence=[])),
    (JobRequest, select(mode="paper", feature_sets={"a": ["x"]})),
    (JobRequest, select(feature_sets={})),
    (JobRequest, select(feature_sets={"a": []})),
    (JobRequest, select(feature_sets={"": ["x"]})),
    (JobRequest, select(feature_sets={"a": [1.5]})),
    (JobRequest, explain()),
    (JobRequest, explain(analysis("context"))),
    (JobRequest, explain(analysis("context", value=None))),
    (JobRequest, explain(analysis("mdi", value="x"))),
    (JobRequest, explain(analysis("umfi", value="cubic"))),
    (JobRequest, explain(analysis("mda"), analysis("mda"))),
    (JobRequest, explain(analysis("nothing"))),
    (JobRequest, {**EXPLAIN, "settings": {"subjects": "x", "analyses": [analysis("network")]}}),
    (JobRequest, {**EXPLAIN, "settings": {"subjects": ""}}),
    (JobRequest, {**EXPLAIN, "features": {}}),
    (JobRequest, {**EXPLAIN, "features": {"job_id": JOB_ID, "names": ["x"]}}),
    (DatasetRequest, {"name": "x"}),
    (DatasetRequest, {"name": "x", "store": "a", "source": {"file": URL}}),
    (DatasetRequest, {"name": "x", "source": {"file": {}}}),
    (DatasetRequest, {"name": "x", "source": {"file": {**URL, "path": "X.npy"}}}),
    (DatasetRequest, {"name": "x", "source": {"file": URL, "target": {}}}),
    (DatasetRequest, {"name": "x", "source": {"file": URL, "id_column": "a\nb"}}),
    (PlanRequest, {"dataset_id": "x"}),
]


def fits_the_document(kind: object, body: dict) -> bool:
    schema = TypeAdapter(kind).json_schema()
    return bool(jsonschema.Draft202012Validator(schema).is_valid(body))


def is_taken(kind: object, body: dict) -> bool:
    try:
        TypeAdapter(kind).validate_python(body)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(("kind", "body"), GOOD)
def test_taken(kind, body):
    assert is_taken(kind, body)
    assert fits_the_document(kind, body)


@pytest.mark.parametrize(("kind", "body"), BAD)
def test_refused(kind, body):
    assert not is_taken(kind, body)
    assert not fits_the_document(kind, body)


@pytest.mark.parametrize(
    "settings",
    [
        {"pinned": ["x"]},
        {"subjects": "x"},
        {"confounders": ["x"]},
        {"sample_weight": "x"},
        {"class_weight": "balanced"},
        {"n_features": 3},
        {"pairs": "all"},
        {"guarantee": "confident"},
        {"rule": "knockoff"},
    ],
)
def test_what_paper_mode_has_not(settings):
    """Refused by `srs` itself when the job is submitted; the document says so, too."""
    from srs.errors import SettingsError
    from srs.settings import Settings

    body = select(mode="paper", **settings)
    assert not fits_the_document(JobRequest, body)
    with pytest.raises(SettingsError, match="paper mode"):
        Settings(mode="paper", **settings)


def test_addresses_that_are_none():
    """Refused by `srs_service.data.addresses` with its own sentence; the document says so, too."""
    for url in ("ftp://x", "file:///etc/passwd", "http://a b", "x"):
        body = {"name": "x", "source": {"file": {"url": url}}}
        assert not fits_the_document(DatasetRequest, body)


def test_settings_that_a_job_cannot_have(client):
    """Refused with who may set them; a name that there is nowhere is only unknown."""
    answer = client.post("/v1/jobs", json=select(threads=2, keep_trees=True, nothing=1))
    assert answer.status_code == 422
    assert {error["pointer"]: error["detail"] for error in answer.json()["errors"]} == {
        "/settings/threads": "threads is set by the operator of the service, not by a job.",
        "/settings/keep_trees": "keep_trees is for runs on your own machine, not for jobs of a "
        "service.",
        "/settings/nothing": "there is no setting 'nothing'.",
    }


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (select(pinned=["x", 1.5]), "/settings/pinned/1"),
        (select(fdr=7), "/settings/fdr"),
        ({"kind": "select"}, "/dataset_id"),
        (select(nothing=1), "/settings/nothing"),
        (select(feature_sets={"a/b": [None]}), "/settings/feature_sets/a~1b/0"),
        ({**EXPLAIN, "features": {}}, "/features"),
        ({"kind": "nothing"}, "/"),
    ],
)
def test_what_is_refused_is_pointed_at(client, body, pointer):
    """Guards pointers: they lead to a place of the body, and name nothing of our own code."""
    answer = client.post("/v1/jobs", json=body)
    assert answer.status_code == 422
    assert {error["pointer"] for error in answer.json()["errors"]} == {pointer}
    assert "function-" not in answer.text
    assert "Value error" not in answer.text
