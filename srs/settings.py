"""The one description of every setting, and the frozen, validated settings of a run.

`Settings` holds what decides the outcome of a run, besides the data; the description of each field
stands beside it. `RunArguments` are described alike: what part of a store is used, and where and
how a run is done. `SETTINGS` is the description of all of them.

Signatures, options of commands, the service's schema and the table in docs/settings.md are written
from here by `make generate`, so that no setting is typed twice. What those look like is not known
here: see docs/develop/generate_signatures.py.
"""

# ruff: noqa: RUF009 -- a description is made once, beside its field, and is frozen

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from srs.errors import SettingsError
from srs.evidence.registry import USUAL, evidence_kinds
from srs.memory import DEFAULT_MEM

if TYPE_CHECKING:
    import os

    from srs.engine.state import Progress
    from srs.store import Chosen

MODES = ("default", "paper")
RULES = ("tail", "knockoff")
GUARANTEES = ("fdr", "confident")
PAIRS = ("auto", "all", "off")
CRITERIA = ("entropy", "gini", "variance")
# Settings of how samples were taken; a run without them has none of these names in its documents.
OF_SAMPLES = ("sample_weight", "class_weight", "confounders", "subjects")
FEW_FEATURES, MANY_FEATURES = 500, 3_000  # 7 probes a feature below, 3 between, 1 from there on:
# the tail of the null must be fitted on enough of them
MOST_SECONDS = 86_400.0  # a day: a run that nobody bounded and nobody looks after ends then
MANY = 2**31 - 1
COUNT: dict[str, Any] = {"low": 1, "high": MANY}
NATURAL: dict[str, Any] = {"low": 0, "high": MANY}
SHARE: dict[str, Any] = {"low": 0, "high": 1}

# Groups, in the order of help texts.
COMMON, LIMITS, SAMPLES, METHOD, RUN = "common", "limits", "samples", "method", "run"
GROUPS = {
    COMMON: "Common",
    LIMITS: "Limits",
    SAMPLES: "Samples and features",
    METHOD: "Method, with the letters of the paper",
    RUN: "Where and how it runs",
}
# Who may set it: with a service, some are its operator's business, and some make no sense.
EVERYBODY, LOCAL, OPERATOR = "everybody", "local", "operator"


@dataclass(frozen=True)
class Setting:
    """One setting, described once.

    name       field of `Settings`, or argument
    type       of its values, as Python writes it
    default    its value if nothing is said
    help       one line
    group      one of `GROUPS`
    unset      what None, or an empty tuple, stands for
    symbol     its letter in the paper
    low, high  range of a number, with open_ends without its ends
    choices    values, if only some are possible
    installed  gives all of them, where packages may bring more; None: there are no others
    who        EVERYBODY, LOCAL (not through a service) or OPERATOR (of a service)
    argument   its name outside of `Settings`, if that is another
    """

    name: str
    type: str
    default: Any
    help: str
    group: str = COMMON
    unset: str = ""
    symbol: str = ""
    low: float | None = None
    high: float = math.inf
    open_ends: bool = False
    choices: tuple[Any, ...] = ()
    installed: Callable[[], Iterable[str]] | None = None
    who: str = EVERYBODY
    argument: str = ""

    @property
    def public_name(self) -> str:
        """What functions, commands and the service call it."""
        return self.argument or self.name

    @property
    def is_list(self) -> bool:
        return self.type.startswith("tuple[")

    @property
    def is_optional(self) -> bool:
        return self.type.endswith("| None")

    @property
    def span(self) -> str:
        """The range, in words."""
        at_least = "" if self.low is None else f"at least {self.low}"
        return at_least if self.high > 2**30 else f"between {self.low} and {self.high}"

    def check(self, value: Any) -> None:
        """SettingsError says what a value must be."""
        if value is None and self.is_optional:
            return
        if self.is_list:
            if self.choices and (not value or set(value) - set(self.all_choices)):
                raise SettingsError(f"{self.name} must name some of {self._named_choices}.")
            if self.choices and len(set(value)) < len(value):
                raise SettingsError(f"{self.name} must name each of its values once.")
        elif self.choices:
            if value not in self.choices:
                raise self._refusal(f"one of {self._named_choices}", value)
        elif self.low is not None:
            self._check_number(value)
        elif self.type == "bool" and not isinstance(value, bool):
            raise self._refusal("True or False", value)
        elif self.type.startswith("str") and not isinstance(value, str):
            raise self._refusal("a name", value)

    def _check_number(self, value: Any) -> None:
        whole = self.type.startswith("int")
        is_number = isinstance(value, (int,) if whole else (int, float))
        is_number = is_number and not isinstance(value, bool) and math.isfinite(value)
        good = is_number and self.low <= value <= self.high
        if not good or (self.open_ends and value in (self.low, self.high)):
            too_large = is_number and value > self.high > 2**30  # which `span` does not say
            span = f"at most {self.high}" if too_large else self.span
            raise self._refusal(f"{'a whole number' if whole else 'a number'} {span}", value)

    @property
    def _named_choices(self) -> str:
        return ", ".join(str(choice) for choice in self.all_choices)

    @property
    def all_choices(self) -> tuple[Any, ...]:
        """Its choices, with those that other packages bring."""
        return self.choices if self.installed is None else tuple(self.installed())

    def _refusal(self, wanted: str, value: Any) -> SettingsError:
        return SettingsError(f"{self.name} must be {wanted}, not {value!r}.")


