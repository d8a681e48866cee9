"""What Dask remembers of tasks that are over, and how it is made to forget.

Its logs are bounded, two things are not, or not soon: `dask.utils.key_split` keeps its last 100,000
arguments, though each of our keys is used once, and a *span*, which every task belongs to, keeps a
line a submission and a group of tasks for each time that the scheduler ran out of them; without
one of our own it would be a span each time (distributed#7977). Together 0.9 KB a task. And a
worker keeps a profile of each of its last 1,000 seconds, 0.4 MB a second in a worker of ours.
"""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from dask.utils import key_split
from distributed import Client, get_worker

TASKS_KEPT = 5_000  # tasks that Dask may remember
PROFILES_KEPT = 10  # seconds whose profiles a worker may keep


def make_span() -> dict[str, tuple[str, ...]]:
    """The annotation of all tasks of one executor; see `distributed.span`."""
    return {"name": ("srs",), "ids": (uuid4().hex,)}


def forget_in_worker() -> None:
    """What a task does in its worker: such memory is not in the worker's projection."""
    if key_split.cache_info().currsize > TASKS_KEPT:
        key_split.cache_clear()
    worker = get_worker()
    for profiles in (worker.profile_history, worker.profile_keys_history):
        while len(profiles) > PROFILES_KEPT:
            profiles.popleft()


def forget_in_scheduler(client: Client, span: dict[str, tuple[str, ...]]) -> None:
    """Have the scheduler forget, one that somebody else started, too."""

    def forget(span_id: str, dask_scheduler: Any) -> None:
        # Of its own, so that it travels as it is: a scheduler need not have srs.
        from dask.utils import key_split

        key_split.cache_clear()
        kept = dask_scheduler.extensions["spans"].spans.get(span_id)
        if kept is not None and kept.metadata is not None:
            kept.metadata["collections"].clear()
            kept.groups &= set(dask_scheduler.task_groups.values())

    client.run_on_scheduler(forget, span["ids"][-1])
