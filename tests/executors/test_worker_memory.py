"""Memory of real workers: sampled ten times a second, compared with allowance and projection."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep

import psutil
import pytest

import srs
from benchmarks.measure import noisy_codes, write_codes_store
from srs.errors import MemoryBudgetError
from srs.memory import parse_bytes

LARGE = pytest.param(900_000, 8_000, "356MB", 10, marks=[pytest.mark.long, pytest.mark.large])


@contextmanager
def sampled_workers() -> Iterator[dict[int, int]]:
    """The largest resident set of each worker process that this process starts."""
    peaks: dict[int, int] = {}
    others = {child.pid for child in psutil.Process().children()}
    ended = threading.Event()

    def sample() -> None:
        while not ended.is_set():
            for child in psutil.Process().children():
                try:
                    if child.pid not in others and "spawn_main" in " ".join(child.cmdline()):
                        rss = child.memory_info().rss
                        peaks[child.pid] = max(peaks.get(child.pid, 0), rss)
                except psutil.NoSuchProcess:
                    continue
            sleep(0.1)

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield peaks
    finally:
        ended.set()
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_features", "n_samples", "memory", "times"), [(200_000, 500, "350MB", 0.1), LARGE]
)
def test_workers_stay_within_their_memory(tmp_path, n_features, n_samples, memory, times):
    """Guards the promise: never above the allowance, and the projection within 15 %.

    times: how much larger the store is than the memory of all workers together, at least
    """
    store = make_store(tmp_path / "s.zarr", n_features, n_samples)
    allowed = parse_bytes(memory)
    size = sum(f.stat().st_size for f in (store / "codes").rglob("*") if f.is_file())
    assert size >= times * 2 * allowed
    with sampled_workers() as peaks:
        result = srs.select(store, executor=2, memory=memory, max_passes=1)
    workers = result.document["measured"]["workers"]
    for peak in (*peaks.values(), workers["peak_mem"]):
        assert peak <= allowed
    assert max(peaks.values()) == pytest.approx(workers["projected_mem"], rel=0.15)
    assert len(peaks) == 2


def make_store(path: Path, n_features: int, n_samples: int) -> Path:
    codes_of, y = noisy_codes(n_samples)
    write_codes_store(path, codes_of, n_features, y)
    return path


def test_a_budget_too_small_is_refused_before_reading(chunky, two_workers):
    """Guards refusal: nothing is started or read, and the budget that it names is enough."""
    with pytest.raises(MemoryBudgetError, match="allow at least") as caught:
        srs.select(chunky, executor=two_workers, memory="200MB", max_passes=1)
    srs.select(chunky, executor=two_workers, memory=caught.value.needed_mem, max_passes=1)
