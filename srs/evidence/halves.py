"""What each half of the trees says: the even passes over the features, and the odd ones.

Every feature is explored once a pass, so the halves have the same draws of each. What they
disagree on is what chance decided: they tell what more trees could still change, and how stable a
feature is. The evidence of all trees is held beside them (`srs.evidence.arrays`); so of kinds that
are summed the even half is enough, and the odd one is the difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from srs.evidence.arrays import BatchEvidence, Evidence, add_values
from srs.evidence.registry import MOST_HALVED, has_halves, kinds_of_trees

_EVEN, _ODD, _DRAWN = "even_", "odd_", "n_drawn"


def halves_notices(n_features: int, n_roles: int) -> list[str]:
    """What is to be said of a run without halves.

    >>> halves_notices(5_000_000, 2)[0][:58]
    'stability is not known: beyond 2000000 features the halves'
    """
    if n_roles == 1 or has_halves(n_features, n_roles):
        return []
    return [
        f"stability is not known: beyond {MOST_HALVED} features the halves of the trees are not "
        "held apart, to save memory, and a run ends once its list has not changed in some rounds."
    ]


@njit(nogil=True, cache=True)
def _count_draws(places, n_drawn):  # type: ignore[no-untyped-def]
    for k in range(places.shape[0]):
        n_drawn[np.uint64(places[k])] += np.uint32(1)


@dataclass
class Halves:
    """Evidence of the halves of the trees, by place.

    n_drawn  uint32: explored draws of the even half
    even     float32 (n_roles, n) each: kinds of evidence that come from trees, in the even half
    odd      the same of the odd half, of kinds that are merged by the maximum
    """

    n_drawn: np.ndarray
    even: dict[str, np.ndarray]
    odd: dict[str, np.ndarray]

    @classmethod
    def empty(cls, n_features: int, n_roles: int, kinds: Sequence[str]) -> Halves:
        even, odd = {}, {}
        for kind in kinds_of_trees(kinds):
            even[kind.name] = np.zeros((n_roles, n_features), np.float32)
            if kind.merge == "maximum":
                odd[kind.name] = np.zeros((n_roles, n_features), np.float32)
        return cls(np.zeros(n_features, np.uint32), even, odd)

    def update(self, batch: BatchEvidence, number: int) -> None:
        """Add what a batch of half `number` found: 0 is even, 1 is odd."""
        if number == 0:
            _count_draws(batch.places, self.n_drawn)
        held = self.odd if number else self.even
        add_values(batch.places, {kind: batch.by_kind[kind] for kind in held}, held)

    def of(self, whole: Evidence) -> Iterator[Evidence]:
        """The evidence of either half; what does not come from trees is in both."""
        apart = {kind: a for kind, a in whole.by_kind.items() if kind not in self.even}
        empty = np.empty(0, np.uint32)
        none = np.empty(0, np.float32)
        yield Evidence(self.n_drawn, empty, empty, none, apart | self.even)
        sums = {kind: a for kind, a in self.even.items() if kind not in self.odd}
        by_kind = apart | {kind: whole.by_kind[kind] for kind in sums} | self.odd
        n_drawn = whole.n_drawn - self.n_drawn
        yield Evidence(n_drawn, empty, empty, none, by_kind, less=sums)

    def release(self) -> None:
        """Give up the arrays, which nobody needs any more."""
        self.even, self.odd, self.n_drawn = {}, {}, np.empty(0, np.uint32)

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name, for a checkpoint."""
        even = {_EVEN + kind: array for kind, array in self.even.items()}
        return even | {_ODD + kind: a for kind, a in self.odd.items()} | {_DRAWN: self.n_drawn}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Halves:
        """The inverse of `arrays`."""

        def those(prefix: str) -> dict[str, np.ndarray]:
            return {k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)}

        return cls(arrays[_DRAWN], those(_EVEN), those(_ODD))
