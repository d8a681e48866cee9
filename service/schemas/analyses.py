"""Analyses on the wire: which there are, and one that is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from service.schemas.fields import Label, Request, Response
from srs import ANALYSES

if TYPE_CHECKING:
    AnalysisName = str
else:
    AnalysisName = Literal[tuple(ANALYSES)]


def _value_schemas() -> list[Any]:
    """What the value of each analysis may be, for clients that read the document."""
    names: dict[tuple[bool, tuple[str, ...], bool], list[str]] = {}
    for name, kind in ANALYSES.items():
        names.setdefault((kind.value is not None, kind.choices, kind.required), []).append(name)
    schemas = []
    for (takes_one, choices, required), alike in names.items():
        value: dict[str, Any] = {"type": "string"} if takes_one else {"type": "null"}
        if choices:
            value = {"enum": [*choices, None]}
        schema: dict[str, Any] = {"properties": {"analysis": {"enum": alike}, "value": value}}
        schemas.append(schema | ({"required": ["value"]} if required else {}))
    return schemas


class AnalysisRequest(Request):
    """One analysis of `srs.explain`."""

    model_config = ConfigDict(json_schema_extra={"anyOf": _value_schemas()})

    analysis: AnalysisName
    value: Label | None = Field(None, description="the context, or the method, where it takes one")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        kind = ANALYSES[self.analysis]
        if self.value is None:
            if kind.required:
                raise ValueError(f"{self.analysis} needs a {kind.value}: give it as value")
        elif kind.value is None:
            raise ValueError(f"{self.analysis} takes no value")
        elif kind.choices and self.value not in kind.choices:
            raise ValueError(f"the value of {self.analysis} is one of {', '.join(kind.choices)}")
        return self


class AnalysisAbout(Response):
    """An analysis that an explanation may ask for."""

    analysis: AnalysisName
    question: str = Field(description="what it answers")
    value: Literal["context", "method"] | None = Field(
        description="what its value is: a context (name of a feature or target), a method"
    )
    choices: list[str] = Field(description="the values that there are; empty: any name")
    required: bool = Field(description="whether a value must be given")
    usual: bool = Field(description="whether it is run where nothing is named")


class AnalysisList(Response):
    """The analyses that there are."""

    items: list[AnalysisAbout]

    @classmethod
    def make(cls) -> Self:
        return cls(
            items=[
                AnalysisAbout.model_validate(
                    {"analysis": name, "question": kind.question, "value": kind.value,
                     "choices": list(kind.choices), "required": kind.required,
                     "usual": kind.usual}
                )
                for name, kind in ANALYSES.items()
            ]
        )  # fmt: skip
