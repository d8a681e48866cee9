"""Analyses on the wire: which there are, and one that is asked for.

All of it is made from `srs.ANALYSES`, packages of others included.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from srs import ANALYSES
from srs_service.schemas.fields import FeatureId, Label, Request, Response, parse_whole

if TYPE_CHECKING:
    from srs.catalogue import Analysis, Option

    AnalysisName = str
else:
    AnalysisName = Literal[tuple(ANALYSES)]

# What the wire asks of texts, beyond the library: no control characters, bounded lengths.
_LABEL: TypeAdapter[Any] = TypeAdapter(Label)
_NAMES: TypeAdapter[Any] = TypeAdapter(
    Annotated[list[Label | FeatureId], Field(min_length=1, max_length=10_000)]
)
TEXTS = {"str": _LABEL, "column": _LABEL, "names": _NAMES}
NUMBERS = {"int": "integer", "float": "number", "bool": "boolean"}


def _option_schema(option: Option) -> dict[str, Any]:
    """What an option may be, for clients that read the document."""
    schema: dict[str, Any] = {"enum": list(option.choices)}
    if not option.choices:
        text = TEXTS.get(option.type)
        schema = {"type": NUMBERS[option.type]} if text is None else text.json_schema()
    if option.low is not None:
        schema["minimum"] = option.low
    if option.high is not None:
        schema["maximum"] = option.high
    told = option.help
    if option.none:
        schema, told = {"anyOf": [schema, {"type": "null"}]}, f"{told}; null: {option.none}"
    schema["description"] = told
    return schema if option.required else {**schema, "default": option.default}


def _request_schemas() -> list[Any]:
    """What may be asked of each analysis; its value either as such or among the options."""
    schemas = []
    for kind in ANALYSES.values():
        schemas.append(_request_schema(kind, by_value=False))
        if kind.value is not None:
            schemas.append(_request_schema(kind, by_value=True))
    return schemas


def _request_schema(kind: Analysis, *, by_value: bool) -> dict[str, Any]:
    options = [o for o in kind.options if not (by_value and o.name == kind.value)]
    needed = [option.name for option in options if option.required]
    value: dict[str, Any] = {"type": "null"}
    if by_value and kind.value_option is not None:
        value = {k: v for k, v in _option_schema(kind.value_option).items() if k != "default"}
        value = {"allOf": [value, {"type": "string"}]}
    schema: dict[str, Any] = {
        "properties": {
            "analysis": {"const": kind.name},
            "value": value,
            "options": {
                "type": "object",
                "properties": {option.name: _option_schema(option) for option in options},
                "required": needed,
                "additionalProperties": False,
            },
        }
    }
    required = (["value"] if by_value else []) + (["options"] if needed else [])
    return schema | {"required": required}


def name_schemas(schemas: dict[str, Any]) -> None:
    """Give each request for an analysis, its options and its value a schema of its own among those
    of a document: programs that make clients cannot name what is nested."""
    named = []

    def move(name: str, schema: Any) -> dict[str, str]:
        schemas[name] = schema
        return {"$ref": f"#/components/schemas/{name}"}

    for branch in schemas["AnalysisRequest"]["anyOf"]:
        inside = dict(branch["properties"])
        by_value = "allOf" in inside["value"]
        words = inside["analysis"]["const"].replace("-", "_").split("_")
        name = "".join(word.capitalize() for word in words) + ("ByValue" if by_value else "")
        inside["options"] = move(f"{name}Options", inside["options"])
        if by_value:
            inside["value"] = move(f"{name}Value", inside["value"])
        whole = {**branch, "type": "object", "properties": inside}
        named.append(move(f"{name}Request", whole))
    schemas["AnalysisRequest"] = {**schemas["AnalysisRequest"], "anyOf": named}


def _parse_options(given: Any) -> Any:
    """Whole numbers as such, also those in lists: JSON has one kind of numbers."""
    if not isinstance(given, dict):
        return given
    return {
        name: [parse_whole(v) for v in value] if isinstance(value, list) else parse_whole(value)
        for name, value in given.items()
    }


class AnalysisRequest(Request):
    """One analysis of `srs.explain`."""

    model_config = ConfigDict(json_schema_extra={"anyOf": _request_schemas()})

    analysis: AnalysisName
    value: Label | None = Field(
        None, description="the context or the method, if the analysis takes one"
    )
    options: Annotated[dict[str, Any], BeforeValidator(_parse_options)] = Field(
        {}, description="options by name, see /v1/analyses"
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        kind = ANALYSES[self.analysis]
        wrong = _wrong_options(kind, self.options) + _wrong_value(kind, self.value, self.options)
        if wrong:
            raise ValidationError.from_exception_data("AnalysisRequest", wrong)
        return self


def _wrong_options(kind: Analysis, given: Mapping[str, Any]) -> list[InitErrorDetails]:
    wrong = []
    known = {option.name: option for option in kind.options}
    for name, value in given.items():
        if name not in known:
            offered = ", ".join(known) or "none"
            wrong.append(_error(f"{kind.name} has no such option; it has {offered}", name))
        elif not _fits_wire(known[name], value):
            wrong.append(_error(f"must be {known[name].expected}", name))
    missing = [o.name for o in kind.options if o.required and o.name not in given]
    wrong += [_error(f"{kind.name} needs {name}") for name in missing if name != kind.value]
    return wrong


def _fits_wire(option: Option, value: Any) -> bool:
    if not option.fits(value):
        return False
    if value is not None and option.type in TEXTS:
        try:
            TEXTS[option.type].validate_python(value, strict=True)
        except ValidationError:
            return False
    return True


def _wrong_value(
    kind: Analysis, value: str | None, given: Mapping[str, Any]
) -> list[InitErrorDetails]:
    option = kind.value_option
    if value is None:
        if option is not None and option.required and option.name not in given:
            told = f"{kind.name} needs a {option.name}: give it as value"
            return [_error(told)]
        return []
    if option is None:
        return [_error(f"{kind.name} takes no value")]
    if not option.fits(value):
        return [_error(f"the value of {kind.name} must be {option.expected}")]
    if option.name in given:
        return [_error(f"{option.name} is given twice, as value and as an option", option.name)]
    return []


def _error(text: str, *option: str) -> InitErrorDetails:
    where = ("options", *option) if option else ()
    return InitErrorDetails(
        type=PydanticCustomError("analysis", "{text}", {"text": text}), loc=where, input=None
    )


class OptionAbout(Response):
    """An option of an analysis."""

    name: str
    label: str = Field(description="what forms call it")
    type: Literal["int", "float", "bool", "str", "names", "column"] = Field(
        description="names: a list of names or ids of features; column: a feature or target"
    )
    help: str
    default: bool | int | float | str | None
    low: float | None = Field(description="smallest value; null: no bound")
    high: float | None = Field(description="largest value; null: no bound")
    choices: list[str] = Field(description="the allowed values; empty: any")
    none: str = Field(description="what null means; empty: null may not be given")
    required: bool = Field(description="whether it must be given")

    @classmethod
    def of(cls, option: Option) -> Self:
        told = {name: getattr(option, name) for name in cls.model_fields}
        told |= {"label": option.title, "choices": list(option.choices)}
        return cls.model_validate(told)


class AnalysisAbout(Response):
    """An analysis that an explanation can run."""

    analysis: AnalysisName
    title: str = Field(description="heading of its section in reports")
    question: str = Field(description="what it answers")
    value: str | None = Field(description="which option its value is; null: it takes none")
    choices: list[str] = Field(description="the allowed values; empty: any name")
    required: bool = Field(description="whether a value must be given")
    usual: bool = Field(description="whether it is run by default")
    forest: bool = Field(description="whether it uses the forest of `n_trees` of the explanation")
    whole_subjects: bool = Field(
        description="whether it can keep samples of a subject together: setting `subjects`"
    )
    options: list[OptionAbout]

    @classmethod
    def of(cls, kind: Analysis) -> Self:
        value = kind.value_option
        return cls(
            analysis=kind.name,
            title=kind.title,
            question=kind.question,
            value=kind.value,
            choices=[] if value is None else list(value.choices),
            required=value is not None and value.required,
            usual=kind.usual,
            forest=kind.forest,
            whole_subjects=kind.whole_subjects,
            options=[OptionAbout.of(option) for option in kind.options],
        )


class AnalysisList(Response):
    """All analyses."""

    items: list[AnalysisAbout]

    @classmethod
    def make(cls) -> Self:
        return cls(items=[AnalysisAbout.of(kind) for kind in ANALYSES.values()])
