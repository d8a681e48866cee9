"""Every exception that the library raises.

    SRSError                      all of them; its text may be shown to a user as it is
    ├── InputError                the user's data or settings are wrong (also a ValueError)
    │   ├── SettingsError         a setting is unknown, of the wrong type or out of range
    │   └── SourceError           a source cannot become a feature store
    ├── StoreError                a path is not a feature store, or the store is damaged
    ├── MemoryBudgetError         the work does not fit into the memory allowed
    ├── ClusterError              workers are missing, differ from us, or were lost
    ├── CheckpointError           a checkpoint is missing, damaged or of another run
    ├── RunInterrupted            the run was stopped; its checkpoint says where
    ├── ServiceError              the service refused a request of the client, or gave no answer
    │   ├── AccessError           no key, a wrong one, or one that does not allow it
    │   ├── MissingError          there is no such job or dataset of yours
    │   ├── ConflictError         the present state of the job or dataset does not allow it
    │   └── UnavailableError      the service cannot be reached, failed, or is too busy
    └── JobError                  a job of the service failed or was cancelled
        └── JobTimeout            a job did not end in the time it was waited for

A message is one sentence or two: what was wrong, where, and what to do.
"""

from collections.abc import Sequence

SOME_NAMES = 12  # that a sentence lists
MANY_NAMES = 20_000  # among more, a name that is like another is not looked for: it takes seconds


class SRSError(Exception):
    """Base of all errors of `srs`. The text is written for users."""


class InputError(SRSError, ValueError):
    """The user's data or settings are wrong."""


class SettingsError(InputError):
    """A setting is unknown, of the wrong type or out of range."""


class SourceError(InputError):
    """A source cannot become a feature store."""


class StoreError(SRSError):
    """A path is not a feature store, or the store is damaged."""


class MemoryBudgetError(SRSError):
    """The work does not fit into the memory allowed.

    needed_mem   bytes that the work needs at least
    allowed_mem  bytes that were allowed
    """

    def __init__(self, message: str, needed_mem: int, allowed_mem: int) -> None:
        super().__init__(message)
        self.needed_mem = needed_mem
        self.allowed_mem = allowed_mem


class ClusterError(SRSError):
    """Workers or their scheduler are missing, differ from the coordinator, or were lost."""


class CheckpointError(SRSError):
    """A checkpoint is missing, damaged or belongs to another run."""


class RunInterrupted(SRSError):
    """The run was stopped by the user before its end.

    folder  where the checkpoint is, or None if the run had no folder
    """

    def __init__(self, message: str, folder: str | None = None) -> None:
        super().__init__(message)
        self.folder = folder


class ServiceError(SRSError):
    """The service refused a request, or gave no answer; the text is what it said.

    status      of the response; 0: there was none
    code        kind of the problem, e.g. "out-of-reach"; "" if the response did not say
    request_id  what the service's log calls the request
    """

    def __init__(self, message: str, status: int = 0, code: str = "", request_id: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.request_id = request_id


class AccessError(ServiceError):
    """No API key, a wrong one, or one that does not allow this."""


class MissingError(ServiceError):
    """There is no such job or dataset, or it is another user's."""


class ConflictError(ServiceError):
    """The current state of the job or dataset does not allow this."""


class UnavailableError(ServiceError):
    """The service cannot be reached, failed, or is too busy, also after retries."""


class JobError(SRSError):
    """A job of the service failed or was cancelled.

    job_id  the job
    status  how it ended
    yours   whether data or settings are the cause, and not the service
    """

    def __init__(self, message: str, job_id: str, status: str, yours: bool = False) -> None:
        super().__init__(message)
        self.job_id = job_id
        self.status = status
        self.yours = yours


class JobTimeout(JobError, TimeoutError):
    """A job did not end within the timeout; it continues."""


def listed(names: Sequence[str]) -> str:
    """A sentence that lists what there is, or the first of it.

    >>> listed(["age", "sex"]), listed([])
    (' There are age, sex.', '')
    """
    if not names:
        return ""
    more = f", ... ({len(names):,} in all)" if len(names) > SOME_NAMES else "."
    return f" There are {', '.join(names[:SOME_NAMES])}{more}"


def near(name: str, known: Sequence[str]) -> str:
    """How a sentence ends that refuses a name: with the one that was perhaps meant.

    >>> near("hieght", ["age", "height"]), near("zz", ["age"])
    ("; did you mean 'height'?", '.')
    """
    from difflib import get_close_matches  # not where nothing is wrong

    found = get_close_matches(name, known, 1) if len(known) <= MANY_NAMES else []
    return f"; did you mean {found[0]!r}?" if found else "."
