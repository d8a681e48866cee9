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
]
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


class FeaturePage(Response):
    """Some features."""

    n_total: int = Field(description="number of features that match, on all pages")
    items: list[FeatureRow]
    next_cursor: str | None = Field(description="give it as `cursor` for the next page")


class AnalysisPage(Response):
    """Some rows of an analysis: feature, part, value, p_value, q_value, ... and its own columns."""

    n_total: int
    items: list[dict[str, Any]]
    next_cursor: str | None
