"""What a kind of evidence is: how it is had, merged, weighed and shown.

Evidence is a number of each feature and each of its probes: the larger, the more the column tells
of the target. It comes from the trees of the loop (`of_trees`), or a kind computes it by itself
(`collect`, or in steps before the first tree). Probes are the null, so a kind must treat all roles
alike; that is all it must know of inference. A kind that tests by itself has p-values of features,
and needs no probes in the loop (`has_p_values`). One file has one kind, `srs.evidence.registry`
lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from srs.errors import SettingsError

if TYPE_CHECKING:
    import numpy as np

    from srs.engine.context import RunContext
    from srs.settings import Settings
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
class Steps:
    """Evidence that is had step by step before the first tree; a checkpoint keeps each step.

    specs   one a step: spec.run(context) is done on the threads or workers of the run, and must
            fit in the place of a batch
    found   arrays by name: what the steps so far have found
    merge   adds what a step found to `found`; steps come in the order of specs
    finish  makes the evidence from `found`: "values" float32 (n_roles, n_features), or (1,
            n_features) of a kind that has p-values, by place; and what else it tells of features,
            by place, under names of its own. A kind that has p-values may give instead, by place,
            its "statistic", and of a sample of probes "null" and "null_places"
    """

    specs: Sequence[Any]
    found: dict[str, np.ndarray]
    merge: Callable[[dict[str, np.ndarray], Any], None]
    finish: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]


def _always(settings: Settings, n_features: int, n_samples: int) -> str | None:  # noqa: ARG001
    return None


@dataclass(frozen=True)
class EvidenceKind:
    """A kind of evidence.

    name            what settings, results and checkpoints call it
    sees            what it sees, as a part of a sentence, for the report
    title           caption of its histogram on the page of the service
    doing           what a run does while its steps are done, as a part of a sentence
    share           its weight among the kinds where nothing is known, before they add up to 1
    merge           how two draws of a column are put together: "sum" or "maximum"
    mean            whether its statistic is the mean over draws; else it is what was merged
    of_trees        gives its values by column from what trees say; None: `collect` has them
    collect         gives its values of all features; None: they come from trees
    every_round     whether `collect` is called after each round; else after the first one only
    steps           gives the steps that make its values; None: they come from trees or `collect`
    keeps           gives the bytes that its steps would keep for one another (`RunContext.kept`) if
                    there is room; None: nothing
    has_p_values    whether its values are -log(p) of features alone, made without probes; negative
                    where it says nothing of a feature
    carried         whether trees carry the features that are sure by its p-values
    tells           names of what its steps tell of features besides, and bytes of each
    sits_out        says in a sentence why it takes no part in a run of these settings, features
                    and samples; None: it does
    unfit           says in a sentence why it cannot be had of the samples and the target of a run;
                    None: it can
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
    steps: Callable[[RunContext], Steps] | None = None
    keeps: Callable[[RunContext], int] | None = None
    doing: str = "looking at all features"
    has_p_values: bool = False
    carried: bool = False
    tells: tuple[tuple[str, int], ...] = ()
    sits_out: Callable[[Settings, int, int], str | None] = _always
    unfit: Callable[[RunContext], str | None] | None = None
    weighted: bool = True
    usual: bool = False
    bytes_per_role: int = 4

    def n_rows(self, n_roles: int) -> int:
        """Rows of its array: one a role, or one in all."""
        return 1 if self.has_p_values else n_roles

    def held_bytes(self, n_roles: int) -> int:
        """Bytes that a run holds of it for a feature."""
        told = sum(n_bytes for _, n_bytes in self.tells)
        return self.bytes_per_role * self.n_rows(n_roles) + told

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise SettingsError(f"{self.name!r} cannot name a kind of evidence: use a plain word.")
        if sum(one is not None for one in (self.of_trees, self.collect, self.steps)) != 1:
            raise SettingsError(f"evidence {self.name!r} needs one of of_trees, collect and steps.")
        if self.has_p_values and self.steps is None:
            raise SettingsError(f"evidence {self.name!r} can have p-values only from steps.")
        if self.merge not in ("sum", "maximum"):
            raise SettingsError(f"evidence {self.name!r} cannot be merged by {self.merge!r}.")
        if not 0 < self.share <= 1:
            raise SettingsError(f"the share of evidence {self.name!r} must be above 0, at most 1.")
