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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import wait
from typing import Any

from srs_service.data.datasets import DatasetRegistry
from srs_service.data.layout import DataFolder
from srs_service.database import JobStore
from srs_service.database.documents import ErrorDocument, ProgressDocument
from srs_service.errors import (
    FULL,
    DiskFull,
    LeaseLost,
    OverQuota,
    ServiceError,
    Unavailable,
)
from srs_service.job import Job, JobKind, JobStatus
from srs_service.jobs.children import Child, start_child
from srs_service.jobs.clusters import Scheduler
from srs_service.jobs.orders import Orders
from srs_service.jobs.tidying import tidy
from srs_service.settings import Settings

log = logging.getLogger("srs_service")

BEAT_SECONDS = 1.0  # between two heartbeats, which also see what users ask
TIDY_SECONDS = 3600.0  # between two sweeps of what kills left
POLL_SECONDS = 1.0  # between two looks for jobs that others queued
LOOK_SECONDS = 2.0  # between two looks whether scheduler and workers are there
WAITS = "waits for its turn"
FIRST_BYTES = 1 << 20  # that are reserved for the files of every job
FEATURE_BYTES = 200  # and of a selection, a feature: tables, document, report, checkpoint
DISK_FULL: ErrorDocument = {
    "code": DiskFull.code,
    "yours": False,
    "detail": "the disk of the service is full: tell the administrator, and resume the job when "
    "there is space.",
}


