"""`srs submit`, `jobs`, `watch` and `fetch` against a real service."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import srs
from srs.cli.app import app
from srs.client import Client, Dataset, Job
from srs.results.result import load_result
from tests.client.conftest import LONG, SHORT
from tests.ingest.formats.examples import EXAMPLES
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
    tables = [f"{name}.parquet" for name in ("effects", "features", "pairs", "profiles")]
    assert written["files"] == [*tables, "report.html", "result.json"]
    events = run("watch", job_id, "--events").stdout.splitlines()
    assert json.loads(events[-1])["status"] == "SUCCEEDED"
    run("jobs", "delete", job_id)
    run("jobs", "show", job_id, code=2)


def test_a_file_is_sent_selected_and_explained(run: Run, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(200, 50))
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", (X[:, 4] > 0).astype(np.int32))
    sent = run(
        *[
            "submit",
            tmp_path / "X.npy",
            "--target",
            tmp_path / "y.npy",
            *LIMITS,
            "--watch",
            "--json",
        ]
    )
    job = json.loads(sent.stdout)
    assert (job["status"], job["summary"]["n_relevant"]) == ("SUCCEEDED", 1)
    why = run(
        *[
            "submit",
            job["dataset_id"],
            "--explain",
            job["id"],
            "--analysis",
            "umfi",
            "--watch",
            "--set",
            "n_trees=20",
            "--option",
            "umfi.n_repeats=2",
            "--option",
            "umfi.method=linear",
        ],
    ).stdout.strip()
    run("fetch", why, "--out", tmp_path / "why")
    assert (tmp_path / "why" / "umfi.parquet").is_file()
    settings = json.loads((tmp_path / "why" / "explain.json").read_text())["settings"]
    assert settings["analyses"] == {"umfi": {"n_repeats": 2, "method": "linear"}}
    wrong = run(
        *["submit", job["dataset_id"], "--explain", job["id"], "--option", "mda.x=1"], code=2
    )
    assert "the analysis mda has no option 'x'; it has associated" in wrong.stderr


def test_subjects_of_an_explanation(run: Run, client: Client, tmp_path: Path) -> None:
    """The same name in Python, in the shell and over HTTP; what is wrong is refused at once."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(60), 3)
    frame = pd.DataFrame(rng.normal(size=(180, 40))).add_prefix("f")
    frame = frame.assign(who=[f"p{i}" for i in who], y=np.where(frame["f3"] > 0, "ill", "well"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    sent = client.datasets.upload(tmp_path / "t.csv", "y", sample_columns=["who"]).wait()
    settings = {"analyses": ["mda"], "n_trees": 20, "subjects": "who"}
    job = client.jobs.submit(sent, "explain", features=["f3", "f4"], **settings).wait()
    local = srs.ingest(frame, target={"y": "y", "who": "who"})
    expected = srs.explain(local, features=["f3", "f4"], **settings)
    assert job.explanation()["analyses"] == [expected["mda"].to_json()]
    selection = client.jobs.submit(sent, **SHORT).wait()
    words = ("submit", sent.id, "--explain", selection.id, "--set", "n_trees=20")
    done = json.loads(run(*words, "--subjects", "who", "--watch", "--json").stdout)
    assert (done["status"], done["settings"]["subjects"]) == ("SUCCEEDED", "who")
    refused = run(*words, "--subjects", "colour", code=2).stderr
    assert "subjects: the dataset has no column 'colour'; it has y, who" in refused
    refused = run(*words, "--subjects", "who", "--analysis", "network", code=2).stderr
    assert "the analysis network does not keep samples of a subject together" in refused


def test_data_without_a_column_of_ids(run: Run, client: Client, tmp_path: Path) -> None:
    """'' in the shell, in Python and over HTTP: a column that is called like one is a feature."""
    rows = "".join(f"{i * 7 % 30},{i},{'uv'[i % 2]}\n" for i in range(30))
    (tmp_path / "t.csv").write_text("sample_id,a,y\n" + rows)
    for given, n_features in (((), 1), (("--id-column", ""), 2)):
        run("submit", tmp_path / "t.csv", "--target", "y", *given, "--plan")
        assert client.datasets.list(limit=1)[0].n_features == n_features


def test_genotypes_are_sent_with_their_table(run: Run, client: Client, tmp_path: Path) -> None:
    bed, _ = EXAMPLES["plink"]["bed"](tmp_path)
    rows = [f"s{i},{'uv'[i % 2]},{i}\n" for i in range(14)]
    (tmp_path / "p.csv").write_text("IID,case,age\n" + "".join(rows))
    how = ("--table", tmp_path / "p.csv", "--covariate", "age")
    run("submit", bed, "--target", "case", *how, "--plan")
    sent = client.datasets.list(limit=1)[0]
    assert (sent.name, sent.n_features, sent.n_samples) == ("x.bed", 7, 14)
    refused = run("submit", sent.id, *how, code=2).stderr
    assert "table, covariates are options for reading files" in refused


def submit_long(run: Run, dataset: Dataset) -> str:
    given = [f"{name}={LONG[name]}" for name in ("max_seconds", "patience")]
    options = [part for one in given for part in ("--set", one)]
    return run(*["submit", dataset.id, "--memory", LONG["memory"], *options]).stdout.strip()


def test_finish(run: Run, dataset: Dataset, client: Client) -> None:
    """The list so far is a result like any other."""
    job = client.jobs.get(submit_long(run, dataset))
    while job.progress is None or not job.progress.n_trees:
        job.refresh(wait=5.0)
    asked = json.loads(run("jobs", "finish", job.id, "--json").stdout)
    assert asked["finish_asked"]
    job.finish().wait(timeout=60)
    assert job.result().stop_reason == "the run was asked to finish"
    assert job.finish().status == "SUCCEEDED"


def test_cancel_and_resume(run: Run, dataset: Dataset) -> None:
    job_id = submit_long(run, dataset)
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
    same = ("submit", dataset.id, *LIMITS, "--name", "nightly", "--idempotency-key", "nightly")
    first, again = run(*same).stdout, run(*same).stdout
    assert [job.id for job in client.jobs.list() if job.name == "nightly"] == [first.strip()]
    assert again == first
    client.jobs.get(first.strip()).wait(timeout=120)


def test_the_same_key_registers_and_submits_once(run: Run, client: Client, tmp_path: Path) -> None:
    same = ("submit", "weekly", "--store", "small.zarr", *LIMITS, "--idempotency-key", "weekly")
    first, again = run(*same).stdout, run(*same).stdout
    (dataset,) = [d for d in client.datasets.list() if d.name == "weekly"]
    assert [job.id for job in client.jobs.list(dataset=dataset)] == [first.strip()]
    assert again == first
    client.jobs.get(first.strip()).wait(timeout=120)
    np.save(tmp_path / "X.npy", np.zeros((3, 3)))
    file = run("submit", tmp_path / "X.npy", "--idempotency-key", "monthly", code=2).stderr
    assert "cannot be used with a file" in file


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
    assert "is not the address" in run("jobs", code=2, SRS_URL="nonsense").stderr


def test_options_of_explanations_are_not_ignored(run: Run) -> None:
    for option in (("--option", "mda.x=1"), ("--analysis", "mda")):
        refused = run("submit", "anything", *option, code=2)
        assert "belong to --explain JOB" in refused.stderr
