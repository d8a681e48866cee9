"""How strong a feature is, in the kind of evidence that found it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from srs.evidence.arrays import PIECE, Evidence


def effects(evidence: Evidence, kinds: Sequence[str], found_by: np.ndarray) -> np.ndarray:
    """float32 by place: what a feature has of the kind that found it, less what its own probes
    have on average.

    found_by  uint8 by place: position in `kinds` of the kind with the smallest p-value

    A relevant feature has more than nearly all probes of its class, and its effect is above 0. In
    *used* alone it may be below: what no tree split by has none of that, and probes have some.
    """
    effect = np.zeros(len(found_by), np.float32)
    for number, kind in enumerate(kinds):
        for start in range(0, len(effect), PIECE):
            places = start + np.flatnonzero(found_by[start : start + PIECE] == number)
            values = evidence.statistic(kind, places=places.astype(np.int32))
            effect[places] = values[0]
            if len(values) > 1 and len(places):
                effect[places] -= values[1:].mean(axis=0)
    return effect
