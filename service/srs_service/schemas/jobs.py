"""Jobs on the wire: what may be asked for, and what is told of it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from srs import ANALYSES
from srs_service.job import Job, JobKind, JobStatus
from srs_service.schemas.analyses import AnalysisRequest
from srs_service.schemas.datasets import SourceRequest
from srs_service.schemas.fields import (
    WHOLE,
    Address,
    FeatureId,
    Identifier,
    Label,
    LabelOrEmpty,
    Request,
    Response,
    exactly_one,
    if_given,
    moment,
)
from srs_service.schemas.problems import JobError
from srs_service.schemas.select_settings import Seed, SelectSettings


class Webhook(Request):
    """Address that gets a POST at the end of a job, signed with the secret."""

    url: Address = Field(description="https address; private networks are refused")
    secret: Annotated[str, Field(min_length=16, max_length=200, pattern=r"^[\x21-\x7e]+$")] = Field(
        description="key of the HMAC-SHA-256 in the header Srs-Signature"
    )


class FeaturesFrom(Request):
    """Features to explain: those a selection found, or named ones; exactly one of the two."""

    model_config = ConfigDict(json_schema_extra=exactly_one("job_id", "names"))

    job_id: Identifier | None = Field(None, description="id of your selection that succeeded")
    names: list[Label | FeatureId] | None = Field(
        None, min_length=1, max_length=10_000, description="names or ids of features"
    )
    target: Label | None = Field(
        None, description="of a selection of many targets: whose features; null: it had one"
    )

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.job_id is None) == (self.names is None):
            raise ValueError("give either job_id or names")
        return self


# Analyses that samples of subjects may be given to, and the document of this rule.
OF_SUBJECTS = [name for name, kind in ANALYSES.items() if kind.whole_subjects]
KEEP_SUBJECTS: dict[str, Any] = {
    "properties": {"analyses": {"items": {"properties": {"analysis": {"enum": OF_SUBJECTS}}}}}
}


class ExplainSettings(Request):
    """Settings of an explanation, as in `srs.explain`."""

    model_config = ConfigDict(json_schema_extra={"if": if_given("subjects"), "then": KEEP_SUBJECTS})

    analyses: list[AnalysisRequest] = Field(
        [AnalysisRequest(analysis=name) for name, kind in ANALYSES.items() if kind.usual],
        min_length=1,
        max_length=20,
        json_schema_extra={"uniqueItems": True},
    )
    target: Label | None = None
    seed: Seed = 0
    n_trees: Annotated[int, Field(ge=1, le=100_000), WHOLE] = 1000
    subjects: Label | None = Field(
        None,
        description="column of the dataset: samples that belong together are in or out of the bag "
        "of a tree together, and are permuted as wholes; only for analyses with `whole_subjects`, "
        "see /v1/analyses",
    )

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        names = [request.analysis for request in self.analyses]
        if len(set(names)) < len(names):
            raise ValueError("an analysis may be given only once")
        apart = [name for name in names if name not in OF_SUBJECTS]
        if self.subjects is not None and apart:
            raise ValueError(f"the analysis {apart[0]} does not keep samples of a subject together")
        return self


Priority = Annotated[int, Field(ge=-100, le=100), WHOLE]
Labels = Annotated[
    dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$")], LabelOrEmpty],
    Field(max_length=50),
]


class _JobRequest(Request):
    name: Label | None = Field(None, description="name of the job")
    webhook: Webhook | None = None
    priority: Priority = Field(
        0, description="among your own jobs: the highest is taken first; 0 if nothing is said"
    )
    labels: Labels = Field({}, description="what you note of it, e.g. its study")


class JobChange(Request):
    """What may be changed of a job; what is absent stays."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "second look", "labels": {"study": "7"}}]}
    )

    name: Label | None = Field(None, description="name of the job")
    labels: Labels = Field({}, description="what you note of it, in the place of all before")
    priority: Priority = Field(0, description="among your own jobs: the highest is taken first")
    team: Annotated[str, Field(max_length=64)] | None = Field(
        None, description="team of yours that may read it and its results; null: nobody else"
    )


