"""Count the oddities that ingest accepts, and say each in one sentence."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from srs.ingest.block import Source
from srs.ingest.encode import Coded
from srs.store.layout import MISSING, Target


class Tally:
    """Counts of features by oddity; the first of each is remembered. Safe to use from threads."""

    def __init__(self, before: Sequence[str]) -> None:
        self._before = list(before)
        self._lock = threading.Lock()
        self._found: dict[str, tuple[int, int]] = {}  # oddity -> number, first feature id
        self._n_infinite = 0

    def count(self, first: int, coded: Coded) -> None:
        """Look at some encoded features, the first of which has the id `first`."""
        self._add("empty", first, np.flatnonzero(coded.n_levels == 0))
        single = np.flatnonzero(coded.n_levels == 1)
        whole = single[~(coded.codes[single] == MISSING).any(axis=1)]
        self._add("constant", first, whole)
        infinite = np.flatnonzero(coded.n_infinite)
        if len(infinite):
            self._add("infinite", first, infinite)
            with self._lock:
                self._n_infinite += int(coded.n_infinite.sum())

    def _add(self, oddity: str, first: int, found: np.ndarray) -> None:
        if not len(found):
            return
        with self._lock:
            number, earliest = self._found.get(oddity, (0, first + int(found[0])))
            self._found[oddity] = number + len(found), min(earliest, first + int(found[0]))

    def sentences(self, names: Sequence[str] | None) -> list[str]:
        """One notice for each oddity that was met."""
        texts = {
            "constant": "{} constant, the first is {!r}.",
            "empty": "{} missing in all samples, the first is {!r}.",
            "infinite": f"{{}} infinite in some samples ({self._n_infinite} values, kept as the "
            "most extreme), the first is {!r}.",
        }
        sentences = list(self._before)
        for oddity, text in texts.items():
            if oddity in self._found:
                number, first = self._found[oddity]
                subject = "1 feature is" if number == 1 else f"{number} features are"
                name = f"f{first}" if names is None else names[first]
                sentences.append(text.format(subject, name))
        return sentences


def describe_names(source: Source, targets: Sequence[Target]) -> list[str]:
    """Notices about names, sample ids and targets."""
    notices = []
    if not targets:
        notices.append("there is no target: give one to select features for it.")
    for what, strings in (("feature names", source.names), ("sample ids", source.sample_ids)):
        if strings is not None and len(set(strings)) != len(strings):
            first, number = _duplicates(strings)
            notices.append(f"{number} {what} occur more than once, the first is {first!r}.")
    return notices


def _duplicates(strings: Sequence[str]) -> tuple[str, int]:
    seen: set[str] = set()
    repeated: dict[str, None] = {}
    for string in strings:
        if string in seen:
            repeated[string] = None
        seen.add(string)
    return next(iter(repeated)), len(repeated)
