"""Every exit code, each with its message."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from srs.cli import failures
from srs.cli.commands.select import default_folder, prepare_folder
from srs.cli.metrics_file import FIGURES, write_figures
from srs.cli.progress import LINE_SECONDS, describe_ingest, describe_run, round_line, shown
from srs.engine.loop import Progress
from srs.errors import (
    CheckpointError,
    ClusterError,
    InputError,
    JobError,
    MemoryBudgetError,
    RunInterrupted,
    SettingsError,
    StoreError,
    UnavailableError,
)
from tests.cli.conftest import run_srs


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("a"), 2),
        (SettingsError("a"), 2),
        (StoreError("a"), 2),
        (MemoryBudgetError("a", 2, 1), 3),
        (CheckpointError("a"), 4),
        (ClusterError("a"), 5),
        (UnavailableError("a"), 6),
        (JobError("a", "j_1", "FAILED"), 7),
        (RunInterrupted("a"), 130),
        (KeyboardInterrupt(), 130),
        (ZeroDivisionError("a"), 1),
    ],
)
def test_errors_have_their_exit_codes(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code in failures.EXIT_CODES
    for as_json in (False, True):
        with pytest.raises(typer.Exit) as caught, failures.reported(as_json):
            raise error
        assert caught.value.exit_code == code
    plain, as_json_line = capsys.readouterr().err.splitlines()
    assert plain.startswith("srs: ")
    shown_error = json.loads(as_json_line)["error"]
    assert shown_error["type"] == type(error).__name__
    assert plain == f"srs: {shown_error['message']}"


def test_sigterm_acts_as_ctrl_c(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as caught, failures.reported(False):
        signal.raise_signal(signal.SIGTERM)
    assert caught.value.exit_code == 130
    assert "interrupted" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_debug_shows_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SRS_DEBUG", "1")
    with pytest.raises(typer.Exit), failures.reported(False):
        raise ZeroDivisionError("a")
    assert "Traceback" in capsys.readouterr().err


def test_wrong_usage() -> None:
    done = run_srs("select", "--no-such-option", code=2)
    assert "--no-such-option" in done.stderr


def test_wrong_input(tmp_path: Path) -> None:
    done = run_srs("info", tmp_path / "missing.zarr", code=2)
    assert done.stderr.count("\n") == 1
    assert "does not exist" in done.stderr


def test_too_little_memory(store: Path, tmp_path: Path) -> None:
    done = run_srs(*["select", store, "--out", tmp_path / "run", "--memory", "10MB"], code=3)
    assert "10MB are allowed" in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "run").exists()


def test_no_checkpoint(store: Path, tmp_path: Path) -> None:
    done = run_srs(*["select", store, "--out", tmp_path / "run", "--resume", "--json"], code=4)
    assert json.loads(done.stderr)["error"]["type"] == "CheckpointError"
    assert done.stdout == ""


@pytest.mark.parametrize("held", ["result.json", "checkpoint.npz"])
def test_folder_in_use_is_refused_unless_told(held: str, tmp_path: Path) -> None:
    (tmp_path / held).write_text("{}")
    with pytest.raises(SettingsError, match="--overwrite"):
        prepare_folder(tmp_path, resume=False, overwrite=False)
    prepare_folder(tmp_path, resume=True, overwrite=False)
    assert (tmp_path / held).exists()
    prepare_folder(tmp_path, resume=False, overwrite=True)
    assert (tmp_path / held).exists() == (held == "result.json")  # which the run writes over
    with pytest.raises(SettingsError, match="choose one"):
        prepare_folder(tmp_path, resume=True, overwrite=True)


def test_overwrite_removes_trees_of_the_former_run(tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "000009-000001.npz").write_text("")
    prepare_folder(tmp_path, resume=False, overwrite=True)
    assert not (tmp_path / "trees").exists()


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="cannot be made"):
        prepare_folder(tmp_path / "file" / "run", resume=False, overwrite=False)


def test_default_folder() -> None:
    assert default_folder("some/wide.zarr") == Path("wide-run")
    assert default_folder("wide") == Path("wide-run")


def test_stop_request_waits_for_a_whole_batch() -> None:
    stop = failures.StopRequest(quiet=True)
    stop.obey(8)
    stop._ask(2, None)
    stop.obey(8)  # from within a look at the evidence
    with pytest.raises(KeyboardInterrupt):
        stop.obey(12)
    with pytest.raises(KeyboardInterrupt):
        stop._ask(2, None)


def test_lines_come_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock: Callable[[], float]
    times = iter([0.0, 1.0, LINE_SECONDS, LINE_SECONDS, LINE_SECONDS + 1])
    clock = lambda: next(times)  # noqa: E731
    monkeypatch.setattr("srs.cli.progress.monotonic", clock)
    with shown("select", quiet=False) as show:
        for text in ("a", "b", "c"):
            show(0.5, text)
    assert capsys.readouterr().err.partition(" ")[2] == "select: 50%, b\n"
    with shown("select", quiet=True) as show:
        show(0.5, "a")
    assert capsys.readouterr().err == ""


def test_a_round_in_a_line() -> None:
    now = Progress(
        n_trees=1200,
        n_passes=12.0,
        n_relevant=3,
        n_rounds=9,
        round_ended=True,
        seconds=10.0,
        remaining_seconds=30.0,
        figures={"n_workers": 2},
    )
    assert (
        round_line(now, False)
        .partition(" ")[2]
        .startswith("select: round 9, 1,200 trees, 12.0 passes, 3 found")
    )
    line = json.loads(round_line(now, True))
    assert (line["event"], line["round"], line["n_trees"], line["n_workers"]) == (
        "round",
        9,
        1200,
        2,
    )


def test_figures_for_prometheus(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Guards the format: a HELP and a TYPE line, then name and number, nothing unknown."""
    now = Progress(
        n_trees=1200,
        n_passes=12.5,
        n_relevant=3,
        n_rounds=9,
        round_ended=True,
        seconds=10.0,
        remaining_seconds=None,
        figures={"n_workers": 2, "n_submitted_again": 1},
    )
    write_figures(tmp_path / "srs.prom", now)
    lines = (tmp_path / "srs.prom").read_text().splitlines()
    values = dict(line.split(" ") for line in lines if not line.startswith("#"))
    assert values["srs_trees_total"] == "1200"
    assert values["srs_passes"] == "12.5"
    assert values["srs_workers"] == "2"
    assert values["srs_tasks_submitted_again_total"] == "1"
    assert "srs_remaining_seconds" not in values
    for name in values:
        kind = "counter" if name.endswith("_total") else "gauge"
        assert f"# TYPE {name} {kind}" in lines
        assert any(line.startswith(f"# HELP {name} ") for line in lines)
    assert set(values) <= set(FIGURES)
    write_figures(tmp_path / "no" / "srs.prom", now)
    assert "cannot be written" in caplog.text


def test_progress_in_words() -> None:
    assert describe_run(
        Progress(
            n_trees=1,
            n_passes=0.25,
            n_relevant=0,
            n_rounds=0,
            round_ended=False,
            seconds=1.0,
            remaining_seconds=None,
        )
    ) == (
        None,
        "1 tree, 0.2 passes, 0 found",
    )
    share, text = describe_run(
        Progress(
            n_trees=1200,
            n_passes=12.0,
            n_relevant=3,
            n_rounds=9,
            round_ended=True,
            seconds=10.0,
            remaining_seconds=30.0,
        )
    )
    assert share == 0.25
    assert text == "1,200 trees, 12.0 passes, 3 found, about 30 s left"
    assert describe_ingest(250, 1000, 20.0) == (0.25, "250 of 1,000 features, about 1 min 0 s left")
    assert describe_ingest(0, 0, 0.0)[0] is None
