"""A bar that shows how far a call is, in terminals and notebooks: `srs.ProgressBar`.

rich draws both; in a notebook it needs ipywidgets. Commands have their own
way to show progress, which also writes lines to logs: `srs.cli.progress`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from srs.engine.state import Progress
from srs.evidence.registry import evidence_kind
from srs.report.text import count, describe_stage, describe_trees

if TYPE_CHECKING:
    from rich.console import Console


class ProgressBar:
    """Shows the progress of `srs.select`, `srs.ingest` and `srs.explain`, given as on_progress.

    console  of rich; None: the terminal or the notebook

    >>> import numpy as np, srs
    >>> X = np.random.default_rng(1).normal(size=(100, 20))
    >>> with srs.ProgressBar() as bar:
    ...     found = srs.select(X, X[:, 3] > 0, on_progress=bar)
    """

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console as Terminal
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bars

        self.said = ""
        self._bars = Bars(
            BarColumn(bar_width=24),
            TextColumn("{task.fields[said]}", markup=False),
            console=console or Terminal(stderr=True),
            transient=True,
        )
        self._task = self._bars.add_task("", total=None, said="")

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._bars.stop()

    def __call__(self, *told: Any) -> None:
        """What a call tells of its progress; each of the three tells it in its own way."""
        share, self.said = describe(*told)
        self._bars.update(
            self._task,
            total=None if share is None else 1.0,
            completed=share or 0.0,
            said=self.said,
        )


def describe(*told: Any) -> tuple[float | None, str]:
    """Share done, None if it is not known, and a text.

    >>> describe(20, 80), describe(0.5, "mda")
    ((0.25, '20 of 80 features'), (0.5, 'mda'))
    """
    if len(told) == 2:
        done, of = told
        if isinstance(of, str):
            return float(done), of
        return (done / of if of else None), f"{done:,} of {count(of, 'feature')}"
    progress: Progress = told[0]
    left, stage = progress.remaining_seconds, progress.stage
    if stage is not None:
        doing = evidence_kind(stage.kind).doing
        text = describe_stage(doing, stage.n_done, stage.n_steps, left)
        return stage.n_done / stage.n_steps, text
    text = describe_trees(progress.n_trees, progress.n_passes, progress.n_relevant, left)
    total = progress.seconds + (left or 0.0)
    return (progress.seconds / total if left is not None and total else None), text
