"""The stage: stores, arrays and frames, one shape of results, files, page, command, errors."""

import json
import re
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import srs
from srs import ANALYSES
from srs.errors import InputError
from srs.results.analysis import COLUMNS
from tests.cli.conftest import invoke, run_srs
from tests.report.conftest import Page

SMALL = {
    "label-permutation": {"n_trees": 5, "n_permutations": 9},
    "conditional-error-rate": {"n_trees": 5, "n_permutations": 9, "max_ranks": 2},
    "feature-permutation": {"n_trees": 5, "n_permutations": 9},
    "mda-intervals": {"n_trees": 5, "n_subsamples": 5},
    "contrasts": {"n_trees": 5, "n_forests": 5},
    "degrees": {"n_trees": 5, "n_permutations": 9},
    "context": {"context": "sex", "n_trees": 10, "n_permutations": 9},
    "one-probe": {"n_forests": 5, "n_trees": 5},
    "umfi": {"n_trees": 10},
    "mci": {"method": "sampled", "n_orders": 2, "n_trees": 5},
    "network": {"n_trees": 5},
    "context-network": {"context": "sex", "n_trees": 5, "n_permutations": 9},
}
HOSTILE = '<script>alert("x")</script>'


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    made = pd.DataFrame(rng.normal(size=(80, 5)), columns=["a", "b", HOSTILE, "d", "e"])
    made["sex"] = np.where(rng.random(80) < 0.5, "f", "m")
    made["y"] = np.where(made["a"] + (made["sex"] == "f") * made["b"] > 0, "<i>ill", "well")
    return made


@pytest.fixture(scope="module")
def everything() -> srs.Explanation:
    requests = [(name, SMALL.get(name, {})) for name in ANALYSES]
    return srs.explain(frame(), "y", analyses=requests, n_trees=30, threads=1)


def test_every_analysis_has_one_shape(everything: srs.Explanation) -> None:
    assert list(everything.analyses) == list(ANALYSES)
    tested = set()
    for name, analysis in everything.analyses.items():
        assert analysis.name == name
        assert tuple(analysis.table.column_names[: len(COLUMNS)]) == COLUMNS
        p_values = [p for p in analysis.column("p_value") if p is not None and p == p]
        assert all(0 < p <= 1 for p in p_values), name
        tested |= {name} if p_values else set()
        rows = analysis.to_json()["rows"]
        assert len(rows) == analysis.table.num_rows > 0
    assert tested == {
        "mda",
        "label-permutation",
        "conditional-error-rate",
        "context",
        "vote-shift",
        "one-probe",
        "context-network",
        "contrasts",
        "degrees",
        "feature-permutation",
        "mda-intervals",
    }
    json.dumps(everything.to_json(), allow_nan=False)


def test_files(everything: srs.Explanation, tmp_path) -> None:
    folder = tmp_path / "why"
    assert everything.save(folder) == folder / "explain.html"
    document = json.loads((folder / "explain.json").read_text())
    assert [a["name"] for a in document["analyses"]] == list(ANALYSES)
    for name in ANALYSES:
        assert pq.read_table(folder / f"{name}.parquet").equals(everything[name].table)
    assert (folder / "explain.html").is_file()


def test_files_of_an_earlier_explanation_go(tmp_path) -> None:
    """Those that its explain.json names; no others."""
    X = frame()
    srs.explain(X, "y", analyses=["mdi", "mda"], n_trees=5).save(tmp_path)
    for name in ("mine.parquet", "features.parquet", "umfi.parquet"):
        (tmp_path / name).write_text("not of srs explain")
    earlier = json.loads((tmp_path / "explain.json").read_text())
    earlier["analyses"] += [{"name": "features"}, {"name": "../outside"}]
    (tmp_path / "explain.json").write_text(json.dumps(earlier))
    (tmp_path.parent / "outside.parquet").write_text("of somebody else")
    srs.explain(X, "y", analyses=["mda", "per-class"], n_trees=5).save(tmp_path)
    ours = {"explain.json", "explain.html", "mda.parquet", "per-class.parquet"}
    others = {"mine.parquet", "features.parquet", "umfi.parquet"}
    assert {file.name for file in tmp_path.iterdir()} == ours | others
    assert (tmp_path.parent / "outside.parquet").exists()


