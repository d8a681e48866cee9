"""The frozen, validated settings of one run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from srs.errors import SettingsError
from srs.evidence import KINDS

MODES = ("default", "paper")
RULES = ("tail", "knockoff")
CRITERIA = ("entropy", "gini", "variance")
# Settings of how samples were taken; a run without them has none of these names in its documents.
OF_SAMPLES = ("sample_weight", "class_weight", "confounders", "subjects")
FEW_FEATURES, MANY_FEATURES = 500, 3_000  # 7 probes a feature below, 3 between, 1 from there on:
# the tail of the null must be fitted on enough of them


@dataclass(frozen=True)
class Settings:
    """Everything that decides the outcome of a run, besides the data.

    fdr               false discovery rate of the relevant set
    allowed_mem       bytes that the process may hold
    seed              integer >= 0; the same seed gives the same answer
    mode              "default", or "paper": Algorithm 7.1 of the thesis to the letter
    target            name of the target; None: the first of the store
    pinned            names or ids of features that are in every subspace, reported apart
    subspace_size     explored features of a tree (q); None: from memory and data
    max_trees         most trees; None: no limit (paper mode: 1,000)
    max_passes        most passes over the features; None: no limit
    max_seconds       most wall time; None: no limit
    carry_fraction    share of a subspace for carried features (alpha)
    max_carried       most carried columns of a tree in default mode
    round_size        trees between two looks at the evidence, in whole batches; None: a pass, or
                      16 trees where a pass has fewer
    root_share        share of trees whose root splits an outstanding carried column
    random_recall     carry a random number of columns instead of the most possible
    n_probes          probes of a feature: 1, 3 or 7; None: 7, 3 from 500, 1 from 3,000 features on
    evidence          kinds of evidence that count for the verdict
    rule              "tail": p-values from the probes' tail; "knockoff": the knockoff+ filter
    criterion         "entropy", "gini" or "variance"; None: entropy, variance for regression
    max_features      columns tried at a node (K); None: all
    max_depth         deepest level of a leaf; None: no limit
    min_samples_leaf  fewest samples in a leaf
    patience          rounds of trees without a change of the relevant set after which to stop
    probe_draws       paper mode: a feature needs more draws than this (L)
    probe_share       paper mode: share of draws in which it must beat the probe (beta)
    holdout           share of samples that trees do not see, and that get predictions
    keep_trees        write all trees to the result folder
    sample_weight     column of the store: how much each sample counts; None: all alike. With it
                      `srs.select` leaves *used* out of the evidence, unless that is given
    class_weight      "balanced": all classes count alike, however rare; None: as they are
    confounders       columns of the store, as batch or sex, that must not make features relevant
    subjects          column of the store: samples that belong together, as those of one person
    """

    fdr: float = 0.1
    allowed_mem: int = 2 * 10**9
    seed: int = 0
    mode: str = "default"
    target: str | None = None
    pinned: tuple[str | int, ...] = ()
    subspace_size: int | None = None
    max_trees: int | None = None
    max_passes: int | None = None
    max_seconds: float | None = None
    carry_fraction: float = 0.5
    max_carried: int = 40
    round_size: int | None = None
    root_share: float = 0.25
    random_recall: bool = True
    n_probes: int | None = None
    evidence: tuple[str, ...] = KINDS
    rule: str = "tail"
    criterion: str | None = None
    max_features: int | None = None
    max_depth: int | None = None
    min_samples_leaf: int = 1
    patience: int = 3
    probe_draws: int = 10
    probe_share: float = 0.95
    holdout: float = 0.0
    keep_trees: bool = False
    sample_weight: str | None = None
    class_weight: str | None = None
    confounders: tuple[str, ...] = ()
    subjects: str | None = None

    def __post_init__(self) -> None:
        self._check_number("fdr", 0, 1, open_ends=True)
        self._check_number("seed", 0, 2**63, whole=True)
        self._check_choice("mode", MODES)
        self._check_choice("criterion", (None, *CRITERIA))
        self._check_choice("n_probes", (None, 1, 3, 7))
        self._check_choice("rule", RULES)
        self._check_choice("class_weight", (None, "balanced"))
        self._check_number("carry_fraction", 0, 1)
        self._check_number("root_share", 0, 1)
        self._check_number("probe_share", 0, 1)
        self._check_number("holdout", 0, 0.9)
        for name in ("subspace_size", "max_trees", "max_passes", "max_features", "max_depth",
                     "min_samples_leaf", "patience", "round_size"):  # fmt: skip
            self._check_number(name, 1, 2**31 - 1, whole=True)
        for name in ("max_carried", "probe_draws"):
            self._check_number(name, 0, 2**31 - 1, whole=True)
        self._check_number("max_seconds", 0, math.inf)
        if self.mode == "paper" and self.pinned:
            raise SettingsError("paper mode has no pinned features; use the default mode.")
        if self.mode == "paper" and any(getattr(self, name) for name in OF_SAMPLES):
            raise SettingsError(
                "paper mode has no weights, confounders or subjects; use the default mode."
            )
        if not self.evidence or set(self.evidence) - set(KINDS):
            raise SettingsError(f"evidence must name some of {', '.join(KINDS)}.")

    def _check_number(
        self, name: str, low: float, high: float, whole: bool = False, open_ends: bool = False
    ) -> None:
        value = getattr(self, name)
        if value is None:
            return
        kinds = (int,) if whole else (int, float)
        good = isinstance(value, kinds) and not isinstance(value, bool) and low <= value <= high
        if not good or (open_ends and value in (low, high)):
            what = "a whole number" if whole else "a number"
            span = f"at least {low}" if high > 2**30 else f"between {low} and {high}"
            raise SettingsError(f"{name} must be {what} {span}, not {value!r}.")

    def _check_choice(self, name: str, choices: tuple[object, ...]) -> None:
        value = getattr(self, name)
        if value not in choices:
            named = ", ".join(str(c) for c in choices if c is not None)
            raise SettingsError(f"{name} must be one of {named}, not {value!r}.")

    def n_roles(self, n_features: int) -> int:
        """A feature and its probes."""
        if self.mode == "paper":
            return 1
        if self.n_probes is not None:
            return 1 + self.n_probes
        if n_features < FEW_FEATURES:
            return 8
        return 4 if n_features < MANY_FEATURES else 2

    def to_json(self) -> dict[str, Any]:
        raw = {**asdict(self), "pinned": list(self.pinned), "evidence": list(self.evidence)}
        raw["confounders"] = list(self.confounders)
        return {name: value for name, value in raw.items() if name not in OF_SAMPLES or value}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Settings:
        known = {f.name for f in fields(cls)}
        values = {name: value for name, value in raw.items() if name in known}
        for name in ("pinned", "evidence", "confounders"):
            values[name] = tuple(values.get(name, ()))
        return cls(**values)
