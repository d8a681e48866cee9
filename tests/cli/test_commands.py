"""Files to report through the real program."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from srs.report.text import clean_name
from tests.cli.conftest import invoke, make_data, run_srs

ODD = "odd <script>\tname"


def outcome(folder: Path) -> dict[str, Any]:
    """result.json without what differs between equal runs."""
    document: dict[str, Any] = json.loads((folder / "result.json").read_text())
    del document["measured"]
    return document


def test_npy_to_report(tmp_path: Path) -> None:
    """All commands, with their plain output; threads do not change the result."""
    X, y = make_data(200, 300)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    written = run_srs(
        *["ingest", "X.npy", "wide.zarr", "--target", "y.npy", "--memory", "1GB"], cwd=tmp_path
    )
    assert written.stdout.startswith("wide.zarr: 300 features x 200 samples")
    assert "2 classes (0: " in invoke("info", tmp_path / "wide.zarr")
    settings = ("--memory", "1GB", "--max-trees", 400, "--fdr", 0.01)
    done = run_srs("select", "wide.zarr", *settings, "--threads", 2, cwd=tmp_path)
    assert done.stdout.startswith("2 of 300 features are relevant")
    assert "Files in wide-run" in done.stdout
    assert done.stderr.splitlines()[-1].startswith("select: round ")
    tables = {f"{name}.parquet" for name in ("features", "effects", "profiles", "pairs")}
    names = {*tables, "report.html", "result.json"}
    assert {p.name for p in (tmp_path / "wide-run").iterdir()} == names
    one = ("select", tmp_path / "wide.zarr", *settings, "--threads", 1)
    invoke(*one, "--out", tmp_path / "one")
    assert outcome(tmp_path / "wide-run") == outcome(tmp_path / "one")
    page = tmp_path / "wide-run" / "report.html"
    page.unlink()
    again = run_srs("report", "wide-run", cwd=tmp_path)
    assert "Report written: wide-run/report.html" in again.stdout
    assert again.stdout.startswith("2 of 300 features are relevant")
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_csv_with_names_and_json(tmp_path: Path) -> None:
    X, y = make_data(150, 40)
    names = [ODD if i == 3 else f"gene{i}" for i in range(40)]
    with (tmp_path / "table.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([*names, "outcome"])
        rows.writerows([*values, f"class {label}"] for values, label in zip(X, y, strict=True))
    store, out = tmp_path / "table.zarr", tmp_path / "run"
    ingested = run_srs(*["ingest", tmp_path / "table.csv", store, "--target", "outcome", "--json"])
    assert ingested.stderr == ""
    about = json.loads(ingested.stdout)
    assert about == json.loads(invoke("info", store, "--json"))
    assert about["n_features"] == 40
    assert about["targets"][0]["name"] == "outcome"
    assert sum(about["targets"][0]["classes"].values()) == 150
    done = run_srs(
        *[
            "select",
            store,
            "--out",
            out,
            "--pinned",
            "gene0",
            "--pinned",
            "gene9",
            "--max-trees",
            400,
            "--figures",
            tmp_path / "f.prom",
            "--json",
        ]
    )
    rounds = [json.loads(line) for line in done.stderr.splitlines()]
    assert [r["round"] for r in rounds] == list(range(1, len(rounds) + 1))
    assert f"srs_trees_total {rounds[-1]['n_trees']}" in (tmp_path / "f.prom").read_text()
    said = json.loads(done.stdout)
    assert said["relevant"] == [ODD, "gene7"]
    assert said["n_relevant"] == 2
    assert said["out"] == str(out)
    assert set(said) >= {"stop_reason", "n_trees", "n_passes", "seconds", "peak_mem", "report"}
    assert json.loads(invoke("report", out, "--json")) == said
    assert [f["name"] for f in outcome(out)["outcome"]["pinned"]] == ["gene0", "gene9"]
    assert clean_name(ODD) in invoke("report", out)


def test_options_reach_the_settings(store: Path, tmp_path: Path) -> None:
    invoke(
        *[
            "select",
            store,
            "--out",
            tmp_path / "run",
            "--fdr",
            0.2,
            "--seed",
            5,
            "--memory",
            "600MB",
            "--mode",
            "paper",
            "--subspace-size",
            50,
            "--max-trees",
            40,
            "--max-passes",
            1000,
            "--max-seconds",
            60,
            "--holdout",
            0.1,
            "--keep-trees",
            "--target",
            "target",
        ],
    )
    settings = outcome(tmp_path / "run")["settings"]
    given = {
        "fdr": 0.2,
        "seed": 5,
        "allowed_mem": 600_000_000,
        "mode": "paper",
        "subspace_size": 50,
        "max_trees": 40,
        "max_passes": 1000,
        "max_seconds": 60.0,
        "holdout": 0.1,
        "keep_trees": True,
        "target": "target",
    }
    assert {name: settings[name] for name in given} == given
    assert len(list((tmp_path / "run" / "trees").iterdir())) == 40


def test_settings_of_the_method_reach_the_run(store: Path, tmp_path: Path) -> None:
    given = {
        "carry_fraction": 0.3,
        "max_features": 20,
        "probe_draws": 4,
        "probe_share": 0.8,
        "criterion": "gini",
        "max_depth": 5,
        "subspace_size": 60,
        "min_samples_leaf": 2,
        "patience": 2,
        "root_share": 0.5,
        "n_probes": 3,
        "rule": "knockoff",
        "max_carried": 7,
        "round_size": 20,
        "max_trees": 40,
    }
    texts = [text for k, v in given.items() for text in (f"--{k.replace('_', '-')}", v)]
    lists = ("--evidence", "used", "--evidence", "peak", "--no-random-recall")
    invoke("select", store, "--out", tmp_path / "run", *texts, *lists)
    settings = outcome(tmp_path / "run")["settings"]
    assert {name: settings[name] for name in given} == given
    assert settings["evidence"] == ["used", "peak"]
    assert settings["random_recall"] is False
    planned = json.loads(invoke("plan", store, *texts, "--json"))
    assert (planned["subspace_size"], planned["n_probes"]) == (60, 3)


def test_wrong_values_and_options_are_refused(store: Path, tmp_path: Path) -> None:
    out = ("select", store, "--out", tmp_path / "run")
    assert (
        "carry_fraction must be a number between 0 and 1, not 2.0."
        in run_srs(*out, "--carry-fraction", 2, code=2).stderr
    )
    assert "No such option: --nonsense" in run_srs(*out, "--nonsense", 1, code=2).stderr
    assert not (tmp_path / "run").exists()


def test_names_file_and_orientation(tmp_path: Path) -> None:
    X, y = make_data(60, 20)
    np.save(tmp_path / "XT.npy", np.ascontiguousarray(X.T))
    np.save(tmp_path / "y.npy", y)
    (tmp_path / "names.txt").write_text("".join(f"n {i}\n" for i in range(20)))
    run_srs(
        *[
            "ingest",
            "XT.npy",
            "s.zarr",
            "--target",
            "y.npy",
            "--orientation",
            "features",
            "--names",
            "names.txt",
            "--target-kind",
            "numbers",
            "--categorical",
            "n 2",
        ],
        cwd=tmp_path,
    )
    from srs.store import CATEGORICAL, open_store

    store = open_store(tmp_path / "s.zarr")
    assert (store.n_features, store.n_samples) == (20, 60)
    assert store.feature_names[2] == "n 2"
    assert np.flatnonzero(store.kinds == CATEGORICAL).tolist() == [2]
    assert store.target().kind == "numbers"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_live_progress_on_a_terminal(store: Path, tmp_path: Path) -> None:
    """On a terminal there is a bar on stderr, and it is gone at the end."""
    import os
    import pty
    import subprocess

    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "srs.cli",
            "select",
            store,
            "--out",
            tmp_path / "run",
            "--mode",
            "paper",
            "--max-trees",
            "400",
        ],
        stderr=theirs,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # how Linux tells that the other end is closed
        pass
    out, _ = done.communicate(timeout=60)
    os.close(ours)
    assert done.returncode == 0
    shown, erased, left = shown.rpartition(b"\x1b[2K")
    assert erased
    assert b"trees" in shown
    assert b"trees" not in left
    assert "features are relevant" in out
