"""Show on stderr how far a command is: a live bar on a terminal, else a line now and then."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from srs.cli.failures import Loudness

if TYPE_CHECKING:
    from srs.engine.state import Progress

LINE_SECONDS = 5.0  # between two lines where stderr is not a terminal
Show = Callable[[float | None, str], None]


@contextmanager
def shown(title: str, quiet: bool, compiles: bool = True) -> Iterator[Show]:
    """A function that shows a share done (None: unknown) and a text."""
    quiet = quiet or Loudness.quiet
    if compiles and not quiet:
        _tell_of_compiling()
    if quiet:
        yield lambda _share, _text: None
    elif sys.stderr.isatty():
        with _bar(title) as show:
            yield show
    else:
        yield _lines(title)


def stamp() -> str:
    """The time for a line of a log."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _tell_of_compiling() -> None:
    from srs.engine.kernels import kernels_are_compiled

    if not kernels_are_compiled():
        print(
            "compiling for this machine (only once, about half a minute)",
            file=sys.stderr,
            flush=True,
        )


@contextmanager
def _bar(title: str) -> Iterator[Show]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (
        TextColumn(title),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[said]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, said="")

        def show(share: float | None, text: str) -> None:
            total = None if share is None else 1.0
            bar.update(task, total=total, completed=share or 0.0, said=text)

        yield show


def _lines(title: str) -> Show:
    last = monotonic()

    def show(share: float | None, text: str) -> None:
        nonlocal last
        if monotonic() - last >= LINE_SECONDS:
            last = monotonic()
            done = "" if share is None else f"{share:.0%}, "
            print(f"{stamp()} {title}: {done}{text}", file=sys.stderr, flush=True)

    return show


def describe_run(progress: Progress) -> tuple[float | None, str]:
    """Share done and text of a run's progress."""
    from srs.selection.progress import describe

    return describe(progress)


def round_line(progress: Progress, as_json: bool) -> str:
    """One line for a log, when a round has ended."""
    if not as_json:
        return f"{stamp()} select: round {progress.n_rounds:,}, {describe_run(progress)[1]}"
    line = {
        "event": "round",
        "time": stamp(),
        "round": progress.n_rounds,
        "n_trees": progress.n_trees,
        "n_passes": round(progress.n_passes, 3),
        "n_relevant": progress.n_relevant,
        "seconds": round(progress.seconds, 3),
        "remaining_seconds": progress.remaining_seconds,
        **progress.figures,
    }
    return json.dumps(line)


def describe_ingest(done: int, n_features: int, seconds: float) -> tuple[float | None, str]:
    """Share done and text of an ingest's progress."""
    from srs.report.text import count, duration

    text = f"{done:,} of {count(n_features, 'feature')}"
    if not done or not n_features:
        return None, text
    left = seconds * (n_features - done) / done
    return done / n_features, f"{text}, about {duration(left)} left"
