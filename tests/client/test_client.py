"""The client against a real service: datasets, jobs, results, errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import srs
from srs.client import Client, Dataset, Job
from srs.client.progress import JobProgress
from srs.errors import (
    AccessError,
    ConflictError,
    InputError,
    JobError,
    JobTimeout,
    MemoryBudgetError,
    MissingError,
    ServiceError,
    SourceError,
    UnavailableError,
)
from tests.client.conftest import LONG, SHORT
from tests.client.stores import HOSTILE_NAME
from tests.service.server import Server, without_measured


def test_a_result_is_what_select_gives(done: Job, service: Server, tmp_path: Path) -> None:
    """Guards the promise: the same bytes as a run here, but for what was measured."""
    found = done.result()
    here = srs.select(service.folder / "stores" / "small.zarr", **SHORT)
    assert without_measured(dict(found.document)) == without_measured(dict(here.document))
    assert found.table.equals(here.table)
    assert set(found.relevant_names) == {"f7", HOSTILE_NAME}
    folder = done.save(tmp_path / "run")
    assert srs.load_result(folder).table.equals(here.table)
    assert (folder / "report.html").stat().st_size > 10_000


def test_features_are_sorted_filtered_and_cut(done: Job) -> None:
    best = done.features(verdict="RELEVANT", sort="-importance", limit=1)
    assert len(best) == 1
    assert best["verdict"].tolist() == ["RELEVANT"]
    assert best["importance"][0] == done.features()["importance"].max()
    assert done.features(search="onerror")["name"].tolist() == [HOSTILE_NAME]
    both = done.features(verdict=["RELEVANT", "UNDECIDED"])
    every = done.features()
    assert set(every["verdict"]) == {"RELEVANT", "UNDECIDED", "IRRELEVANT"}
    assert len(both) == every["verdict"].isin(["RELEVANT", "UNDECIDED"]).sum()
    assert set(both["verdict"]) == {"RELEVANT", "UNDECIDED"}


def test_pairs_are_those_of_the_result(done: Job, tmp_path: Path) -> None:
    here = done.result().pairs
    assert here is not None
    assert done.pairs().equals(here)
    assert (done.save(tmp_path / "run") / "pairs.parquet").exists()
    assert len(done.pairs(search="no such name")) == 0


def test_a_stage_before_the_trees_is_told() -> None:
    """Guards events of long looks at pairs: what is done, how far, how long it takes."""
    told = {
        "doing": "looking at all pairs",
        "stage": {"kind": "pairs", "n_done": 40, "n_steps": 155},
        "n_trees": 0,
        "remaining_seconds": 75.0,
    }
    said = JobProgress.read(told).describe()
    assert said == "looking at all pairs: 40 of 155 blocks, about 1 min 15 s left"


def test_events_tell_the_whole_story(done: Job) -> None:
    events = list(done.events())
    assert [e.number for e in events] == list(range(1, len(events) + 1))
    told = [e.data["status"] for e in events if e.kind == "status"]
    assert told == ["QUEUED", "RUNNING", "SUCCEEDED"]
    assert [e.number for e in done.events(after=2)] == list(range(3, len(events) + 1))
    assert list(done.events(after=events[-1].number)) == []


def test_waiting_shows_progress(
    client: Client, dataset: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    job = client.jobs.submit(dataset, seed=1, **SHORT)
    next(event for event in job.events() if event.kind == "progress")
    job.wait(progress=True, timeout=120)
    first, *_, last = capsys.readouterr().err.splitlines()
    assert first.startswith("select: ")
    assert last == "select: succeeded"


def test_upload_ingest_and_explain(client: Client, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 20))
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", (X[:, 4] > 0).astype(np.int32))
    sent = client.datasets.upload(tmp_path / "X.npy", tmp_path / "y.npy", name="sent")
    assert sent.status in ("PENDING", "READY")
    sent = sent.wait(timeout=120)
    assert (sent.status, sent.n_features, sent.n_samples) == ("READY", 20, 200)
    assert [t["kind"] for t in sent.targets] == ["classes"]
    assert client.datasets.get(sent.id).document == sent.document
    why = client.jobs.submit(
        sent,
        "explain",
        features=["f4", "f5"],
        n_trees=50,
        analyses=["mdi", "vote-shift=chi2", ("per-class", {"balanced": False})],
    ).wait(timeout=120)
    table = why.analysis("mdi")
    assert table.nlargest(1, "value")["feature"].tolist() == ["f4"]
    assert why.explanation()["format"] == "srs-explanation"
    assert why.explanation()["settings"]["analyses"]["per-class"] == {"balanced": False}
    written = {path.name for path in why.save(tmp_path / "why").iterdir()}
    tables = {f"{name}.parquet" for name in ("mdi", "vote-shift", "per-class")}
    assert written == {"explain.json", "explain.html", *tables}
    with pytest.raises(InputError, match="not select"):
        why.result()
    why.delete()
    sent.delete()
    with pytest.raises(MissingError):
        sent.refresh()


def test_cancel_keeps_what_was_done_and_resume_goes_on(client: Client, dataset: Dataset) -> None:
    job = client.jobs.submit(dataset, name="long", **LONG)
    seen = next(e for e in job.events() if e.kind == "progress" and e.data["n_trees"] > 20)
    with pytest.raises(JobTimeout, match="it continues on the service"):
        job.wait(timeout=0.3)
    with pytest.raises(ConflictError, match="no result yet"):
        job.result()
    assert job.cancel().status == "CANCELLING"
    with pytest.raises(JobError, match="resume it") as caught:
        job.wait(timeout=60)
    assert (caught.value.status, caught.value.job_id) == ("CANCELLED", job.id)
    n_events = job.document["last_event"]
    job.resume()
    further = next(e for e in job.events(after=n_events) if e.kind == "progress")
    assert further.data["n_trees"] > seen.data["n_trees"]
    job.cancel()
    with pytest.raises(JobError):
        job.wait(timeout=60)
    job.delete()
    with pytest.raises(MissingError):
        job.refresh()


def test_the_column_of_ids_can_be_named(client: Client, tmp_path: Path) -> None:
    rows = [f"k{i},{i / 7},{'uv'[i % 2]}" for i in range(20)]
    (tmp_path / "t.csv").write_text("code,a,y\n" + "\n".join(rows) + "\n")
    sent = client.datasets.upload(tmp_path / "t.csv", "y", id_column="code").wait(timeout=120)
    assert (sent.n_features, sent.document["kinds"]["categorical"]) == (1, 0)


def test_a_job_that_fails_says_why(client: Client, tmp_path: Path) -> None:
    (tmp_path / "X.npy").write_bytes(b"no array at all")
    sent = client.datasets.upload(tmp_path / "X.npy")
    with pytest.raises(JobError, match="failed") as caught:
        sent.wait(timeout=60)
    assert (caught.value.status, caught.value.yours) == ("FAILED", True)
    assert client.datasets.get(sent.id).status == "FAILED"


def test_lists_come_page_by_page(
    client: Client, dataset: Dataset, done: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("srs.client.pages.PAGE", 2)
    names = [f"dataset {n}" for n in range(4)]
    for name in names:
        client.datasets.register("small.zarr", name=name)
    found = client.datasets.list()
    assert [d.name for d in found[:4]] == names[::-1]
    assert dataset.id in {d.id for d in found}
    assert [d.name for d in client.datasets.list(limit=3)] == names[:0:-1]
    assert done.id in {job.id for job in client.jobs.list(status="SUCCEEDED", kind="select")}
    assert client.jobs.list(dataset=found[0]) == []


def test_a_plan_and_a_job_that_does_not_fit(client: Client, dataset: Dataset) -> None:
    plan = client.jobs.plan(dataset, memory="512MB")
    assert plan["n_features"] == 2_000
    assert plan["projected_mem"] <= plan["allowed_mem"] == 512_000_000
    for ask in (client.jobs.plan, client.jobs.submit):
        with pytest.raises(MemoryBudgetError) as caught:
            ask(dataset, memory="50MB")
        assert caught.value.needed_mem > caught.value.allowed_mem == 50_000_000


def test_feature_sets_are_given_as_to_select(
    client: Client, dataset: Dataset, tmp_path: Path
) -> None:
    """A mapping, ids as numpy has them, or a file: the same sets, so the same job by its key."""
    sets = {"a": ["f7", "f8"], "b": np.array([1, 2])}
    (tmp_path / "sets.gmt").write_text("a\tabout\tf7\tf8\nb\tabout\tf1\tf2\n")
    by_file = client.jobs.submit(dataset, feature_sets=tmp_path / "sets.gmt", **SHORT)
    tested = client.jobs.submit(dataset, feature_sets=sets, **SHORT).wait(timeout=120)
    found = tested.result().sets
    assert found is not None
    assert dict(zip(found["set"], found["verdict"], strict=True))["a"] == "RELEVANT"
    assert by_file.wait(timeout=120).result().sets.equals(found)
    with pytest.raises(ServiceError, match="no member of the feature sets is a feature"):
        client.jobs.submit(dataset, feature_sets={"a": ["nothing"]}, **SHORT)


def test_who_asks(client: Client, service: Server) -> None:
    assert client.whoami()["user"] == "admin"
    with (
        Client(service.url, "srs_wrong") as stranger,
        pytest.raises(AccessError, match="valid API key") as caught,
    ):
        stranger.jobs.list()
    assert (caught.value.status, caught.value.code) == (401, "not-authenticated")
    assert caught.value.request_id


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda c, _: c.datasets.register("../../etc"), ServiceError, "no such path"),
        (lambda c, _: c.datasets.upload("missing.npy"), SourceError, "missing.npy"),
        (lambda c, _: c.datasets.upload("/dev/null"), SourceError, "is empty: there is nothing to"),
        (lambda c, d: c.jobs.submit(d, fdr=7), ServiceError, "fdr"),
        (lambda c, d: c.jobs.submit(d, fdr="\x00"), ServiceError, "fdr"),
        (lambda c, d: c.jobs.submit(d, max_tres=1), TypeError, "did you mean max_trees"),
        (lambda c, d: c.jobs.submit(d, "explain"), InputError, "needs features"),
        (lambda c, d: c.jobs.submit(d, features=["f1"]), InputError, "kind='explain'"),
        (
            lambda c, d: c.jobs.submit(
                d, "explain", features=["f1"], analyses=[("context", {"context": np.zeros(3)})]
            ),
            InputError,
            "context of context is none of them",
        ),
        (
            lambda c, d: c.jobs.submit(
                d, "explain", features=["f1"], analyses=[("umfi", {"n_repeats": 0})]
            ),
            ServiceError,
            "options/n_repeats: must be a whole number",
        ),
        (lambda c, _: c.jobs.get("j_" + "0" * 32), MissingError, "no such"),
        (lambda c, _: c.jobs.get("nonsense"), ServiceError, "job_id"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    call: object, error: type[Exception], text: str, client: Client, dataset: Dataset
) -> None:
    with pytest.raises(error, match=text) as caught:
        call(client, dataset)  # type: ignore[operator]
    assert "\n" not in str(caught.value)


def test_a_target_that_is_no_file_and_no_column(client: Client, tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.zeros((3, 3)))
    with pytest.raises(SourceError, match=r"y\.npy does not exist"):
        client.datasets.upload(tmp_path / "X.npy", target="y.npy")


@pytest.mark.parametrize("url", ["ftp://somewhere", "nonsense", "http://[::1"])
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(InputError, match="address of a service"):
        Client(url)


def test_nobody_listens() -> None:
    with (
        Client("http://127.0.0.1:9", patience=0.5) as client,
        pytest.raises(UnavailableError, match="cannot be reached"),
    ):
        client.jobs.list()
