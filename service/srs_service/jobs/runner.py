"""Takes waiting jobs under a lease and runs each in a child process.

One thread supervises all attempts of this process: it renews leases, stores progress, passes on
cancels, and writes how an attempt ended. Every write carries the fence of the claim; a runner that
lost its lease gets LeaseLost from the store, and ends its child.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import wait
from typing import Any

from srs_service.data.datasets import DatasetRegistry
from srs_service.data.layout import DataFolder, target_folder
from srs_service.database import JobStore
from srs_service.database.documents import ErrorDocument, ProgressDocument
from srs_service.errors import LeaseLost, NotFound, ServiceError
from srs_service.job import Job, JobKind, JobStatus
from srs_service.jobs.children import Child, start_child
from srs_service.jobs.clusters import Scheduler
from srs_service.settings import Settings

log = logging.getLogger("srs_service")

BEAT_SECONDS = 1.0  # between two heartbeats, which also see what users ask
TIDY_SECONDS = 3600.0  # between two sweeps of what kills left
POLL_SECONDS = 1.0  # between two looks for jobs that others queued


@dataclass
class Attempt:
    """A job that this process runs now.

    outcome  how it ended, once it has: kept until the store has taken it
    deadline when a child that was asked to stop is killed
    """

    job: Job
    child: Child
    outcome: Mapping[str, Any] | None = None
    progress: ProgressDocument | None = None
    deadline: float | None = None


class Runner:
    def __init__(
        self,
        settings: Settings,
        store: JobStore,
        folder: DataFolder,
        library: DatasetRegistry,
        scheduler: Scheduler,
    ) -> None:
        self.name = f"{os.uname().nodename}-{os.getpid()}"
        self._settings = settings
        self._scheduler = scheduler
        self._store = store
        self._folder = folder
        self._registry = library
        self._attempts: list[Attempt] = []
        self._wake_in, self._wake_out = Pipe(duplex=False)
        os.set_blocking(self._wake_out.fileno(), False)  # nobody reads where nothing runs
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="runner", daemon=True)
        self._next_claim = self._next_beat = self._next_tidying = 0.0

    def start(self) -> None:
        if self._settings.max_running:
            self._thread.start()

    def wake(self) -> None:
        """There may be a job to take, to finish or to cancel."""
        self._next_claim = self._next_beat = 0.0
        with contextlib.suppress(OSError):  # shutting down, or full: it wakes anyway
            self._wake_out.send_bytes(b"")

    def stop(self) -> None:
        """Give running jobs back, with their checkpoints; returns when they are."""
        if self._thread.is_alive():
            self._stopping.set()
            self.wake()
            self._thread.join(self._settings.cancel_seconds + 10)

    @property
    def n_running(self) -> int:
        return len(self._attempts)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive() or not self._settings.max_running

    # -- the loop -----------------------------------------------------------------------------

    def _run(self) -> None:
        while not (self._stopping.is_set() and not self._attempts):
            try:
                self._turn()
            except Exception as error:
                # The database may be away for a while; leases and fences keep things right.
                log.error("runner: %s: %s", type(error).__name__, error)
                time.sleep(1.0)

    def _turn(self) -> None:
        now = time.monotonic()
        if self._stopping.is_set():
            for attempt in self._attempts:
                self._ask_to_stop(attempt, now)
        elif len(self._attempts) < self._settings.max_running and now >= self._next_claim:
            self._next_claim = now + POLL_SECONDS
            self._claim()
        if now >= self._next_beat:
            self._next_beat = now + min(BEAT_SECONDS, self._settings.lease_seconds / 3)
            for attempt in list(self._attempts):
                self._beat(attempt, now)
        if now >= self._next_tidying:
            self._next_tidying = now + TIDY_SECONDS
            self._store.jobs.forget_keys(self._settings.idempotency_days)
            self._folder.sweep(self._store.known_ids)
        self._listen()
        for attempt in list(self._attempts):
            self._settle(attempt)

    def _claim(self) -> None:
        # Without its scheduler a selection would fail: it waits, and what needs none goes on.
        without = None if self._scheduler.answers else JobKind.SELECT
        while len(self._attempts) < self._settings.max_running:
            job = self._store.jobs.claim(self.name, self._settings.lease_seconds, without)
            if job is None:
                return
            log.info("job taken", extra={"job_id": job.id, "fence": job.fence})
            self._start(job)

    def _start(self, job: Job) -> None:
        if job.status == JobStatus.CANCELLING:
            self._store.jobs.finish(job.id, job.fence, JobStatus.CANCELLED)
            return
        if job.n_attempts > self._settings.max_attempts:
            error: ErrorDocument = {
                "code": "attempts",
                "yours": False,
                "detail": f"the job was started {job.n_attempts - 1} times and never finished.",
            }
            self._store.jobs.finish(job.id, job.fence, JobStatus.FAILED, error=error)
            return
        try:
            order = self._order(job)
        except ServiceError as refused:
            error = {"code": refused.code, "detail": refused.detail, "yours": True}
            self._store.jobs.finish(job.id, job.fence, JobStatus.FAILED, error=error)
            return
        self._attempts.append(Attempt(job, start_child(order)))

    def _order(self, job: Job) -> dict[str, Any]:
        """What the child gets: the job's request with paths of this machine."""
        order: dict[str, Any] = {
            "work": job.kind.value,
            "threads": self._settings.job_threads,
            "folder": str(self._folder.start_attempt(job.id, job.fence)),
            "settings": job.spec.get("settings"),
            "scheduler": self._settings.scheduler,
            "scheduler_tls": _text(self._settings.scheduler_tls),
        }
        if job.kind == JobKind.INGEST:
            return order | {"limits": self._registry.limits()} | self._registry.ingest_order(job)
        dataset = self._store.datasets.get(job.dataset_id, job.owner)
        order["location"] = self._registry.locate(dataset)
        order["limits"] = self._registry.limits(dataset)
        if job.kind == JobKind.SELECT:
            sets = self._store.jobs.feature_sets(job.id)
            order["settings"] = {**job.spec["settings"], "feature_sets": sets}
            order["targets"] = job.spec.get("targets")  # jobs of version 0.1 have none
        if job.kind == JobKind.EXPLAIN:
            order["features"] = self._features(job)
            order["memory_bytes"] = int(self._settings.max_memory)
        return order

    def _features(self, job: Job) -> Any:
        wanted = job.spec["features"]
        if wanted["names"] is not None:
            return wanted["names"]
        selection = self._store.jobs.get(wanted["job_id"], job.owner)
        if selection.result_fence is None:
            raise NotFound("the selection whose features were to be explained has no result.")
        folder = self._folder.attempt(selection.id, selection.result_fence)
        target = wanted.get("target")
        return str(folder if target is None else target_folder(folder, target))

    # -- attempts -----------------------------------------------------------------------------

    def _beat(self, attempt: Attempt, now: float) -> None:
        if attempt.outcome is not None:
            return
        try:
            beat = self._store.jobs.heartbeat(
                attempt.job.id, attempt.job.fence, self._settings.lease_seconds
            )
        except LeaseLost:
            self._drop(attempt)
            return
        if beat.finish_asked:
            attempt.child.ask_to_finish()
        if beat.status == JobStatus.CANCELLING:
            self._ask_to_stop(attempt, now)
        if attempt.deadline is not None and now > attempt.deadline:
            attempt.child.end()
            attempt.outcome = {"event": "interrupted"}

    def _ask_to_stop(self, attempt: Attempt, now: float) -> None:
        if attempt.deadline is None:
            attempt.deadline = now + self._settings.cancel_seconds
            attempt.child.ask_to_stop()

    def _listen(self) -> None:
        """Take what children say, for a while or until something happens."""
        running = [a for a in self._attempts if a.outcome is None]
        until_beat = max(0.0, min(self._next_beat, self._next_claim) - time.monotonic())
        pause = 0.2 if len(running) < len(self._attempts) else min(until_beat, BEAT_SECONDS)
        ready = wait([self._wake_in, *(a.child.connection for a in running)], pause)
        while self._wake_in.poll():
            self._wake_in.recv_bytes()
        for attempt in running:
            if attempt.child.connection in ready:
                self._hear(attempt)

    def _hear(self, attempt: Attempt) -> None:
        message = attempt.child.receive()
        if message is not None and message["event"] == "progress":
            attempt.progress = message["progress"]
            return
        code = attempt.child.end()
        attempt.outcome = message or {"event": "crashed", "code": code}

    def _settle(self, attempt: Attempt) -> None:
        """Write what is new of an attempt; what the store did not take is tried again."""
        job = attempt.job
        try:
            if attempt.progress is not None:
                self._store.jobs.progress(job.id, job.fence, attempt.progress)
                attempt.progress = None
            if attempt.outcome is not None:
                self._write_end(job, attempt.outcome)
                log.info(
                    "attempt ended",
                    extra={
                        "job_id": job.id,
                        "fence": job.fence,
                        "outcome": attempt.outcome["event"],
                    },
                )
                self._attempts.remove(attempt)
                self._next_claim = 0.0
        except LeaseLost:
            self._drop(attempt)

    def _write_end(self, job: Job, outcome: Mapping[str, Any]) -> None:
        jobs, event = self._store.jobs, outcome["event"]
        if event == "done":
            written = None
            if job.kind == JobKind.INGEST:
                written = str(self._folder.written_store(job.dataset_id, job.fence))
            jobs.finish(
                job.id,
                job.fence,
                JobStatus.SUCCEEDED,
                summary=outcome["found"],
                location=written,
            )
            self._folder.drop_earlier_attempts(job.id, job.fence)
        elif event == "failed":
            jobs.finish(job.id, job.fence, JobStatus.FAILED, error=outcome["error"])
        elif event == "interrupted" and self._stopping.is_set():
            jobs.release(job.id, job.fence)
        elif event == "interrupted":
            jobs.finish(job.id, job.fence, JobStatus.CANCELLED)
        else:
            log.warning("the process of job %s ended with code %s", job.id, outcome["code"])
            jobs.finish(job.id, job.fence, JobStatus.QUEUED)

    def _drop(self, attempt: Attempt) -> None:
        """The job is another runner's now, or gone: end the child and forget it."""
        log.warning("lease lost", extra={"job_id": attempt.job.id, "fence": attempt.job.fence})
        attempt.child.end()
        self._attempts.remove(attempt)


def _text(path: Any) -> str | None:
    return None if path is None else str(path)