def test_the_page(everything: srs.Explanation, tmp_path) -> None:
    html = everything.save(tmp_path).read_text()
    page = Page(html)
    assert "http" not in html
    assert "src=" not in html
    assert HOSTILE not in html
    assert "<i>ill" not in html
    assert not re.search(r"\b(nan|inf|None)\b", page.text)
    assert len(page.all("h1")) == 1
    sections = {attrs["id"] for tag, attrs in page.tags if tag == "section"}
    assert sections == {"explained", *ANALYSES, "umfi-mdi"}
    plots = page.all("svg")
    changed = {
        row["context"] for row in everything["context-network"].to_json()["rows"] if row["label"]
    }
    has_pairs = bool((everything["connectome"].column("value") > 0).any())
    assert len(plots) == len(sections) - 3 + has_pairs + len(changed)
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in plots)
    assert len(page.all("caption")) == len(page.all("table")) == len(page.all("details"))
    assert len(page.all("details")) == len(sections) - 1
    inside = {f"#{name}" for name in sections - {"explained"}}
    assert {a["href"] for a in page.all("a")} == inside | {f"{name}.parquet" for name in ANALYSES}


def test_equal_seeds_equal_answers_on_any_threads(everything: srs.Explanation) -> None:
    """Every analysis: the same bytes on three threads, others by another seed."""
    requests = [(name, SMALL.get(name, {})) for name in ANALYSES]
    again, other = (
        srs.explain(frame(), "y", None, requests, seed, n_trees=30, threads=3) for seed in (0, 1)
    )
    assert {**again.to_json(), "measured": 0} == {**everything.to_json(), "measured": 0}
    for name in set(ANALYSES) - {"connectome"}:  # which draws nothing
        assert other[name].to_json()["rows"] != everything[name].to_json()["rows"], name


def test_stores_results_and_arrays_agree(tmp_path) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 60))
    y = (X[:, 3] + X[:, 7] > 0).astype(int)
    store = srs.ingest(X, tmp_path / "s.zarr", target=y)
    result = srs.select(store, seed=1, max_trees=60)
    result.save(tmp_path / "run")
    wanted = ["mdi", "vote-shift=ks"]
    by_result = srs.explain(store, features=result, analyses=wanted, n_trees=40)
    by_folder = srs.explain(
        tmp_path / "s.zarr", features=tmp_path / "run", analyses=wanted, n_trees=40
    )
    by_names = srs.explain(X, y, result.relevant_names, wanted, n_trees=40)
    assert by_result["mdi"].column("feature").tolist() == result.relevant_names
    for other in (by_folder, by_names):
        assert other["mdi"].to_json() == by_result["mdi"].to_json()
        assert other["vote-shift"].to_json() == by_result["vote-shift"].to_json()
    other_store = srs.ingest(X**2, target=y)
    with pytest.raises(InputError, match="another feature store"):
        srs.explain(other_store, features=result)


def test_a_run_of_some_samples_and_features_is_explained_on_these_samples(tmp_path) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 60))
    X[:, 59] = rng.integers(0, 2, 200)
    y = (X[:, 13] + X[:, 17] > 0).astype(int)
    y[150:] = rng.integers(0, 2, 50)
    store = srs.ingest(X, tmp_path / "s.zarr", target=y, categorical=["f59"])
    part = {"samples": range(150), "features": [f"f{i}" for i in range(10, 40)]}
    result = srs.select(store, seed=1, max_trees=60, **part)
    result.save(tmp_path / "run")
    assert result.relevant_names == ["f13", "f17"]
    wanted = ["mdi", ("context", {"context": "f59", "n_trees": 20, "n_permutations": 9})]
    by_run = srs.explain(tmp_path / "s.zarr", features=tmp_path / "run", analyses=wanted)
    by_view = srs.explain(store.view(range(150)), None, ["f13", "f17"], wanted)
    assert by_run.data["n_samples"] == 150
    by_part = srs.explain(store.view(**part), features=result, analyses=["mdi"])
    assert by_part["mdi"].to_json() == by_run["mdi"].to_json()
    for name in ("mdi", "context"):
        assert by_run[name].to_json() == by_view[name].to_json()
    with pytest.raises(InputError, match="workers read whole stores"):
        srs.explain(
            store.view(range(150)), features=["f13", "f17"], analyses=["network"], executor=1
        )


def sections_of(folder) -> list[str]:
    page = Page((folder / "report.html").read_text())
    return [attrs["id"] for tag, attrs in page.tags if tag == "section"]


