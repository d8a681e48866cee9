"""The beginning of a run, to see how fast it is: some steps of each kind, some rounds of trees."""

from __future__ import annotations

from contextlib import suppress
from itertools import groupby

from srs.engine.context import RunContext
from srs.engine.loop import Run
from srs.engine.state import Progress
from srs.executors import LocalExecutor

CALIBRATION_SECONDS = 2.0  # about as long as the steps of a kind, or the trees, may take


class _Enough(Exception):
    """Ends a rehearsal."""


class Rehearsal(Run):
    """A run that is begun and given up.

    Looks at the evidence, and threads that wait for one another and for memory, are part of it.

    seconds_of_steps  predicted wall time of the steps before the first tree
    seconds_before    of these, and to get going
    seconds_per_tree  measured
    """

    def __init__(self, context: RunContext, executor: LocalExecutor) -> None:
        super().__init__(context, executor, on_progress=self._note)
        self.seconds_of_steps = self.seconds_before = self.seconds_per_tree = 0.0
        self._marks: list[Progress] = []
        self._began = 0.0  # when the present part began

    def rehearse(self) -> None:
        """Do it, and measure."""
        with suppress(_Enough):
            self.run()
        began = 0.0
        for kind, some in groupby(self._marks, _part):
            marks = list(some)
            if kind is None:
                self._time_trees(marks, began)
            else:
                self.seconds_of_steps += _time_steps(marks, began)
            began = marks[-1].seconds
        self.seconds_before += self.seconds_of_steps

    def _cut_short(self) -> str | None:
        """Steps are broken off; a limit of no seconds at all must not end the trees, too."""
        enough = self._stage is not None and self._elapsed() - self._began > CALIBRATION_SECONDS
        return "enough was seen" if enough else None

    def _note(self, progress: Progress) -> None:
        if self._marks and _part(self._marks[-1]) != _part(progress):
            self._began = self._marks[-1].seconds
        self._marks.append(progress)
        enough = progress.seconds - self._began > CALIBRATION_SECONDS
        two_of_trees = [mark.stage for mark in self._marks[-2:]] == [None, None]
        if enough and two_of_trees:
            raise _Enough

    def _time_trees(self, marks: list[Progress], began: float) -> None:
        first, last = marks[0], marks[-1]
        n_trees = last.n_trees - first.n_trees
        if not n_trees:
            self.seconds_per_tree = (last.seconds - began) / last.n_trees
            return
        self.seconds_per_tree = (last.seconds - first.seconds) / n_trees
        of_first = first.n_trees * self.executor.n_parallel * self.seconds_per_tree
        self.seconds_before = max(0.0, first.seconds - began - of_first)


def _part(progress: Progress) -> str | None:
    """The kind whose steps are being done; None: trees are grown."""
    return None if progress.stage is None else progress.stage.kind


def _time_steps(marks: list[Progress], began: float) -> float:
    """Seconds that all steps of a kind take, from those that were done."""
    first, last = marks[0].stage, marks[-1].stage
    assert first is not None
    assert last is not None
    started = marks[0].seconds - began
    n_timed = last.n_done - first.n_done
    a_step = (marks[-1].seconds - marks[0].seconds) / n_timed if n_timed else started
    return started + a_step * (last.n_steps - first.n_done)
