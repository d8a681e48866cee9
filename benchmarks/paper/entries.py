"""One published number beside ours: what the list of `python -m benchmarks paper` is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Line
from benchmarks.output import append_rows, print_table, results_path

NAME = "paper/list.csv"
COLUMNS = ("place", "what", "printed", "ours", "difference", "bar", "note")


@dataclass(frozen=True)
class Entry:
    """One number.

    place    table, figure, example or equation of a paper
    what     which of its numbers
    printed  the published number; None: it has none (a figure without numbers)
    ours     the number that we compute; None: it cannot be computed here, see the note
    slack    how far they may be apart; None: no bar, see the note
    note     why there is no bar, or no number
    """

    place: str
    what: str
    printed: float | None
    ours: float | None
    slack: float | None = None
    note: str = ""

    @property
    def difference(self) -> float | None:
        if self.printed is None or self.ours is None:
            return None
        return self.ours - self.printed

    @property
    def met(self) -> bool | None:
        if self.difference is None or self.slack is None:
            return None
        return abs(self.difference) <= self.slack


def cells(
    place: str,
    names: Sequence[str],
    printed: Any,
    ours: Any,
    slack: float | None = None,
    note: str = "",
) -> Iterator[Entry]:
    """One entry a cell of a row or table."""
    for name, theirs, mine in zip(names, np.ravel(printed), np.ravel(ours), strict=True):
        yield Entry(place, name, float(theirs), float(mine), slack=slack, note=note)


def show(entries: Sequence[Entry]) -> None:
    """Print every entry, and write them all to the CSV."""
    results_path(NAME).unlink(missing_ok=True)
    rows = []
    for entry in entries:
        numbers = (entry.printed, entry.ours, entry.difference, entry.slack)
        shown = ["" if number is None else f"{number:.6g}" for number in numbers]
        rows.append(dict(zip(COLUMNS, (entry.place, entry.what, *shown, entry.note), strict=True)))
    append_rows(NAME, COLUMNS, rows)
    print_table(COLUMNS, [tuple(row.values()) for row in rows])


def judge(entries: Sequence[Entry]) -> Iterator[Line]:
    """One line a place: the largest difference, and whether all numbers are near enough."""
    for place in dict.fromkeys(entry.place for entry in entries):
        some = [entry for entry in entries if entry.place == place]
        judged = [entry for entry in some if entry.met is not None]
        apart = [abs(e.difference) for e in judged or some if e.difference is not None]
        slack = max((entry.slack or 0.0 for entry in judged), default=0.0)
        n = f"{len(some)} number{'s' if len(some) > 1 else ''}"
        value = f"{n}, largest difference {max(apart):.3g}" if apart else f"{n}, nothing to compare"
        notes = "; ".join(dict.fromkeys(entry.note for entry in some if entry.note))
        yield Line(
            place,
            value,
            f"at most {slack:g}" if judged else notes,
            all(entry.met for entry in judged) if judged else None,
        )


def written() -> Path:
    return results_path(NAME)