Targets = Annotated[
    list[Label], Field(min_length=1, max_length=1_000, json_schema_extra={"uniqueItems": True})
]
ONE_TARGET: dict[str, Any] = {
    "if": if_given("targets"),
    "then": {"properties": {"settings": {"properties": {"target": {"type": "null"}}}}},
}


class SelectRequest(_JobRequest):
    """Find the relevant features of a dataset."""

    model_config = ConfigDict(json_schema_extra=ONE_TARGET)

    kind: Literal["select"]
    dataset_id: Identifier
    settings: SelectSettings = SelectSettings()
    targets: Targets | Literal["all"] | None = Field(
        None,
        description="select for each of these targets, with the same settings; all: for every "
        "target that the settings do not use as a column of samples; null: for one",
    )

    @model_validator(mode="after")
    def _one_or_many(self) -> Self:
        if self.targets is not None and self.settings.target is not None:
            raise ValueError("give either settings.target or targets")
        return self


class ExplainRequest(_JobRequest):
    """Say why features of a dataset matter."""

    kind: Literal["explain"]
    dataset_id: Identifier
    features: FeaturesFrom
    settings: ExplainSettings = ExplainSettings()


class IngestRequest(_JobRequest):
    """Make a dataset from a source; the same as `POST /v1/datasets` with a source."""

    kind: Literal["ingest"]
    name: Label
    source: SourceRequest


JobRequest = Annotated[SelectRequest | ExplainRequest | IngestRequest, Field(discriminator="kind")]
JOB_EXAMPLES: dict[str, Any] = {
    "select": {
        "summary": "find the relevant features",
        "value": {
            "kind": "select",
            "dataset_id": "d_00112233445566778899aabbccddeeff",
            "settings": {"fdr": 0.1, "memory": "512MB", "seed": 0},
        },
    },
    "explain": {
        "summary": "why they matter",
        "value": {
            "kind": "explain",
            "dataset_id": "d_00112233445566778899aabbccddeeff",
            "features": {"job_id": "j_00112233445566778899aabbccddeeff"},
            "settings": {"analyses": [{"analysis": "mda"}, {"analysis": "umfi"}]},
        },
    },
}


class PlanRequest(Request):
    """What a selection would cost."""

    dataset_id: Identifier
    settings: SelectSettings = SelectSettings()


class PlanResponse(Response):
    """What a selection will cost, see `srs.Plan`; measured on the service's machine."""

    model_config = ConfigDict(extra="ignore")

    n_features: int
    subspace_size: int
    n_probes: int
    trees_per_pass: int
    least_trees: int
    threads: int
    resident: bool
    bytes_per_pass: int
    projected_mem: int
    worker_mem: int
    allowed_mem: int
    seconds_per_tree: float
    seconds_per_pass: float
    seconds: float = Field(description="predicted wall time until the run may end")
    seconds_of_steps: float = Field(description="of these, before the first tree")
    most_trees: int | None = Field(description="trees after which it ends in any case")
    max_seconds: float | None = Field(description="wall time after which it ends in any case")
    pair_trees: float | None
    n_pairs: int = Field(description="number of pairs of features")
    pairs_left_out: str | None = Field(
        description="why not all pairs of features are looked at, a sentence; null: they are"
    )
    pair_seconds: float | None = Field(
        description="predicted wall time of a look at all pairs, if it is done or not"
    )


class Stage(Response):
    """What a selection does before its first tree."""

    kind: str = Field(description="kind of evidence, see /v1/kinds")
    n_done: int = Field(description="blocks of features that are done")
    n_steps: int = Field(description="blocks in all")


