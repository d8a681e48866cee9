"""What is stored of a job as JSON, and sent as it is stored: summaries, errors, progress, events.

Docstrings describe each key, one a line. The JSON Schemas of events and webhooks in docs/schemas
are written from these types by `make generate`.
"""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from srs_service.job import JobStatus

# In Annotated, a tuple is what a text may be.
StatusName = Annotated[str, tuple(status.value for status in JobStatus)]


class Histogram(TypedDict):
    """How many features and probes have how much of one kind of evidence.

    edges     ascending bounds of the bins, one more than there are bins
    features  features in each bin
    probes    probes in each bin, of all probes of all features
    n_probes  probes of a feature
    """

    edges: list[float]
    features: list[int]
    probes: list[int]
    n_probes: int


class ErrorDocument(TypedDict):
    """Why a job failed.

    code         a word for programs
    detail       a sentence for people
    yours        whether data or settings are to blame, and not the service
    needed_mem   bytes that the job needs; only if it does not fit
    allowed_mem  bytes that it was allowed; only if it does not fit
    """

    code: str
    detail: str
    yours: bool
    needed_mem: NotRequired[int]
    allowed_mem: NotRequired[int]


class SetFigures(TypedDict, total=False):
    """Figures of feature sets; absent if none were tested.

    n_sets             feature sets that were tested; absent if none
    n_relevant_sets    of these, relevant ones; absent if none were tested
    n_unknown_members  members of sets that the dataset does not have; absent if none were tested
    """

    n_sets: int
    n_relevant_sets: int
    n_unknown_members: int


class PairFigures(TypedDict, total=False):
    """Figures of pairs; absent if they were not looked at.

    n_pairs  pairs of features that matter together; absent if pairs were not looked at
    """

    n_pairs: int


class SelectSummary(SetFigures, PairFigures):
    """Figures of a selection.

    n_relevant   relevant features
    n_trees      trees that were grown
    n_passes     how often all features were explored
    stop_reason  why the run ended, one sentence
    verdicts     number of features with each verdict
    seconds      wall time
    peak_mem     most bytes that the process held
    """

    n_relevant: int
    n_trees: int
    n_passes: float
    stop_reason: str
    verdicts: dict[str, int]
    seconds: float
    peak_mem: int


class ManySummary(TypedDict):
    """Figures of a selection for many targets.

    n_targets   targets that were asked for
    n_failed    targets without a result
    n_relevant  features that are relevant for one target or more
    seconds     wall time of the last attempt
    peak_mem    most bytes that the process held
    """

    n_targets: int
    n_failed: int
    n_relevant: int
    seconds: float
    peak_mem: int


class ExplainSummary(TypedDict):
    """Figures of an explanation.

    analyses    names of the analyses
    n_features  features that are explained
    seconds     wall time
    """

    analyses: list[str]
    n_features: int
    seconds: float


class TargetSummary(TypedDict):
    """One target of a dataset.

    name     name of the target
    kind     what kind of target it is, e.g. "classes" or "numbers"
    classes  number of samples of each class; null for numbers, and where there are very many
    """

    name: str
    kind: str
    classes: dict[str, int] | None


class DatasetSummary(TypedDict):
    """What users may know of a dataset.

    n_features   number of features
    n_samples    number of samples
    kinds        number of features of each kind
    any_missing  whether any value is missing
    fingerprint  hash of the data; equal fingerprints, equal data
    notices      one sentence for each oddity that the ingest accepted
    targets      its targets, the default one first
    """

    n_features: int
    n_samples: int
    kinds: dict[str, int]
    any_missing: bool
    fingerprint: str
    notices: list[str]
    targets: list[TargetSummary]


class IngestSummary(TypedDict):
    """Numbers of an ingest, as they are stored and sent in events.

    about    what the feature store holds
    n_bytes  bytes that the service keeps for it
    """

    about: DatasetSummary
    n_bytes: int


class ToldIngestSummary(DatasetSummary):
    """Figures of an ingest in job documents.

    n_bytes  bytes that the service keeps for it
    """

    n_bytes: int


Summary = SelectSummary | ManySummary | ExplainSummary | IngestSummary


class StageFigures(TypedDict):
    """What a selection does before its first tree.

    kind     kind of evidence
    n_done   blocks of features that are done
    n_steps  blocks in all
    """

    kind: str
    n_done: int
    n_steps: int


class Figures(TypedDict, total=False):
    """How far a job is; which figures there are depends on its kind.

    share              of the work, 0 to 1; null while unknown
    doing              what is being done, in a few words
    stage              what a selection does before its first tree; absent while trees are grown
    evidence           now and then, by kind of evidence: how many features and probes have how much
    n_rounds           interim decisions so far
    n_trees            trees so far
    n_passes           how often all features were explored so far
    n_relevant         features found so far
    remaining_seconds  predicted wall time to the end; null while unknown
    """

    share: float | None
    doing: str
    stage: StageFigures
    evidence: dict[str, Histogram]
    n_rounds: int
    n_trees: int
    n_passes: float
    n_relevant: int
    remaining_seconds: float | None


class ProgressDocument(Figures):
    """How far a job is, and what it took so far.

    seconds   wall time of this attempt
    peak_mem  peak memory of the job, in bytes
    """

    seconds: float
    peak_mem: int


class ProgressEvent(ProgressDocument):
    """`data` of an event `progress`.

    at  time of the event, seconds since 1970
    """

    at: float


class WebhookBody(TypedDict):
    """What is sent to the address of a webhook when a job has ended.

    job_id      id of the job
    status      status of the job
    n_attempts  times that it was taken up since it was submitted or resumed
    error       why it failed; null if it did not
    summary     figures of its result; null before its end
    """

    job_id: str
    status: StatusName
    n_attempts: int
    error: ErrorDocument | None
    summary: Summary | None


class StatusEvent(WebhookBody):
    """`data` of an event `status`: the status of the job has changed.

    at  time of the event, seconds since 1970
    """

    at: float