def _setting(
    default: Any, help: str, group: str = COMMON, unset: str = "", **described: Any
) -> Any:
    """A field of `Settings` with its description."""
    return field(
        default=default, metadata={"help": help, "group": group, "unset": unset, **described}
    )


@dataclass(frozen=True)
class Settings:
    """Everything that decides the outcome of a run, besides the data."""

    fdr: float = _setting(
        0.1, "False discovery rate of the relevant set.", low=0, high=1, open_ends=True
    )
    allowed_mem: int = _setting(
        DEFAULT_MEM,
        'Memory limit of the process (with workers: of each worker), e.g. "512MB".',
        unset="2GB",
        argument="memory",
    )
    seed: int = _setting(
        0, "Seed of all random numbers: the same seed gives the same result.", low=0, high=2**63
    )
    mode: str = _setting(
        "default",
        '"default", or "paper": Algorithm 7.1 of the thesis, unchanged.',
        choices=MODES,
    )
    target: str | None = _setting(None, "Name of the target.", unset="the first of the store")
    pinned: tuple[str | int, ...] = _setting(
        (), "Names or ids of covariates: in every subspace, reported separately.", SAMPLES, "none"
    )
    subspace_size: int | None = _setting(
        None, "Features that a tree explores.", METHOD, "from memory and data", symbol="q", **COUNT
    )
    max_trees: int | None = _setting(
        None, "Maximum number of trees.", LIMITS, "no limit; 1,000 in paper mode", **COUNT
    )
    max_passes: int | None = _setting(
        None, "Maximum number of passes over the features.", LIMITS, "no limit", **COUNT
    )
    max_seconds: float | None = _setting(
        None, "Maximum wall time, in seconds.", LIMITS, "a day; no limit in paper mode", low=0
    )
    carry_fraction: float = _setting(
        0.5, "Share of a subspace for carried features.", METHOD, symbol="alpha", **SHARE
    )
    max_carried: int = _setting(
        40, "Maximum number of carried columns of a tree in default mode.", METHOD, **NATURAL
    )
    round_size: int | None = _setting(
        None,
        "Trees between two interim decisions, in whole batches; more trees keep more workers busy.",
        METHOD,
        "one pass, or 16 trees if a pass has fewer",
        **COUNT,
    )
    root_share: float = _setting(
        0.25, "Share of trees whose root splits an outstanding carried column.", METHOD, **SHARE
    )
    random_recall: bool = _setting(
        True, "Carry a random number of columns instead of the maximum.", METHOD
    )
    n_probes: int | None = _setting(
        None,
        "Number of probes per feature.",
        METHOD,
        "7; 3 from 500 features, 1 from 3,000",
        choices=(1, 3, 7),
    )
    evidence: tuple[str, ...] = _setting(
        USUAL,
        "Kinds of evidence that count for the verdict.",
        METHOD,
        "the built-in ones; with sample_weight without used",
        choices=USUAL,
        installed=evidence_kinds,
    )
    rule: str = _setting(
        "tail",
        '"tail": p-values from the tail of the probes; "knockoff": the knockoff+ filter.',
        METHOD,
        choices=RULES,
    )
    pairs: str = _setting(
        "auto",
        '"all": look at all pairs of features for those that matter only together; "auto": if that '
        'takes minutes at most; "off": leave them to the trees.',
        choices=PAIRS,
    )
    n_features: int | None = _setting(
        None,
        "Select this many features, those with the smallest p-values, whatever their error rate.",
        unset="as many as the false discovery rate allows",
        **COUNT,
    )
    guarantee: str = _setting(
        "fdr",
        '"fdr": the rate holds in the mean over lists; "confident": it also holds for this list '
        "with 95 % confidence, if features are not strongly dependent.",
        METHOD,
        choices=GUARANTEES,
    )
    criterion: str | None = _setting(
        None,
        "Impurity that splits decrease.",
        METHOD,
        "entropy; variance for numbers",
        choices=CRITERIA,
    )
    max_features: int | None = _setting(
        None, "Number of columns tried at a node.", METHOD, symbol="K", unset="all", **COUNT
    )
    max_depth: int | None = _setting(None, "Maximum depth of a tree.", METHOD, "no limit", **COUNT)
    min_samples_leaf: int = _setting(1, "Minimum number of samples in a leaf.", METHOD, **COUNT)
    patience: int | None = _setting(
        None,
        "Stop after this many rounds without a change of the relevant set.",
        LIMITS,
        "when more trees would hardly change it",
        **COUNT,
    )
    probe_draws: int = _setting(
        10, "Paper mode: a feature needs more draws than this.", METHOD, symbol="L", **NATURAL
    )
    probe_share: float = _setting(
        0.95,
        "Paper mode: share of draws in which a feature must beat the probe.",
        METHOD,
        symbol="beta",
        **SHARE,
    )
    holdout: float = _setting(
        0.0,
        "Share of samples that are held out from the trees and predicted at the end.",
        SAMPLES,
        low=0,
        high=0.9,
    )
    keep_trees: bool = _setting(False, "Write all trees to the folder of the run.", RUN, who=LOCAL)
    sample_weight: str | None = _setting(
        None, "Column of the store: how much each sample counts.", SAMPLES, "all alike"
    )
    class_weight: str | None = _setting(
        None,
        '"balanced": all classes get the same total weight, including rare ones.',
        SAMPLES,
        "each sample counts once",
        choices=("balanced",),
    )
    confounders: tuple[str, ...] = _setting(
        (),
        "Columns of the store to adjust for, e.g. batch or sex.",
        SAMPLES,
        "none",
    )
    subjects: str | None = _setting(
        None,
        "Column of the store: samples that belong together, e.g. those of one person.",
        SAMPLES,
        "every sample is its own subject",
    )

    def __post_init__(self) -> None:
        for setting in OF_RESULTS:
            setting.check(getattr(self, setting.name))
        if self.mode == "paper" and self.pinned:
            raise SettingsError("paper mode has no pinned features; use the default mode.")
        if self.mode == "paper" and any(getattr(self, name) for name in OF_SAMPLES):
            raise SettingsError(
                "paper mode has no weights, confounders or subjects; use the default mode."
            )

    def n_roles(self, n_features: int) -> int:
        """A feature and its probes."""
        if self.mode == "paper":
            return 1
        if self.n_probes is not None:
            return 1 + self.n_probes
        if n_features < FEW_FEATURES:
            return 8
        return 4 if n_features < MANY_FEATURES else 2

    @property
    def seconds_limit(self) -> float | None:
        """Wall time after which a run ends with what it has found; None: there is no limit."""
        if self.max_seconds is None and self.mode != "paper":
            return MOST_SECONDS
        return self.max_seconds

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


