"""A client that `openapi-python-client` makes of the document works: upload, submit, wait, result.

The generator needs an older typer than the commands do, so it is not among the packages of `dev`:
install it by itself (`pipx install openapi-python-client`) to run this test.
"""

from __future__ import annotations

import importlib
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.service.test_resources import npy

GENERATOR = shutil.which("openapi-python-client")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(GENERATOR is None, reason="openapi-python-client is not installed"),
]


@pytest.fixture
def generated(service, client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The package that the generator writes, without a single warning."""
    (tmp_path / "openapi.json").write_text(client.get("/openapi.json").text)
    command = [GENERATOR, "generate", "--path", "openapi.json", "--output-path", "made_client"]
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # it calls ruff
    done = subprocess.run(
        [*map(str, command), "--meta", "none"],
        cwd=tmp_path,
        env={**os.environ, "PATH": beside},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stdout + done.stderr, done.stdout[-3_000:]
    monkeypatch.syspath_prepend(str(tmp_path))
    made = importlib.import_module("made_client")
    with made.AuthenticatedClient(base_url=service.url, token=service.key, timeout=60) as opened:
        yield opened


def test_a_generated_client_works(generated):
    from made_client.api.datasets import datasets_create, datasets_get, datasets_upload
    from made_client.api.jobs import jobs_get, jobs_submit
    from made_client.api.results import results_compare, results_features
    from made_client.models import (
        DatasetRequest,
        FileFrom,
        Problem,
        SelectRequest,
        SelectSettings,
        SourceRequest,
        TargetFrom,
    )
    from made_client.models import ResultsFeaturesVerdictType0Item as Verdict
    from made_client.types import File

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 30))
    y = (X[:, 3] + X[:, 7] > 0).astype(int)
    ids = [
        datasets_upload.sync(
            client=generated, body=File(payload=io.BytesIO(npy(values))), filename=name
        ).id
        for name, values in (("X.npy", X), ("y.npy", y))
    ]
    source = SourceRequest(
        file=FileFrom(upload_id=ids[0]), target=TargetFrom(file=FileFrom(upload_id=ids[1]))
    )
    made = datasets_create.sync(client=generated, body=DatasetRequest(name="x", source=source))
    ingest = jobs_get.sync(client=generated, job_id=made.job_id, wait=60)
    assert ingest.status == "SUCCEEDED"
    dataset = datasets_get.sync(client=generated, dataset_id=made.id)
    assert (dataset.n_features, dataset.n_samples) == (30, 120)
    settings = SelectSettings(memory="512MB", max_trees=40)
    body = SelectRequest(kind="select", dataset_id=dataset.id, settings=settings)
    job = jobs_submit.sync(client=generated, body=body)
    job = jobs_get.sync(client=generated, job_id=job.id, wait=60)
    assert job.status == "SUCCEEDED"
    page = results_features.sync(client=generated, job_id=job.id, verdict=[Verdict.RELEVANT])
    assert {row.name for row in page.items} >= {"f3", "f7"}
    assert page.n_total == job.summary["n_relevant"] == len(page.items)
    assert results_compare.sync(client=generated, a=job.id, b=job.id).overlap == 1.0
    missing = jobs_get.sync(client=generated, job_id="j_" + "0" * 32)
    assert isinstance(missing, Problem)
    assert missing.status == 404
