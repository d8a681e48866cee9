"""Jobs on the wire: what may be asked for, and what is told of it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from service.jobs import Job, JobKind, JobStatus
from service.schemas.analyses import AnalysisRequest
from service.schemas.datasets import SourceRequest
from service.schemas.fields import (
    MAX_INT,
    WHOLE,
    Address,
    Identifier,
    Label,
    Memory,
    Request,
    Response,
    exactly_one,
    moment,
)
from service.schemas.problems import JobError
from srs import ANALYSES

Count = Annotated[int, Field(ge=1, le=MAX_INT), WHOLE]
Share = Annotated[float, Field(ge=0, le=1)]
FeatureId = Annotated[int, Field(ge=0, le=MAX_INT), WHOLE]
Seed = Annotated[int, Field(ge=0, le=2**53), WHOLE]
# About as many short names as the body that is allowed by default, a megabyte, holds.
MAX_SETS, MAX_MEMBERS = 10_000, 100_000
Members = Annotated[list[Label | FeatureId], Field(min_length=1, max_length=10_000)]
FeatureSets = Annotated[dict[Label, Members], Field(min_length=1, max_length=MAX_SETS)]


class Webhook(Request):
    """Where to tell of the end of a job: a POST, signed with the secret."""

    url: Address = Field(description="https address; private networks are refused")
    secret: Annotated[str, Field(min_length=16, max_length=200, pattern=r"^[\x21-\x7e]+$")] = Field(
        description="key of the HMAC-SHA-256 in the header Srs-Signature"
    )


NOTHING: Any = {"type": "null"}


class SelectSettings(Request):
    """Settings of a selection, as of `srs.select`."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"properties": {"mode": {"const": "default"}}},
                {"properties": {
                    "mode": {"const": "paper"}, "pinned": {"maxItems": 0},
                    "confounders": {"maxItems": 0}, "sample_weight": NOTHING, "subjects": NOTHING,
                    "class_weight": NOTHING, "feature_sets": NOTHING,
                }},
            ]
        }
    )  # fmt: skip

    fdr: Annotated[float, Field(gt=0, lt=1)] = Field(0.1, description="false discovery rate")
    memory: Memory = Field("2GB", description="what the job, or each worker, may hold")
    seed: Seed = Field(0, description="the same seed gives the same answer")
    mode: Literal["default", "paper"] = "default"
    target: Label | None = Field(None, description="by default the first of the dataset")
    pinned: list[Label | FeatureId] = Field(
        [], max_length=1_000, description="covariates that are in every subspace"
    )
    subspace_size: Count | None = None
    round_size: Count | None = None
    max_trees: Count | None = None
    max_passes: Count | None = None
    max_seconds: Annotated[float, Field(ge=0, le=1e9)] | None = None
    carry_fraction: Share = 0.5
    max_carried: Annotated[int, Field(ge=0, le=10_000), WHOLE] = 40
    root_share: Share = 0.25
    random_recall: bool = True
    n_probes: Literal[1, 3, 7] | None = None
    evidence: list[Literal["used", "screened", "peak"]] = Field(
        ["used", "screened", "peak"], min_length=1, max_length=3,
        json_schema_extra={"uniqueItems": True},
    )  # fmt: skip
    rule: Literal["tail", "knockoff"] = "tail"
    criterion: Literal["entropy", "gini", "variance"] | None = None
    max_features: Count | None = None
    max_depth: Count | None = None
    min_samples_leaf: Count = 1
    patience: Count = 3
    probe_draws: Annotated[int, Field(ge=0, le=MAX_INT), WHOLE] = 10
    probe_share: Share = 0.95
    holdout: Annotated[float, Field(ge=0, le=0.9)] = 0.0
    sample_weight: Label | None = Field(None, description="column of samples: how much each counts")
    class_weight: Literal["balanced"] | None = Field(None, description="all classes count alike")
    confounders: list[Label] = Field(
        [], max_length=100, description="columns of samples that must not make features relevant"
    )
    subjects: Label | None = Field(None, description="column of samples that belong together")
    feature_sets: FeatureSets | None = Field(
        None, description="set name -> names or ids of features that are drawn and tested "
        f"together, {MAX_MEMBERS} in all at most; jobs tell their numbers only",
    )  # fmt: skip

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if len(set(self.evidence)) < len(self.evidence):
            raise ValueError("a kind of evidence may be named once")
        if self.feature_sets is not None:
            n_members = sum(map(len, self.feature_sets.values()))
            if n_members > MAX_MEMBERS:
                raise ValueError(
                    f"feature_sets have {n_members} members, and {MAX_MEMBERS} are allowed"
                )
            if self.mode == "paper":
                raise ValueError("paper mode does not test feature_sets: use the default mode")
        return self


