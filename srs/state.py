"""What a run knows between two batches, and its form in a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srs.evidence import Evidence
from srs.subspace import Pool

_COUNTS = ("n_rounds", "n_batches", "n_trees", "unchanged", "history")
_EVIDENCE, _POOL = "evidence_", "pool_"


@dataclass
class State:
    """What a run knows; everything that a checkpoint keeps.

    evidence      sums of all features
    pool          what trees of the present round may carry (default mode)
    relevant      places of the relevant set (F of the paper), ascending
    n_rounds      rounds finished
    n_batches     batches finished within the present round
    n_trees       trees grown
    unchanged     rounds since the relevant set changed last
    history       (n_trees, n_relevant) after each round in which something was looked at
    votes         summed predictions of held-out samples
    """

    evidence: Evidence
    pool: Pool
    relevant: np.ndarray
    votes: np.ndarray
    n_rounds: int = 0
    n_batches: int = 0
    n_trees: int = 0
    unchanged: int = 0
    history: list[tuple[int, int]] = field(default_factory=list)

    def pack(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Counts and arrays by name, for a checkpoint."""
        arrays = {_EVIDENCE + name: array for name, array in self.evidence.arrays().items()}
        arrays |= {_POOL + name: getattr(self.pool, name) for name in Pool.__dataclass_fields__}
        arrays |= {"relevant": self.relevant, "votes": self.votes}
        return {name: getattr(self, name) for name in _COUNTS}, arrays

    @classmethod
    def unpack(cls, counts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> State:
        """The inverse of `pack`."""

        def those(prefix: str) -> dict[str, np.ndarray]:
            return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}

        history = [(int(trees), int(relevant)) for trees, relevant in counts["history"]]
        return cls(
            Evidence(**those(_EVIDENCE)), Pool(**those(_POOL)), arrays["relevant"],
            arrays["votes"], **{n: counts[n] for n in _COUNTS if n != "history"}, history=history,
        )  # fmt: skip
