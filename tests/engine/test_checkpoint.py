"""Checkpoints: truncated, or written to a full disk. The one before serves, and is told of."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

import srs
from srs.engine.checkpoint import FILE_NAME, PARTIAL_NAME, PREVIOUS_NAME, read_checkpoint
from srs.errors import CheckpointError, RunInterrupted
from tests.planted import comparable, make_planted

SETTINGS = {"seed": 1, "max_trees": 120, "subspace_size": 150}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    X, y = make_planted(p=900)
    return srs.ingest(X, tmp_path_factory.mktemp("s") / "s.zarr", target=y)


@pytest.fixture
def interrupted(store, tmp_path, monkeypatch):
    """The folder of a run that was stopped after some rounds."""
    # After every round, however short.
    monkeypatch.setattr("srs.engine.run.keeper.SYNC_SHARE", 1e9)

    def stop(progress):
        if progress.n_trees >= 60:
            raise KeyboardInterrupt

    with pytest.raises(RunInterrupted, match="--resume"):
        srs.select(store, folder=tmp_path, on_progress=stop, **SETTINGS)
    return tmp_path


def test_every_round_is_kept_though_syncing_is_dear(store, tmp_path, monkeypatch):
    """Guards kills: however short rounds are, no more than one is grown again."""
    # The first checkpoint alone is synced.
    monkeypatch.setattr("srs.engine.run.keeper.SYNC_SHARE", 1e-9)
    seen = []

    def compare(progress):
        if progress.round_ended and progress.n_rounds > 1:  # the one that has ended comes next
            assert read_checkpoint(tmp_path)[0]["n_rounds"] == progress.n_rounds - 1
            seen.append(progress.n_rounds)
        if progress.n_rounds > 2:
            previous = shutil.copy(tmp_path / PREVIOUS_NAME, tmp_path.parent / FILE_NAME)
            assert read_checkpoint(previous.parent)[0]["n_rounds"] == 0  # after the steps

    srs.select(store, folder=tmp_path, on_progress=compare, **SETTINGS)
    assert len(seen) > 3


@pytest.mark.parametrize("damage", ["truncated", "empty", "missing", "one byte"])
def test_the_previous_checkpoint_serves(store, interrupted, caplog, damage):
    newest = interrupted / FILE_NAME
    content = newest.read_bytes()
    if damage == "missing":
        newest.unlink()
    elif damage == "one byte":
        at = len(content) // 2
        newest.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    else:
        newest.write_bytes(content[: len(content) // 2 if damage == "truncated" else 0])
    resumed = srs.select(store, folder=interrupted, resume=True, **SETTINGS)
    assert "continuing from the checkpoint before it" in caplog.text
    assert comparable(resumed) == comparable(srs.select(store, **SETTINGS))
    assert not list(interrupted.iterdir()), "a run that has ended needs none"


def test_two_damaged_ones_are_refused(store, interrupted):
    for name in (FILE_NAME, PREVIOUS_NAME):
        (interrupted / name).write_bytes(b"PK")
    with pytest.raises(CheckpointError, match="no earlier checkpoint can be used"):
        srs.select(store, folder=interrupted, resume=True, **SETTINGS)


def test_a_crash_between_the_renames(interrupted):
    """The newest has been renamed, and the next is not there yet."""
    (interrupted / FILE_NAME).replace(interrupted / PREVIOUS_NAME)
    (interrupted / PARTIAL_NAME).write_bytes(b"half")
    header, _, notice = read_checkpoint(interrupted)
    assert header["n_trees"] >= 60
    assert "is missing" in notice


FULL = """
import sys, srs, logging
logging.basicConfig(format="%(message)s")
import srs.engine.run.keeper
srs.engine.run.keeper.SYNC_SHARE = 1e9
{prepare}
def grown(progress):
    if progress.n_rounds == 3 and progress.round_ended:
        {fill}
    if progress.n_rounds == 6:
        raise KeyboardInterrupt
try:
    srs.select(sys.argv[1], folder=sys.argv[2], on_progress=grown, seed=1, max_trees=120,
               subspace_size=150)
except srs.SRSError as error:
    print(error)
"""


@pytest.mark.fault
@pytest.mark.parametrize("way", ["tmpfs", "limit"])
def test_the_disk_fills_while_a_checkpoint_is_written(store, tmp_path, way):
    """Guards a full disk: the run goes on, the checkpoint before stays whole, and it is said."""
    folder = tmp_path / "disk" / "run"
    folder.parent.mkdir()
    limit = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"
        if way == "limit"
        else "open(sys.argv[2] + '/../fill', 'wb', 0).write(b'0' * (1 << 22))"
    )
    prepare = "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)"
    code = FULL.format(prepare=prepare, fill=limit)
    if way == "tmpfs":
        mounted = (
            sys.platform == "linux"
            and os.geteuid() == 0
            and not subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder.parent)],
                check=False,
                capture_output=True,
            ).returncode
        )
        if not mounted:
            pytest.skip("a small file system of our own needs root")
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, str(store.path), str(folder)],
            capture_output=True,
            text=True,
            check=True,
        )
        reason = "No space left" if way == "tmpfs" else "File too large"
        assert f"could not be written ({reason}" in done.stderr
        assert "the one before it is kept" in done.stdout
        assert not (folder / PARTIAL_NAME).exists()
        (folder.parent / "fill").unlink(missing_ok=True)
        assert read_checkpoint(folder)[0]["n_rounds"] == 2
        resumed = srs.select(store, folder=folder, resume=True, **SETTINGS)
        assert comparable(resumed) == comparable(srs.select(store, **SETTINGS))
    finally:
        if way == "tmpfs":
            subprocess.run(["umount", str(folder.parent)], check=False)
