"""Datasets and uploads on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from srs_service.database.datasets import Dataset, Upload
from srs_service.schemas.fields import (
    Address,
    Identifier,
    Label,
    LabelOrEmpty,
    Location,
    Memory,
    Request,
    Response,
    exactly_one,
    moment,
)
from srs_service.schemas.kinds import TargetKindName
from srs_service.schemas.problems import JobError


class FileFrom(Request):
    """Where a file comes from: exactly one of the three."""

    model_config = ConfigDict(json_schema_extra=exactly_one("upload_id", "url", "path"))

    upload_id: Identifier | None = Field(None, description="id of your upload")
    url: Address | None = Field(None, description="an http or https address of a public server")
    path: Location | None = Field(None, description="a path in a folder that users may read")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(given is not None for given in (self.upload_id, self.url, self.path)) != 1:
            raise ValueError("give exactly one of upload_id, url and path")
        return self


class TargetFrom(Request):
    """What to explain: a column of the source, or a file with one value per sample."""

    model_config = ConfigDict(json_schema_extra=exactly_one("column", "file"))

    column: Label | None = Field(None, description="a column of the source or of its table")
    file: FileFrom | None = Field(None, description="a .npy, .csv, .tsv or .txt file")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.column is None) == (self.file is None):
            raise ValueError("give either a column or a file")
        return self


class SourceRequest(Request):
    """A source that becomes a feature store."""

    model_config = ConfigDict(json_schema_extra=exactly_one("file", "files"))

    file: FileFrom | None = Field(
        None, description="a file, or a path to a folder; `/v1/formats` lists what is read"
    )
    files: list[FileFrom] | None = Field(
        None,
        min_length=1,
        max_length=1_000,
        description="files that belong together: .bed with .bim and .fam, .pgen with .pvar and "
        ".psam, or those of a folder",
    )
    target: TargetFrom | None = Field(None, description="selections need one")
    orientation: Literal["samples", "features"] = Field(
        "samples", description="what a row of the source is"
    )
    target_kind: TargetKindName | None = Field(
        None, description="kind of the target; by default decided by its values"
    )
    event: Label | None = Field(
        None,
        description="of a time to event: column that is 1 where the event was seen and 0 where it "
        "is censored; the target is then the time",
    )
    exposure: Label | None = Field(
        None, description="of a count: column of the time or amount that it was counted in"
    )
    ordinal: list[Label] | None = Field(
        None,
        min_length=2,
        max_length=100,
        description="levels of the target from low to high: its classes are ordered",
    )
    categorical: list[Label] = Field([], max_length=10_000, description="columns of categories")
    id_column: LabelOrEmpty | None = Field(
        None,
        description="column of the source or table that holds the sample ids; null: found by its "
        'name, e.g. sample_id; "": none, only names of rows',
    )
    dataset: Label | None = Field(
        None, description="which array of a source with several, e.g. layers/counts"
    )
    mask: FileFrom | None = Field(
        None, description="image; its voxels other than 0 are the features"
    )
    table: FileFrom | None = Field(
        None, description="table of the samples, joined by sample id: .csv, .tsv, .txt, .parquet"
    )
    covariates: list[Label] = Field(
        [], max_length=1_000, description="columns of the table that become features"
    )
    sample_columns: list[Label] = Field(
        [],
        max_length=100,
        description="columns of the table or the source that are kept for selections: "
        "covariates, confounders, subjects, weights; needs a target",
    )
    names: FileFrom | None = Field(None, description="names of the features, one per line")
    sample_ids: FileFrom | None = Field(None, description="ids of the samples, one per line")
    memory: Memory = Field("1GB", description="memory limit of the ingest")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.file is None) == (self.files is None):
            raise ValueError("give either a file or files")
        if self.sample_columns and self.target is None:
            raise ValueError("sample_columns need a target: also give a target")
        return self


class DatasetRequest(Request):
    """A dataset: either an existing feature store, or a source to make one from."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"name": "cohort 7", "store": "cohort7/wide.zarr"},
                {
                    "name": "cohort 8",
                    "source": {
                        "file": {"url": "https://data.example.org/X.npy"},
                        "target": {"file": {"url": "https://data.example.org/y.csv"}},
                    },
                },
            ],
            **exactly_one("store", "source"),
        }
    )

    name: Label
    store: Location | None = Field(
        None,
        description="path of a feature store in a folder that users may read, or its address in "
        "object storage that users may read",
    )
    source: SourceRequest | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.store is None) == (self.source is None):
            raise ValueError("give either a store or a source")
        return self


class DatasetChange(Request):
    """What may be changed of a dataset; what is absent stays."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "cohort 7, cleaned"}]})

    name: Label = Field("", description="name of the dataset", min_length=1)
    team: Annotated[str, Field(max_length=64)] | None = Field(
        None, description="team of yours that may read it; null: nobody else"
    )


class TargetAbout(Response):
    """A target of a dataset."""

    name: str
    kind: str = Field(description="see /v1/kinds; a store may have a kind that is unknown here")
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
    fingerprint: str | None = Field(description="equal fingerprints mean equal data")
    notices: list[str] | None = Field(description="notices of the ingest")
    n_bytes: int = Field(description="bytes that the service keeps for it")
    team: str | None = Field(description="team that may read it; null: its owner alone")
    error: JobError | None

    @classmethod
    def of(cls, dataset: Dataset) -> Self:
        about: dict[str, Any] = dataset.about or {}
        wanted = (
            "n_features",
            "n_samples",
            "kinds",
            "any_missing",
            "targets",
            "fingerprint",
            "notices",
        )
        return cls(
            id=dataset.id,
            name=dataset.name,
            status=dataset.status,
            job_id=dataset.job_id,
            created_at=moment(dataset.created_at),
            n_bytes=dataset.n_bytes,
            team=dataset.team,
            error=dataset.error,
            **{name: about.get(name) for name in wanted},
        )


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
            id=upload.id,
            filename=upload.filename,
            n_bytes=upload.n_bytes,
            sha256=upload.sha256,
            created_at=moment(upload.created_at),
        )


class UploadPage(Response):
    """Some uploads, the newest first."""

    items: list[UploadResponse]
    next_cursor: str | None = Field(description="give it as `cursor` for the next page")
