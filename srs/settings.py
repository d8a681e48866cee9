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

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from srs.errors import SettingsError
from srs.evidence.registry import USUAL, evidence_kinds, weighted_kinds
from srs.memory import DEFAULT_MEM
from srs.setting import (
    LIMITS,
    LOCAL,
    METHOD,
    OPERATOR,
    RUN,
    SAMPLES,
    Setting,
    described,
)

if TYPE_CHECKING:
    import os

    from srs.engine.state import Progress
    from srs.store import Chosen

MODES = ("default", "paper")
RULES = ("tail", "knockoff")
GUARANTEES = ("fdr", "confident")
PAIRS = ("auto", "all", "off")
PAPER_RULES = ("probe", "importance")
CRITERIA = ("entropy", "gini", "variance")
# Settings of how samples were taken; a run without them has none of these names in its documents.
OF_SAMPLES = ("sample_weight", "class_weight", "confounders", "subjects", "covariates")
LATER = {"paper_rule": "probe"}  # left out of documents where they have this value, as before
FEW_FEATURES, MANY_FEATURES = 500, 3_000  # 7 probes a feature below, 3 between, 1 from there on:
# the tail of the null must be fitted on enough of them
MOST_SECONDS = 86_400.0  # a day: a run that nobody bounded and nobody looks after ends then
IGNORED_BY_PAPER = {"pairs": ("all",), "guarantee": ("confident",), "rule": ("knockoff",)}
MANY = 2**31 - 1
COUNT: dict[str, Any] = {"low": 1, "high": MANY}
NATURAL: dict[str, Any] = {"low": 0, "high": MANY}
SHARE: dict[str, Any] = {"low": 0, "high": 1}


