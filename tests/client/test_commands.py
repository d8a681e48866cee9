"""`srs submit`, `jobs`, `watch` and `fetch` against a real service."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from srs.cli.app import app
from srs.client import Client, Dataset, Job
from srs.result import load_result
from tests.client.conftest import LONG, SHORT
from tests.service.server import Server

Run = Callable[..., Result]
LIMITS = ("--memory", SHORT["memory"], "--set", f"max_trees={SHORT['max_trees']}")


@pytest.fixture
def run(service: Server) -> Run:
    """Run `srs` with the service and its key in the environment."""
    env = {"SRS_URL": service.url, "SRS_API_KEY": service.key}

    def run(*arguments: object, code: int = 0, **changed: str) -> Result:
        done = CliRunner().invoke(
            app, [str(a) for a in arguments], prog_name="srs", env=env | changed
        )
        assert done.exit_code == code, done.output
        return done

    return run


def test_submit_watch_fetch(run: Run, dataset: Dataset, tmp_path: Path) -> None:
    planned = run("submit", dataset.name, *LIMITS, "--plan")
    assert "of 512MB allowed" in planned.stdout
    job_id = run("submit", dataset.id, *LIMITS, "--name", "by hand").stdout.strip()
    assert job_id.startswith("j_")
    assert "2 features found" in run("watch", job_id).stdout
    listed = next(line for line in run("jobs").stdout.splitlines() if job_id in line)
    assert "2 features found" in listed
    assert "by hand" in listed
    shown = run("fetch", job_id, "--out", tmp_path / "run")
    assert "f7" in shown.stdout
    assert "f7" in load_result(tmp_path / "run").relevant_names
    written = json.loads(run("fetch", job_id, "--out", tmp_path / "run", "--json").stdout)
    assert written["files"] == ["features.parquet", "report.html", "result.json"]
    events = run("watch", job_id, "--events").stdout.splitlines()
    assert json.loads(events[-1])["status"] == "SUCCEEDED"
    run("jobs", "delete", job_id)
    run("jobs", "show", job_id, code=2)


def test_a_file_is_sent_selected_and_explained(run: Run, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(200, 50))
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", (X[:, 4] > 0).astype(np.int32))
    sent = run(
        "submit", tmp_path / "X.npy", "--target", tmp_path / "y.npy", *LIMITS, "--watch", "--json"
    )
    job = json.loads(sent.stdout)
    assert (job["status"], job["summary"]["n_relevant"]) == ("SUCCEEDED", 1)
    why = run(
        "submit", job["dataset_id"], "--explain", job["id"], "--analysis", "mdi", "--watch",
        "--set", "n_trees=20",
    ).stdout.strip()  # fmt: skip
    run("fetch", why, "--out", tmp_path / "why")
    assert (tmp_path / "why" / "mdi.parquet").is_file()


def test_cancel_and_resume(run: Run, dataset: Dataset) -> None:
    limit = f"max_seconds={LONG['max_seconds']}"
    job_id = run(
        "submit", dataset.id, "--memory", LONG["memory"], "--set", limit
    ).stdout.strip()  # fmt: skip
    run("jobs", "cancel", job_id)
    stopped = run("watch", job_id, code=7)
    assert "was cancelled" in stopped.stderr
    assert job_id in run("jobs", "--status", "CANCELLED").stdout
    resumed = json.loads(run("jobs", "resume", job_id, "--json").stdout)
    assert resumed["status"] in ("QUEUED", "RUNNING")
    run("jobs", "cancel", job_id)


def test_sets_of_a_file(run: Run, dataset: Dataset, client: Client, tmp_path: Path) -> None:
    (tmp_path / "sets.csv").write_text("feature,set\nf7,a\nf8,a\n")
    job_id = run("submit", dataset.id, *LIMITS, "--sets", tmp_path / "sets.csv").stdout.strip()
    job = client.jobs.get(job_id)
    assert job.document["settings"]["feature_sets"] == {"n_sets": 1, "n_members": 2}
    job.wait(timeout=120)
    gone = run("submit", dataset.id, "--sets", tmp_path / "gone.csv", code=2)
    assert "gone.csv cannot be read" in gone.stderr


def test_the_same_key_submits_once(run: Run, dataset: Dataset, client: Client) -> None:
    same = ("submit", dataset.id, *LIMITS, "--idempotency-key", "nightly")
    assert run(*same).stdout == run(*same).stdout
    client.jobs.list(limit=1)[0].wait(timeout=120)


def test_the_same_key_registers_and_submits_once(run: Run, client: Client, tmp_path: Path) -> None:
    same = ("submit", "weekly", "--store", "small.zarr", *LIMITS, "--idempotency-key", "weekly")
    assert run(*same).stdout == run(*same).stdout
    assert [d.name for d in client.datasets.list()].count("weekly") == 1
    client.jobs.list(limit=1)[0].wait(timeout=120)
    np.save(tmp_path / "X.npy", np.zeros((3, 3)))
    file = run("submit", tmp_path / "X.npy", "--idempotency-key", "monthly", code=2).stderr
    assert "cannot go with a file" in file


def test_exit_codes_and_messages(run: Run, done: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("srs.client.connection.FIRST_CONTACT", 0.3)
    refused = run("jobs", code=2, SRS_API_KEY="srs_wrong").stderr
    assert "valid API key" in refused
    assert "SRS_API_KEY" in refused
    assert "`srs keys create`" in refused
    nobody = {"SRS_URL": "http://127.0.0.1:9"}
    away = run("submit", "nothing", code=6, **nobody).stderr.strip()
    assert "127.0.0.1:9 cannot be reached" in away
    assert "`srs serve`" in away
    assert "SRS_URL or --url" in away
    assert "\n" not in away
    assert "no dataset 'nothing'" in run("submit", "nothing", code=2).stderr
    assert "NAME=VALUE" in run("submit", done.dataset_id, "--set", "x", code=2).stderr
    too_small = run("submit", done.dataset_id, "--memory", "50MB", "--json", code=3)
    assert json.loads(too_small.stderr)["error"]["type"] == "MemoryBudgetError"
    assert "is no address" in run("jobs", code=2, SRS_URL="nonsense").stderr
