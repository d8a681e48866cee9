"""What a kind of evidence is: how it is had, merged, weighed and shown.

Evidence is a number of each feature and each of its probes: the larger, the more the column tells
of the target. It comes from the trees of the loop (`of_trees`), or a kind computes it by itself
(`collect`). Probes are the null, so a kind must treat all roles alike; that is all it must know of
inference. One file has one kind, `srs.evidence.registry` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from srs.errors import SettingsError

if TYPE_CHECKING:
    import numpy as np

    from srs.engine.context import RunContext
    from srs.trees import Importances


class Collect(Protocol):
    """Evidence that is had apart from the trees of the loop."""

    def __call__(
        self,
        context: RunContext,
        run_specs: Callable[[Iterable[Any]], Iterator[Any]],
        n_rounds: int,
    ) -> np.ndarray:
        """float32 (n_roles, n_features), by place, none below 0.

        context    the store, samples, target and permutations of the run
        run_specs  gives spec.run(context) of each spec, in order, on the threads or workers of the
                   run; specs travel to workers, and what they hold there must fit in the place of
                   a batch
        n_rounds   rounds before this one; with the seed of the run it gives a random state
        """
        ...


@dataclass(frozen=True)
class EvidenceKind:
    """A kind of evidence.

    name            what settings, results and checkpoints call it
    sees            what it sees, as a part of a sentence, for the report
    title           caption of its histogram on the page of the service
    share           of the error rate, before shares are made to add up to 1
    merge           how two draws of a column are put together: "sum" or "maximum"
    mean            whether its statistic is the mean over draws; else it is what was merged
    of_trees        gives its values by column from what trees say; None: `collect` has them
    collect         gives its values of all features; None: they come from trees
    every_round     whether `collect` is called after each round; else after the first one only
    weighted        whether it counts in runs with sample weights where nothing is said
    usual           whether it counts where nothing is said
    bytes_per_role  that are held of a feature or probe
    """

    name: str
    sees: str
    title: str
    share: float
    merge: Literal["sum", "maximum"]
    mean: bool
    of_trees: Callable[[Importances], np.ndarray] | None = None
    collect: Collect | None = None
    every_round: bool = False
    weighted: bool = True
    usual: bool = False
    bytes_per_role: int = 4

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise SettingsError(f"{self.name!r} cannot name a kind of evidence: use a plain word.")
        if (self.of_trees is None) == (self.collect is None):
            raise SettingsError(f"evidence {self.name!r} needs either of_trees or collect.")
        if self.merge not in ("sum", "maximum"):
            raise SettingsError(f"evidence {self.name!r} cannot be merged by {self.merge!r}.")
        if not 0 < self.share <= 1:
            raise SettingsError(f"the share of evidence {self.name!r} must be above 0, at most 1.")
