"""Commands that say how far to trust an installation, a selection or a run; options in files."""

from __future__ import annotations

import errno
import json
import os
import re
import tomllib
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from srs.cli.app import app
from srs.cli.failures import message
from tests.cli.conftest import invoke, make_data, run_srs

FEW = ("--max-trees", 60, "--threads", 1)


@pytest.fixture(scope="module")
def run(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    invoke("select", store, *("--out", folder, "--seed", 3, "--fdr", 0.05), *FEW)
    return folder


def refused(*arguments: object, code: int = 2) -> str:
    done = CliRunner().invoke(app, [str(a) for a in arguments], prog_name="srs")
    assert done.exit_code == code, done.output
    return done.output


def test_every_run_writes_its_options(run: Path, store: Path, tmp_path: Path) -> None:
    record = tomllib.loads((run / "run.toml").read_text())
    assert record["seed"] == 3
    assert record["fdr"] == 0.05
    assert record["store"] == str(store.resolve())
    assert "out" not in record
    document = json.loads((run / "result.json").read_text())
    assert document["data"]["fingerprint"]
    assert document["measured"]["versions"]["srs"]
    invoke("select", "--config", run / "run.toml", "--out", tmp_path / "again")
    again = json.loads((tmp_path / "again" / "result.json").read_text())
    del document["measured"], again["measured"]
    assert again == document


def test_the_command_line_comes_before_the_file(store: Path, tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text('seed = 3\nmax-trees = 40\npinned = ["f1", "f2"]\nrandom_recall = false\n')
    invoke("select", store, *("--config", config, "--seed", 4, "--out", tmp_path / "a"))
    settings = json.loads((tmp_path / "a" / "result.json").read_text())["settings"]
    assert (settings["seed"], settings["max_trees"]) == (4, 40)
    assert settings["pinned"] == ["f1", "f2"]
    assert settings["random_recall"] is False
    config.write_text("sead = 3\n")
    assert "did you mean 'seed'" in refused("select", store, "--config", config)
    config.write_text("seed = \n")
    assert "cannot be read as TOML" in refused("select", store, "--config", config)
    config.write_text("[seed]\na = 1\n")
    assert "is a table" in refused("select", store, "--config", config)


def test_verify_repeats_a_run(run: Path, tmp_path: Path) -> None:
    assert "repeated with the same bytes" in invoke("verify", run, "--threads", 2)
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in run.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    document = json.loads((copy / "result.json").read_text())
    document["outcome"]["relevant"][0]["p_value"] = 0.5
    (copy / "result.json").write_text(json.dumps(document))
    (copy / "features.parquet").write_bytes((run / "pairs.parquet").read_bytes())
    found = json.loads(refused("verify", copy, "--json", code=8))
    assert found["different"]["result.json"] == "outcome.relevant"
    assert found["different"]["features.parquet"] == "the values"
    document["measured"]["store"] = None
    (copy / "result.json").write_text(json.dumps(document))
    assert "give the store" in refused("verify", copy)
    other = tmp_path / "other.zarr"
    X, y = make_data(200, 20)
    pd.DataFrame(X).assign(y=y).to_csv(tmp_path / "x.csv", index=False)
    invoke("ingest", tmp_path / "x.csv", other, "--target", "y")
    assert "has other data than the run" in refused("verify", copy, "--store", other)


def test_verify_refuses_a_run_that_the_clock_ended(store: Path, tmp_path: Path) -> None:
    invoke("select", store, *("--out", tmp_path / "short", "--max-seconds", 0.01, "--threads", 1))
    said = refused("verify", tmp_path / "short")
    assert "ended by the clock or by hand (the limit of 0.01 seconds was reached" in said


def test_verify_of_a_part_of_a_store(store: Path, tmp_path: Path) -> None:
    (tmp_path / "features.txt").write_text("\n".join(f"f{i}" for i in range(40)))
    part = ("--features", tmp_path / "features.txt")
    invoke("select", store, "--out", tmp_path / "part", *part, *FEW)
    assert "same bytes" in invoke("verify", tmp_path / "part")


def test_compare_tells_overlap_and_settings(run: Path, store: Path, tmp_path: Path) -> None:
    invoke("select", store, *("--out", tmp_path / "b", "--n-features", 5), *FEW)
    text = invoke("compare", run, tmp_path / "b")
    assert re.search(r"settings +.*n_features: None -> 5", text)
    found = json.loads(invoke("compare", run, tmp_path / "b", "--json"))
    assert found["data"] == {}
    assert {"f3", "f7"} <= set(found["both"])
    n = len(found["both"]) + len(found["only_first"]) + len(found["only_second"])
    assert found["jaccard"] == len(found["both"]) / n
    for two in found["verdicts"].values():
        assert "RELEVANT" in two
        assert two[0] != two[1]
    same = json.loads(invoke("compare", run, run, "--json"))
    assert same["jaccard"] == 1.0
    assert same["settings"] == {}


def test_evaluate(store: Path, tmp_path: Path) -> None:
    text = invoke("evaluate", store, *("--folds", 2, "--out", tmp_path), *FEW)
    assert re.search(r"AUC 0\.\d+ \(0\.\d+ to [01]", text)
    assert "100%  f3" in text
    assert (tmp_path / "evaluation.html").exists()
    told = json.loads(invoke("evaluate", store, *("--folds", 2, "--out", tmp_path, "--json"), *FEW))
    assert told["score"]["measure"] == "auc"


def test_doctor_runs_a_small_selection() -> None:
    findings = json.loads(invoke("doctor", "--json"))
    by_name = {one["what"]: one for one in findings}
    assert by_name["selection"]["state"] == "ok"
    assert "f3 and f7 found" in by_name["selection"]["detail"]
    assert "numba" in by_name["packages"]["detail"]
    assert set(by_name) == {
        *("packages", "extras", "processor", "memory", "disk", "kernels", "selection")
    }
    assert "selection" not in invoke("doctor", "--quick")


def test_doctor_says_what_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no such thing")

    monkeypatch.setattr("srs.selection.select.select", broken)
    assert "FAILED  selection   RuntimeError: no such thing" in refused("doctor", code=1)


def test_demo_outside_of_a_checkout(tmp_path: Path) -> None:
    done = run_srs("demo", "small", "--features", 2000, cwd=tmp_path)
    assert len(re.findall(r"^   found ", done.stdout, re.M)) == 7
    assert (tmp_path / "small" / "run" / "report.html").exists()


def test_quiet_verbose_and_times_in_logs(store: Path, tmp_path: Path) -> None:
    run = ("select", store, "--overwrite", "--out", tmp_path / "r", *FEW)
    plain = run_srs(*run)
    assert re.search(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ select: round 1, ", plain.stderr, re.M)
    assert run_srs("--quiet", *run).stderr == ""
    assert "grow took" in run_srs("-v", *run).stderr
    assert "exclude one another" in run_srs("-q", "-v", *run, code=2).stderr
    rounds = run_srs(*run, "--json").stderr.splitlines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT.*Z", json.loads(rounds[0])["time"])


def test_a_full_disk_is_a_sentence() -> None:
    full = OSError(errno.ENOSPC, "No space left on device", "/data/run1/checkpoint.npz.partial")
    assert message(full).startswith("the disk is full (/data/run1/checkpoint.npz.partial): free")


def test_a_full_disk_of_a_run(store: Path, tmp_path: Path) -> None:
    """What is written to /dev/full meets a full disk."""
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    (tmp_path / "features.parquet.partial").symlink_to("/dev/full")
    said = refused("select", store, "--out", tmp_path, *FEW, code=1)
    assert "srs: the disk is full" in said
    assert "unexpected" not in said


def test_completion_of_a_shell_is_shown() -> None:
    done = CliRunner().invoke(app, ["--help"], prog_name="srs")
    assert "--install-completion" in done.output
    env = {
        **os.environ,
        "_SRS_COMPLETE": "complete_bash",
        "COMP_WORDS": "srs sel",
        "COMP_CWORD": "1",
    }
    assert run_srs(env=env).stdout.split() == ["select"]


def test_hints_that_fit(tmp_path: Path) -> None:
    X, y = make_data(30, 200)
    pd.DataFrame(X.T).to_csv(tmp_path / "x.csv", index=False)
    pd.DataFrame({"y": y}).to_csv(tmp_path / "y.csv", index=False)
    turned = refused("ingest", tmp_path / "x.csv", tmp_path / "s", "--target", tmp_path / "y.csv")
    assert "--orientation features" in turned
    frame = pd.DataFrame(X[:, :3], columns=["age", "height", "naïve"]).assign(outcome=y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    mistyped = refused("ingest", tmp_path / "t.csv", tmp_path / "s", "--target", "outcom")
    assert "did you mean 'outcome'? There are age, height, naïve, outcome." in mistyped
    frame.to_csv(tmp_path / "u.csv", index=False, encoding="utf-16")
    invoke("ingest", tmp_path / "u.csv", tmp_path / "u.zarr", "--target", "outcome")
    assert "naïve" in run_names(tmp_path / "u.zarr")
    frame.to_csv(tmp_path / "l.csv", index=False, encoding="latin-1")
    latin = refused("ingest", tmp_path / "l.csv", tmp_path / "l.zarr", "--target", "outcome")
    assert "perhaps in Latin-1" in latin
    assert "iconv" in latin


def run_names(path: Path) -> list[str]:
    from srs.store import open_store

    return open_store(path).feature_names
