"""An ingest that stops, however it stops, leaves nothing that opens."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from srs.errors import StoreError
from srs.ingest import ingest
from srs.store import open_store

KILLED = """
import sys, time
import numpy as np
from srs.ingest import ingest

def stop(done, n_features):
    print("reached", flush=True)
    time.sleep(60)

ingest(sys.argv[1], sys.argv[2], memory="400MB", on_progress=stop)
"""


class Stopped(Exception):
    pass


@pytest.mark.parametrize("error", [Stopped, KeyboardInterrupt])
@pytest.mark.parametrize("kind", ["array", "npy", "csv"])
def test_error_in_progress_leaves_nothing(kind, error, tmp_path):
    values = np.random.default_rng(0).normal(size=(20, 50))
    source, sources = values, tmp_path / "sources"
    sources.mkdir()
    if kind == "npy":
        np.save(source := sources / "x.npy", values)
    if kind == "csv":
        np.savetxt(source := sources / "x.csv", values, delimiter=",")

    def stop(done, n_features):
        assert (done, n_features) == (50, 50)
        raise error

    (tmp_path / "out").mkdir()
    with pytest.raises(error):
        ingest(source, tmp_path / "out" / "s.zarr", on_progress=stop)
    assert list((tmp_path / "out").iterdir()) == []


def test_failed_overwrite_keeps_the_old_store(tmp_path):
    path = tmp_path / "s.zarr"
    old = ingest(np.eye(3), path)

    def stop(*_):
        raise Stopped

    with pytest.raises(Stopped):
        ingest(np.zeros((9, 9)), path, overwrite=True, on_progress=stop)
    assert open_store(path).fingerprint == old.fingerprint
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.fault
def test_killed_ingest_leaves_nothing_that_opens(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(20, 50)))
    out = tmp_path / "out"
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "x.npy"), str(out / "s.zarr")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "reached\n"
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    with pytest.raises(StoreError, match="does not exist"):
        open_store(out / "s.zarr")
    left = [path for path in out.rglob("*") if path.is_dir()]
    assert left, "the process was killed while it wrote"
    for folder in left:
        with pytest.raises(StoreError):
            open_store(folder)
    assert ingest(tmp_path / "x.npy", out / "s.zarr").n_features == 50


def test_progress_is_reported_to_the_end(tmp_path):
    seen = []
    ingest(np.zeros((10, 30)), tmp_path / "s.zarr", on_progress=lambda *n: seen.append(n))
    assert seen[-1] == (30, 30)


PEAK = """
import sys
from srs.ingest import ingest
from srs.memory import peak_mem

store = ingest(sys.argv[1], sys.argv[2], memory=int(sys.argv[3]))
print(store.fingerprint, peak_mem())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "allowed"), [((500, 200_000), 400_000_000), ((300_000, 330), 450_000_000)]
)
def test_peak_memory_stays_below_what_is_allowed(shape, allowed, tmp_path):
    path = tmp_path / "x.npy"
    array = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    rng = np.random.default_rng(0)
    step = 10_000_000 // shape[1]
    for start in range(0, shape[0], step):
        part = array[start : start + step]
        part[:] = rng.random(part.shape, dtype=np.float32)
    del array
    child = subprocess.run(
        [sys.executable, "-c", PEAK, str(path), str(tmp_path / "s.zarr"), str(allowed)],
        check=True,
        capture_output=True,
        text=True,
    )
    fingerprint, peak = child.stdout.split()
    assert 100_000_000 < int(peak) < allowed
    assert open_store(tmp_path / "s.zarr").fingerprint == fingerprint
