"""The keys of result.json that tell of pairs, and of features that matter given others."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

PairKind = Annotated[str, ("crossing", "strengthening", "weakening", "joint")]


class PairCells(TypedDict):
    """The target by levels of two features: up to three of each.

    levels   names of the levels of the first feature
    partner_levels  names of the levels of the second
    group    the class whose share is told; null: the mean of the target
    counts   samples by level of the first feature, and by level of the second
    values   share or mean there; null where there are no samples
    low      lower ends of their intervals of 95 % confidence
    high     upper ends
    """

    levels: list[str]
    partner_levels: list[str]
    group: str | None
    counts: list[list[int]]
    values: list[list[float | None]]
    low: list[list[float | None]]
    high: list[list[float | None]]


class PairRow(TypedDict):
    """Two features that tell of the target together, beyond what each tells by itself.

    Lower and upper halves are those of the training samples, by the values of a feature. The mean
    target of two classes is the share of the last of them. All six figures at the end are null
    where there is no direction.

    feature_id      id of the first feature
    name            its name
    partner_id      id of the second feature
    partner         its name
    statistic       of the test on the codes: chi-squared, or F for a numeric target
    p_value         probability of so much without an interaction
    q_value         smallest false discovery rate at which it is listed, among all pairs of features
    kind            "crossing": the effect of one has opposite signs at the two ends of the other;
                    "strengthening", "weakening": it is stronger, or weaker, at the upper end;
                    "joint": there is no direction
    low             difference that the upper half of the first feature makes to the mean target in
                    the lower half of the second
    high            the same in the upper half of the second
    mean_low_low    mean target in the lower half of the first feature and of the second
    mean_high_low   in the upper half of the first and the lower half of the second
    mean_low_high   in the lower half of the first and the upper half of the second
    mean_high_high  in the upper half of both
    cells           the target by levels of both features; absent: of an earlier version
    """

    feature_id: int
    name: str
    partner_id: int
    partner: str
    statistic: float
    p_value: float
    q_value: float
    kind: PairKind
    low: float | None
    high: float | None
    mean_low_low: float | None
    mean_high_low: float | None
    mean_low_high: float | None
    mean_high_high: float | None
    cells: NotRequired[PairCells]


class ConditionRow(TypedDict):
    """A relevant feature that tells of the target only given other relevant features.

    feature_id  id of the feature
    name        its name
    given_ids   ids of the features within whose levels it tells most
    given       their names
    p_value     probability of so much without that, among all conditions that were tried
    """

    feature_id: int
    name: str
    given_ids: list[int]
    given: list[str]
    p_value: float
