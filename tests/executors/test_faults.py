"""What happens to clusters, done to real processes: the answer is the same, to the byte."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
import psutil
import pytest

import srs
from srs.errors import ClusterError, StoreError
from srs.executors.dask import DaskExecutor
from srs.executors.launch import connect
from tests.cli.conftest import PROGRAM
from tests.executors.conftest import SETTINGS, make_chunky, outcome_bytes, running_cluster
from tests.executors.processes import free_port, running, scheduler_command, worker_command

pytestmark = pytest.mark.fault
N_PASSES = 30


@pytest.mark.parametrize("n_kills", [3, pytest.param(20, marks=pytest.mark.long)])
def test_workers_are_killed_in_the_middle_of_tasks(chunky, n_kills):
    killed: list[int] = []
    settings = {**SETTINGS, "max_passes": 10 * n_kills}
    undisturbed = outcome_bytes(srs.select(chunky, **settings))
    with running_cluster(2) as client:

        def kill(progress: srs.Progress) -> None:
            if len(killed) < n_kills and progress.n_trees >= 10 * (len(killed) + 1):
                busy = [w for w, keys in client.processing().items() if keys]
                nannies = [n for n in client.cluster.workers.values() if n.worker_address in busy]
                if nannies and (pid := random.choice(nannies).pid) and pid not in killed:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

        executor = DaskExecutor(client, n_wanted=2)
        result = srs.select(chunky, executor=executor, on_progress=kill, **settings)
    assert len(set(killed)) == n_kills
    assert outcome_bytes(result) == undisturbed


def test_a_hung_worker_loses_its_tasks_and_its_late_answer_is_dropped(chunky, undisturbed):
    with running_cluster(2) as client:
        stopped: list[int] = []
        continued: list[int] = []

        def hang(progress: srs.Progress) -> None:
            if not stopped and progress.n_trees >= 60:
                busy = [w for w, keys in client.processing().items() if keys]
                nannies = [n for n in client.cluster.workers.values() if n.worker_address in busy]
                if nannies:
                    stopped.append(nannies[0].pid)
                    os.kill(stopped[0], signal.SIGSTOP)
            again = progress.figures["n_submitted_again"]
            if stopped and not continued and again and progress.n_trees >= 200:
                os.kill(stopped[0], signal.SIGCONT)  # its answers come now, too late
                continued.append(progress.n_trees)

        result = srs.select(chunky, executor=client, task_timeout=2.0, on_progress=hang, **SETTINGS)
        assert continued, "the late answers came after the run"
        assert result.document["measured"]["workers"]["n_submitted_again"] >= 1
    assert outcome_bytes(result) == undisturbed


@pytest.mark.long
def test_a_batch_that_loses_every_worker_ends_the_run(monkeypatch):
    monkeypatch.setattr("srs.executors.dask.MAX_LOST", 1)
    with running_cluster(1) as client:
        client.cluster.scheduler.allowed_failures = 0
        with pytest.raises(ClusterError, match="lost with 1 workers"):
            list(DaskExecutor(client).map(_die, [1]))


def _die(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class TestScheduler:
    """The scheduler dies; workers then end themselves, and a supervisor starts them again."""

    def test_it_comes_back(self, chunky, undisturbed):
        port = free_port()
        address = f"tcp://127.0.0.1:{port}"
        scheduler, worker = scheduler_command("127.0.0.1", port), worker_command("127.0.0.1", port)
        with running(scheduler, worker) as (supervised, _):
            killed: list[int] = []

            def kill(progress: srs.Progress) -> None:
                if not killed and progress.n_trees >= 60:
                    killed.append(supervised.process.pid)
                    os.kill(killed[0], signal.SIGKILL)

            _await_scheduler(address)
            result = srs.select(chunky, executor=address, on_progress=kill, **SETTINGS)
        assert killed
        assert outcome_bytes(result) == undisturbed

    def test_it_does_not_come_back(self, chunky, undisturbed, tmp_path):
        port = free_port()
        address = f"tcp://127.0.0.1:{port}"
        commands = scheduler_command("127.0.0.1", port), worker_command("127.0.0.1", port)
        with running(*commands) as (scheduler, _):
            _await_scheduler(address)
            executor = DaskExecutor(connect(address), lambda: connect(address), patience=3.0)

            def kill(progress: srs.Progress) -> None:
                if progress.n_trees >= 60:
                    scheduler.stop()

            with pytest.raises(ClusterError, match=r"did not come back\. The work so far is in"):
                srs.select(chunky, executor=executor, on_progress=kill, folder=tmp_path, **SETTINGS)
            executor.client.close()
        resumed = srs.select(chunky, folder=tmp_path, resume=True, **SETTINGS)
        assert outcome_bytes(resumed) == undisturbed


def _await_scheduler(address: str) -> None:
    end = monotonic() + 60
    while True:
        try:
            connect(address).close()
            return
        except ClusterError:
            assert monotonic() < end
            sleep(0.2)


@pytest.mark.parametrize("n_kills", [1, pytest.param(8, marks=pytest.mark.long)])
def test_the_coordinator_is_killed_at_random_moments(tmp_path, n_kills, wide_chunky, whole):
    """Guards checkpoints: at most one round is grown again, and no worker is left behind."""
    n_passes = N_PASSES if n_kills == 1 else 6 * N_PASSES  # each start grows some rounds
    options = _options(wide_chunky, n_passes)
    if n_passes != N_PASSES:
        whole, _ = _finish([*options, "--out", str(tmp_path / "whole")])
    command = [*options, "--out", str(tmp_path / "broken"), "--workers", "2"]
    rng = random.Random(7)
    last = 0
    for kill in range(n_kills):
        resume = ["--resume"] if kill else []
        child = subprocess.Popen(
            [*PROGRAM, *command, *resume],
            stderr=subprocess.PIPE,
            text=True,
            stdout=subprocess.DEVNULL,
        )
        rounds = _rounds(child, 3)
        assert rounds[0] >= last, "more than one round was grown again"
        sleep(rng.uniform(0.0, 0.3))
        workers = psutil.Process(child.pid).children(recursive=True)
        assert len(workers) >= 2
        child.kill()
        last = max([rounds[-1], *_rounds(child, 100)])
        child.communicate()
        _, alive = psutil.wait_procs(workers, timeout=30)
        assert not alive
    found, rounds = _finish([*command, "--resume"])
    assert rounds[0] >= last, "more than one round was grown again"
    assert found == whole


@pytest.fixture(scope="module")
def wide_chunky(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose rounds take longer than checkpoints, and whose runs wait for pairs: they end at
    their limit."""
    folder = tmp_path_factory.mktemp("wide")
    return make_chunky(folder / "s.zarr", n=600, p=3_000, chunk_bytes=1 << 16)


