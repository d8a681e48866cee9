"""The published schemas, for tests that validate real documents."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "schemas"


@cache
def validator(name: str, part: str | None = None) -> Draft202012Validator:
    """Of a schema, e.g. "result-2", or of an object that it defines."""
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    if part is not None:
        schema = {"$ref": f"#/$defs/{part}", "$defs": schema["$defs"]}
    return Draft202012Validator(schema)


def check(document: Any, name: str, part: str | None = None) -> None:
    """Fails if a document is not as its schema says, as JSON writes it."""
    validator(name, part).validate(json.loads(json.dumps(document, allow_nan=False)))


def objects(name: str, document: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Objects of a document with the schema of each; of lists, the first."""
    checked = validator(name)
    yield from _objects(checked.schema, document, checked)


def _objects(schema: Any, value: Any, root: Draft202012Validator) -> Iterator[Any]:
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        schema = root.schema["$defs"][schema["$ref"].rpartition("/")[2]]
    for branch in schema.get("anyOf", ()):
        if root.evolve(schema=branch | {"$defs": root.schema.get("$defs", {})}).is_valid(value):
            yield from _objects(branch, value, root)
    if isinstance(value, list) and value:
        yield from _objects(schema.get("items"), value[0], root)
    if isinstance(value, dict) and schema.get("type") == "object":
        yield schema, value
        others = schema.get("additionalProperties")
        for key, one in value.items():
            yield from _objects(schema.get("properties", {}).get(key, others), one, root)


def spoiled(name: str, document: Any) -> Iterator[tuple[str, Any]]:
    """Copies of a document that its schema must refuse, each with what is wrong with it.

    Of each of its objects, each required key is missing once, and an unknown one is there.
    """
    changed = copy.deepcopy(document)
    for schema, value in list(objects(name, changed)):
        for key in schema.get("required", ()):
            kept = dict(value)
            del value[key]
            yield f"without {key}", changed
            value.clear()
            value.update(kept)
        if schema.get("additionalProperties") is False:
            value["unheard of"] = 1
            yield f"more than {', '.join(schema['properties'])}", changed
            del value["unheard of"]
