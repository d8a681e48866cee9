"""The runner beside its jobs."""

from __future__ import annotations

import threading

from srs_service.http.app import Parts
from srs_service.settings import Settings


def test_a_service_that_runs_no_jobs_may_be_woken_for_ever(tmp_path):
    """Each submission wakes the runner: a pipe that nobody reads must not fill up and block."""
    parts = Parts.make(Settings(data_dir=tmp_path, max_running=0))

    def wake() -> None:
        for _ in range(50_000):
            parts.runner.wake()

    waking = threading.Thread(target=wake, daemon=True)
    waking.start()
    waking.join(60)
    parts.store.close()
    assert not waking.is_alive()