def _options(store: Path, n_passes: int = N_PASSES) -> list[str]:
    return [
        "select",
        str(store),
        "--subspace-size",
        "256",
        "--max-passes",
        str(n_passes),
        "--seed",
        "3",
        "--json",
        "--memory",
        "600MB",
    ]


@pytest.fixture(scope="module")
def whole(wide_chunky: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What an undisturbed run of the program gives."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    return _finish([*_options(wide_chunky), "--out", str(folder)])[0]


def _rounds(child: subprocess.Popen[str], most: int) -> list[int]:
    """Numbers of the next rounds that the program logs."""
    found: list[int] = []
    assert child.stderr is not None
    while len(found) < most and (line := child.stderr.readline()):
        if line.startswith("{") and line.endswith("}\n"):
            found.append(json.loads(line)["round"])
    return found


def _finish(command: list[str]) -> tuple[dict[str, Any], list[int]]:
    """The document of a run to its end, and the numbers of the rounds that it grew."""
    done = subprocess.run([*PROGRAM, *command], check=True, capture_output=True, text=True)
    folder = Path(command[command.index("--out") + 1])
    document: dict[str, Any] = json.loads((folder / "result.json").read_text())
    del document["measured"]
    return document, [json.loads(line)["round"] for line in done.stderr.splitlines()]


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
def test_ctrl_c_and_sigterm_stop_a_run_with_workers(tmp_path, wide_chunky, whole, number):
    """Guards batch systems and terminals: a signal to the group leaves a checkpoint."""
    command = [*_options(wide_chunky), "--out", str(tmp_path / "broken"), "--workers", "2"]
    child = subprocess.Popen(
        [*PROGRAM, *command],
        stderr=subprocess.PIPE,
        text=True,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    _rounds(child, 2)
    os.killpg(child.pid, number)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 130, errors
    said = json.loads(errors.splitlines()[-1])["error"]
    assert said["type"] == "RunInterrupted"
    assert "--resume" in said["message"]
    assert _finish([*command, "--resume"])[0] == whole


@pytest.mark.parametrize("damage", ["corrupted", pytest.param("missing", marks=pytest.mark.long)])
def test_a_damaged_chunk_is_named_and_what_was_gathered_is_kept(tmp_path, two_workers, damage):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 250, (400, 300_000), dtype=np.uint8)  # too large to be kept in memory
    srs.ingest(codes, tmp_path / "s.zarr", target=rng.integers(0, 2, 400), keep_values=False)
    settings: dict[str, Any] = {
        "memory": "335MB",
        "max_passes": 3,
        "subspace_size": 2000,
        "pairs": "off",  # of 300,000 features they take minutes
    }
    whole = srs.select(tmp_path / "s.zarr", **settings)
    chunk = tmp_path / "s.zarr" / "codes" / "c" / "7" / "0" / "0"
    good = chunk.read_bytes()

    def spoil(progress: srs.Progress) -> None:
        if progress.n_passes >= 1:
            chunk.unlink(missing_ok=True)
            if damage == "corrupted":
                chunk.write_bytes(good[:-20] + bytes(16) + good[-4:])

    with pytest.raises(StoreError, match=rf"c/7/0/0 is {damage}.*The work so far is in"):
        srs.select(
            tmp_path / "s.zarr",
            executor=two_workers,
            folder=tmp_path / "run",
            on_progress=spoil,
            **settings,
        )
    chunk.write_bytes(good)
    resumed = srs.select(
        tmp_path / "s.zarr", executor=two_workers, folder=tmp_path / "run", resume=True, **settings
    )
    assert outcome_bytes(resumed) == outcome_bytes(whole)


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="network namespaces need root"
)
@pytest.mark.parametrize("seconds", [4, pytest.param(30, marks=pytest.mark.long)])
def test_the_network_between_worker_and_scheduler_is_cut(chunky, undisturbed, seconds):
    """The worker lives behind a cable of its own, which is pulled for a while."""
    name, port = f"srs{os.getpid() % 10_000}", free_port()
    here, there = f"{name}a", f"{name}b"

    def ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True)

    try:
        ip("netns", "add", name)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("network namespaces are not allowed here")
    try:
        ip(*["link", "add", here, "type", "veth", "peer", "name", there])
        ip("link", "set", there, "netns", name)
        ip("addr", "add", "10.213.77.1/24", "dev", here)
        ip("link", "set", here, "up")
        ip(*["-n", name, "addr", "add", "10.213.77.2/24", "dev", there])
        ip(*["-n", name, "link", "set", there, "up"])
        ip(*["-n", name, "link", "set", "lo", "up"])
        address = f"tcp://10.213.77.1:{port}"
        worker = [
            "ip",
            "netns",
            "exec",
            name,
            *worker_command("10.213.77.1", port, "--host", "10.213.77.2"),
        ]
        with running(scheduler_command("10.213.77.1", port), worker):
            _await_scheduler(address)
            cut: list[int] = []

            def pull(progress: srs.Progress) -> None:
                if not cut and progress.n_trees >= 60:
                    cut.append(progress.n_trees)
                    ip("link", "set", here, "down")
                    sleep(seconds)
                    ip("link", "set", here, "up")

            result = srs.select(chunky, executor=address, on_progress=pull, **SETTINGS)
        assert cut
        assert outcome_bytes(result) == undisturbed
    finally:
        subprocess.run(["ip", "link", "del", here], check=False, capture_output=True)
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
