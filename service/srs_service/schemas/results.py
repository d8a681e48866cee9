"""Tables of results on the wire."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from srs_service.schemas.fields import Response

Verdict = Literal["RELEVANT", "UNDECIDED", "IRRELEVANT"]
FeatureSort = Literal[
    "feature_id",
    "-feature_id",
    "name",
    "-name",
    "verdict",
    "-verdict",
    "p_value",
    "-p_value",
    "q_value",
    "-q_value",
    "stability",
    "-stability",
    "importance",
    "-importance",
    "effect",
    "-effect",
    "n_drawn",
    "-n_drawn",
    "n_used",
    "-n_used",
    "group",
    "-group",
    "found_by",
    "-found_by",
    "direction",
    "-direction",
    "beta",
    "-beta",
    "standard_error",
    "-standard_error",
    "univariate_p",
    "-univariate_p",
    "frequency",
    "-frequency",
]
EffectSort = Literal[
    "name",
    "-name",
    "group",
    "-group",
    "estimate",
    "-estimate",
    "beta",
    "-beta",
    "p_value",
    "-p_value",
    "auc",
    "-auc",
    "frequency",
    "-frequency",
]
ProfileSort = Literal["name", "-name", "level", "-level", "n", "-n", "value", "-value"]
PairSort = Literal[
    "name",
    "-name",
    "partner",
    "-partner",
    "statistic",
    "-statistic",
    "p_value",
    "-p_value",
    "q_value",
    "-q_value",
    "kind",
    "-kind",
    "low",
    "-low",
    "high",
    "-high",
]
OverviewSort = Literal[
    "target",
    "-target",
    "name",
    "-name",
    "verdict",
    "-verdict",
    "p_value",
    "-p_value",
    "q_value",
    "-q_value",
    "importance",
    "-importance",
]
PairKind = Literal["crossing", "strengthening", "weakening", "joint"]
AnalysisSort = Literal[
    "feature",
    "-feature",
    "part",
    "-part",
    "value",
    "-value",
    "p_value",
    "-p_value",
    "q_value",
    "-q_value",
]


class FeatureRow(Response):
    """One feature of a selection.

    After these columns come annotations of the source (e.g. contig and position of
    variants) and, if sets were tested, `sets`: the names of those that the feature is in.
    """

    model_config = ConfigDict(extra="allow")

    feature_id: int
    name: str
    verdict: Verdict
    p_value: float | None
    q_value: float | None
    stability: float | None = Field(
        None, description="share of the halves of the trees in which it is found"
    )
    importance: float | None
    effect: float | None
    n_drawn: int
    n_used: int
    pinned: bool
    group: int | None = Field(description="features that can replace one another")
    found_by: str | None = Field(
        None, description="of a relevant feature: kind of evidence with the smallest p-value"
    )
    direction: float | None = Field(
        None,
        description="-1 to 1: how the target (of two classes `scan.group`) goes with the feature "
        "by itself; 0: no direction",
    )
    beta: float | None = Field(
        None,
        description="slope or log odds ratio of the feature alone, per allele or standard "
        "deviation of its ranks; absent with more than two classes",
    )
    standard_error: float | None = None
    univariate_p: float | None = Field(None, description="score test of the feature alone")
    frequency: float | None = Field(None, description="of the counted allele")
    n_known: int | None = Field(None, description="training samples that have a value")


class FeaturePage(Response):
    """Some features."""

    n_total: int = Field(description="number of features that match, on all pages")
    items: list[FeatureRow]
    next_cursor: str | None = Field(description="give it as `cursor` for the next page")


class EffectRow(Response):
    """How large the effect of a relevant feature is; of many classes, one row per class. Intervals
    have 95 % confidence."""

    model_config = ConfigDict(extra="allow")

    feature_id: int
    name: str
    group: str | None = Field(description="the class, against all others; null: a number")
    measure: str = Field(description="e.g. odds ratio or slope")
    per: str | None = Field(description="allele, level or standard deviation")
    estimate: float | None
    low: float | None
    high: float | None
    beta: float | None = Field(description="logarithm of a ratio, else the estimate")
    standard_error: float | None
    p_value: float | None = Field(description="of the estimate, not of the list")
    n: int


class EffectPage(Response):
    """Some effects."""

    n_total: int
    items: list[EffectRow]
    next_cursor: str | None = Field(description="give it as `cursor` for the next page")


class ProfileRow(Response):
    """The target at one level of a relevant feature."""

    feature_id: int
    name: str
    level: str = Field(description="the level, or the span of values")
    n: int = Field(description="samples there")
    group: str | None = Field(description="the class whose share is told; null: a mean")
    value: float | None
    low: float | None
    high: float | None


class ProfilePage(Response):
    """Some profiles."""

    n_total: int
    items: list[ProfileRow]
    next_cursor: str | None = Field(description="give it as `cursor` for the next page")


class PairCells(Response):
    """The target by up to three levels of two features: counts, shares or means, and intervals of
    95 % confidence, by level of the feature and then of the partner."""

    levels: list[str]
    partner_levels: list[str]
    group: str | None = Field(description="the class whose share is told; null: a mean")
    counts: list[list[int]]
    values: list[list[float | None]]
    low: list[list[float | None]]
    high: list[list[float | None]]


class PairRow(Response):
    """Two features that matter together. Halves are those of the samples, by the values of a
    feature; the mean target of two classes is the share of the second."""

    feature_id: int
    name: str
    partner_id: int
    partner: str
    statistic: float
    p_value: float
    q_value: float = Field(description="among all pairs of features")
    kind: PairKind = Field(description="how the effect of the feature depends on the partner")
    low: float | None = Field(
        description="difference that the upper half of the feature makes to the mean target, in "
        "the lower half of the partner; null: no direction"
    )
    high: float | None = Field(description="the same in the upper half of the partner")
    mean_low_low: float | None = Field(description="mean target in the lower half of both")
    mean_high_low: float | None = Field(description="upper half of the feature, lower of partner")
    mean_low_high: float | None = Field(description="lower half of the feature, upper of partner")
    mean_high_high: float | None = Field(description="mean target in the upper half of both")
    cells: PairCells | None = Field(None, description="the target by levels of both, if told")


class PairPage(Response):
    """Some pairs."""

    n_total: int = Field(description="number of pairs that match, on all pages")
    items: list[PairRow]
    next_cursor: str | None = Field(description="give it as `cursor` for the next page")


class AnalysisPage(Response):
    """Some rows of an analysis: feature, part, value, p_value, q_value, ... and its own columns."""

    n_total: int
    items: list[dict[str, Any]]
    next_cursor: str | None


class VerdictChange(Response):
    """A feature that has another verdict in the other selection."""

    name: str = Field(description="name of the feature")
    a: str = Field(description="its verdict in the first selection")
    b: str = Field(description="its verdict in the second")


class Comparison(Response):
    """Two selections side by side."""

    a: str = Field(description="id of the first selection")
    b: str = Field(description="id of the second")
    n_shared: int = Field(description="features that both selections know, by name")
    n_relevant_a: int = Field(description="relevant features of the first")
    n_relevant_b: int = Field(description="relevant features of the second")
    n_both: int = Field(description="features that are relevant in both")
    overlap: float | None = Field(
        description="of the features that are relevant in either, the share that is in both; null "
        "if there is none"
    )
    both: list[str] = Field(description="names of features that are relevant in both")
    only_a: list[str] = Field(description="names of those that are relevant in the first only")
    only_b: list[str] = Field(description="names of those that are relevant in the second only")
    n_changed: int = Field(description="shared features whose verdict is another one")
    changed: list[VerdictChange] = Field(description="these, in the order of the first")


class TargetRow(Response):
    """What became of one target of a selection of many."""

    target: str
    n_samples: int | None = Field(description="samples that have a value of it")
    n_relevant: int | None
    relevant: list[str] = Field(description="names of the relevant features")
    n_trees: int | None
    seconds: float | None = Field(description="wall time of its run")
    error: str | None = Field(description="why it has no result, a sentence; null: it has one")


class TargetList(Response):
    """All targets of a selection, in the order asked for; those without a result come last."""

    items: list[TargetRow]


class OverviewRow(Response):
    """A target and a feature that is relevant for it or for another target."""

    target: str
    feature_id: int
    name: str
    verdict: Verdict
    p_value: float | None
    q_value: float | None
    importance: float | None


class OverviewPage(Response):
    """Some rows of the overview of many targets."""

    n_total: int = Field(description="rows that match, on all pages")
    items: list[OverviewRow]
    next_cursor: str | None = Field(description="give it as `cursor` for the next page")
