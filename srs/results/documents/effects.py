"""The keys of result.json that tell of effects."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class EffectAbout(TypedDict):
    """What the effects of a run are, for those who show them.

    measure   what an estimate is, e.g. "odds ratio"
    is_ratio  whether it is a ratio, 1 without an effect; else a difference, 0 without
    meaning   what it says, in words; {group}, {target} and {step} are to be filled in
    outcome   what a profile shows, in words; {group} and {target} are to be filled in
    is_share  whether that is a share, from 0 to 1
    adjusted  columns that effects are adjusted for
    """

    measure: str
    is_ratio: bool
    meaning: str
    outcome: str
    is_share: bool
    adjusted: list[str]


class EffectRow(TypedDict):
    """How large the effect of a feature is. One row per relevant feature, of many classes one per
    class. Intervals cover the truth with 95 % confidence, if the feature is looked at alone.

    feature_id       id of the feature
    name             its name
    group            the class that it is about, against all others; null: the target is no class
    measure          what `estimate` is, e.g. "odds ratio" or "slope"
    per              what `estimate` is per: "allele", "level", "standard deviation"; null: levels
                     have no order
    step             how much that is, in units of the feature; null: of ranks
    scale            "values" of the feature; or "ranks", where its values could not be read
    estimate         the effect; null if there is none, see `note`
    low              lower end of its interval; null where it is open
    high             upper end
    beta             the logarithm of a ratio, else the same as `estimate`
    standard_error   of `beta`
    p_value          that there is no such effect; not the p-value of the list
    difference       mean of the feature in the group, minus that in the others; null: no groups
    difference_low   lower end of its interval
    difference_high  upper end
    deviations       the same in standard deviations (Hedges' g)
    deviations_low   lower end of its interval
    deviations_high  upper end
    auc              chance that a sample of the group has more of it than another one
    auc_low          lower end of its interval
    auc_high         upper end
    n                samples that have a value
    frequency        frequency of the counted allele; absent: no dosages
    effect_allele    the counted allele; absent: it is not known
    other_allele     the other one
    note             why there is no estimate, or why it was made in another way; null: nothing
    """

    feature_id: int
    name: str
    group: str | None
    measure: str
    per: str | None
    step: float | None
    scale: str
    estimate: float | None
    low: float | None
    high: float | None
    beta: float | None
    standard_error: float | None
    p_value: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    deviations: float | None
    deviations_low: float | None
    deviations_high: float | None
    auc: float | None
    auc_low: float | None
    auc_high: float | None
    n: int
    frequency: NotRequired[float | None]
    effect_allele: NotRequired[str]
    other_allele: NotRequired[str]
    note: str | None


class ProfileRow(TypedDict):
    """The target at one level of a relevant feature, or in a fifth of the samples by its values.

    feature_id  id of the feature
    name        its name
    level       the level, or the span of values
    n           samples there
    group       the class whose share is told; null: the mean of the target
    value       share or mean
    low         lower end of its interval of 95 % confidence
    high        upper end
    """

    feature_id: int
    name: str
    level: str
    n: int
    group: str | None
    value: float | None
    low: float | None
    high: float | None


class VoxelRow(TypedDict):
    """A relevant voxel of images.

    feature_id  id of the feature
    i           its first index in the image
    j           its second index
    k           its third index
    x           its place in millimetres; null if the source did not say
    y           second coordinate
    z           third coordinate
    cluster     number of the cluster that it is in, from 1 on
    value       minus the decimal logarithm of its p-value: what maps show
    """

    feature_id: int
    i: int
    j: int
    k: int
    x: float | None
    y: float | None
    z: float | None
    cluster: int
    value: float


class ClusterRow(TypedDict):
    """Relevant voxels that touch, by a face, an edge or a corner.

    cluster     its number, from 1 on, the largest first
    n_voxels    its size
    volume      the same in cubic millimetres; null if the source did not say
    feature_id  the voxel with the smallest p-value
    name        its name
    i           its first index in the image
    j           its second index
    k           its third index
    x           its place in millimetres; null if the source did not say
    y           second coordinate
    z           third coordinate
    value       minus the decimal logarithm of its p-value
    """

    cluster: int
    n_voxels: int
    volume: float | None
    feature_id: int
    name: str
    i: int
    j: int
    k: int
    x: float | None
    y: float | None
    z: float | None
    value: float


class Spot(TypedDict):
    """A point of a plot of all features; others that would cover it are left out.

    x         where it is: the place on the genome, or the effect
    y         minus the decimal logarithm of the p-value of a test of the feature alone
    relevant  whether the feature is relevant
    name      its name, of relevant ones
    """

    x: float
    y: float
    relevant: bool
    name: NotRequired[str]


class Contig(TypedDict):
    """A chromosome in a plot.

    name   its name
    start  where it begins on the axis, in base pairs
    end    where it ends
    """

    name: str
    start: float
    end: float


class ScanDocument(TypedDict):
    """All features, each tested alone: what plots of them show.

    measure    what the effects are, e.g. "log odds ratio"
    group      the class that it is about; null: the target is no class
    per        what effects are per
    adjusted   columns that tests and effects are adjusted for
    n_tested   features that could be tested
    inflation  median of the test statistics over its expected value (lambda): 1 without confounding
    expected   points of a quantile-quantile plot: minus decimal logarithms of expected p-values
    observed   the same of the p-values that were found
    effects    points of a volcano plot; absent: there are not two classes
    contigs    chromosomes of the Manhattan plot; absent: places are not known
    places     its points
    """

    measure: str
    group: str | None
    per: str
    adjusted: list[str]
    n_tested: int
    inflation: float | None
    expected: list[float]
    observed: list[float]
    effects: NotRequired[list[Spot]]
    contigs: NotRequired[list[Contig]]
    places: NotRequired[list[Spot]]