def test_the_report_of_a_run_gains_a_section_an_analysis(tmp_path) -> None:
    """Explained in the folder of the run: by `save`, by the command, and after `srs report`."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 30))
    store = srs.ingest(X, tmp_path / "s.zarr", target=(X[:, 3] + X[:, 7] > 0).astype(int))
    run = tmp_path / "run"
    result = srs.select(store, seed=1, max_trees=60)
    result.save(run)
    before = sections_of(run)
    found = srs.explain(store, features=run, analyses=["mdi"], n_trees=30)
    assert found.save(run) == run / "report.html"
    assert set(sections_of(run)) == {*before, "explained", "mdi"}
    out = invoke(
        *[
            "explain",
            tmp_path / "s.zarr",
            "--features",
            run,
            "--analysis",
            "per-class",
            "--trees",
            30,
        ]
    )
    assert f"Report written: {run / 'report.html'}" in out
    both = sections_of(run)
    assert set(both) == {*before, "explained", "mdi", "per-class"}
    assert not (run / "explain.html").exists()
    invoke("report", run)
    assert sections_of(run) == both
    srs.select(store, seed=2, max_trees=60).save(run)  # another run: that explanation is not its
    assert sections_of(run) == before
    (run / "explain.json").write_text("{")
    with pytest.raises(InputError, match=r"explain\.json is damaged: remove it"):
        result.save(run)
    elsewhere = found.save(tmp_path / "apart")
    assert elsewhere == tmp_path / "apart" / "explain.html"


def test_a_perfect_marker_is_explained_with_a_notice(tmp_path) -> None:
    """A marker that pairs one to one with the classes is what was looked for, no bad input."""
    data = frame().assign(marker=lambda d: np.where(d["y"] == "well", "wild", "mutated"))
    found = srs.explain(data, "y", analyses=["mda", "per-class"], n_trees=50)
    assert found["mda"].frame.nlargest(1, "value")["feature"].tolist() == ["marker"]
    (notice,) = found.data["notices"]
    assert notice.startswith("The feature 'marker' pairs one to one with the classes of 'y'")
    assert notice in found["mda"].notes
    assert Page(found.save(tmp_path).read_text()).text.count("pairs one to one") == 1
    assert srs.explain(frame(), "y", analyses=["mdi"], n_trees=5).data["notices"] == []


def test_progress_reaches_the_end() -> None:
    seen: list[tuple[float, str]] = []
    requests = [(name, SMALL.get(name, {})) for name in ANALYSES]
    srs.explain(
        frame(),
        "y",
        analyses=requests,
        n_trees=40,
        on_progress=lambda share, text: seen.append((share, text)),
    )
    assert seen[-1] == (1.0, list(ANALYSES)[-1])
    of_each = Counter(name for _, name in seen)
    shared = {name for name, kind in ANALYSES.items() if kind.forest} - {"mdi"}
    assert all(of_each[name] > 2 for name in set(ANALYSES) - shared), of_each
    assert [share for share, _ in seen] == sorted(share for share, _ in seen)


def test_command(tmp_path) -> None:
    frame().to_csv(tmp_path / "t.csv", index=False)
    invoke("ingest", tmp_path / "t.csv", tmp_path / "t.zarr", "--target", "y")
    out = invoke(
        *[
            "explain",
            tmp_path / "t.zarr",
            "--analysis",
            "mda,per-class",
            "--trees",
            20,
            "--out",
            tmp_path / "why",
        ]
    )
    assert "Mean decrease of accuracy" in out
    assert (tmp_path / "why" / "per-class.parquet").is_file()
    shown = invoke(
        *[
            "explain",
            tmp_path / "t.zarr",
            "--features",
            "a,b,d",
            "--analysis",
            "mdi",
            "--trees",
            20,
            "--out",
            tmp_path / "few",
            "--json",
        ]
    )
    document = json.loads(shown)
    assert [row["feature"] for row in document["analyses"][0]["rows"]] == ["a", "b", "d"]
    done = run_srs("explain", tmp_path / "t.zarr", "--analysis", "context", code=2)
    assert "srs: the analysis context needs a context: write context=NAME." in done.stderr


def test_errors() -> None:
    data = frame()
    for requests, message in (
        (["colour"], "no analysis 'colour'; there are mdi"),
        (["mdi=3"], "the analysis mdi takes no value"),
        (["context-network"], "needs a context"),
        ([], "no analysis to run"),
        (["context=y"], "is the target and cannot be its context"),
    ):
        with pytest.raises(InputError, match=message):
            srs.explain(data, "y", analyses=requests)
    with pytest.raises(InputError, match="there is no target"):
        srs.explain(data.drop(columns="y"), analyses=["mdi"])
    with pytest.raises(InputError, match="no feature named 'zz'"):
        srs.explain(data, "y", ["zz"])
    with pytest.raises(InputError, match="the list of features is empty"):
        srs.explain(data, "y", [])
    with pytest.raises(InputError, match="'y' is the target"):
        srs.explain(data, "y", ["a", "y"])