@dataclass
class Attempt:
    """A job that this process runs now.

    started  by the monotonic clock
    granted  bytes that it may write in all
    outcome  how it ended, once it has: kept until the store has taken it
    progress that is not written yet
    told     the newest progress
    wanted   bytes that the child asks for, and waits
    deadline when a child that was asked to stop is killed
    too_long whether it is stopped because it took longer than allowed
    """

    job: Job
    child: Child
    started: float
    granted: int
    outcome: Mapping[str, Any] | None = None
    progress: ProgressDocument | None = None
    told: ProgressDocument | None = None
    wanted: Mapping[str, Any] | None = None
    deadline: float | None = None
    too_long: bool = False


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
        self._orders = Orders(settings, store, folder, library)
        self._attempts: list[Attempt] = []
        self._wake_in, self._wake_out = Pipe(duplex=False)
        os.set_blocking(self._wake_out.fileno(), False)  # nobody reads where nothing runs
        self.on_end: Callable[[str, str, float], None] = lambda _kind, _event, _seconds: None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="runner", daemon=True)
        self._next_claim = self._next_beat = self._next_tidying = self._next_look = 0.0
        self._trouble: str | None = None

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
        elif len(self._attempts) < self._places and now >= self._next_claim:
            self._next_claim = now + POLL_SECONDS
            self._claim()
        if now >= self._next_beat:
            self._next_beat = now + min(BEAT_SECONDS, self._settings.lease_seconds / 3)
            for attempt in list(self._attempts):
                self._beat(attempt, now)
        if now >= self._next_look:
            self._next_look = now + LOOK_SECONDS
            self._say_trouble()
        if now >= self._next_tidying:
            self._next_tidying = now + TIDY_SECONDS
            tidy(self._settings, self._store, self._folder)
        self._listen()
        for attempt in list(self._attempts):
            self._settle(attempt)

    @property
    def _places(self) -> int:
        """Jobs that may run here at once, with the places of short ones."""
        return self._settings.max_running + self._settings.max_running_short

    def _claim(self) -> None:
        # Without its scheduler a selection would fail: it waits, and what needs none goes on.
        without = None if self._scheduler.answers else JobKind.SELECT
        while len(self._attempts) < self._places:
            # The last places are for ingests: they do not wait behind selections of days.
            full = len(self._attempts) >= self._settings.max_running
            job = self._store.jobs.claim(
                self.name,
                self._settings.lease_seconds,
                without,
                only=JobKind.INGEST if full else None,
                per_user=self._settings.max_running_per_user,
            )
            if job is None:
                return
            log.info("job taken", extra={"job_id": job.id, "fence": job.fence})
            self._start(job)

    def _start(self, job: Job) -> None:
        if job.status == JobStatus.CANCELLING:
            self._end_without_child(job, JobStatus.CANCELLED)
            return
        if job.n_attempts > self._settings.max_attempts:
            error: ErrorDocument = {
                "code": "attempts",
                "yours": False,
                "detail": f"the job was started {job.n_attempts - 1} times and never finished.",
            }
            self._end_without_child(job, JobStatus.FAILED, error)
            return
        try:
            order = self._orders.write(job)
            granted = self._folder.size_of_job(job.id) + self._first_bytes(job)
            self._store.space.reserve_job(job.id, job.owner, granted, self._quota)
        except ServiceError as refused:
            yours = not isinstance(refused, Unavailable)
            error = {"code": refused.code, "detail": refused.detail, "yours": yours}
            self._end_without_child(job, JobStatus.FAILED, error)
            return
        except OSError as refused:
            if refused.errno not in FULL:
                raise
            self._end_without_child(job, JobStatus.FAILED, DISK_FULL)
            return
        child = start_child(order | {"granted": granted})
        self._attempts.append(Attempt(job, child, time.monotonic(), granted))

    def _end_without_child(
        self, job: Job, status: JobStatus, error: ErrorDocument | None = None
    ) -> None:
        self._store.jobs.finish(
            job.id, job.fence, status, error=error, n_bytes=self._drop_files(job)
        )

    def _first_bytes(self, job: Job) -> int:
        """What is reserved for the files of a job before it starts."""
        if job.kind != JobKind.SELECT:
            return FIRST_BYTES
        about = self._store.datasets.get(job.dataset_id, job.owner).about or {}
        # Of many targets it is for the first; for the others the child asks when it knows them.
        return FIRST_BYTES + FEATURE_BYTES * int(about.get("n_features", 0))

    @property
    def _quota(self) -> int:
        return int(self._settings.max_user_data)

    def _drop_files(self, job: Job) -> int:
        """Remove what an attempt that did not succeed left, but for checkpoints; what remains."""
        if job.kind == JobKind.INGEST:
            self._folder.drop_ingest(job.id, job.dataset_id, job.fence)
        return self._folder.size_of_job(job.id)

    def _say_trouble(self) -> None:
        """Say in selections that the scheduler or its workers are missing, and when they are back.

        Those that run say it beside what they last told.
        """
        trouble = self._scheduler.trouble
        if trouble is not None:
            self._store.jobs.note_waiting(JobKind.SELECT, trouble, unless=trouble)
        elif self._trouble is not None:
            self._store.jobs.note_waiting(JobKind.SELECT, WAITS, unless=WAITS)
        for attempt in self._attempts:
            changed = trouble != self._trouble and attempt.outcome is None
            if changed and attempt.job.kind == JobKind.SELECT:
                last = attempt.told or {"seconds": 0.0, "peak_mem": 0}
                attempt.progress = {**last, "doing": trouble or "goes on"}
        self._trouble = trouble

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
        most = self._settings.max_job_seconds
        if most is not None and now - attempt.started > most:
            attempt.too_long = True
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
            attempt.progress = attempt.told = message["progress"]
            return
        if message is not None and message["event"] == "space":
            attempt.wanted = message
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
            if attempt.wanted is not None:
                self._grant(attempt, attempt.wanted)
                attempt.wanted = None
            if attempt.outcome is not None:
                self._write_end(attempt, attempt.outcome)
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
                seconds = time.monotonic() - attempt.started
                self.on_end(job.kind.value, attempt.outcome["event"], seconds)
        except LeaseLost:
            self._drop(attempt)

    def _grant(self, attempt: Attempt, wanted: Mapping[str, Any]) -> None:
        """Reserve what the child asks for, or else what it needs now, or leave it as it is."""
        job = attempt.job
        for n_bytes in (wanted["wanted"], wanted["needed"]):
            try:
                self._store.space.reserve_job(job.id, job.owner, n_bytes, self._quota)
            except OverQuota:
                continue
            attempt.granted = n_bytes
            break
        attempt.child.grant(attempt.granted)

    def _write_end(self, attempt: Attempt, outcome: Mapping[str, Any]) -> None:
        job, jobs, event = attempt.job, self._store.jobs, outcome["event"]
        if event == "done":
            written = None
            if job.kind == JobKind.INGEST:
                store = self._folder.written_store(job.dataset_id, job.fence)
                written = str(store.relative_to(self._folder.root))
            jobs.finish(
                job.id,
                job.fence,
                JobStatus.SUCCEEDED,
                summary=outcome["found"],
                location=written,
                n_bytes=self._folder.size_of_job(job.id),
            )
            return
        n_bytes = self._drop_files(job)
        if event == "failed":
            jobs.finish(
                job.id, job.fence, JobStatus.FAILED, error=outcome["error"], n_bytes=n_bytes
            )
        elif event == "interrupted" and attempt.too_long:
            error = self._took_too_long()
            jobs.finish(job.id, job.fence, JobStatus.FAILED, error=error, n_bytes=n_bytes)
        elif event == "interrupted" and self._stopping.is_set():
            jobs.release(job.id, job.fence)
        elif event == "interrupted":
            jobs.finish(job.id, job.fence, JobStatus.CANCELLED, n_bytes=n_bytes)
        else:
            log.warning("the process of job %s ended with code %s", job.id, outcome["code"])
            jobs.finish(job.id, job.fence, JobStatus.QUEUED, n_bytes=n_bytes)

    def _took_too_long(self) -> ErrorDocument:
        return {
            "code": "too-long",
            "yours": True,
            "detail": f"the job took longer than the {self._settings.max_job_seconds:g} seconds "
            "that are allowed: resume it, which continues from its checkpoint, or ask for less "
            "(max_seconds of a selection ends it in time with a result).",
        }

    def _drop(self, attempt: Attempt) -> None:
        """The job is another runner's now, or gone: end the child and forget it."""
        log.warning("lease lost", extra={"job_id": attempt.job.id, "fence": attempt.job.fence})
        attempt.child.end()
        self._attempts.remove(attempt)
