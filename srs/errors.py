"""Every exception that the library raises.

    SRSError                      all of them; its text may be shown to a user as it is
    ├── InputError                the user's data or settings are wrong (also a ValueError)
    │   ├── SettingsError         a setting is unknown, of the wrong type or out of range
    │   └── SourceError           a source cannot become a feature store
    ├── StoreError                a path is not a feature store, or the store is damaged
    ├── MemoryBudgetError         the work does not fit into the memory allowed
    ├── ClusterError              workers are missing, differ from us, or were lost
    ├── CheckpointError           a checkpoint is missing, damaged or of another run
    └── RunInterrupted            the run was stopped; its checkpoint says where

A message is one sentence or two: what was wrong, where, and what to do.
"""


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
