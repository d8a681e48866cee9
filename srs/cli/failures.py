"""Errors to messages and exit codes, and signals to an orderly stop."""

from __future__ import annotations

import errno
import json
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import typer

from srs.errors import (
    CheckpointError,
    ClusterError,
    JobError,
    MemoryBudgetError,
    RunInterrupted,
    SRSError,
    UnavailableError,
)

EXIT_CODES = {
    0: "done",
    1: "unexpected error: a bug, or the machine failed",
    2: "wrong usage or input: options, data, feature store, result folder",
    3: "the memory allowed is too small; the message says how much is needed",
    4: "the run cannot be resumed: its checkpoint is missing, damaged or from another run",
    5: "the cluster failed: no scheduler or workers, different versions, or lost workers",
    6: "the service cannot be reached, failed, or is too busy",
    7: "the job of the service failed or was cancelled",
    8: "srs verify: the run was repeated, and differs",
    130: "interrupted (Ctrl-C or SIGTERM); `srs select` continues with --resume",
}


class Loudness:
    """How much commands say on stderr; set once, by options of the program itself.

    quiet    nothing but errors
    verbose  also what the library tells of its steps
    """

    quiet = False
    verbose = False


NOT_REPEATED = 8
FULL = (errno.ENOSPC, errno.EDQUOT)


def exit_code(error: BaseException) -> int:
    if isinstance(error, (RunInterrupted, KeyboardInterrupt)):
        return 130
    if isinstance(error, MemoryBudgetError):
        return 3
    if isinstance(error, CheckpointError):
        return 4
    if isinstance(error, ClusterError):
        return 5
    if isinstance(error, UnavailableError):
        return 6
    if isinstance(error, JobError):
        return 7
    return 2 if isinstance(error, SRSError) else 1


def message(error: BaseException) -> str:
    """One clear sentence for the user."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted before anything was written."
    if isinstance(error, SRSError):
        return str(error)
    if isinstance(error, OSError) and error.errno in FULL:
        where = f" ({error.filename})" if error.filename else ""
        return (
            f"the disk is full{where}: free space, or choose another disk for the output and for "
            "temporary files (TMPDIR). What was complete before is kept; srs select continues with "
            "--resume."
        )
    what = f"{type(error).__name__}: {error}".strip().rstrip(":")
    return f"unexpected error, {what}. Set SRS_DEBUG=1 to see where."


@contextmanager
def reported(as_json: bool) -> Iterator[None]:
    """Turn what the body raises into a message on stderr and the exit code.

    SIGTERM acts as Ctrl-C, so that temporary files are removed then, too.
    """
    former = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except typer.Exit:
        raise
    except (Exception, KeyboardInterrupt) as error:
        if os.environ.get("SRS_DEBUG"):
            traceback.print_exc()
        if as_json:
            shown = {"type": type(error).__name__, "message": message(error)}
            print(json.dumps({"error": shown}), file=sys.stderr)
        else:
            print(f"srs: {message(error)}", file=sys.stderr)
        raise typer.Exit(exit_code(error)) from None
    finally:
        signal.signal(signal.SIGTERM, former)


@contextmanager
def notices_shown(as_json: bool) -> Iterator[None]:
    """Show what the library warns of on stderr, in one line each."""

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = record.getMessage()
            if Loudness.quiet and record.levelno <= logging.WARNING:
                return
            line = json.dumps({"event": "notice", "message": text}) if as_json else f"srs: {text}"
            print(line, file=sys.stderr, flush=True)

    level = logging.DEBUG if Loudness.verbose else logging.WARNING
    log, handler, former = logging.getLogger("srs"), Handler(level), logging.getLogger("srs").level
    log.addHandler(handler)
    if Loudness.verbose:
        log.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(former)


class StopRequest:
    """SIGINT and SIGTERM, kept until the run is at a point that a checkpoint can describe.

    A signal may come while evidence is being added: an exception there would leave half of a
    batch in the checkpoint. So the first signal only asks; `obey`, called with each progress,
    raises. A second signal raises at once.
    """

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self._asked = False
        self._n_trees: int | None = None
        self._former: dict[int, Any] = {}

    def __enter__(self) -> StopRequest:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._former[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *exc: object) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        if not self.quiet:
            # Not print: a buffered writer may be busy in the very code that was interrupted.
            os.write(2, b"srs: stopping after the present batch; again to stop at once\n")

    def obey(self, n_trees: int, in_steps: bool = False) -> None:
        """Raise KeyboardInterrupt if asked to stop and a batch or a step has just been added.

        A report with no new trees comes from within an interim decision: not the moment.
        """
        grown = self._n_trees is not None and n_trees > self._n_trees
        self._n_trees = n_trees
        if self._asked and (grown or in_steps):
            raise KeyboardInterrupt


@contextmanager
def finish_request(quiet: bool) -> Iterator[threading.Event]:
    """An event that SIGUSR1 sets: end with what was found."""
    event = threading.Event()
    number = getattr(signal, "SIGUSR1", None)  # Windows has none
    if number is None:
        yield event
        return

    def ask(_number: int, _frame: FrameType | None) -> None:
        event.set()
        if not quiet:
            os.write(2, b"srs: finishing after the present batch with what was found\n")

    former = signal.signal(number, ask)
    try:
        yield event
    finally:
        signal.signal(number, former)
