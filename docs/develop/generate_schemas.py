"""Write the JSON Schemas in docs/schemas from the types of documents: `make generate`.

A document that is to be published is an entry of `PUBLISHED`. tests/results/test_schemas.py fails
when a file is stale.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from docs.develop.schema_of_types import Schema, Writer
from srs.cli.commands.report import RunSummary
from srs.results import explanation, result
from srs.results.documents.explanation import AnalysisRow, ExplanationDocument
from srs.results.documents.result import FeatureRow, PredictionRow, ResultDocument
from srs.selection.plan import Plan
from srs.settings import LATER, OF_SAMPLES, Settings
from srs.store import layout
from srs.store.description import StoreDescription, TargetDescription
from srs_service.database.documents import (
    ErrorDocument,
    ExplainSummary,
    Histogram,
    ProgressEvent,
    SelectSummary,
    StatusEvent,
    ToldIngestSummary,
    WebhookBody,
)
from srs_service.schemas.jobs import JobResponse

FOLDER = Path(__file__).resolve().parents[1] / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
CELL = str | int | float | bool | None
# Keys that types do not name: annotations of the source, what kinds of targets tell, columns of an
# analysis.
OTHER_KEYS = {
    FeatureRow: str | int,
    PredictionRow: CELL,
    AnalysisRow: CELL,
    TargetDescription: Any,
}
# Settings that are left out of documents where they are not used.
OPTIONAL = {Settings: (*OF_SAMPLES, *LATER)}
# Who sets it writes an amount as text, and documents have a number.
DESCRIBED = {Settings: {"allowed_mem": "Bytes that the process, or each worker, may hold"}}


@dataclass(frozen=True)
class Published:
    """One schema.

    name       of the document
    version    of the schema
    title      in a few words
    types      what the document is; one of these, if they are several
    constants  keys that always have the same value
    parts      objects beside the document that the schema defines, too
    more       keys that the document has beside those of its type: type and description
    """

    name: str
    version: int
    title: str
    types: tuple[Any, ...]
    constants: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[Any, ...] = ()
    more: Mapping[str, tuple[Any, str]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"urn:srs:schema:{self.name}-{self.version}"

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}-{self.version}.schema.json"

    def make(self) -> Schema:
        """The schema as it is published."""
        writer = Writer(OTHER_KEYS, OPTIONAL, DESCRIBED)
        if issubclass(self.types[0], BaseModel):
            body = job_schema(writer)
        elif len(self.types) > 1:
            body = {"anyOf": [writer.refer_to(one) for one in self.types]}
        else:
            body = writer.object_schema(self.types[0])
        for name, value in self.constants.items():
            body["properties"][name] = {
                "description": body["properties"][name]["description"],
                "const": value,
            }
        for name, (hint, about) in self.more.items():
            body["properties"][name] = {"description": about, **writer.schema(hint)}
            body["required"].append(name)
        for part in self.parts:
            writer.refer_to(part)
        head = {"$schema": DIALECT, "$id": self.id, "title": self.title, "version": self.version}
        definitions = dict(sorted(writer.definitions.items()))
        return {**head, **body, **({"$defs": definitions} if definitions else {})}

    def text(self) -> str:
        return json.dumps(self.make(), indent=2, ensure_ascii=False) + "\n"


def job_schema(writer: Writer) -> Schema:
    """A job: the model of the response, with what it leaves open as typed documents say it."""
    body = model_schema(writer, JobResponse)
    described = body["properties"]
    told = (SelectSummary, ExplainSummary, ToldIngestSummary)
    described["summary"]["anyOf"] = [*(writer.refer_to(t) for t in told), {"type": "null"}]
    described["error"]["anyOf"] = [writer.refer_to(ErrorDocument), {"type": "null"}]
    del writer.definitions["JobError"]  # which is the same, with figures of any name
    evidence = writer.definitions["Progress"]["properties"]["evidence"]
    evidence["anyOf"] = [writer.schema(dict[str, Histogram]), {"type": "null"}]
    return body


def model_schema(writer: Writer, model: type[BaseModel]) -> Schema:
    """The schema of a pydantic model; those that it refers to go to the definitions."""
    schema = model.model_json_schema(mode="serialization")
    writer.definitions |= {k: without_titles(v) for k, v in schema.pop("$defs", {}).items()}
    body: Schema = without_titles(schema)
    return body


def without_titles(schema: Any) -> Any:
    """Without the names of keys in other words, which pydantic adds, and without defaults:
    a document has what it has."""
    if isinstance(schema, list):
        return [without_titles(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: without_titles(one) for name, one in value.items()}
        if key == "properties"
        else without_titles(value)
        for key, value in schema.items()
        if key not in ("title", "default")
    }


EXPECTED_TREES = "by kind of relevance: expected trees, with features carried and without"
PUBLISHED = (
    Published(
        "result",
        result.SCHEMA_VERSION,
        "Result of a selection: result.json",
        (ResultDocument,),
        {"format": result.FORMAT, "schema_version": result.SCHEMA_VERSION},
    ),
    Published(
        "explanation",
        result.EXPLANATION_VERSION,
        "Explanation: explain.json",
        (ExplanationDocument,),
        {"format": explanation.FORMAT, "schema_version": result.EXPLANATION_VERSION},
    ),
    Published(
        "store",
        layout.SCHEMA_VERSION,
        "Manifest of a feature store: attribute srs of its zarr group",
        (layout.Manifest,),
        {"format": layout.FORMAT, "schema_version": layout.SCHEMA_VERSION},
        parts=(layout.TargetAttributes, layout.AnnotationAttributes),
    ),
    Published("job", 1, "Job of the service", (JobResponse,)),
    Published("event", 1, "Data of an event of a job", (StatusEvent, ProgressEvent)),
    Published("webhook", 1, "Body of a webhook", (WebhookBody,)),
    Published("info", 1, "srs info --json, srs ingest --json", (StoreDescription,)),
    Published("run", 1, "srs select --json, srs report --json", (RunSummary,)),
    Published(
        "plan",
        1,
        "srs plan --json",
        (Plan,),
        more={"expected_trees": (dict[str, dict[str, float | None]], EXPECTED_TREES)},
    ),
)


def main() -> None:
    for published in PUBLISHED:
        published.path.write_text(published.text(), encoding="utf-8")


if __name__ == "__main__":
    main()
