"""How far a job is: its figures, in words, and as lines on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from srs.report.text import describe_stage, describe_trees, duration

LINE_SECONDS = 5.0  # between two lines of progress


@dataclass(frozen=True)
class JobProgress:
    """How far a job is; None where its kind has no such figure, or it is not known yet.

    share              of the work, 0 to 1
    doing              what is being done, in a few words
    stage              what a selection does before its first tree: kind, n_done, n_steps (blocks)
    n_rounds, n_trees  so far
    n_passes           over all features
    n_relevant         features found so far
    seconds            wall time of this attempt
    remaining_seconds  estimate of the wall time that is left
    peak_mem           peak memory of the job, in bytes
    """

    share: float | None = None
    doing: str | None = None
    stage: Mapping[str, Any] | None = None
    n_rounds: int | None = None
    n_trees: int | None = None
    n_passes: float | None = None
    n_relevant: int | None = None
    seconds: float | None = None
    remaining_seconds: float | None = None
    peak_mem: int | None = None

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> JobProgress:
        """The figures that this version knows."""
        known = cls.__dataclass_fields__
        return cls(**{name: value for name, value in document.items() if name in known})

    def describe(self) -> str:
        """In words.

        >>> JobProgress(n_trees=1200, n_passes=12.0, n_relevant=3, remaining_seconds=30).describe()
        '1,200 trees, 12.0 passes, 3 found, about 30 s left'
        """
        if self.stage is not None:
            n_done, n_steps = self.stage["n_done"], self.stage["n_steps"]
            doing = self.doing or "working"
            return describe_stage(doing, n_done, n_steps, self.remaining_seconds)
        if self.n_trees or (self.n_trees == 0 and self.doing is None):
            return describe_trees(
                self.n_trees, self.n_passes or 0.0, self.n_relevant or 0, self.remaining_seconds
            )
        left = self.remaining_seconds
        return (self.doing or "working") + (
            "" if left is None else f", about {duration(left)} left"
        )


class Lines:
    """Progress on stderr: a line that changes on a terminal, else one now and then."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._last = float("-inf")

    def show(self, title: str, text: str, last: bool) -> None:
        now = time.monotonic()
        if not (self._live or last) and now - self._last < LINE_SECONDS:
            return
        self._last = now
        end = "\n" if last or not self._live else ""
        start = "\r\x1b[K" if self._live else ""
        print(f"{start}{title}: {text}", end=end, file=sys.stderr, flush=True)