class Progress(Response):
    """Progress of a job; which numbers are given depends on its kind."""

    share: float | None = Field(
        None, description="share of the work that is done, 0 to 1; null while unknown"
    )
    doing: str | None = Field(None, description="what is being done, in a few words")
    stage: Stage | None = Field(
        None, description="what is done before the first tree; null while trees are grown"
    )
    n_rounds: int | None = Field(None, description="interim decisions so far")
    n_trees: int | None = Field(None, description="trees so far")
    n_passes: float | None = Field(None, description="how often all features were explored so far")
    n_relevant: int | None = Field(None, description="features found so far")
    seconds: float | None = Field(None, description="wall time of this attempt")
    remaining_seconds: float | None = Field(None, description="predicted wall time to the end")
    peak_mem: int | None = Field(None, description="peak memory of the job, in bytes")
    evidence: dict[str, Any] | None = Field(
        None,
        description="sent occasionally: histograms of features and probes by kind of evidence",
    )


class JobResponse(Response):
    """A job."""

    id: Identifier = Field(description="its id")
    kind: JobKind = Field(description="what it does")
    name: str | None = Field(description="name given by its owner")
    status: JobStatus = Field(description="where it is")
    dataset_id: Identifier = Field(description="the dataset that it reads, or an ingest writes")
    settings: dict[str, Any] = Field(
        description="as requested, defaults included; for feature_sets only their counts"
    )
    targets: list[str] | Literal["all"] | None = Field(
        description="targets of a selection of many; null: it has one"
    )
    features: FeaturesFrom | None = Field(description="what an explanation explains")
    progress: Progress | None = Field(description="its newest progress; null before the first")
    summary: dict[str, Any] | None = Field(description="figures of the result")
    error: JobError | None = Field(description="why it failed; null if it did not")
    finish_asked: bool = Field(description="whether it was asked to end with what it has found")
    n_attempts: int = Field(description="number of attempts since it was submitted or resumed")
    created_at: datetime = Field(description="when it was submitted")
    started_at: datetime | None = Field(description="when it was first started")
    finished_at: datetime | None = Field(description="when it ended")
    last_event: int = Field(description="number of its newest event")
    priority: int = Field(description="among the jobs of its owner: the highest is taken first")
    team: str | None = Field(description="team that may read it; null: its owner alone")
    labels: dict[str, str] = Field(description="what its owner notes of it")
    links: dict[str, str] = Field(description="addresses of what belongs to the job")

    @classmethod
    def of(cls, job: Job) -> Self:
        here = f"/v1/jobs/{job.id}"
        links = {
            "self": here,
            "events": f"{here}/events",
            "dataset": f"/v1/datasets/{job.dataset_id}",
        }
        if job.status == JobStatus.SUCCEEDED and job.kind != JobKind.INGEST:
            links |= {"result": f"{here}/result", "report": f"{here}/report"}
            if job.spec.get("targets") is not None:
                links |= {"targets": f"{here}/targets", "overview": f"{here}/overview"}
            elif job.kind == JobKind.SELECT:
                links["features"] = f"{here}/features"
                if "n_pairs" in (job.summary or {}):
                    links["pairs"] = f"{here}/pairs"
        spec = job.spec
        summary = job.summary
        if summary is not None and job.kind == JobKind.INGEST:
            summary = {"n_bytes": summary["n_bytes"], **summary["about"]}
        return cls(
            id=job.id,
            kind=job.kind,
            name=job.name or None,
            status=job.status,
            dataset_id=job.dataset_id,
            settings=spec.get("settings") or spec.get("source") or {},
            targets=spec.get("targets"),
            features=spec.get("features"),
            progress=job.progress,
            summary=summary,
            error=job.error,
            finish_asked=job.finish_asked,
            n_attempts=job.n_attempts,
            created_at=moment(job.created_at),
            started_at=moment(job.started_at),
            finished_at=moment(job.finished_at),
            last_event=job.last_event,
            priority=job.priority,
            team=job.team,
            labels=job.labels,
            links=links,
        )


class JobPage(Response):
    """Some jobs, the newest first."""

    items: list[JobResponse]
    next_cursor: str | None = Field(description="give it as `cursor` for the next page")
