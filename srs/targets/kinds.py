"""What a kind of target is: how values are parsed, what trees learn, how it is described.

Values of a `Target` are class codes with labels, or numbers without; a kind decides which, and
what they stand for. One file has one kind, `srs.targets.registry` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from srs.errors import SettingsError
from srs.targets.target import Target

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from srs.targets.models.null import NullDesign, NullModel

CRITERIA_OF_CLASSES = ("entropy", "gini")
CRITERIA_OF_NUMBERS = ("variance",)


@dataclass(frozen=True)
class TargetKind:
    """A kind of target.

    name        what users, results and the service call it
    title       how the page of the service offers it
    help        one line on which targets it is for
    criteria    impurities that trees may use, the default first
    fits        whether values are of this kind where the user does not say; kinds are asked in the
                order of the registry
    parse       makes the target of a name and of values, none of which is missing or infinite; a
                SourceError says what is wrong with them
    check       a SourceError if there is nothing to learn from a target
    learned     what trees learn: int32 class codes of a target with labels, float64 numbers else
    describe    what `srs info` and the service tell of a target, for JSON
    predict     what is told of a held-out sample: from the target, the number of the sample, and
                the mean prediction of all trees (n_outputs,)
    measures    further figures of such rows, by name, for the report; None: none
    stored      what stores call it, if that is another name
    null_model  what is expected of samples without any feature, given a target and the design of
                a model; None: targets cannot be adjusted for covariates
    by_model    whether score residuals of the null model are learned also without covariates
    beside      further columns that a target has beside its values, e.g. ("event",); `parse` then
                gets a data frame of `values` and of those that were given
    """

    name: str
    title: str
    help: str
    criteria: tuple[str, ...]
    fits: Callable[[pd.Series[Any]], bool]
    parse: Callable[[str, Any], Target]
    check: Callable[[Target], None]
    learned: Callable[[Target], np.ndarray]
    describe: Callable[[Target], dict[str, Any]]
    predict: Callable[[Target, int, np.ndarray], dict[str, Any]]
    measures: Callable[[Sequence[Mapping[str, Any]]], dict[str, float]] | None = None
    stored: str | None = None
    null_model: Callable[[Target, NullDesign], NullModel] | None = None
    by_model: bool = False
    beside: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise SettingsError(f"{self.name!r} cannot name a kind of target: use a plain word.")
        if self.criteria[0] not in CRITERIA_OF_CLASSES + CRITERIA_OF_NUMBERS:
            raise SettingsError(f"targets of kind {self.name!r} need a criterion that trees know.")

    @property
    def stored_name(self) -> str:
        return self.name if self.stored is None else self.stored
