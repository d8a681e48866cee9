"""Count the oddities that ingest accepts, and say each in one sentence."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

import numpy as np

from srs.ingest.block import Source
from srs.ingest.encode.codes import Coded
from srs.ingest.readers.fields import MANY_NUMBERS, find_odd_text
from srs.store.layout import MISSING
from srs.targets.target import Target


class Tally:
    """Counts of features by oddity; the first of each is remembered. Safe to use from threads.

    before    sentences that come first
    declared  ids of features that the user calls categorical
    """

    def __init__(self, before: Sequence[str], declared: np.ndarray) -> None:
        self._before = list(before)
        self._declared = frozenset(declared.tolist())
        self._lock = threading.Lock()
        self._found: dict[str, tuple[int, int]] = {}  # oddity -> number, first feature id
        self._n_infinite = 0
        self._odd_text = "", 0  # of the first feature that has one: the text, its first sample

    def count(
        self, first: int, coded: Coded, labels: Mapping[int, tuple[str, ...]], counting: np.ndarray
    ) -> None:
        """Look at some encoded features, the first of which has the id `first`.

        labels    feature id -> labels of its categories, of these features and others
        counting  which of these features are numbers that only count samples
        """
        self._add("ids", first, counting)
        self._add("empty", first, np.flatnonzero(coded.n_levels == 0))
        single = np.flatnonzero(coded.n_levels == 1)
        whole = single[~(coded.codes[single] == MISSING).any(axis=1)]
        self._add("constant", first, whole)
        infinite = np.flatnonzero(coded.n_infinite)
        if len(infinite):
            self._add("infinite", first, infinite)
            with self._lock:
                self._n_infinite += int(coded.n_infinite.sum())
        for at, codes in enumerate(coded.codes if labels else ()):
            known = labels.get(first + at, ())
            if len(known) > MANY_NUMBERS and first + at not in self._declared:
                self._look_at_labels(first + at, codes, known)

    def _look_at_labels(self, feature_id: int, codes: np.ndarray, labels: tuple[str, ...]) -> None:
        """Count a feature of categories that would be numbers but for a few texts, or are ids."""
        n_each = np.bincount(codes[codes != MISSING], minlength=len(labels)).tolist()
        odd = find_odd_text(dict(zip(labels, n_each, strict=True)))
        here = np.zeros(1, np.int64)
        if odd is None:
            if len(labels) == len(codes) and not (codes == MISSING).any():
                self._add("ids", feature_id, here)
            return
        self._add("mixed", feature_id, here)
        with self._lock:
            if self._found["mixed"][1] == feature_id:
                row = int((codes == labels.index(odd)).argmax())
                self._odd_text = odd, row

    def _add(self, oddity: str, first: int, found: np.ndarray) -> None:
        if not len(found):
            return
        with self._lock:
            number, earliest = self._found.get(oddity, (0, first + int(found[0])))
            self._found[oddity] = number + len(found), min(earliest, first + int(found[0]))

    def sentences(self, source: Source) -> list[str]:
        """One notice for each oddity that was met."""
        odd, row = self._odd_text
        ids = source.sample_ids
        where = f"row {row} (from 0)" if ids is None else f"sample {ids[row]!r}"
        texts = {
            "constant": ("constant", ""),
            "empty": ("missing in all samples", ""),
            "infinite": (
                f"infinite in some samples ({self._n_infinite} values, kept as the most extreme)",
                "",
            ),
            "mixed": (
                "read as categories although nearly all values are numbers",
                f", because of {odd!r} in {where}: write NA for what is missing, or declare the "
                f"feature categorical",
            ),
            "ids": (
                "like ids: a different text, or the next number, in every sample",
                ": name it with --id-column if it is, or leave it out",
            ),
        }
        sentences = list(self._before)
        for oddity, (text, more) in texts.items():
            if oddity in self._found:
                number, first = self._found[oddity]
                subject = "1 feature is" if number == 1 else f"{number} features are"
                name = f"f{first}" if source.names is None else source.names[first]
                sentences.append(f"{subject} {text}, the first is {name!r}{more}.")
        return sentences


def find_counting(values: np.ndarray) -> np.ndarray:
    """Which of the features (k, n_samples) are whole numbers that count the samples.

    >>> find_counting(np.array([np.arange(1, 21), np.arange(20) * 2.0]))
    array([0])
    """
    n_samples = values.shape[1]
    if n_samples <= MANY_NUMBERS or values.dtype == np.int8:
        return np.zeros(0, np.int64)
    with np.errstate(invalid="ignore"):
        rise = values[:, [1, -1]] - values[:, [0, 0]]
    likely = np.flatnonzero((rise == [1, n_samples - 1]).all(axis=1) & (values[:, 0] % 1 == 0))
    return np.array([i for i in likely if (np.diff(values[i]) == 1).all()], np.int64)


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
