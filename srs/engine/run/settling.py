"""When the list of a run is stable: from what more trees could still change.

Now and then the run looks how many features more trees could still move across the cut
(`srs.engine.run.unsettled`). That number shrinks with the square root of the trees. Once twice the
trees would make it small enough, the run grows twice the trees and ends: so from its half on it
knows its end. Of so many features that halves take too much memory
(`srs.evidence.registry.has_halves`), a run ends after some rounds without a change. Everything
follows from the evidence, so the same run ends at the same tree, wherever and however often it is
interrupted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

ALLOWED_SHARE = 0.03  # of the relevant set, that trees without end may be expected to change
ALLOWED_LEAST = 0.5  # features, if that is more
GROWTH = 1.2  # trees of a look, over those of the look before
LOOKS = 3  # whose middle one counts: a single look may be lucky
AHEAD = 2.0  # trees at the end, over those of the look that decided it
PATIENCE = 3  # rounds without a change after which a run ends that has no halves to look at

Noise = tuple[int, float]  # trees of a look, and expected changes over those that are allowed


def relative_noise(n_changes: float, n_relevant: int) -> float:
    """Expected changes over those that are allowed.

    >>> relative_noise(6.0, 100)
    2.0
    """
    return n_changes / max(ALLOWED_LEAST, ALLOWED_SHARE * n_relevant)


def is_due(noises: Sequence[Noise], n_trees: int, least_trees: int) -> bool:
    """Whether it is time to look: first with half of the least trees."""
    last = noises[-1][0] if noises else 0
    return AHEAD * n_trees >= least_trees and n_trees >= GROWTH * last


def needed_trees(noises: Sequence[Noise]) -> float:
    """Trees that are enough, as the looks tell.

    >>> needed_trees([(1000, 2.0)])
    4000.0
    """
    estimates = sorted(n_trees * noise**2 for n_trees, noise in noises[-LOOKS:])
    return estimates[len(estimates) // 2]


def decide_end(noises: Sequence[Noise], most_trees: int) -> int | None:
    """Trees at which the run ends, if the last look decided that.

    most_trees  a list that wavers then is not worth more (`srs.engine.stopping.most_trees`)

    >>> decide_end([(1000, 1.1)], 2400), decide_end([(1000, 3.0)], 2400), decide_end([(90, 9)], 160)
    (2000, None, 180)
    """
    at_end = AHEAD * noises[-1][0]
    enough = min(needed_trees(noises), most_trees) <= at_end
    return math.ceil(at_end) if enough else None


def predict_end(noises: Sequence[Noise], n_trees: int, least_trees: int, most_trees: int) -> int:
    """The same, as far as it can be told before it is decided."""
    if not noises:
        return least_trees
    wanted = min(needed_trees(noises), most_trees)
    return math.ceil(max(wanted, AHEAD * n_trees))


def describe_end(noises: Sequence[Noise], most_trees: int) -> str:
    """Why the run has ended."""
    if needed_trees(noises) <= AHEAD * noises[-1][0]:
        return "more trees would hardly change the relevant set"
    return (
        f"the relevant set was not stable after {most_trees} trees, the most that a list of these "
        "sizes is worth: some features are so near the cut that chance decides"
    )