class FeaturesFrom(Request):
    """Features to explain: those a selection found, or named ones; exactly one of the two."""

    model_config = ConfigDict(json_schema_extra=exactly_one("job_id", "names"))

    job_id: Identifier | None = Field(None, description="a selection of yours that succeeded")
    names: list[Label | FeatureId] | None = Field(None, min_length=1, max_length=10_000)

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.job_id is None) == (self.names is None):
            raise ValueError("give either job_id or names")
        return self


class ExplainSettings(Request):
    """Settings of an explanation, as of `srs.explain`."""

    analyses: list[AnalysisRequest] = Field(
        [AnalysisRequest(analysis=name) for name, kind in ANALYSES.items() if kind.usual],
        min_length=1, max_length=20, json_schema_extra={"uniqueItems": True},
    )  # fmt: skip
    target: Label | None = None
    seed: Seed = 0
    n_trees: Annotated[int, Field(ge=1, le=100_000), WHOLE] = 1000

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        names = [request.analysis for request in self.analyses]
        if len(set(names)) < len(names):
            raise ValueError("an analysis may be asked for once")
        return self


class _JobRequest(Request):
    name: Label | None = Field(None, description="what you call it")
    webhook: Webhook | None = None


class SelectRequest(_JobRequest):
    """Find the relevant features of a dataset."""

    kind: Literal["select"]
    dataset_id: Identifier
    settings: SelectSettings = SelectSettings()


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
            "kind": "select", "dataset_id": "d_00112233445566778899aabbccddeeff",
            "settings": {"fdr": 0.1, "memory": "512MB", "seed": 0},
        },
    },
    "explain": {
        "summary": "why they matter",
        "value": {
            "kind": "explain", "dataset_id": "d_00112233445566778899aabbccddeeff",
            "features": {"job_id": "j_00112233445566778899aabbccddeeff"},
            "settings": {"analyses": [{"analysis": "mda"}, {"analysis": "umfi"}]},
        },
    },
}  # fmt: skip


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
    trees_a_pass: int
    least_trees: int
    threads: int
    resident: bool
    bytes_a_pass: int
    projected_mem: int
    worker_mem: int
    allowed_mem: int
    seconds_a_tree: float
    seconds_a_pass: float
    seconds: float = Field(description="predicted wall time until the run may end")
    pair_trees: float | None


class Progress(Response):
    """How far a job is; which figures there are depends on its kind."""

    share: float | None = Field(None, description="of the work, 0 to 1; None while unknown")
    doing: str | None = Field(None, description="what is being done, in a word")
    n_rounds: int | None = None
    n_trees: int | None = None
    n_passes: float | None = None
    n_relevant: int | None = Field(None, description="features found so far")
    seconds: float | None = Field(None, description="wall time of this attempt")
    remaining_seconds: float | None = None
    peak_mem: int | None = Field(None, description="bytes that the job has held at most")
    evidence: dict[str, Any] | None = Field(
        None, description="now and then: of each kind, how many features and probes have how much"
    )


class JobResponse(Response):
    """A job."""

    id: Identifier
    kind: JobKind
    name: str | None
    status: JobStatus
    dataset_id: Identifier
    settings: dict[str, Any] = Field(
        description="as they were asked for, defaults included; of feature_sets their numbers"
    )
    features: FeaturesFrom | None = Field(description="what an explanation explains")
    progress: Progress | None
    summary: dict[str, Any] | None = Field(description="figures of the result")
    error: JobError | None
    n_attempts: int = Field(description="times it was taken up since it was submitted or resumed")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    last_event: int = Field(description="number of its newest event")
    links: dict[str, str]

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
            if job.kind == JobKind.SELECT:
                links["features"] = f"{here}/features"
        spec = job.spec
        summary = job.summary
        if summary is not None and job.kind == JobKind.INGEST:
            summary = {"n_bytes": summary["n_bytes"], **summary["about"]}
        return cls(
            id=job.id, kind=job.kind, name=job.name or None, status=job.status,
            dataset_id=job.dataset_id, settings=spec.get("settings") or spec.get("source") or {},
            features=spec.get("features"), progress=job.progress,
            summary=summary, error=job.error,
            n_attempts=job.n_attempts, created_at=moment(job.created_at),
            started_at=moment(job.started_at), finished_at=moment(job.finished_at),
            last_event=job.last_event, links=links,
        )  # fmt: skip


class JobPage(Response):
    """Some jobs, the newest first."""

    items: list[JobResponse]
    next_cursor: str | None = Field(description="give it as `cursor` for the next page")
