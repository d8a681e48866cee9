"""JSON Schema of TypedDicts and dataclasses. Docstrings describe their keys, one a line:

    name      what it is, on as many
              lines as it takes

Types that are understood: str, int, float, bool, None, Any, unions, list, tuple, dict, Mapping,
TypedDicts and dataclasses. `Annotated[str, ("a", "b")]` is one of these texts, and
`Annotated[dict[str, Any], Class]` is an object with the fields of that class.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

Schema = dict[str, Any]
PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


@dataclass
class Writer:
    """Makes schemas; objects are collected in `definitions` and referred to by name.

    other_keys  class -> type of values under keys that its type does not name
    optional    class -> keys that may be absent, of classes that do not say so themselves
    described   class -> what is to be said of keys, instead of what the class says
    """

    other_keys: Mapping[Any, Any] = field(default_factory=dict)
    optional: Mapping[Any, tuple[str, ...]] = field(default_factory=dict)
    described: Mapping[Any, Mapping[str, str]] = field(default_factory=dict)
    definitions: dict[str, Schema] = field(default_factory=dict)

    def schema(self, hint: Any) -> Schema:
        """The schema of a type."""
        origin, arguments = get_origin(hint), get_args(hint)
        if hint is Any:
            return {}
        if hint in PLAIN:
            return {"type": PLAIN[hint]}
        if origin is NotRequired:
            return self.schema(arguments[0])
        if origin is Annotated:
            return self._annotated(*arguments)
        if origin in (Union, UnionType):
            return self._union(arguments)
        if origin in (list, tuple):
            return {"type": "array", "items": self.schema(arguments[0])}
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.schema(arguments[1]) or True}
        return self.refer_to(hint)

    def refer_to(self, cls: Any) -> Schema:
        """A reference to the schema of a class, which is made if it is not there yet."""
        if not (is_typeddict(cls) or is_dataclass(cls)):
            raise TypeError(f"no schema is known of {cls!r}")
        if cls.__name__ not in self.definitions:
            self.definitions[cls.__name__] = {}  # so that it may refer to itself
            self.definitions[cls.__name__] = self.object_schema(cls)
        return {"$ref": f"#/$defs/{cls.__name__}"}

    def object_schema(self, cls: Any) -> Schema:
        """The schema of a class, with a description of each key."""
        about, described = describe(cls)
        described |= self.described.get(cls, {})
        hints = get_type_hints(cls, include_extras=True)
        missing = [name for name in hints if name not in described]
        if missing:
            raise TypeError(f"{cls.__name__} does not describe {', '.join(missing)}")
        others = self.other_keys.get(cls)
        return {
            "type": "object",
            "description": about,
            "properties": {
                name: {"description": described[name], **self.schema(hint)}
                for name, hint in hints.items()
            },
            "required": [
                name for name, hint in hints.items() if self._is_required(cls, name, hint)
            ],
            "additionalProperties": False if others is None else self.schema(others),
        }

    def _is_required(self, cls: Any, name: str, hint: Any) -> bool:
        named = getattr(cls, "__required_keys__", (name,))
        return (
            name in named
            and get_origin(hint) is not NotRequired
            and name not in self.optional.get(cls, ())
        )

    def _annotated(self, hint: Any, *notes: Any) -> Schema:
        for note in notes:
            if isinstance(note, tuple):
                return {**self.schema(hint), "enum": list(note)}
            if isinstance(note, type):
                return self.refer_to(note)
        return self.schema(hint)

    def _union(self, hints: tuple[Any, ...]) -> Schema:
        schemas = [self.schema(hint) for hint in hints]
        if all(list(schema) == ["type"] for schema in schemas):
            return {"type": [schema["type"] for schema in schemas]}
        return {"anyOf": schemas}


def describe(cls: Any) -> tuple[str, dict[str, str]]:
    """What the docstring of a class says of it, and of each key.

    A field of a dataclass may have its description as `help` in its metadata instead, and what
    None stands for as `unset`.
    """
    about, keys = parse_docstring(cls.__doc__ or "")
    for base in bases_of(cls):
        keys = {**describe(base)[1], **keys}
    for name, one in getattr(cls, "__dataclass_fields__", {}).items():
        if "help" in one.metadata:
            unset = one.metadata.get("unset") if one.default is None else None
            text = one.metadata["help"].removesuffix(".")
            keys.setdefault(name, f"{text}; null: {unset}" if unset else text)
    return about, keys


def bases_of(cls: Any) -> list[Any]:
    """TypedDicts that a TypedDict extends: those of its module all of whose keys it has.

    (It forgets them itself before Python 3.12.)
    """
    if not is_typeddict(cls):
        return []
    own = cls.__annotations__.items()
    others = [other for other in vars(sys.modules[cls.__module__]).values() if is_typeddict(other)]
    return [other for other in others if other.__annotations__.items() < own]


def parse_docstring(text: str) -> tuple[str, dict[str, str]]:
    """The sentences of a docstring, and the table of keys in it.

    >>> parse_docstring('''A point.
    ...
    ...     x  to the
    ...        right
    ...     y  upwards
    ... ''')
    ('A point.', {'x': 'to the right', 'y': 'upwards'})
    """
    sentences: list[str] = []
    keys: dict[str, str] = {}
    last = ""
    for line in inspect.cleandoc(text).splitlines():
        if found := re.match(r"( *)(\w+)  +(\S.*)", line):
            last = found[2]
            keys[last] = found[3]
        elif last and line.startswith("  "):
            keys[last] += f" {line.strip()}"
        elif line.strip():
            sentences.append(line.strip())
            last = ""
    return " ".join(sentences), keys
