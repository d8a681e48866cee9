"""The OpenAPI document as a page for people: no script, and nothing from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem;
  color: #1b1f24; background: #fff; }
h2 { border-bottom: 1px solid #d0d7de; margin-top: 3rem; }
details { border: 1px solid #d0d7de; border-radius: 6px; margin: .5rem 0; padding: .4rem .8rem; }
summary { cursor: pointer; }
summary b { display: inline-block; min-width: 4.5rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
pre { background: #f6f8fa; overflow-x: auto; padding: .6rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #d0d7de; padding: .25rem .5rem; text-align: left;
  vertical-align: top; }
@media (prefers-color-scheme: dark) {
  body { color: #e6edf3; background: #0d1117; } pre { background: #161b22; }
  details, h2, th, td { border-color: #30363d; } a { color: #79b8ff; }
}
"""


def write_reference(document: Mapping[str, Any]) -> str:
    """A page of all operations, by tag, and of all schemas."""
    tags: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            tags.setdefault(operation["tags"][0], []).append(_operation(path, method, operation))
    contents = " · ".join(f'<a href="#{escape(tag)}">{escape(tag)}</a>' for tag in tags)
    groups = "".join(
        f'<h2 id="{escape(tag)}">{escape(tag)}</h2>{"".join(operations)}'
        for tag, operations in tags.items()
    )
    schemas = "".join(
        f'<details id="schema-{escape(name)}"><summary><code>{escape(name)}</code> '
        f"{escape((schema.get('description') or ' ').splitlines()[0])}"
        f"</summary>{_schema(schema)}</details>"
        for name, schema in sorted(document["components"]["schemas"].items())
    )
    info = document["info"]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>'
        f"{escape(info['title'])} {escape(info['version'])}: reference</title>"
        f'<meta name="viewport" '
        f'content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body>'
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>"
        f"<p>{escape(info['description'])}</p><p>{contents} · <a href='#schemas'>schemas</a> · "
        f'<a href="/openapi.json">OpenAPI document</a></p>{groups}'
        f'<h2 id="schemas">schemas</h2>{schemas}</body></html>'
    )


def _operation(path: str, method: str, operation: Mapping[str, Any]) -> str:
    parts = [f"<p>{escape(operation.get('description', ''))}</p>"]
    if operation.get("parameters"):
        rows = "".join(
            f"<tr><td><code>{escape(one['name'])}</code></td><td>{escape(one['in'])}"
            f"{', required' if one.get('required') else ''}</td><td>{_kind(one['schema'])}</td>"
            f"<td>{escape(one.get('description') or '')}</td></tr>"
            for one in operation["parameters"]
        )
        parts.append(_table(("parameter", "where", "type", "meaning"), rows))
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"<p>Body: <code>{escape(media)}</code>, {_kind(content['schema'])}</p>")
        for example in content.get("examples", {}).values():
            parts.append(_code(example["value"]))
    rows = "".join(
        f"<tr><td>{escape(status)}</td><td>{escape(answer.get('description', ''))}</td><td>"
        + ", ".join(
            f"<code>{escape(media)}</code> {_kind(content.get('schema', {}))}"
            for media, content in answer.get("content", {}).items()
        )
        + "</td></tr>"
        for status, answer in operation["responses"].items()
    )
    parts.append(_table(("answer", "meaning", "body"), rows))
    return (
        f'<details id="{escape(operation["operationId"])}"><summary><b>{method.upper()}</b> '
        f"<code>{escape(path)}</code> {escape(operation['summary'])}</summary>"
        f"{''.join(parts)}</details>"
    )


def _schema(schema: Mapping[str, Any]) -> str:
    required = set(schema.get("required", ()))
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{_kind(one)}"
        f"{', required' if name in required else ''}</td>"
        f"<td>{escape(one.get('description', ''))}</td></tr>"
        for name, one in schema.get("properties", {}).items()
    )
    examples = "".join(_code(example) for example in schema.get("examples", ()))
    return f"{_table(('field', 'type', 'meaning'), rows) if rows else _kind(schema)}{examples}"


def _kind(schema: Any) -> str:
    """What a value is, in a few words, with links to schemas."""
    if not isinstance(schema, Mapping):
        return ""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#schema-{name}">{name}</a>'
    for several in ("anyOf", "oneOf"):
        kinds = [_kind(one) for one in schema.get(several, ())]
        if any(kinds):
            return " or ".join(kind for kind in kinds if kind)
    if "enum" in schema:
        return " or ".join(f"<code>{escape(str(value))}</code>" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return escape(str(schema.get("format") or schema.get("type") or schema.get("const", "")))


def _table(heads: tuple[str, ...], rows: str) -> str:
    named = "".join(f"<th>{head}</th>" for head in heads)
    return f"<table><thead><tr>{named}</tr></thead><tbody>{rows}</tbody></table>"


def _code(value: Any) -> str:
    return f"<pre>{escape(json.dumps(value, indent=2))}</pre>"
