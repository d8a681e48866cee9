"""The OpenAPI document, tried out by schemathesis: no 5xx, no answer that is not documented.

All checks and phases are on. A request that fits the schema may still get 422, where the data
decide (a path that is not there, a name that does not resolve): `POSITIVE` says so. Event streams,
which do not end while a job waits, are tested by hand in test_events.py.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.server import Server, register, submit, wait_for

POSITIVE = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", 304, 400, 401, 403, 404, 406, 409, 413, 422, 429]
"""

# What would end the key or the user that asks: tested by hand in test_roles.py.
OF_WHO_ASKS = ("/v1/keys/{key_id}", "/v1/admin/users/{user}")


def with_data_that_is_there(document: dict, dataset_id: str, job_id: str) -> dict:
    """The document with ids that lead somewhere, so that more than refusals are tried."""
    schemas = document["components"]["schemas"]
    for name in ("SelectRequest", "ExplainRequest", "PlanRequest"):
        schemas[name]["properties"]["dataset_id"] = {"type": "string", "enum": [dataset_id]}
    schemas["DatasetRequest"].pop("examples")
    schemas["DatasetRequest"]["properties"]["store"] = {
        "anyOf": [{"type": "string", "enum": ["small.zarr"]}, {"type": "null"}]
    }
    post = document["paths"]["/v1/jobs"]["post"]["requestBody"]["content"]["application/json"]
    for example in post["examples"].values():
        example["value"]["dataset_id"] = dataset_id
        if "features" in example["value"]:
            example["value"]["features"]["job_id"] = job_id
    for path, methods in document["paths"].items():
        for operation in methods.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "job_id" and "/" in path.partition("{job_id}")[2]:
                    parameter["schema"] = {"type": "string", "enum": [job_id]}
    return document


def try_out(server: Server, folder: Path, max_examples: int, seed: int, phases: str) -> int:
    """Run schemathesis; the number of cases that it tried."""
    with server.client() as client:
        dataset_id = register(client, "small.zarr")
        job_id = submit(client, dataset_id)
        wait_for(client, job_id)
        document = client.get("/openapi.json").json()
    (folder / "openapi.json").write_text(
        json.dumps(with_data_that_is_there(document, dataset_id, job_id))
    )
    (folder / "schemathesis.toml").write_text(POSITIVE)
    done = subprocess.run(
        [
            Path(sys.executable).with_name("schemathesis"),
            "run",
            "openapi.json",
            "--url",
            server.url,
            "-H",
            f"Authorization: Bearer {server.key}",
            "--seed",
            str(seed),
            "--max-examples",
            str(max_examples),
            "--phases",
            phases,
            "--exclude-path",
            "/v1/jobs/{job_id}/events",
            *(part for path in OF_WHO_ASKS for part in ("--exclude-path", path)),
            "--request-timeout",
            "60",
            "--generation-database",
            "none",
            "--no-color",
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]
    tried = re.search(r"(\d+) generated", done.stdout)
    assert tried is not None, done.stdout[-2_000:]
    assert '"status": 500' not in server.log()
    return int(tried[1])


def served(start_service) -> Server:
    return start_service(max_queued=1_000_000, max_queued_per_user=1_000_000, max_running=1)


def test_the_document_holds(start_service, tmp_path):
    """A bounded part: the phase of all boundary values alone has some 1,700 cases."""
    phases = "examples,fuzzing,stateful"
    assert try_out(served(start_service), tmp_path, 3, 1, phases) > 60


@pytest.mark.long
def test_the_document_holds_for_thousands_of_cases(start_service, tmp_path):
    phases = "examples,coverage,fuzzing,stateful"
    assert try_out(served(start_service), tmp_path, 20, 2, phases) >= 2_000
