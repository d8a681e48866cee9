"""The keys of result.json."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict

from srs.evidence.histogram import Histogram
from srs.inference.decide import Verdict
from srs.inference.grounds import Grounds
from srs.results.documents.effects import (
    ClusterRow,
    EffectAbout,
    EffectRow,
    ProfileRow,
    ScanDocument,
    VoxelRow,
)
from srs.results.documents.pairs import ConditionRow, PairRow
from srs.settings import Settings

# In Annotated, a tuple is what a text may be, and a class is what describes a dict.
VerdictName = Annotated[str, tuple(verdict.name for verdict in Verdict)]

CautionKind = Annotated[str, ("target", "factor", "related")]


class View(TypedDict):
    """Which part of a store was used.

    samples   a bit a sample: whether it was used; eight a byte, zlib, base64; null: all
    features  the same of features
    """

    samples: str | None
    features: str | None


class ResultData(TypedDict):
    """The data that features were selected from.

    fingerprint  hash of the data; equal fingerprints, equal data
    n_features   number of features
    n_samples    number of samples
    target       name of the target
    target_kind  what kind of target it is, e.g. "classes" or "numbers"
    labels       names of the classes; empty for others
    levels       names of ordered classes, from low to high; absent for others
    notices      one sentence for each oddity that a reader should know
    annotations  columns that the source brought for each feature, e.g. its position; absent: none
    view         which part of the store was used; absent: all of it
    """

    fingerprint: str
    n_features: int
    n_samples: int
    target: str
    target_kind: str
    labels: list[str]
    notices: list[str]
    levels: NotRequired[list[str]]
    annotations: NotRequired[list[str]]
    view: NotRequired[View]


class ResultShape(TypedDict):
    """Sizes of the subspaces.

    subspace_size  features that a tree explores
    slab_features  features that are read together
    n_probes       probes of a feature
    n_held_out     samples that no tree saw
    """

    subspace_size: int
    slab_features: int
    n_probes: int
    n_held_out: int


class FeatureRow(TypedDict):
    """One feature. Annotations of the source, and `sets` if some were tested, are other keys.

    feature_id  column of the source, from 0 on
    name        name of the feature
    p_value     probability of so much evidence without relevance
    q_value     smallest false discovery rate at which it is relevant
    stability   share of the halves of the trees in which it is found; null: paper mode, or more
                than 2,000,000 features; absent: results of earlier versions
    importance  decrease of impurity a tree, of all trees
    effect      decrease of impurity per draw, minus what probes get
    n_drawn     trees that explored it
    n_used      trees that explored it and split by it
    found_by    kind of evidence with the smallest p-value; absent where it is not known
    direction   from -1 to 1: how the target (of two classes `scan.group`; in earlier versions the
                second) goes with the feature by itself; 0 where there is no direction, absent
                where it is not known
    beta        slope or log odds ratio of the feature alone, per allele or standard deviation of
                its ranks, see `scan`; null where there is none, absent with many classes
    standard_error  of beta
    univariate_p  p-value of a score test of the feature alone
    frequency   of the counted allele; null for what is no dosage
    n_known     training samples that have a value
    """

    feature_id: int
    name: str
    p_value: float
    q_value: float
    stability: NotRequired[float | None]
    importance: float
    effect: float
    n_drawn: int
    n_used: int
    found_by: NotRequired[str | None]
    direction: NotRequired[float]
    beta: NotRequired[float | None]
    standard_error: NotRequired[float | None]
    univariate_p: NotRequired[float | None]
    frequency: NotRequired[float | None]
    n_known: NotRequired[int]


class Group(TypedDict):
    """Relevant features that stand in for one another.

    group           number of the group, from 1 on; the most important group comes first
    feature_ids     ids of its features, the most important first
    names           names of its features, in the same order
    representative  id of the first of them
    """

    group: int
    feature_ids: list[int]
    names: list[str]
    representative: int


class Round(TypedDict):
    """One interim decision.

    n_trees     trees so far
    n_relevant  features that were relevant then
    """

    n_trees: int
    n_relevant: int


class PredictionRow(TypedDict):
    """One held-out sample. Kinds of targets have other keys, e.g. `share_LABEL` of each class.

    sample      id of the sample
    truth       its class or its number
    prediction  mean prediction of the trees
    """

    sample: str
    truth: str | float
    prediction: str | float


class SetRow(TypedDict):
    """One tested set of features.

    set         name of the set
    verdict     verdict on the set as a whole
    p_value     probability of so much evidence without relevance
    q_value     smallest false discovery rate at which it is relevant
    n_features  features of the set
    n_relevant  features of the set that are relevant by themselves
    relevant    ids of these
    """

    set: str
    verdict: VerdictName
    p_value: float
    q_value: float
    n_features: int
    n_relevant: int
    relevant: list[int]


class TestedSets(TypedDict):
    """The tested sets of features.

    rows              one a set, in the order given
    unknown_features  members of sets that the store does not have
    """

    rows: list[SetRow]
    unknown_features: int


class Factor(TypedDict):
    """A principal component of the samples that could explain a list.

    component  its number, from 1 on
    variance   share of the variance of all features
    moved      share of all features that follow it
    followed   share of the target's variance that goes along with it
    n_checked  features of the list that were checked
    n_along    of these, features that go along with it
    """

    component: int
    variance: float
    moved: float
    followed: float
    n_checked: int
    n_along: int


class Caution(TypedDict):
    """What a reader should know before trusting the list.

    kind         "target": features that are the target itself, or nearly; "factor": one factor
                 that was not measured could explain the list; "related": samples are relatives
    sentence     what was found and what to do, for people
    feature_ids  ids of the features that it is about
    factor       the factor; absent in other kinds
    """

    kind: CautionKind
    sentence: str
    feature_ids: list[int]
    factor: NotRequired[Factor]


class ResultOutcome(TypedDict):
    """What was found.

    stop_reason  why the run ended, one sentence
    n_trees      trees that were grown
    n_passes     how often all features were explored
    relevant     the relevant features, in the order of the source's columns
    pinned       features that were in every subspace, and get no verdict
    groups       relevant features that stand in for one another
    ungrouped    relevant features that were too many to be grouped
    minimal      ids of few relevant features that predict nearly as well as all
    verdicts     number of features with each verdict
    grounds      the rule and the counts behind the verdicts
    history      the interim decisions
    evidence     by kind of evidence: histograms of features and probes
    prediction   one row a held-out sample; null if none were held out
    sets         the tested sets of features; absent if none were given
    cautions     what a reader should know before trusting the list; absent if there is nothing
    pairs        features that matter together, the most certain first; absent if pairs were not
                 looked at
    conditions   features that were found only given others; absent if there are none
    measure      what `effects` are
    effects      how large the effects of relevant features are, up to 500 of them
    profiles     the target by the levels of these
    scan         all features, each tested alone; absent: more than two classes
    clusters     relevant voxels that touch; absent: features are no voxels
    voxels       the relevant voxels, and where they are
    """

    stop_reason: str
    n_trees: int
    n_passes: float
    relevant: list[FeatureRow]
    pinned: list[FeatureRow]
    groups: list[Group]
    ungrouped: int
    minimal: list[int]
    verdicts: dict[str, int]
    grounds: Grounds
    history: list[Round]
    evidence: dict[str, Histogram]
    prediction: list[PredictionRow] | None
    sets: NotRequired[TestedSets]
    cautions: NotRequired[list[Caution]]
    pairs: NotRequired[list[PairRow]]
    conditions: NotRequired[list[ConditionRow]]
    measure: NotRequired[EffectAbout]
    effects: NotRequired[list[EffectRow]]
    profiles: NotRequired[list[ProfileRow]]
    scan: NotRequired[ScanDocument]
    clusters: NotRequired[list[ClusterRow]]
    voxels: NotRequired[list[VoxelRow]]


class Workers(TypedDict):
    """The worker processes of a run.

    n_workers          workers at its end
    n_threads          their threads
    peak_mem           most bytes that one of them held
    n_submitted_again  tasks that were lost and submitted again
    projected_mem      bytes that one of them was predicted to hold
    """

    n_workers: int
    n_threads: int
    peak_mem: int
    n_submitted_again: int
    projected_mem: int


class ResultMeasured(TypedDict):
    """What differs between equal runs.

    seconds          wall time
    seconds_by_part  wall time of each part of the run
    peak_mem         most bytes that this process held
    projected_mem    bytes that it was predicted to hold
    threads          batches at once
    workers          the worker processes; null: none
    store            where the feature store is; null: in memory
    finished_at      time of the end, ISO 8601
    versions         versions of srs, of Python and of the packages that results may depend on
    """

    seconds: float
    seconds_by_part: dict[str, float]
    peak_mem: int
    projected_mem: int
    threads: int
    workers: Workers | None
    store: str | None
    finished_at: str
    versions: dict[str, str]


class ResultDocument(TypedDict):
    """result.json: what a selection found.

    Equal data, settings and seed give the same bytes, except for `measured`.

    format          says that this is a result
    schema_version  version of this schema
    settings        all that decides the outcome, besides the data
    data            the data that features were selected from
    shape           sizes of the subspaces
    outcome         what was found
    measured        times, memory and versions
    """

    format: str
    schema_version: int
    settings: Annotated[dict[str, Any], Settings]
    data: ResultData
    shape: ResultShape
    outcome: ResultOutcome
    measured: ResultMeasured
