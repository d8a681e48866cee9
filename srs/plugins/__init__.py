"""Descriptors that other distributions bring, by entry points.

A package adds a kind of evidence, for example, by these lines of its pyproject.toml:

    [project.entry-points."srs.evidence"]
    toy = "toy_package:TOY"

What is broken or has a name that is taken is left out with a warning: it must not keep anybody
from using the rest.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Any, TypeVar

log = logging.getLogger("srs")

T = TypeVar("T")


def with_plugins(group: str, built_in: Sequence[T]) -> tuple[T, ...]:
    """The descriptors of this package, and after them those that entry points of `group` name.

    built_in  of one type, each with a `name`; those of others must be of this type
    """
    found = {name_of(one): one for one in built_in}
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        try:
            one = point.load()
        except Exception as error:  # whatever the module of others raises
            log.warning("%s of %s was left out: %s", point.value, group, error)
            continue
        if not isinstance(one, type(built_in[0])):
            expected = type(built_in[0]).__name__
            log.warning("%s of %s was left out: it is not an %s", point.value, group, expected)
        elif name_of(one) in found:
            name = name_of(one)
            log.warning("%s of %s was left out: there is a %r already", point.value, group, name)
        else:
            found[name_of(one)] = one
    return tuple(found.values())


def name_of(descriptor: Any) -> str:
    return str(descriptor.name)
