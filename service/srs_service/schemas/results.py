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
]
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
        description="-1 to 1: how the target (the second of two classes) goes with the feature by "
        "itself; 0: no direction",
    )


class FeaturePage(Response):
    """Some features."""

    n_total: int = Field(description="number of features that match, on all pages")
    items: list[FeatureRow]
    next_cursor: str | None = Field(description="give it as `cursor` for the next page")


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
