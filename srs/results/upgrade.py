"""Documents of earlier schema versions, as the present version has them.

Each step takes a document from one version to the next. Steps that were published stay as they are;
add another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Document = Mapping[str, Any]
_KINDS_2 = {"classification": "classes", "regression": "numbers"}


def _name_kinds(data: Document) -> dict[str, Any]:
    """The part "data" of a document: what was `task` is `target_kind`."""
    named = {"target_kind" if key == "task" else key: value for key, value in data.items()}
    if named.get("target_kind") is not None:
        kind = named["target_kind"]
        named["target_kind"] = _KINDS_2.get(kind, kind)
    return named


def _result_2(document: Document) -> Document:
    """Kinds of target, grounds and feature classes got their names."""
    outcome = {
        "grounds" if key == "basis" else key: value for key, value in document["outcome"].items()
    }
    renamed = {"n_strata": "n_feature_classes"}
    kinds = [
        {renamed.get(key, key): value for key, value in kind.items()}
        for kind in outcome["grounds"]["kinds"]
    ]
    outcome["grounds"] = {**outcome["grounds"], "kinds": kinds}
    # The rule of 0.1.0 kept what is now `guarantee="confident"`, and looked at no pairs by itself.
    fixed = {"guarantee": "confident", "pairs": "off", "n_features": None}
    settings = {**fixed, **document["settings"]}
    data = _name_kinds(document["data"])
    return {**document, "settings": settings, "data": data, "outcome": outcome}


def _explanation_2(document: Document) -> Document:
    """Kinds of target got their names."""
    return {**document, "data": _name_kinds(document["data"])}


RESULT_STEPS = {1: _result_2}
EXPLANATION_STEPS = {1: _explanation_2}


def upgrade(
    document: Document, steps: Mapping[int, Callable[[Document], Document]], version: int
) -> Document | None:
    """The document in the present version; None if its version is not known."""
    while (current := document.get("schema_version")) != version:
        if not isinstance(current, int) or current not in steps:
            return None
        document = {**steps[current](document), "schema_version": current + 1}
    return document
