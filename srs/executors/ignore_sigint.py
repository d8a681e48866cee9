"""Preloaded by the workers that we start: Ctrl-C is for the coordinator, which ends them in order.

A terminal sends it to all processes of a command. Workers that ended at once would leave the
coordinator nothing to finish the present batch with.
"""

from __future__ import annotations

import signal
from typing import Any


def dask_setup(_worker: Any) -> None:
    """What Dask calls in the main thread of a new worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
