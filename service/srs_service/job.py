"""What a job is, and which changes of its status are legal. Pure: no clock, no storage.

QUEUED ──claim──► RUNNING ──► SUCCEEDED | FAILED
   │               │  ▲ claimed again after its runner fell silent (a higher fence)
   │               └──cancel──► CANCELLING ──► CANCELLED (or SUCCEEDED, FAILED: it came first)
   └────cancel────► CANCELLED ──resume──► QUEUED ◄──resume── FAILED
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class JobStatus(StrEnum):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    CANCELLING = "CANCELLING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class JobKind(StrEnum):
    SELECT = "select"
    EXPLAIN = "explain"
    INGEST = "ingest"


ENDED = frozenset((JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED))
HELD = frozenset((JobStatus.RUNNING, JobStatus.CANCELLING))  # by a runner, under a lease

TRANSITIONS: dict[JobStatus, frozenset[JobStatus]] = {
    JobStatus.QUEUED: frozenset((JobStatus.RUNNING, JobStatus.CANCELLED)),
    JobStatus.RUNNING: frozenset(
        (
            JobStatus.RUNNING,
            JobStatus.QUEUED,
            JobStatus.CANCELLING,
            JobStatus.SUCCEEDED,
            JobStatus.FAILED,
        )
    ),
    JobStatus.CANCELLING: frozenset(
        (JobStatus.CANCELLING, JobStatus.CANCELLED, JobStatus.SUCCEEDED, JobStatus.FAILED)
    ),
    JobStatus.SUCCEEDED: frozenset(),
    JobStatus.FAILED: frozenset((JobStatus.QUEUED,)),
    JobStatus.CANCELLED: frozenset((JobStatus.QUEUED,)),
}


def sources_of(new: JobStatus) -> tuple[JobStatus, ...]:
    """The statuses from which a job may become `new`.

    >>> [str(s) for s in sources_of(JobStatus.CANCELLING)]
    ['RUNNING', 'CANCELLING']
    """
    return tuple(old for old, news in TRANSITIONS.items() if new in news)


@dataclass(frozen=True)
class Beat:
    """What a runner learns of its job with each heartbeat.

    status        CANCELLING: stop
    finish_asked  end with what was found
    """

    status: JobStatus
    finish_asked: bool


@dataclass(frozen=True)
class Job:
    """One request of a user, as it is stored.

    id          random, so that it cannot be guessed
    owner       the user it belongs to
    kind        what it does
    name        what the user calls it; may be empty
    spec        what to do: the validated request
    dataset_id  the dataset that it reads, or (ingest) writes
    status      where it is
    fence       grows with each claim; every write of a runner carries it
    n_attempts  claims since it was submitted or resumed
    last_event  number of its newest event; changes with everything that users see
    progress    the newest progress, None before the first
    error       why it failed: code, detail, yours (whether data or settings are to blame)
    summary     figures of its result; None before its end
    result_fence  the attempt whose folder holds the result
    finish_asked  whether a selection was asked to end with what it has found
    priority    among the jobs of its owner: the highest is taken first
    team        that may read it; None: its owner alone
    labels      what the owner notes of it
    created_at, started_at, finished_at   seconds since 1970, by the database's clock
    """

    id: str
    owner: str
    kind: JobKind
    name: str
    spec: dict[str, Any]
    dataset_id: str
    status: JobStatus
    fence: int
    n_attempts: int
    last_event: int
    progress: dict[str, Any] | None
    error: dict[str, Any] | None
    summary: dict[str, Any] | None
    result_fence: int | None
    finish_asked: bool
    created_at: float
    started_at: float | None
    finished_at: float | None
    priority: int = 0
    team: str | None = None
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        return self.status in ENDED


def new_id(letter: str) -> str:
    """A random id: 128 bits behind a letter that says what it names.

    >>> len(new_id("j"))
    34
    """
    return f"{letter}_{secrets.token_hex(16)}"
