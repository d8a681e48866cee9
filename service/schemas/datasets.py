"""Datasets and uploads on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from service.job_store.datasets import Dataset, Upload
from service.schemas.fields import (
    Address,
    Identifier,
    Label,
    Location,
    Memory,
    Request,
    Response,
    exactly_one,
    moment,
)
from service.schemas.problems import JobError


class FileFrom(Request):
    """Where a file comes from: exactly one of the three."""

    model_config = ConfigDict(json_schema_extra=exactly_one("upload_id", "url", "path"))

    upload_id: Identifier | None = Field(None, description="an upload of yours")
    url: Address | None = Field(None, description="an http or https address of a public server")
    path: Location | None = Field(None, description="a path below a folder that is open to users")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(given is not None for given in (self.upload_id, self.url, self.path)) != 1:
            raise ValueError("give exactly one of upload_id, url and path")
        return self


class TargetFrom(Request):
    """What is to be explained: a column of the source, or a file of one value a sample."""

    model_config = ConfigDict(json_schema_extra=exactly_one("column", "file"))

    column: Label | None = Field(None, description="a column of the source")
    file: FileFrom | None = Field(None, description="a .npy, .csv, .tsv or .txt file")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.column is None) == (self.file is None):
            raise ValueError("give either a column or a file")
        return self


class SourceRequest(Request):
    """A source that becomes a feature store."""

    file: FileFrom
    target: TargetFrom | None = Field(None, description="needed by selections")
    orientation: Literal["samples", "features"] = Field(
        "samples", description="what a row of the source is"
    )
    task: Literal["classification", "regression"] | None = Field(
        None, description="of the target; by default decided by its values"
    )
    categorical: list[Label] = Field([], max_length=10_000, description="columns of categories")
    id_column: Label | None = Field(
        None, description="column of the source that holds the sample ids; by default found by its "
        "name",
    )  # fmt: skip
    memory: Memory = Field("1GB", description="what the ingest may hold")


class DatasetRequest(Request):
    """A dataset: either a feature store that is there, or a source to make one from."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"name": "cohort 7", "store": "cohort7/wide.zarr"},
                {"name": "cohort 8", "source": {
                    "file": {"url": "https://data.example.org/X.npy"},
                    "target": {"file": {"url": "https://data.example.org/y.csv"}},
                }},
            ],
            **exactly_one("store", "source"),
        }
    )  # fmt: skip

    name: Label
    store: Location | None = Field(
        None, description="path of a feature store below a folder that is open to users, or its "
        "address in object storage that is",
    )  # fmt: skip
    source: SourceRequest | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.store is None) == (self.source is None):
            raise ValueError("give either a store or a source")
        return self


class TargetAbout(Response):
    """A target of a dataset."""

    name: str
    task: Literal["classification", "regression"]
    classes: dict[str, int] | None = Field(None, description="samples of each class")


class DatasetResponse(Response):
    """A dataset."""

    id: Identifier
    name: str
    status: Literal["PENDING", "READY", "FAILED"]
    job_id: Identifier | None = Field(description="the ingest that writes it")
    created_at: datetime
    n_features: int | None
    n_samples: int | None
    kinds: dict[str, int] | None = Field(description="features of each kind")
    any_missing: bool | None
    targets: list[TargetAbout] | None
    fingerprint: str | None = Field(description="equal fingerprints, equal data")
    notices: list[str] | None = Field(description="oddities that the ingest accepted")
    n_bytes: int = Field(description="that the service keeps for it")
    error: JobError | None

    @classmethod
    def of(cls, dataset: Dataset) -> Self:
        about: dict[str, Any] = dataset.about or {}
        wanted = ("n_features", "n_samples", "kinds", "any_missing", "targets", "fingerprint",
                  "notices")  # fmt: skip
        return cls(
            id=dataset.id, name=dataset.name, status=dataset.status,
            job_id=dataset.job_id, created_at=moment(dataset.created_at),
            n_bytes=dataset.n_bytes, error=dataset.error,
            **{name: about.get(name) for name in wanted},
        )  # fmt: skip


class DatasetPage(Response):
    """Some datasets, the newest first."""

    items: list[DatasetResponse]
    next_cursor: str | None = Field(description="give it as `cursor` for the next page")


class UploadResponse(Response):
    """A file that was uploaded."""

    id: Identifier
    filename: str
    n_bytes: int
    sha256: str
    created_at: datetime

    @classmethod
    def of(cls, upload: Upload) -> Self:
        return cls(
            id=upload.id, filename=upload.filename, n_bytes=upload.n_bytes, sha256=upload.sha256,
            created_at=moment(upload.created_at),
        )  # fmt: skip