@dataclass(frozen=True)
class Settings:
    """Everything that decides the outcome of a run, besides the data."""

    fdr: float = described(
        0.1, "False discovery rate of the relevant set.", low=0, high=1, open_ends=True
    )
    allowed_mem: int = described(
        DEFAULT_MEM,
        'Memory limit of the process (with workers: of each worker), e.g. "512MB".',
        unset="2GB",
        argument="memory",
    )
    seed: int = described(
        0, "Seed of all random numbers: the same seed gives the same result.", low=0, high=2**63
    )
    mode: str = described(
        "default",
        '"default", or "paper": Algorithm 7.1 of the thesis, unchanged.',
        choices=MODES,
    )
    target: str | None = described(None, "Name of the target.", unset="the first of the store")
    pinned: tuple[str | int, ...] = described(
        (),
        "Names or ids of features that are in every subspace and reported separately; trees may "
        "split on them, nothing is adjusted for them: see covariates.",
        SAMPLES,
        "none",
    )
    subspace_size: int | None = described(
        None, "Features that a tree explores.", METHOD, "from memory and data", symbol="q", **COUNT
    )
    max_trees: int | None = described(
        None, "Maximum number of trees.", LIMITS, "no limit; 1,000 in paper mode", **COUNT
    )
    max_passes: int | None = described(
        None, "Maximum number of passes over the features.", LIMITS, "no limit", **COUNT
    )
    max_seconds: float | None = described(
        None, "Maximum wall time, in seconds.", LIMITS, "a day; no limit in paper mode", low=0
    )
    carry_fraction: float = described(
        0.5, "Share of a subspace for carried features.", METHOD, symbol="alpha", **SHARE
    )
    max_carried: int = described(
        40, "Maximum number of carried columns of a tree in default mode.", METHOD, **NATURAL
    )
    round_size: int | None = described(
        None,
        "Trees between two interim decisions, in whole batches; more trees keep more workers busy.",
        METHOD,
        "one pass, or 16 trees if a pass has fewer",
        **COUNT,
    )
    root_share: float = described(
        0.25, "Share of trees whose root splits an outstanding carried column.", METHOD, **SHARE
    )
    random_recall: bool = described(
        True, "Carry a random number of columns instead of the maximum.", METHOD
    )
    n_probes: int | None = described(
        None,
        "Number of probes per feature.",
        METHOD,
        "7; 3 from 500 features, 1 from 3,000",
        choices=(1, 3, 7),
    )
    evidence: tuple[str, ...] = described(
        USUAL,
        "Kinds of evidence that count for the verdict.",
        METHOD,
        "the built-in ones; with sample_weight without used",
        choices=USUAL,
        installed=evidence_kinds,
    )
    rule: str = described(
        "tail",
        '"tail": p-values from the tail of the probes; "knockoff": the knockoff+ filter.',
        METHOD,
        choices=RULES,
    )
    pairs: str = described(
        "auto",
        '"all": look at all pairs of features for those that matter only together; "auto": if that '
        'takes minutes at most; "off": leave them to the trees.',
        choices=PAIRS,
    )
    n_features: int | None = described(
        None,
        "Select this many features, those with the smallest p-values, whatever their error rate.",
        unset="as many as the false discovery rate allows",
        **COUNT,
    )
    guarantee: str = described(
        "fdr",
        '"fdr": the rate holds in the mean over lists; "confident": it also holds for this list '
        "with 95 % confidence, if features are not strongly dependent.",
        METHOD,
        choices=GUARANTEES,
    )
    criterion: str | None = described(
        None,
        "Impurity that splits decrease.",
        METHOD,
        "entropy; variance for numbers",
        choices=CRITERIA,
    )
    max_features: int | None = described(
        None, "Number of columns tried at a node.", METHOD, symbol="K", unset="all", **COUNT
    )
    max_depth: int | None = described(None, "Maximum depth of a tree.", METHOD, "no limit", **COUNT)
    min_samples_leaf: int = described(1, "Minimum number of samples in a leaf.", METHOD, **COUNT)
    patience: int | None = described(
        None,
        "Stop after this many rounds without a change of the relevant set.",
        LIMITS,
        "when more trees would hardly change it",
        **COUNT,
    )
    paper_rule: str = described(
        "probe",
        'Paper mode: "probe": what beats a random probe (7.C.1); "importance": whatever gets an '
        "importance above 0 in a tree (step 2(c)).",
        METHOD,
        choices=PAPER_RULES,
    )
    probe_draws: int = described(
        10, "Paper mode: a feature needs more draws than this.", METHOD, symbol="L", **NATURAL
    )
    probe_share: float = described(
        0.95,
        "Paper mode: a feature must beat the probe in more than this share of its draws.",
        METHOD,
        symbol="beta",
        **SHARE,
    )
    holdout: float = described(
        0.0,
        "Share of samples that are held out from the trees and predicted at the end.",
        SAMPLES,
        low=0,
        high=0.9,
    )
    keep_trees: bool = described(False, "Write all trees to the folder of the run.", RUN, who=LOCAL)
    sample_weight: str | None = described(
        None, "Column of the store: how much each sample counts.", SAMPLES, "all alike"
    )
    class_weight: str | None = described(
        None,
        '"balanced": all classes get the same total weight, including rare ones.',
        SAMPLES,
        "each sample counts once",
        choices=("balanced",),
    )
    confounders: tuple[str, ...] = described(
        (),
        "Columns of the store to adjust for by comparing only samples that are equal in all of "
        "them, e.g. batch or pair; many columns or numbers: covariates.",
        SAMPLES,
        "none",
    )
    subjects: str | None = described(
        None,
        "Column of the store: samples that belong together, e.g. those of one person.",
        SAMPLES,
        "every sample is its own subject",
    )
    covariates: tuple[str, ...] = described(
        (),
        "Columns of the store to adjust for by a model of the target, e.g. age, sex and principal "
        "components; numbers or categories.",
        SAMPLES,
        "none",
    )

    def __post_init__(self) -> None:
        for setting in OF_RESULTS:
            setting.check(getattr(self, setting.name))
        if self.mode == "paper" and self.pinned:
            raise SettingsError("paper mode has no pinned features; use the default mode.")
        if self.mode == "paper" and any(getattr(self, name) for name in OF_SAMPLES):
            raise SettingsError(
                "paper mode has no weights, confounders, covariates or subjects; use the default "
                "mode."
            )
        if self.mode != "paper" and self.paper_rule != "probe":
            raise SettingsError("paper_rule is a setting of paper mode: give mode as well.")
        self._refuse_ignored()

    def _refuse_ignored(self) -> None:
        """Refuse what would be without effect beside other settings."""
        if self.mode == "paper":
            for name, ignored in IGNORED_BY_PAPER.items():
                if getattr(self, name) in ignored:
                    raise SettingsError(
                        f"paper mode has its own rule and ignores {name}; leave it out, or use the "
                        "default mode."
                    )
            if self.n_features is not None:
                raise SettingsError(
                    "paper mode lists what its rule selects and ignores n_features; leave it out, "
                    "or use the default mode."
                )
        usual = (USUAL, weighted_kinds())  # who says nothing of evidence has these
        if self.pairs == "off" and "pairs" in self.evidence and self.evidence not in usual:
            raise SettingsError(
                'evidence has "pairs", and pairs is "off": leave one of the two out.'
            )
        if self.pairs == "all" and "pairs" not in self.evidence:
            raise SettingsError(
                'pairs is "all", and evidence is without "pairs": add it, or leave one of the two '
                "out."
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
        raw |= {"confounders": list(self.confounders), "covariates": list(self.covariates)}
        for name, usual in LATER.items():
            if raw[name] == usual:
                del raw[name]
        return {name: value for name, value in raw.items() if name not in OF_SAMPLES or value}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Settings:
        known = {f.name for f in fields(cls)}
        values = {name: value for name, value in raw.items() if name in known}
        for name in ("pinned", "evidence", "confounders", "covariates"):
            values[name] = tuple(values.get(name, ()))
        return cls(**values)


@dataclass(frozen=True)
class RunArguments:
    """What part of a store a run uses, and where and how it is done."""

    samples: Chosen | None = described(
        None, "Ids or numbers of the samples to use.", SAMPLES, "all", who=LOCAL
    )
    features: Chosen | None = described(
        None,
        "Names or ids of the features to use, in addition to the pinned ones.",
        SAMPLES,
        "all",
        who=LOCAL,
    )
    feature_sets: Any = described(
        None,
        "Features that are also tested together: a mapping from names of sets to features, or a "
        "file (two columns, feature and set; or .gmt).",
        SAMPLES,
        "none",
    )
    threads: int | None = described(
        None,
        "Threads of this process, or of each started worker; the result does not depend on it.",
        RUN,
        "all cores; 1 per worker",
        who=OPERATOR,
        **COUNT,
    )
    executor: Any = described(
        None,
        "Where trees are grown: a number of worker processes to start, the address of a Dask "
        "scheduler, or a distributed.Client.",
        RUN,
        "threads of this process",
        who=OPERATOR,
    )
    tls: str | os.PathLike[str] | None = described(
        None,
        "Folder with ca.pem, cert.pem and key.pem: workers and scheduler use TLS.",
        RUN,
        "no TLS",
        who=OPERATOR,
    )
    task_timeout: float | None = described(
        None,
        "Seconds after which the worker of a task counts as hung and others take over.",
        RUN,
        "ten times the slowest task so far, at least a minute",
        who=OPERATOR,
    )
    folder: str | os.PathLike[str] | None = described(
        None, "Folder for checkpoints and kept trees.", RUN, "nowhere", who=OPERATOR
    )
    resume: bool = described(
        False, "Continue from the checkpoint in the folder.", RUN, who=OPERATOR
    )
    on_progress: Callable[[Progress], None] | None = described(
        None, "Function that is called with a Progress while trees are grown.", RUN, who=LOCAL
    )
    finish: Any = described(
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