@dataclass(frozen=True)
class RunArguments:
    """What part of a store a run uses, and where and how it is done."""

    samples: Chosen | None = _setting(
        None, "Ids or numbers of the samples to use.", SAMPLES, "all", who=LOCAL
    )
    features: Chosen | None = _setting(
        None,
        "Names or ids of the features to use, in addition to the pinned ones.",
        SAMPLES,
        "all",
        who=LOCAL,
    )
    feature_sets: Any = _setting(
        None,
        "Features that are also tested together: a mapping from names of sets to features, or a "
        "file (two columns, feature and set; or .gmt).",
        SAMPLES,
        "none",
    )
    threads: int | None = _setting(
        None,
        "Threads of this process, or of each started worker; the result does not depend on it.",
        RUN,
        "all cores; 1 per worker",
        who=OPERATOR,
        **COUNT,
    )
    executor: Any = _setting(
        None,
        "Where trees are grown: a number of worker processes to start, the address of a Dask "
        "scheduler, or a distributed.Client.",
        RUN,
        "threads of this process",
        who=OPERATOR,
    )
    tls: str | os.PathLike[str] | None = _setting(
        None,
        "Folder with ca.pem, cert.pem and key.pem: workers and scheduler use TLS.",
        RUN,
        "no TLS",
        who=OPERATOR,
    )
    task_timeout: float | None = _setting(
        None,
        "Seconds after which the worker of a task counts as hung and others take over.",
        RUN,
        "ten times the slowest task so far, at least a minute",
        who=OPERATOR,
    )
    folder: str | os.PathLike[str] | None = _setting(
        None, "Folder for checkpoints and kept trees.", RUN, "nowhere", who=OPERATOR
    )
    resume: bool = _setting(False, "Continue from the checkpoint in the folder.", RUN, who=OPERATOR)
    on_progress: Callable[[Progress], None] | None = _setting(
        None, "Function that is called with a Progress while trees are grown.", RUN, who=LOCAL
    )
    finish: Any = _setting(
        None,
        "A threading.Event: once it is set, the run ends with what it has found.",
        RUN,
        "it runs to its end",
        who=LOCAL,
    )

    def __post_init__(self) -> None:
        _BY_NAME["threads"].check(self.threads)
        _BY_NAME["resume"].check(self.resume)
        if self.resume and self.folder is None:
            raise SettingsError("resume needs the folder of the run.")


def _describe(kind: type[Settings] | type[RunArguments]) -> tuple[Setting, ...]:
    return tuple(Setting(f.name, str(f.type), f.default, **f.metadata) for f in fields(kind))


OF_RESULTS = _describe(Settings)
RUN_ARGUMENTS = _describe(RunArguments)
SETTINGS = OF_RESULTS + RUN_ARGUMENTS
_BY_NAME = {setting.name: setting for setting in SETTINGS}
